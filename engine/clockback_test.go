package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// TestClockSetBack: a clock that goes back changes no order, ends no claim early, and makes no age negative.
func TestClockSetBack(t *testing.T) {
	s := newScene(t)
	name := s.register("codex", 100)
	s.do(Own{Agent: name, Paths: []string{"src"}, TTL: 30 * time.Minute})
	expires := s.clock.time().Add(30 * time.Minute)
	s.clock.move(-2 * time.Hour)
	s.Engine = s.open(Options{})

	_, err := s.Do(t.Context(), Request{Command: own("gemini", "src")})
	refusal := as[*ConflictError](t, err)
	if said := err.Error(); strings.Contains(said, "(-") || !strings.Contains(said, "(just now)") {
		t.Errorf("refusal %s", said)
	}
	if !refusal.Conflicts[0].Claim.ExpiresAt.Equal(expires) {
		t.Errorf("expires %v, want %v", refusal.Conflicts[0].Claim.ExpiresAt, expires)
	}
	if live := s.view().Live(name); !live.Live {
		t.Errorf("%s is taken for dead: %+v", name, live)
	}
	later := s.do(note(name, "earlier by the clock"))
	if len(later.Expired) != 0 || later.Seq() != 2 {
		t.Errorf("after the clock went back: %+v", later)
	}
	found, err := s.Events(t.Context(), Query{After: Everything})
	if err != nil || len(found.Events) != 3 || found.Events[2].ID != later.Events[0].ID {
		t.Errorf("events %+v, %v", found.Events, err)
	}
	timeline := NewTimeline(found.Events)
	if got := timeline.Entries[2].RelativeTime; got != "-2h" {
		t.Errorf("relative time %q", got)
	}

	s.clock.move(2*time.Hour + 31*time.Minute)
	if r := s.do(own("gemini", "src")); len(r.Expired) != 1 {
		t.Errorf("once the time is really up: %+v", r)
	}
	renewed := s.do(Own{Agent: "gemini", Paths: []string{"src"}, TTL: time.Minute})
	if body, err := renewed.Events[0].Body(); err != nil || body.(event.Ownership).ExpiresAt != event.FormatTime(s.clock.time().Add(time.Minute)) {
		t.Errorf("renewal %+v, %v", body, err)
	}
}
