package bridge

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/panetest"
	"github.com/agentloadout/loadout/tui/text"
)

// story has two sessions, one near its cap, and a turn in every state.
func story(t *testing.T) *panetest.Log {
	t.Helper()
	l := panetest.NewLog()
	add := func(b event.Turn) { l.Add(t, event.Loadout, event.Broadcast, "x", b) }
	through, turns, tokens := int64(-1), int64(2), int64(50_000)
	for _, agent := range []string{"claude-code", "claude-code-2"} {
		add(event.Turn{Action: event.TurnAttached, Agent: agent, Provider: "claude-code", Session: "7f3a-" + agent, Through: &through})
	}
	add(event.Turn{Action: event.TurnOpened, Agents: []string{"claude-code", "claude-code-2"}})
	add(event.Turn{Action: event.TurnCapped, Caps: &event.TurnLimits{Turns: &turns, Tokens: &tokens}})
	step := func(id, agent string, actions ...event.TurnAction) {
		for _, a := range actions {
			b := event.Turn{Action: a, Turn: id, Agent: agent, Provider: "claude-code", Why: event.WhyDelivery, Seqs: []int64{1, 2}}
			switch a {
			case event.TurnFinished:
				b.Duration, b.Usage = 75_000, &event.TurnUsage{Input: 40_000, Output: 1200, CostMicros: 380_000, Priced: true, Known: true}
			case event.TurnFailed:
				b.Cause, b.Spent = panetest.Hostile, "maybe"
			default:
			}
			add(b)
		}
	}
	step("t1", "claude-code", event.TurnQueued, event.TurnStarted, event.TurnFinished)
	step("t2", "claude-code-2", event.TurnQueued, event.TurnStarted, event.TurnFailed)
	step("t3", "claude-code", event.TurnQueued, event.TurnStarted)
	step("t4", "claude-code", event.TurnQueued)
	return l
}

func show(t *testing.T, l *panetest.Log, ascii bool) *Pane {
	t.Helper()
	p := New(panetest.Look(t, ascii))
	p.SetFocus(true)
	panetest.Do(t, p, l, p.Apply(l.Snapshot(), pane.Changes{}))
	return p
}

// here is a snapshot of a bridge that this process runs, the turn t3 of which says something since 14 seconds.
func here(l *panetest.Log) pane.Snapshot {
	s := l.Snapshot()
	for _, t := range s.State.OpenTurns() {
		if t.ID == "t3" {
			s.Now = t.Started.Add(14 * time.Second)
		}
	}
	s.Bridging = pane.Bridging{
		Known: true, Here: true,
		Live:  map[string]pane.LiveTurn{"t3": {Text: "The contract is read.\n日本語 and then the cart page follows\n", Deadline: 2 * time.Minute}},
		Notes: []pane.BridgeNote{{At: s.Now, Agent: "claude-code", Text: "in /home/dev/shop, from seq 3 on: asks before it edits"}},
	}
	return s
}

func TestGolden(t *testing.T) {
	panetest.Golden(t, "story", show(t, story(t), false))
	panetest.Golden(t, "story-ascii", show(t, story(t), true))
	l := story(t)
	p := show(t, l, false)
	p.Apply(here(l), pane.Changes{})
	p.List.Select(3)
	p.Changed()
	panetest.Golden(t, "here", p)
	panetest.Golden(t, "empty", show(t, panetest.NewLog(), false))
}

func TestWhatWaitsIsFirst(t *testing.T) {
	p := show(t, story(t), false)
	p.SetSize(100, 12, false)
	if got := p.Status(); got != "! 1 for you, 1 running" {
		t.Errorf("status is %q", got)
	}
	if s := p.Subject(); s.Text != "t2" || s.Agent != "claude-code-2" {
		t.Errorf("the first row is about %+v", s)
	}
	screen := ansi.Strip(strings.Join(p.View(), "\n"))
	for _, want := range []string{"2/2 turns", "queue 2", "41200/50000", "1m15s · 41200 tokens, $0.38", "running · 2 events"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen lacks %q:\n%s", want, screen)
		}
	}
}

func TestQueueIsWhatABridgeWouldFind(t *testing.T) {
	l := panetest.NewLog()
	through := int64(-1)
	for _, agent := range []string{"codex", "gemini"} {
		l.Add(t, event.Loadout, event.Broadcast, "x", event.Turn{Action: event.TurnAttached, Agent: agent, Provider: agent, Session: agent, Through: &through})
	}
	l.Add(t, "codex", event.Broadcast, "mine", event.Ownership{Paths: []string{"src"}, Mode: event.Exclusive}) // not to codex itself
	l.Add(t, "gemini", event.Broadcast, "note", event.Update{Note: "x"})                                       // wakes nobody
	l.Add(t, "claude-code", "codex", "do it", event.Task{})
	p := show(t, l, false)
	p.SetSize(80, 10, false)
	queues := func() string {
		var list []string
		for _, line := range p.View() {
			if _, after, ok := strings.Cut(ansi.Strip(line), "queue "); ok {
				list = append(list, strings.TrimSpace(after))
			}
		}
		return strings.Join(list, " ")
	}
	if got := queues(); got != "1 1" {
		t.Errorf("queues of codex and gemini: %s", got)
	}
	for range 2 * maxQueue {
		l.Add(t, "claude-code", event.Broadcast, "look", event.Task{})
	}
	panetest.Do(t, p, l, p.Apply(l.Snapshot(), pane.Changes{}))
	if got := queues(); got != "508+ 508+" {
		t.Errorf("queues of codex and gemini: %s", got)
	}
	if a := p.Apply(l.Snapshot(), pane.Changes{}); a != nil {
		t.Errorf("nothing is new, and it asks for %+v", a)
	}
}

// A detail that grows is followed, until somebody scrolls in it.
func TestDetailFollowsWhatIsSaid(t *testing.T) {
	l := story(t)
	p := show(t, l, false)
	s := here(l)
	say := func(n int) string {
		s.Bridging.Live = map[string]pane.LiveTurn{"t3": {Text: strings.Repeat("word by word\n", n) + "and so on"}}
		p.Apply(s, pane.Changes{})
		return ansi.Strip(strings.Join(p.View(), "\n"))
	}
	p.SetSize(118, 20, true)
	say(1)
	p.List.Select(3)
	p.Changed()
	for _, n := range []int{5, 100, 200} {
		if screen := say(n); strings.Count(screen, "and so on") != 2 { // below the session, and in the detail
			t.Fatalf("%d lines:\n%s", n, screen)
		}
	}
	p.Handle(keymap.Open)
	p.Handle(keymap.PageUp)
	if screen := say(300); strings.Count(screen, "and so on") != 1 {
		t.Errorf("it moved away:\n%s", screen)
	}
}

// A session's row leaves out what has no room, and cuts no word.
func TestSessionRowsHaveWholeWords(t *testing.T) {
	p := show(t, story(t), false)
	words := regexp.MustCompile("running|02:00|waits")
	for w := 44; w <= 130; w++ {
		column := -1
		for line := range strings.Lines(panetest.Screen(t, p, w, false)) {
			if !strings.Contains(line, "queue ") {
				continue
			}
			if strings.Contains(line, "…") {
				t.Errorf("%d cells: %q", w, line)
			}
			at := text.Width(line[:words.FindStringIndex(line)[0]])
			if column >= 0 && column != at {
				t.Errorf("%d cells: the columns differ: %q", w, line)
			}
			column = at
		}
	}
}

// A turn whose process is gone does not run, whatever the log says, and no clock of it goes on.
func TestLostTurnDoesNotRun(t *testing.T) {
	l := story(t)
	p := show(t, l, false)
	p.SetSize(100, 20, false)
	s := l.Snapshot()
	s.Bridging = pane.Bridging{Known: true, Lost: []string{"t3"}}
	p.Apply(s, pane.Changes{})
	screen := ansi.Strip(strings.Join(p.View(), "\n"))
	if strings.Contains(screen, "running") || strings.Count(screen, "its process is gone") != 2 { // of the session and of the turn
		t.Errorf("the screen:\n%s", screen)
	}
	if got := p.Status(); got != "! 1 for you" || p.NextChange() != 0 {
		t.Errorf("status %q, changes in %v", got, p.NextChange())
	}
}

// kept is a log with what sessions.json tells.
type kept struct{ *panetest.Log }

func (kept) SessionRecords() ([]engine.SessionRecord, error) {
	return []engine.SessionRecord{{Agent: "claude-code", Cwd: "/no/such/folder"}}, nil
}

// Where a session works, and that it is of no use any more, is shown with it.
func TestSessionTellsItsFolder(t *testing.T) {
	l := panetest.NewLog()
	through := int64(-1)
	l.Add(t, event.Loadout, event.Broadcast, "x", event.Turn{
		Action: event.TurnAttached, Agent: "claude-code", Provider: "claude-code", Session: "7f3a", Through: &through,
	})
	p := New(panetest.Look(t, false))
	p.SetFocus(true)
	panetest.Do(t, p, kept{l}, p.Apply(l.Snapshot(), pane.Changes{}))
	p.SetSize(118, 20, true)
	p.List.Select(1)
	p.Changed()
	screen := ansi.Strip(strings.Join(p.View(), "\n"))
	for _, want := range []string{"! claude-code  stale", "its folder /no/such/folder is gone"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen lacks %q:\n%s", want, screen)
		}
	}
}
