package bridge

import (
	"testing"

	"github.com/agentloadout/loadout/engine/event"
)

// A plan admits turns as the bridge would that begins with it: with its caps, its sessions, and its turns side by side.
func TestPlanKeepsTheCaps(t *testing.T) {
	t.Parallel()
	one, two := int64(1), int64(2)
	for _, tt := range []struct {
		name   string
		limits Limits
		claude event.TurnCap
		codex  event.TurnCap
	}{
		{"set before", Limits{}, event.CapTurns, ""},
		{"raised", Limits{Turns: &two}, "", ""},
		{"of each", Limits{Turns: &one}, event.CapTurns, ""},
		{"of all, used up", Limits{Turns: &two, TotalTurns: &one}, event.CapTotalTurns, event.CapTotalTurns},
		{"of all, one left", Limits{Turns: &two, TotalTurns: &two}, "", event.CapTotalTurns},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			claude, codex := answers("claude-code"), answers("codex")
			s := newScene(t, claude, codex)
			s.attach()
			b, err := Start(t.Context(), s.Engine, Sessions{Refs: []Ref{{Agent: "claude-code"}}, Limits: Limits{Turns: &one}}, s.options)
			s.must(err)
			s.say("user", "claude-code", "the only one")
			s.delivered("claude-code", 1)
			s.must(b.Stop())
			b, err = Start(t.Context(), s.Engine, Sessions{Refs: []Ref{{Agent: "codex"}}}, s.options) // which drives another session
			s.must(err)
			s.must(b.Stop())
			s.say("user", "*", "one more")
			list, err := Plan(t.Context(), s.Engine, Sessions{Refs: []Ref{{Agent: "claude-code"}, {Agent: "codex"}}, Limits: tt.limits}, s.options)
			s.must(err)
			if len(list) != 2 || len(list[0].Seqs) != 1 || list[0].Stopped != tt.claude || list[1].Stopped != tt.codex {
				t.Errorf("stopped by %q and %q, want %q and %q", list[0].Stopped, list[1].Stopped, tt.claude, tt.codex)
			}
		})
	}
}

// A session that is not known yet counts too.
func TestPlanOfNewSessions(t *testing.T) {
	t.Parallel()
	s := newScene(t, answers("claude-code"))
	s.say("user", "*", "one more")
	one, before := int64(1), int64(-1)
	refs := []Ref{{Provider: "claude-code", Session: "a"}, {Provider: "claude-code", Session: "b"}}
	list, err := Plan(t.Context(), s.Engine, Sessions{Refs: refs, From: &before, Limits: Limits{TotalTurns: &one}}, s.options)
	s.must(err)
	if list[0].Agent != "" || list[0].Stopped != "" || list[1].Agent != "" || list[1].Stopped != event.CapTotalTurns {
		t.Errorf("%+v", list)
	}
}
