package tui

import (
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// last is the newest command that the cockpit sent.
func (d *driver) last() engine.Command {
	d.Helper()
	if len(d.fake.calls) == 0 {
		d.Fatalf("nothing was sent:\n%s", d.screen())
	}
	return d.fake.calls[len(d.fake.calls)-1].Command
}

func TestQuestionsAreAnsweredWhereTheyWait(t *testing.T) {
	f := newFake()
	f.own(t, "codex", event.Exclusive, "", "src")
	asked := f.add(t, "codex", event.User, "Cents or euros?", event.Question{})
	d := drive(t, f)
	d.press("8", "home")
	d.shows("Cents or euros?", "! 1 for you")
	d.press("a")
	d.shows("codex asked")
	d.press("enter")
	d.shows("what is the answer?")
	d.press("cents", "enter")
	if answer, ok := d.last().(engine.Answer); !ok || answer.ID != asked.ID || answer.Text != "cents" || answer.From != event.User {
		t.Errorf("sent %+v", d.last())
	}
}

// Every open task is settled where it is listed.
func TestTasksAreSettledInTheWorkPane(t *testing.T) {
	f := newFake()
	var ids []string
	for range 2 {
		ids = append(ids, f.add(t, "codex", "gemini", "Build the cart page", event.Task{}).ID)
	}
	d := drive(t, f)
	d.resize(80, 24)
	d.press("5")
	d.shows("a settle")
	d.press("a")
	d.shows("codex asked for it", "Build the cart page", "(●) done", "( ) withdrawn")
	d.press("tab", "12 tests pass", "enter")
	if done, ok := d.last().(engine.Finish); !ok || done != (engine.Finish{From: event.User, ID: ids[0], Evidence: "12 tests pass"}) {
		t.Errorf("sent %+v", d.last())
	}
	d.press("a", "left", "tab", "no cart", "enter")
	if gone, ok := d.last().(engine.Cancel); !ok || gone != (engine.Cancel{From: event.User, ID: ids[1], Reason: "no cart"}) {
		t.Errorf("sent %+v", d.last())
	}
	d.hides("Build the cart page")
	d.press("home")
	d.shows("a ack")
}

func TestTasksOfAPersonAreSettled(t *testing.T) {
	f := newFake()
	asked := f.add(t, "codex", event.User, "Look at the schema", event.Task{})
	d := drive(t, f)
	d.press("8", "home", "a", "right", "tab", "no time", "enter")
	if done, ok := d.last().(engine.Finish); !ok || done.ID != asked.ID || !done.Failed || done.Evidence != "no time" {
		t.Errorf("sent %+v", d.last())
	}
}

func TestForceNeedsAReason(t *testing.T) {
	f := newFake()
	f.own(t, "codex", event.Exclusive, "the web part", "src")
	d := drive(t, f)
	d.press("1", "F")
	d.shows("codex holds src since", "because the web part")
	d.press("enter")
	d.shows("force needs a reason")
	d.press("it is lunch", "enter")
	if own, ok := d.last().(engine.Own); !ok || !own.Force || own.Reason != "it is lunch" || own.Paths[0] != "src" {
		t.Errorf("sent %+v", d.last())
	}
}

func TestFormsBeginWhereSomethingIsMissing(t *testing.T) {
	f := newFake()
	f.own(t, "codex", event.Exclusive, "", "src")
	d := drive(t, f)
	d.press("1", "A", "Until when?", "enter")
	if ask, ok := d.last().(engine.Ask); !ok || ask.To != "codex" || ask.Text != "Until when?" {
		t.Errorf("sent %+v", d.last())
	}
	d.press("T", "Write a test", "enter")
	if task, ok := d.last().(engine.AddTask); !ok || task.To != "codex" || task.Text != "Write a test" {
		t.Errorf("sent %+v", d.last())
	}
	d.press("esc", "F", "it is lunch", "enter")
	if own, ok := d.last().(engine.Own); !ok || own.Reason != "it is lunch" || own.Paths[0] != "src" {
		t.Errorf("sent %+v", d.last())
	}
}

func TestWhatWaitsIsSelectedWhenThePaneIsReached(t *testing.T) {
	f := newFake()
	f.add(t, "codex", event.Broadcast, "works", event.Update{})
	d := drive(t, f)
	d.press("8", "down", "1")
	f.add(t, "codex", event.User, "Cents or euros?", event.Question{})
	d.sync()
	d.press("8")
	d.shows("a answer")
	d.press("down")
	d.shows("a ack")
	d.press("up", "a")
	d.shows("codex asked")
}

func TestTheTimelineDoesNotNameTheSenderTwice(t *testing.T) {
	f := newFake()
	f.own(t, "codex", event.Exclusive, "", "src")
	d := drive(t, f)
	d.shows("codex  claims: src")
}

func TestHelpExplainsTheMarks(t *testing.T) {
	d := drive(t, newFake())
	d.resize(120, 70)
	d.press("?")
	d.shows("marks", "a claim: exclusive, shared")
}

func TestTheHolderIsAsked(t *testing.T) {
	f := newFake()
	f.own(t, "codex", event.Exclusive, "", "src")
	d := drive(t, f)
	d.press("1", "A")
	d.shows("May I have src?")
	d.press("enter")
	if ask, ok := d.last().(engine.Ask); !ok || ask.To != "codex" || ask.Text != "May I have src?" {
		t.Errorf("sent %+v", d.last())
	}
}

func TestDriftReachesThePanes(t *testing.T) {
	f := newFake()
	f.own(t, "codex", event.Exclusive, "", "src")
	d := drive(t, f)
	report := engine.DriftReport{Git: true, Items: []engine.Drift{{
		Path: "src/a.go", Kind: engine.DriftForeign, Owners: []string{"codex"}, Claim: "src", Branch: "web", Agents: []string{"claude-code"}, Status: "modified",
	}}}
	d.m.feed.change(func(u *update) { u.drift = &report })
	d.sync()
	d.shows("≠ 1 drift", "a.go", "claude-code in web")
	d.press("[")
	d.hides("a.go")
	d.press("]")
	d.shows("a.go")
}

func TestCapsNeedABridge(t *testing.T) {
	d := drive(t, newFake())
	d.m.settle(d.m.panes[d.m.focus].Subject()) // nothing waits: the form of an acknowledgement
	d.shows("Acknowledge")
	d.press("esc")
	s := d.m.panes[d.m.focus].Subject()
	s.Wait = &state.Waiting{Kind: state.WaitCap}
	d.m.settle(s)
	d.shows("no turns can be made from this cockpit")
}
