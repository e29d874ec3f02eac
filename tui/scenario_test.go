package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

func TestClaimByForm(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.press("c", "ctrl+u", "src/new", "tab", "right", "tab", "trying it", "enter")
	d.shows("user holds src/new, #18", "src/")
	d.hides("Claim ─")
	own, ok := f.calls[0].Command.(engine.Own)
	if !ok || own.Paths[0] != "src/new" || !own.Shared || own.Reason != "trying it" || own.Agent != event.User || f.calls[0].By != "" {
		t.Errorf("sent %+v", f.calls[0])
	}
}

func TestRefusalKeepsWhatWasTyped(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	f.refuse = &engine.ConflictError{
		Kind: engine.ConflictOwnership, Message: "src/api is held by claude-code, exclusive, since 10:03",
		Hints: []string{"loadout coord ask claude-code \"…\"    to ask for it"},
	}
	d.press("c", "ctrl+u", "src/api", "down", "down", "needed for the fix", "enter")
	d.shows("held by claude-code, exclusive", "to ask for it", "needed for the fix", "src/api", "enter claim")

	d.press("up", "up", "ctrl+u", "src/api/v2", "enter") // the fake refuses once
	d.shows("user holds src/api/v2")
	if got := f.calls[1].Command.(engine.Own); got.Reason != "needed for the fix" {
		t.Errorf("the reason was lost: %+v", got)
	}
}

func TestFormChecksWhatWasTyped(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.press("c", "down", "down", "down", "a while", "enter")
	d.shows(`"a while"`, "30m, 2h or 7d")
	d.press("esc", "a", "ctrl+u", "seven", "enter")
	d.shows(`"seven" is not the number`)
	if len(f.calls) != 0 {
		t.Errorf("the engine was asked: %+v", f.calls)
	}
}

func TestAcknowledgeFromTheTimeline(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.press("7", "up", "up", "a")
	d.shows("up to #")
	d.press("enter")
	d.shows("user has read up to #15")
	if got := f.calls[0].Command.(engine.Ack); got.Seq != 15 {
		t.Errorf("acknowledged %+v", got)
	}
}

func TestActingForAnAgentIsAskedAndRecorded(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.press("r", "enter") // the selected claim is claude-code's
	d.shows("Act for claude-code?", "This cockpit acts as user.", "user did it for")
	if len(f.calls) != 0 {
		t.Fatal("it was done before it was asked")
	}
	d.press("enter")
	d.shows("claude-code let go of docs")
	got := f.calls[0]
	if c, ok := got.Command.(engine.ReleasePaths); !ok || c.Agent != "claude-code" || got.By != event.User {
		t.Errorf("sent %+v", got)
	}
}

func TestActingAsTheAgentOfTheCockpit(t *testing.T) {
	f := story(t)
	d := drive(t, f, func(o *Options) { o.Agent = "codex" })
	d.shows("as codex")
	d.press("c", "ctrl+u", "lib", "enter")
	d.shows("codex holds lib")
	if f.calls[0].By != event.User {
		t.Errorf("the person is not on record: %+v", f.calls[0])
	}
	d.press("c", "ctrl+u", "gen", "shift+tab", "ctrl+u", "gemini", "enter") // not the cockpit's own
	d.shows("Act for gemini?", "This cockpit acts as codex.", "user did it for")
	if len(f.calls) != 1 {
		t.Fatal("it was done before it was asked")
	}
	d.press("enter")
	d.shows("gemini holds gen")
	d.press("c", "ctrl+u", "doc", "shift+tab", "ctrl+u", "user", "enter") // the person needs no leave of anybody
	d.shows("user holds doc")
	if f.calls[1].By != event.User || f.calls[2].By != "" {
		t.Errorf("sent %+v", f.calls[1:])
	}
}

func TestKillAndResume(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.press("8", "K")
	d.shows("Halt everything", "Every write")
	d.press("tests fail", "enter")
	d.shows("HALTED", "by user", "tests fail", "R resumes")
	d.press("K", "esc", "R")
	d.shows("Resume", "tests fail")
	d.press("enter")
	d.shows("resumed by user")
	d.hides("HALTED")
}

// Somebody else resumed while the form was open: what the engine notes about that is shown all the same.
func TestResumeOfWhatIsNotHaltedShowsItsNotes(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.press("K", "tests fail", "enter")
	d.shows("HALTED")
	d.press("R")
	d.shows("Resume", "tests fail")
	if _, err := f.Resume(t.Context(), "codex"); err != nil {
		t.Fatal(err)
	}
	f.note = "what was in the place of the kill switch is now beside it"
	d.press("enter")
	d.shows("nothing was halted any more", "is now beside it")
}

// Halting everything ends what lost turns left running, as the verb does, and says what came with it.
func TestKillSettlesLostTurns(t *testing.T) {
	f := bridgeStory(t)
	f.turn(t, "t1", "claude-code", event.TurnQueued, event.TurnStarted)
	f.turn(t, "t2", "sim", event.TurnQueued, event.TurnStarted)
	d := drive(t, f, func(o *Options) {
		o.Settle = func(context.Context) error {
			if f.halted == nil {
				t.Error("settled before everything was halted")
			}
			f.turn(t, "t1", "claude-code", event.TurnUncertain)
			return nil
		}
	})
	d.press("K", "enough", "enter")
	d.shows("HALTED", "halted by user; R resumes", "A turn of claude-code was lost", "It waits for you")
	d.hides("A turn of sim")

	d = drive(t, f, func(o *Options) {
		o.Settle = func(context.Context) error { return errors.New("process 4711 does not end") }
	})
	f.note = "the kill switch is on, but that could not be recorded"
	d.press("K", "enough", "enter")
	d.shows("HALTED", "but that could not be recorded", "process 4711 does not end")
}

func TestKillNeedsItsConfirmation(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.press("K")
	d.paste("yes\n")
	d.press("esc")
	d.hides("HALTED")
	if f.halted != nil {
		t.Fatal("halted without enter")
	}
}

func TestWriteWhileHaltedIsRefusedInTheForm(t *testing.T) {
	f := story(t)
	f.halted = &engine.HaltedError{By: "dana", Reason: "release", At: f.now}
	d := drive(t, f)
	f.refuse = f.halted
	d.press("c", "enter")
	d.shows("halted by dana", "R resumes", "esc cancel")
}

func TestZoomOpenAndBack(t *testing.T) {
	d := drive(t, story(t))
	d.shows("1 Ownership", "2 Contracts", "7 Timeline", "8 Agents")
	d.press("2", "enter")
	d.shows("2 Contracts", "POST /api/checkout", "✗ on r1")
	d.hides("6 claims", "following") // of the others only the names, in the lower edge
	d.press("d")
	d.shows("r1 → r2", "- POST /api/checkout -> 201 { id: string }", "+ GET /api/checkout/:id")
	d.press("d", "left")
	d.shows("checkout-api r1")
	d.hides("GET /api/checkout/:id")
	d.press("esc")
	d.shows("6 claims", "2 Contracts")
	d.press("tab", "tab", "tab", "tab", "tab", "tab", "tab")
	if d.m.focus != 0 {
		t.Errorf("tab from the second pane seven times leads to pane %d", d.m.focus+1)
	}
}

func TestFilter(t *testing.T) {
	d := drive(t, story(t))
	d.press("7", "/", "codex quest")
	d.shows("Cents or", "1 found")
	d.press("enter")
	d.shows("/codex quest", "1 found")
	d.press("esc")
	d.shows("following")
	d.press("1", "/", "gemini", "enter")
	d.shows("1 of 6 claims", "api-tests")
	d.hides("schema.sql")
	d.press("/", "esc")
	d.shows("6 claims")
}

func TestTimeTravel(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.press("[", "[", "[")
	d.shows("THE PAST", "as of #14 of #17", "1 Ownership · ◷ as of #14", "4 Bridge · ◷ as of #14")
	d.hides("Use cents everywhere")
	d.press("{")
	d.shows("as of #0")
	d.shows("Nobody held anything then")
	f.own(t, "codex", event.Exclusive, "", "later") // the present goes on
	d.sync()
	d.shows("as of #0 of #18")
	d.press("c")
	d.shows("this is the past, as of #0")
	if d.m.overlays.Top() != nil {
		t.Fatal("a form opened in the past")
	}
	d.press("]")
	d.shows("as of #1 ")
	d.press("}")
	d.hides("THE PAST")
	d.shows("later", "following")

	d.press("7", "up", "up", "t")
	d.shows("as of #16")
	d.press("esc")
	d.hides("THE PAST")
}

func TestFastStepsReadOnlyTheLastPlace(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	var waiting []tea.Cmd
	for range 5 { // faster than the first state is read
		waiting = append(waiting, d.m.update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'['}}))
	}
	reads := 0
	for len(waiting) > 0 {
		cmd := waiting[0]
		waiting = waiting[1:]
		if cmd == nil {
			continue
		}
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			waiting = append(waiting, msg...)
		case stateAtMsg:
			reads++
			waiting = append(waiting, d.m.update(msg))
		}
	}
	d.shows("as of #12")
	if reads != 2 {
		t.Errorf("%d states were read for five steps, want the first and the last", reads)
	}
}

func TestKeysTypedTogetherAreKeysOfTheirOwn(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.run(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("2z")})
	if d.m.focus != 1 || !d.m.zoomed {
		t.Errorf("focus %d, zoomed %v", d.m.focus, d.m.zoomed)
	}
	d.press("z")
	d.run(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("c/lib")}) // the first opens the form, the others are typed into it
	d.shows("/lib")
}

func TestEscAndAKeyThatCameTogether(t *testing.T) {
	d := drive(t, story(t))
	d.press("c")
	d.run(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'3'}, Alt: true})
	if d.m.overlays.Top() != nil || d.m.focus != 2 {
		t.Errorf("form open: %v, focus %d", d.m.overlays.Top() != nil, d.m.focus)
	}
	d.press("c", "ctrl+u", "two words")
	d.run(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'b'}, Alt: true})
	d.press("x")
	d.shows("two xwords")
}

func TestPasteIsNoKeys(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.paste("qK3")
	if d.quit || d.m.overlays.Top() != nil || d.m.focus != 0 {
		t.Fatal("a paste was taken for keys")
	}
	d.press("c", "tab", "tab")
	d.paste("two\nlines \x1b[31mred " + strings.Repeat("x", 100<<10))
	d.shows("is cut", "enter claim")
	d.press("ctrl+u")
	d.paste("two\nlines \x1b[31mred")
	d.press("enter")
	if got := f.calls[0].Command.(engine.Own).Reason; got != "two lines red" {
		t.Errorf("the reason is %q", got)
	}
}

func TestQuit(t *testing.T) {
	for _, keys := range [][]string{{"q"}, {"ctrl+c"}, {"c", "ctrl+c"}, {"?", "ctrl+c"}, {"/", "ctrl+c"}} {
		d := drive(t, story(t))
		d.press(keys...)
		if !d.quit {
			t.Errorf("%v does not quit", keys)
		}
	}
	d := drive(t, story(t))
	d.press("c", "q")
	if d.quit {
		t.Error("q in a form quits")
	}
}

func TestResizeStorm(t *testing.T) {
	d := drive(t, story(t))
	d.press("2", "enter", "d", "c")
	for i := range 400 {
		w, h := 1+(i*37)%230, 1+(i*23)%70
		d.resize(w, h)
		d.lines()
		if i%7 == 0 {
			d.press("tab")
		}
		if i%50 == 25 {
			d.press("esc", "z", "7", "enter", "K")
		}
	}
	d.resize(20, 5)
	d.shows("loadout needs")
	d.resize(0, 0)
	d.lines()
}

func TestCopyIsSanitised(t *testing.T) {
	d := drive(t, story(t))
	d.press("7", "y")
	d.shows("copied")
	if len(d.sent) != 1 || !strings.HasPrefix(d.sent[0], "\x1b]52;c;") {
		t.Fatalf("sent %q", d.sent)
	}
}

func TestHelpListsTheKeysOfThePane(t *testing.T) {
	d := drive(t, story(t))
	d.resize(120, 60)
	d.press("7", "?")
	d.shows("Keys in Timeline", "travel to this event", "halt everything", "one event back in time", "ctrl+l")
	d.press("esc")
	d.hides("Keys in")
}

func TestStatesOfTheLog(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	tell := func(edit func(*engine.Delivery)) {
		t.Helper()
		delivery := engine.Delivery{Mode: engine.ModeLive, CaughtUp: true}
		edit(&delivery)
		d.m.feed.deliver(delivery)
		settle(d.m, d.m.fed(d.m.feed.take()))
	}
	tell(func(d *engine.Delivery) { d.Mode = engine.ModePolling })
	d.shows("polling")
	tell(func(d *engine.Delivery) { d.Mode, d.Note = engine.ModeMissing, "the log was deleted" })
	d.shows("log is gone", "the log was deleted", "src/")
	tell(func(d *engine.Delivery) { d.Mode, d.Note = engine.ModeUnreadable, "it is not a regular file" })
	d.run(named["down"]) // takes the message away, and not why
	d.shows("unreadable", "it is not a regular file", "? help")
	d.resize(60, 20)
	d.shows("unreadable", "it is not a regular file")
	d.resize(120, 40)
	tell(func(*engine.Delivery) {})
	d.run(named["down"])
	d.hides("not a regular file")
	tell(func(d *engine.Delivery) {
		d.Reset = true
		d.Bad = []state.BadRef{{Line: 1, Seq: -1, Reason: "not JSON"}}
	})
	d.shows("1 bad line", "Nobody holds anything")

	// What it has lost is said on top of how it is followed, until the next write takes it down.
	const older = "the log is an older copy, which ends at seq 1: it had reached 2"
	tell(func(d *engine.Delivery) { d.Lost = older })
	d.shows("! older log", older)
	d.run(named["down"]) // takes the message away, and not the state
	d.shows("! older log", "the log is an older copy", "? help")
	d.resize(60, 20)
	d.shows("! older log", "! the log is an older copy")
	d.press("c", "esc", "y")
	d.shows("nothing to copy") // a message comes before it
	d.resize(120, 40)
	tell(func(d *engine.Delivery) { d.Mode, d.Lost = engine.ModeMissing, "the log is gone: it had reached seq 2" })
	d.shows("! log is gone", "the log is gone: it had reached seq 2")
	tell(func(*engine.Delivery) {})
	d.run(named["down"])
	d.hides("older log", "the log is gone")

	d.m.feed.change(func(u *update) { u.err = errors.New("permission denied") })
	settle(d.m, d.m.fed(d.m.feed.take()))
	d.shows("! unreadable", "permission denied")
}

// In the past every key that stores something or spends a turn is refused, and the command line runs only what may be run then.
func TestActingInThePastIsRefused(t *testing.T) {
	r := &fakeRunner{}
	d := drive(t, story(t), func(o *Options) { o.Runner, o.Bridge = r, &fakeBridge{} })
	head := len(d.fake.events)
	for _, tt := range []struct{ pane, keys string }{
		{"1", "crAaTDF"}, {"3", "So"}, {"4", "Bo+-mLxrd"}, {"8", "a"},
	} {
		d.press("esc", "esc", "esc", tt.pane, "[")
		d.shows(fmt.Sprintf("as of #%d of #%d", head-2, head-1))
		for _, key := range tt.keys {
			d.press(string(key))
			d.shows("this is the past, as of #", "esc returns to now")
			if d.m.overlays.Top() != nil {
				t.Fatalf("%c opened something in the past", key)
			}
		}
	}
	d.press(":", "fail now", "enter")
	d.shows("this is the past, as of #", "esc returns to now")
	d.press("esc", ":", "status", "enter")
	d.shows("all is well")
	d.press("esc")
	if len(r.ran) != 1 || r.ran[0][0] != "status" || len(d.fake.events) != head {
		t.Errorf("ran %q, stored %d", r.ran, len(d.fake.events)-head)
	}
}

// What is on its way is the past already: no form is opened beside it.
func TestActingOnTheWayToThePastIsRefused(t *testing.T) {
	d := drive(t, story(t))
	cmd := d.m.update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("[")})
	d.m.update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("c")})
	d.shows("this is the past, as of #16")
	settle(d.m, cmd)
	d.press("esc", "c")
	d.shows("Claim ")
}

// The worktree is named at every width; what is less important goes first.
func TestTheHeaderNamesTheWorktree(t *testing.T) {
	f := story(t)
	f.linked = "/home/dev/shop-checkout"
	d := drive(t, f)
	d.m.now.branch = "feature/checkout-flow"
	for w, want := range map[int]string{
		120: " loadout  shop ⎇ feature/checkout-flow in shop-checkout   ! 1 for you, 3m   #17   4 agents",
		80:  " shop ⎇ feature/checkout-flow in shop-checkout   ! 1 for you, 3m",
		60:  " shop ⎇ fea…low in sho…out   ! 1 for you, 3m",
		40:  " shop ⎇ fe…low in sh…out",
	} {
		d.resize(w, 24)
		if got := d.lines()[0]; !strings.HasPrefix(got, want) || !strings.Contains(got, "● live") {
			t.Errorf("%d: %q", w, got)
		}
	}
}

func TestNoLogYet(t *testing.T) {
	d := drive(t, newFake())
	d.shows("Nobody holds anything", "No contracts yet", "No events yet", "Nobody has taken part yet")
	d.press("c", "r", "esc", "r", "esc", "y", "enter", "esc", "[", "t", "d", "a", "enter")
}

// fakeRunner is a command line with two verbs.
type fakeRunner struct{ ran [][]string }

func (r *fakeRunner) Run(ctx context.Context, argv []string, out io.Writer) error {
	r.ran = append(r.ran, argv)
	if argv[0] == "fail" {
		return &engine.ConflictError{Message: "held by codex", Hints: []string{"wait for it"}}
	}
	_, err := io.WriteString(out, "all is well\n\x1b[2Jreally\n")
	return err
}

func (*fakeRunner) InPast(argv []string) bool { return argv[0] != "fail" }

func (r *fakeRunner) Complete(line string) []string {
	if line == "st" {
		return []string{"status", "stop"}
	}
	return []string{"status"}
}

func TestCommandLine(t *testing.T) {
	r := &fakeRunner{}
	d := drive(t, story(t), func(o *Options) { o.Runner = r })
	d.press(":", "st", "tab")
	d.shows("status", "stop", "2, tab chooses")
	d.press("a", "tab", `--note "two words"`, "enter")
	d.shows("all is well", "really")
	if got := strings.Join(r.ran[0], "|"); got != "status|--note|two words" {
		t.Errorf("ran %q", got)
	}
	d.press("esc", ":", "up", "enter", "esc")
	if len(r.ran) != 2 {
		t.Errorf("the history does not work: %q", r.ran)
	}
	d.press(":", "fail", "enter")
	d.shows("held by codex", "wait for it")
	d.run(outputMsg{id: d.m.command.id}) // a look that was due before the command failed
	d.shows("held by codex", "wait for it")
	d.press("esc", ":", `say "x`, "enter")
	d.shows("is not closed")
}

func TestCommandLineNeedsARunner(t *testing.T) {
	d := drive(t, story(t))
	d.press(":")
	d.shows("no command line")
}

func TestTicksOnlyWhenSomethingChanges(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	var asked time.Duration
	d.m.after = func(wait time.Duration, _ tea.Msg) tea.Cmd {
		asked = wait
		return nil
	}
	d.run(tickMsg{d.m.ticking})
	if asked != time.Minute {
		t.Errorf("with ages alone the next tick is in %v", asked)
	}
	f.mu.Lock()
	f.now = start.Add(time.Hour - 90*time.Second) // gemini's claim counts down
	f.mu.Unlock()
	d.run(tickMsg{d.m.ticking})
	d.run(tickMsg{d.m.ticking})
	if asked != time.Second {
		t.Errorf("with a countdown the next tick is in %v", asked)
	}
}

// However much comes, one tick is awaited: each costs a goroutine for up to a minute.
func TestOneTickIsAwaited(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	ticks := 0
	d.m.after = func(time.Duration, tea.Msg) tea.Cmd {
		ticks++
		return nil
	}
	d.run(tickMsg{d.m.ticking})
	for range 50 {
		f.add(t, "codex", event.Broadcast, "more", event.Status{}, func(*event.Event) { f.now = f.now.Add(-time.Minute) })
		d.sync()
	}
	if ticks != 1 {
		t.Errorf("%d ticks are awaited", ticks)
	}
	d.m.say(good, "done") // goes sooner
	d.m.scheduleTick()
	if ticks != 2 {
		t.Errorf("%d ticks with a message", ticks)
	}
}

func TestAFrameIsDrawnOnce(t *testing.T) {
	d := drive(t, story(t))
	first := d.m.view()
	d.m.update(frameMsg{})
	if second := d.m.view(); &first[0] != &second[0] {
		t.Error("an unchanged frame was drawn again")
	}
}
