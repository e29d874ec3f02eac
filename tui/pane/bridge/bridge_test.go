package bridge

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/panetest"
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
	p.Apply(l.Snapshot(), pane.Changes{})
	return p
}

func TestGolden(t *testing.T) {
	panetest.Golden(t, "story", show(t, story(t), false))
	panetest.Golden(t, "story-ascii", show(t, story(t), true))
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
	for _, want := range []string{"2/2 turns", "queue 1", "41200/50000", "1m15s · 41200 tokens, $0.38", "running · 2 events"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen lacks %q:\n%s", want, screen)
		}
	}
}
