package bridge

import (
	"errors"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

// While another process drives a bridge and a turn, both refuse what they exclude; the kill switch is told first.
func TestKillSwitchBeforeConflicts(t *testing.T) {
	t.Parallel()
	s := newScene(t, answers("claude-code"))
	s.attach()
	other := openProject(s.Project().Root)
	bridge, err := other.BridgeLease(t.Context())
	s.must(err)
	session, err := other.TurnLease(t.Context(), "claude-code", 0)
	s.must(err)
	defer func() { s.must(errors.Join(bridge(), session())) }()
	_, err = other.RecordTurns(t.Context(), "", func(v engine.View) ([]event.Event, error) {
		known, _ := v.State.Session("claude-code")
		queued, started := of(known, event.TurnQueued), of(known, event.TurnStarted)
		queued.Turn, queued.Why = event.NewID(), event.WhyMessage
		started.Turn, started.Why = queued.Turn, queued.Why
		return events(queued, started)
	})
	s.must(err)
	start := func() error {
		_, err := Start(t.Context(), s.Engine, Sessions{Refs: []Ref{{Agent: "claude-code"}}}, s.options)
		return err
	}
	forget := func() error {
		_, err := Forget(t.Context(), s.Engine, "claude-code", "user")
		return err
	}
	var locked *engine.LockedError
	var conflict *engine.ConflictError
	var halted *engine.HaltedError
	if err := start(); !errors.As(err, &locked) {
		t.Errorf("a second bridge: %v", err)
	}
	if err := forget(); !errors.As(err, &conflict) {
		t.Errorf("forgotten in a turn: %v", err)
	}
	_, err = s.Kill(t.Context(), "user", "enough")
	s.must(err)
	for name, verb := range map[string]func() error{"bridge": start, "forget": forget} {
		if err := verb(); !errors.As(err, &halted) || errors.As(err, &locked) || errors.As(err, &conflict) {
			t.Errorf("%s while halted: %v", name, err)
		}
	}
}
