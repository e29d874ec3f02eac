package work

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/panetest"
)

func item(id string) *event.WorkItem { return &event.WorkItem{Type: "spec_task", ID: id} }

// story has an item in every state, a hostile one included.
func story(t *testing.T) *panetest.Log {
	t.Helper()
	l := panetest.NewLog()
	add := func(from string, b event.Work) { l.Add(t, from, event.Broadcast, "x", b) }
	add("claude-code", event.Work{Action: event.WorkRegistered, Agent: "claude-code-20260903-a1b2c3", Harness: "claude-code", Human: "dana"})
	add("codex", event.Work{Action: event.WorkRegistered, Agent: "codex-20260903-d4e5f6", Harness: "codex"})
	add("claude-code", event.Work{Action: event.WorkTaken, Agent: "claude-code-20260903-a1b2c3", Item: item("spc-7.2"), Harness: "claude-code", Human: "dana", Reason: "the cart"})
	add("codex", event.Work{Action: event.WorkTaken, Agent: "codex-20260903-d4e5f6", Item: item("spc-7.1")})
	add("codex", event.Work{Action: event.WorkReleased, Agent: "codex-20260903-d4e5f6", Item: item("spc-7.1"), Outcome: event.WorkCompleted})
	add("codex", event.Work{Action: event.WorkTaken, Agent: "codex-20260903-d4e5f6", Item: item("spc-7.3")})
	add("codex", event.Work{Action: event.WorkPaused, Agent: "codex-20260903-d4e5f6", Item: item("spc-7.3")})
	add("gemini", event.Work{Action: event.WorkTaken, Agent: "gemini-1", Item: item("日本語 👩‍👩‍👧 שלום"), Reason: "wide"})
	add("gemini", event.Work{Action: event.WorkTaken, Agent: "gemini-1", Item: item("spc-9.9")})
	add("gemini", event.Work{Action: event.WorkLapsed, Agent: "gemini-1", Item: item("spc-9.9"), Beat: "2026-09-03T12:02:00.000Z"})
	add("codex", event.Work{
		Action: event.WorkEscalated, Agent: "codex-20260903-d4e5f6", Holder: "claude-code-20260903-a1b2c3", Item: item("spc-7.2"), Escalation: "0190f3c2-7a51",
	})
	l.Add(t, "claude-code-2", "codex", panetest.Hostile, event.Task{})
	return l
}

func show(t *testing.T, l *panetest.Log, ascii bool) *Pane {
	t.Helper()
	p := New(panetest.Look(t, ascii))
	p.SetFocus(true)
	s := l.Snapshot()
	s.Live = map[string]engine.Liveness{
		"claude-code": {Known: true, Live: true, LastBeat: s.Now.Add(-20 * time.Second)}, "gemini": {Known: true, LastBeat: s.Now.Add(-5 * time.Minute)},
	}
	p.Apply(s, pane.Changes{})
	return p
}

func TestGolden(t *testing.T) {
	panetest.Golden(t, "story", show(t, story(t), false))
	panetest.Golden(t, "story-ascii", show(t, story(t), true))
	panetest.Golden(t, "empty", show(t, panetest.NewLog(), false))
}

func TestWhatWaitsIsFirstAndKeepsItsPlace(t *testing.T) {
	l := story(t)
	p := show(t, l, false)
	p.SetSize(100, 20, false)
	if s := p.Subject(); s.Text != "0190f3c2-7a51" || s.Seq != 10 {
		t.Errorf("the first row is about %+v", s)
	}
	if got, want := p.Status(), "! 1 escalation, 3 held"; got != want {
		t.Errorf("status is %q, want %q", got, want)
	}
	p.Handle(keymap.Down)
	at := p.Subject()
	l.Add(t, "gemini", event.Broadcast, "x", event.Work{
		Action: event.WorkEscalated, Agent: "gemini-1", Holder: "claude-code-20260903-a1b2c3", Item: item("spc-7.2"), Escalation: "e2",
	})
	p.Apply(l.Snapshot(), pane.Changes{})
	if p.Subject() != at {
		t.Errorf("a new escalation moved the selection from %+v to %+v", at, p.Subject())
	}
}

func TestFilterAndDetail(t *testing.T) {
	p := show(t, story(t), false)
	p.SetSize(140, 30, true)
	p.SetFilter("ended lapsed")
	s := ansi.Strip(strings.Join(p.View(), "\n"))
	for _, want := range []string{"spec_task spc-9.9", "lapsed, 3m ago", "last beat 2026-09-03 12:02:00"} {
		if !strings.Contains(s, want) {
			t.Errorf("the detail lacks %q:\n%s", want, s)
		}
	}
	if p.Status() != "1 of 7" {
		t.Errorf("status is %q", p.Status())
	}
}

// The tasks that match a filter, and the one that is selected, are those of the moment, whatever happens to others.
func TestTasksUnderAFilter(t *testing.T) {
	l := panetest.NewLog()
	var ids []string
	task := func(to, text string) { ids = append(ids, l.Add(t, "codex", to, text, event.Task{}).ID) }
	for i := range 40 {
		task("claude-code", []string{"red paint", "blue paint"}[i%2])
	}
	p := New(panetest.Look(t, false))
	p.SetFocus(true)
	p.SetSize(100, 12, false)
	apply := func(want, selected string) {
		t.Helper()
		p.Apply(l.Snapshot(), pane.Changes{})
		panetest.Check(t, p, 100, 12)
		if p.Status() != want || p.Subject().Text != selected {
			t.Errorf("status %q, selected %q; want %q, %q", p.Status(), p.Subject().Text, want, selected)
		}
	}
	settle := func(id string) {
		e, err := event.New("claude-code", event.Broadcast, "done", event.Done{})
		if err != nil {
			t.Fatal(err)
		}
		e.Resolves, e.Seq, e.ID, e.Timestamp = id, int64(len(l.Stored)), "done "+id, event.FormatTime(l.Start)
		if l.Stored = append(l.Stored, e); l.State.Apply(&e) != nil {
			t.Fatal("not settled")
		}
	}
	apply("", ids[0])
	p.SetFilter("red")
	p.Handle(keymap.End)
	apply("20 of 40", ids[38])
	settle(ids[1])
	settle(ids[2])
	task("gemini", "red again")
	task("gemini", "green")
	apply("20 of 40", ids[38])
	p.SetFilter("gemini")
	apply("2 of 40", ids[41]) // what was selected does not match
	p.SetFilter("")
	apply("", ids[41])
	settle(ids[41])
	apply("", ids[40])
}

// A task may be described in thousands of words; how it stands is in sight all the same.
func TestALongTaskLeavesRoomForHowItStands(t *testing.T) {
	l := panetest.NewLog()
	l.Add(t, "codex", "claude-code", strings.Repeat("日本 word ", 500)+"END", event.Task{})
	p := show(t, l, false)
	p.SetSize(60, 12, true)
	p.Handle(keymap.Open)
	s := ansi.Strip(strings.Join(p.View(), "\n"))
	if !strings.Contains(s, "state     open") || !strings.Contains(s, "…") {
		t.Errorf("the detail begins with\n%s", s)
	}
	panetest.Check(t, p, 60, 12)
	p.Handle(keymap.End)
	if s := ansi.Strip(strings.Join(p.View(), "\n")); !strings.Contains(s, "END") {
		t.Errorf("the detail ends with\n%s", s)
	}
}
