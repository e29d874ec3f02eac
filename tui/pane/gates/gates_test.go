package gates

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/panetest"
)

func story(t *testing.T) *panetest.Log {
	t.Helper()
	l := panetest.NewLog()
	add := func(body event.Body) { l.Add(t, "claude-code", event.Broadcast, "x", body) }
	add(event.Gate{Scope: "checkout", Ledger: "leaf-api", Met: 1, Unmet: 2, Abandoned: 1, Gates: []event.GateLine{
		{ID: "G1", Title: "the endpoint answers 201", State: event.GateMet},
		{ID: "G2", Title: "refusals are typed", State: event.GateStale},
		{ID: "G3", Title: panetest.Hostile, State: event.GateNoEvidence},
		{ID: "G4", Title: "a second currency", State: event.GateAbandoned, Reason: "out of scope"},
	}})
	add(event.Gate{Scope: "checkout", Ledger: "GATES", Met: 12})
	add(event.Gate{Ledger: "日本語のゲート", Unmet: 1, Invalid: "line 3: zero live gates"})
	at := "2026-09-03T12:01:00.000Z"
	add(event.Wave{Scope: "checkout", Wave: "w1", State: event.WaveComplete, Leaves: []event.WaveLeaf{{Leaf: "leaf-db", Handle: "task-0", Started: at, Returned: at}}})
	add(event.Wave{Scope: "checkout", Wave: "w2", State: event.WaveSealed, Leaves: []event.WaveLeaf{
		{Leaf: "leaf-api", Handle: "task-1", Started: at, Returned: at}, {Leaf: "leaf-web", Handle: "task-2", Started: at},
	}})
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

func TestCountsAndDetail(t *testing.T) {
	p := show(t, story(t), false)
	if p.Status() != "3 unmet" {
		t.Errorf("status is %q", p.Status())
	}
	p.SetSize(140, 30, true)
	p.SetFilter("leaf-api currency")
	p.Handle(keymap.Home)
	s := ansi.Strip(strings.Join(p.View(), "\n"))
	for _, want := range []string{"1 met, 2 unmet, 1 abandoned", "its evidence is of an older form of it", "ticked without evidence", "abandoned: out of scope"} {
		if !strings.Contains(s, want) {
			t.Errorf("the detail lacks %q:\n%s", want, s)
		}
	}
}
