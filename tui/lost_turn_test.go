package tui

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/pane"
)

// leased is an engine with a process that waits for the turns of one agent.
type leased struct {
	*fakeEngine
	agent string
}

func (l leased) TurnHolder(_ context.Context, agent string) (*engine.LockedError, error) {
	if agent == l.agent {
		return &engine.LockedError{}, nil
	}
	return nil, nil //nolint:nilnil // nobody, as in the engine
}

// Turns run that somebody waits for, and only those are counted as running.
func TestLostTurnsAreToldApart(t *testing.T) {
	e := leased{newFake(), "codex"}
	for _, agent := range []string{"codex", "gemini"} {
		for _, action := range []event.TurnAction{event.TurnQueued, event.TurnStarted} {
			e.add(t, event.Loadout, event.Broadcast, "x", event.Turn{
				Action: action, Turn: "of-" + agent, Agent: agent, Provider: agent, Why: event.WhyMessage,
			})
		}
	}
	v, err := e.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := (&feed{engine: e}).holder(t.Context(), v)
	if !slices.Equal(found.lost, []string{"of-gemini"}) {
		t.Errorf("lost %q", found.lost)
	}
	if found.same(&holder{who: found.who}) || !found.same(&holder{found.who, []string{"of-gemini"}}) {
		t.Error("a turn that is lost is no news, or is without end")
	}
	if said := turnsText(v.State, &pane.Bridging{Lost: found.lost}, "|"); !strings.HasPrefix(said, "1 turn running") {
		t.Errorf("the header says %q", said)
	}
}
