package discussion

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/panetest"
	"github.com/agentloadout/loadout/tui/theme"
)

var pair = []string{"claude-code", "codex"}

func say(t *testing.T, l *panetest.Log, from, id string, kind event.DiscussionKind, round int64, words string) *event.Event {
	t.Helper()
	role := map[event.DiscussionKind]string{event.KindProposal: "proposer", event.KindRevision: "proposer", event.KindSummary: "proposer", event.KindCritique: "reviewer"}[kind]
	b := event.Discussion{ThreadID: id, Kind: kind, Round: round, Role: role, Content: words}
	switch kind {
	case event.KindStarted:
		b.Role, b.Participants = "system", pair
	case event.KindSummary:
		b.Alternatives, b.Unresolved = []string{"GraphQL with persisted queries"}, []string{"who pays for the cache"}
	case event.KindClosed:
		b.Role, b.Outcome = "system", "decided"
	case event.KindProposal, event.KindCritique, event.KindRevision:
	}
	return l.Add(t, from, event.Broadcast, event.Clip(words, 100), b)
}

// story has a thread that was decided, and one that is open and in which codex is about to speak.
func story(t *testing.T) *panetest.Log {
	t.Helper()
	l := panetest.NewLog()
	say(t, l, event.User, "cents", event.KindStarted, 0, "Cents or decimals?")
	say(t, l, "claude-code", "cents", event.KindProposal, 1, "# Cents\n\nBecause:\n\n- no rounding\n- `int64` is **exact**\n\n```go\nvar total int64\n```")
	say(t, l, "codex", "cents", event.KindCritique, 1, panetest.Hostile)
	say(t, l, "claude-code", "cents", event.KindSummary, 1, "Use cents; the bank wants them.")
	say(t, l, event.User, "cents", event.KindClosed, 1, "Use cents")
	say(t, l, event.User, "rest-or-graphql", event.KindStarted, 0, "REST or GraphQL?")
	say(t, l, "claude-code", "rest-or-graphql", event.KindProposal, 1, "REST, because the mobile client caches by URL.")
	for _, a := range []event.TurnAction{event.TurnQueued, event.TurnStarted} {
		l.Add(t, event.Loadout, event.Broadcast, "x", event.Turn{Action: a, Turn: "t1", Agent: "codex", Provider: "codex", Why: event.WhyDiscussion, Thread: "rest-or-graphql"})
	}
	return l
}

func show(t *testing.T, l *panetest.Log, ascii bool) *Pane {
	t.Helper()
	p := New(panetest.Look(t, ascii))
	p.SetFocus(true)
	p.SetSize(96, 14, false)
	panetest.Do(t, p, l, p.Apply(l.Snapshot(), pane.Changes{}))
	return p
}

func screen(p *Pane) string { return ansi.Strip(strings.Join(p.View(), "\n")) }

func has(t *testing.T, p *Pane, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(screen(p), w) {
			t.Errorf("the screen lacks %q:\n%s", w, screen(p))
		}
	}
}

func TestGolden(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		name := ""
		if ascii {
			name = "-ascii"
		}
		l := story(t)
		panetest.Golden(t, "open"+name, show(t, l, ascii))
		p := show(t, l, ascii)
		p.Handle(keymap.Back)
		panetest.Do(t, p, l, p.Handle(keymap.Down))
		panetest.Golden(t, "list"+name, p)
		panetest.Do(t, p, l, p.Handle(keymap.Open))
		panetest.Golden(t, "decided"+name, p)
	}
	panetest.Golden(t, "empty", show(t, panetest.NewLog(), false))
}

func TestShowsTheNewestThreadLive(t *testing.T) {
	l := story(t)
	p := show(t, l, false)
	has(t, p, "REST or GraphQL?", "REST, because", "codex  ● is answering 01:00")
	if got := p.Status(); got != "rest-or-graphql · round 1 · following" {
		t.Errorf("status is %q", got)
	}
	e := say(t, l, "codex", "rest-or-graphql", event.KindCritique, 1, "The risk is the **N+1**.")
	panetest.Do(t, p, l, p.Apply(l.Snapshot(), pane.Changes{Events: []event.Event{*e}}))
	has(t, p, "reviewer · critique", "The risk is the N+1.")
	p.Handle(keymap.Raw)
	has(t, p, "The risk is the **N+1**.")
}

func TestAThreadThatWasChosenStays(t *testing.T) {
	l := story(t)
	p := show(t, l, false)
	p.Handle(keymap.Back)
	panetest.Do(t, p, l, p.Handle(keymap.Down))
	panetest.Do(t, p, l, p.Handle(keymap.Open))
	p.SetSize(96, 40, false)
	has(t, p, "· no rounding", "why", "Use cents; the bank wants them.", "GraphQL with persisted queries", "who pays for the cache", "decided: Use cents")
	e := say(t, l, event.User, "third", event.KindStarted, 0, "A third one")
	panetest.Do(t, p, l, p.Apply(l.Snapshot(), pane.Changes{Events: []event.Event{*e}}))
	has(t, p, "decided: Use cents")
	panetest.Do(t, p, l, p.SetFilter("rounding"))
	if p.Status() != "1 of 5" {
		t.Errorf("status is %q", p.Status())
	}
}

func TestThePastShowsNothingLater(t *testing.T) {
	l := story(t)
	p := show(t, l, false)
	at := panetest.NewLog()
	for i := range 3 {
		if err := at.State.Apply(&l.Stored[i]); err != nil {
			t.Fatal(err)
		}
	}
	s := l.Snapshot()
	s.State, s.Past, s.At = at.State, true, 2
	panetest.Do(t, p, l, p.Apply(s, pane.Changes{Events: l.Stored[3:4]}))
	has(t, p, "proposer · proposal")
	if strings.Contains(screen(p), "Use cents;") || strings.Contains(screen(p), "answering") {
		t.Errorf("the past shows the future:\n%s", screen(p))
	}
}

// A transcript of 100,000 lines is drawn and scrolled at the cost of what is visible.
func TestLongTranscript(t *testing.T) {
	asked := 0
	tr := transcript{n: 1000, h: 40, follow: true}
	tr.lines = func(i int) []theme.Spans {
		asked++
		lines := make([]theme.Spans, 100)
		for k := range lines {
			lines[k] = theme.Spans{theme.S(fmt.Sprint(i, " ", k), theme.Style{})}
		}
		return lines
	}
	at := func(want string) {
		t.Helper()
		if got := tr.visible()[0][0].Text; got != want {
			t.Errorf("the first line is %q, want %q", got, want)
		}
	}
	at("999 60")
	tr.move(-1)
	at("999 59")
	tr.move(-60)
	at("998 99")
	tr.home()
	at("0 0")
	tr.move(250)
	at("2 50")
	tr.move(1 << 20)
	at("999 60")
	start := time.Now()
	asked = 0
	for range 200 {
		tr.move(-3)
		tr.visible()
	}
	if asked > 200*20 {
		t.Errorf("%d statements asked for, %v", asked, time.Since(start))
	}
}

// begun is a thread of which the log says how many rounds it has, and in which claude-code is about to speak.
func begun(t *testing.T) *panetest.Log {
	t.Helper()
	l := panetest.NewLog()
	say(t, l, event.User, "api", event.KindStarted, 0, "REST or GraphQL?")
	l.Stored[0].Context = discuss.Terms{Rounds: 2, Timeout: 2 * time.Minute, Programs: pair, Fresh: true}.String()
	for _, a := range []event.TurnAction{event.TurnQueued, event.TurnStarted} {
		l.Add(t, event.Loadout, event.Broadcast, "x", event.Turn{Action: a, Turn: "t1", Agent: "claude-code", Provider: "claude-code", Why: event.WhyDiscussion, Thread: "api"})
	}
	return l
}

func TestShowsWhatIsBeingSaid(t *testing.T) {
	l := begun(t)
	p := show(t, l, false)
	if got := p.Status(); got != "api · round 1/2 · turn 1/5 · following" {
		t.Errorf("status is %q", got)
	}
	has(t, p, "claude-code  ● is answering 01:00 of 02:00")
	if p.NextChange() != time.Second {
		t.Errorf("changes in %v", p.NextChange())
	}
	live := discuss.Live{
		Thread: "api", Rounds: 2, Agent: "claude-code", Step: discuss.Step{Kind: event.KindProposal, Round: 1, Role: discuss.Proposer},
		Text: "REST, because\n" + panetest.Hostile, Tool: "Write src/x", Since: l.Snapshot().Now.Add(-14 * time.Second), Timeout: 2 * time.Minute,
	}
	panetest.Do(t, p, l, p.SetLive(live))
	has(t, p, "claude-code  proposer · proposal ", " 00:14 of 02:00", "it wants to use Write src/x", "REST, because", "日本語の説明")
	panetest.Check(t, p, 96, 14)
	if p.NextChange() != pace {
		t.Errorf("changes in %v", p.NextChange())
	}
	p.SetFilter("nothing of that")
	if strings.Contains(screen(p), "because") {
		t.Error("what is being said does not match the filter")
	}
	p.SetFilter("")
	live.Agent, live.Over = "", true
	panetest.Do(t, p, l, p.SetLive(live))
	if strings.Contains(screen(p), "because") {
		t.Error("what was being said stays")
	}
	if row := p.Shown(); row.ThreadID != "api" || row.Rounds != 2 || row.Said != 0 || row.Status != discuss.StatusOpen {
		t.Errorf("shown is %+v", row)
	}
}

// A turn of which the process is gone is not shown as one that runs.
func TestShowsWhatWasLost(t *testing.T) {
	l := begun(t)
	p := show(t, l, false)
	s := l.Snapshot()
	s.Bridging = pane.Bridging{Known: true, Lost: []string{"other"}} // that nobody holds a bridge says nothing of this turn
	p.Apply(s, pane.Changes{})
	has(t, p, "is answering 01:00 of 02:00")
	s.Now = s.Now.Add(-55 * time.Second) // it is known at once
	s.Bridging = pane.Bridging{Known: true, Holder: &engine.LockedError{}, Lost: []string{"t1"}}
	p.Apply(s, pane.Changes{})
	has(t, p, "claude-code  was asked, and the process that waited is gone")
	if p.NextChange() != 0 || p.Status() != "api · round 0/2 · turn 0/5 · following" {
		t.Errorf("status is %q, and changes in %v", p.Status(), p.NextChange())
	}
	if lost := p.Shown(); len(lost.Unknown()) != 1 || lost.Unknown()[0].Agent != "claude-code" {
		t.Errorf("lost were %+v", lost.Turns)
	}
}

// A discussion that this process begins to hold is gone to, also from another one that somebody chose.
func TestGoesToWhatIsHeldHere(t *testing.T) {
	l := story(t)
	p := show(t, l, false)
	p.Handle(keymap.Back)
	panetest.Do(t, p, l, p.Handle(keymap.Down))
	panetest.Do(t, p, l, p.SetLive(discuss.Live{Thread: "rest-or-graphql", Agent: "codex", Text: "It depends."}))
	has(t, p, "REST, because", "It depends.")
	p.Handle(keymap.Back)
	panetest.Do(t, p, l, p.Handle(keymap.Down))
	panetest.Do(t, p, l, p.SetLive(discuss.Live{Thread: "rest-or-graphql", Agent: "codex", Text: "It depends on much."}))
	if p.Shown().ThreadID != "cents" {
		t.Error("whoever looks elsewhere is fetched back")
	}
	panetest.Do(t, p, l, p.SetLive(discuss.Live{Thread: "queue", Agent: "codex"}))
	e := say(t, l, event.User, "queue", event.KindStarted, 0, "Queue or cron?")
	panetest.Do(t, p, l, p.Apply(l.Snapshot(), pane.Changes{Events: []event.Event{*e}}))
	has(t, p, "Queue or cron?")
}

func TestAnAlternativeHasOneMark(t *testing.T) {
	l := story(t)
	p := show(t, l, false)
	p.Handle(keymap.Back)
	panetest.Do(t, p, l, p.Handle(keymap.Down))
	panetest.Do(t, p, l, p.Handle(keymap.Open))
	p.SetSize(24, 60, false)
	has(t, p, "· GraphQL with", "   persisted queries")
}

// In the list there is nothing to follow and nothing to see the source of: both keys show the transcript.
func TestKeysOfTheTranscriptShowIt(t *testing.T) {
	for _, intent := range []keymap.Intent{keymap.Raw, keymap.Follow} {
		p := show(t, story(t), false)
		if a := p.Handle(keymap.Back); a != nil {
			t.Fatalf("%v", a)
		}
		has(t, p, "Cents or decimals?", "REST or GraphQL?")
		if a := p.Handle(intent); a != (pane.Reveal{}) {
			t.Errorf("%d: %#v", intent, a)
		}
		if intent == keymap.Raw != p.raw || !p.script.follow {
			t.Errorf("raw %v, following %v", p.raw, p.script.follow)
		}
		if a := show(t, panetest.NewLog(), false).Handle(intent); a != nil {
			t.Errorf("without a thread: %#v", a)
		}
	}
	p := show(t, story(t), false)
	if !strings.HasSuffix(p.Status(), "following") {
		t.Errorf("status %q", p.Status())
	}
	p.Handle(keymap.Follow)
	if !strings.HasSuffix(p.Status(), "open") {
		t.Errorf("status %q", p.Status())
	}
}

// How far a discussion is fits the frame of its pane beside the title.
func TestStatusFitsItsFrame(t *testing.T) {
	p := show(t, begun(t), false)
	for w, want := range map[int]string{
		96: "api · round 1/2 · turn 1/5 · following", 55: "round 1/2 · turn 1/5 · following", 44: "round 1/2 · turn 1/5",
	} {
		p.SetSize(w, 14, false)
		if got := p.Status(); got != want {
			t.Errorf("%d cells: %q, want %q", w, got, want)
		}
	}
}

// The mark turns with the time, and keeps its place.
func TestSpinner(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		p := New(panetest.Look(t, ascii))
		seen := map[string]bool{}
		for range 20 {
			p.snap.Now = p.snap.Now.Add(pace)
			if w := ansi.StringWidth(p.spinner()); w != 1 {
				t.Errorf("%q is %d cells wide", p.spinner(), w)
			}
			seen[p.spinner()] = true
		}
		if len(seen) < 4 {
			t.Errorf("%d faces", len(seen))
		}
	}
}

func TestSearch(t *testing.T) {
	l := story(t)
	p := show(t, l, false)
	p.Handle(keymap.Back)
	search := func(words string, d int) bool {
		t.Helper()
		action, found := p.Search(words, d)
		panetest.Do(t, p, l, action)
		return found
	}
	if search("nowhere", 1) || !search("cents", 1) || p.Subject().Text != "cents" {
		t.Errorf("at thread %+v", p.Subject())
	}
	panetest.Do(t, p, l, p.Handle(keymap.Open))
	visited := map[int64]bool{}
	for range 4 { // started, proposal, summary and closed; also those too near to the end to stand on top
		if !search("cents", 1) {
			t.Fatal("not found")
		}
		visited[p.shown[p.sought].Seq] = true
	}
	if len(visited) != 4 {
		t.Errorf("visited %v", visited)
	}
	if search("nowhere", -1) {
		t.Error("found nowhere")
	}
}
