package bridge

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/panetest"
)

// Sessions of agents that have ended are one row, and nothing is counted as waiting for them.
func TestEndedAgentsAreOneRow(t *testing.T) {
	l := panetest.NewLog()
	through := int64(-1)
	for _, agent := range []string{"codex", "sim-3", "sim-4"} {
		l.Add(t, agent, event.Broadcast, "x", event.Agent{Action: event.AgentRegistered, Name: agent, Base: "sim"})
		l.Add(t, event.Loadout, event.Broadcast, "x", event.Turn{Action: event.TurnAttached, Agent: agent, Provider: "sim", Session: agent, Through: &through})
	}
	for _, agent := range []string{"sim-3", "sim-4"} {
		l.Add(t, agent, event.Broadcast, "x", event.Agent{Action: event.AgentEnded, Name: agent})
	}
	l.Add(t, "user", event.Broadcast, "do it", event.Task{})
	p := show(t, l, false)
	p.SetSize(100, 20, false)
	screen := ansi.Strip(strings.Join(p.View(), "\n"))
	if !strings.Contains(screen, "2 sessions of agents that have ended") || strings.Contains(screen, "sim-3  ") || strings.Count(screen, "queue") != 1 {
		t.Errorf("the screen:\n%s", screen)
	}
}

// What the bridge said is of no use once it has ended.
func TestNotesEndWithTheBridge(t *testing.T) {
	l := story(t)
	p := show(t, l, false)
	s := here(l)
	s.Bridging.Here = false
	p.Apply(s, pane.Changes{})
	p.SetSize(100, 12, false)
	if screen := ansi.Strip(strings.Join(p.View(), "\n")); strings.Contains(screen, "from seq 3 on") {
		t.Errorf("the screen:\n%s", screen)
	}
}
