package bridge

import (
	"errors"
	"sync"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
)

// reaper is told which turns have left something.
type reaper struct {
	s *scene

	mu    sync.Mutex
	err   error
	marks []string
	stood []state.TurnStatus // how the turns stood then
}

func (r *reaper) Reap(mark string) error {
	turns := r.s.view().State.Turns()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.marks, r.stood = append(r.marks, mark), append(r.stood, turns[len(turns)-1].Status)
	return r.err
}

// reaped makes a project with a turn whose process was killed, unless alive, and an engine with a reaper.
func reaped(t *testing.T, alive bool) (*reaper, *engine.Engine, state.Turn) {
	t.Helper()
	s := newScene(t, answers("claude-code"))
	s.attach()
	c := spawn(t, "told", s.Project().Root)
	c.hears("active")
	s.say("user", "*", "the-first")
	c.hears("told")
	if !alive {
		c.kill()
	}
	r := &reaper{s: s}
	e := engine.Open(s.Project(), engine.Options{Env: func(string) string { return "" }, Reaper: r})
	return r, e, s.view().State.OpenTurns()[0]
}

// What a lost turn left is ended before the turn is given up, and what cannot be ended keeps it from being given up.
func TestSettleReapsFirst(t *testing.T) {
	t.Parallel()
	r, e, lost := reaped(t, false)
	r.err = errors.New("it hangs")
	if err := Settle(t.Context(), e); !errors.Is(err, r.err) {
		t.Errorf("%v", err)
	}
	if now := r.s.view().State.OpenTurns()[0]; now.Status != state.TurnRunning {
		t.Errorf("given up: %+v", now)
	}
	r.err = nil
	r.s.must(Settle(t.Context(), e))
	if now := r.s.view().State.OpenTurns()[0]; now.Status != state.TurnUncertain {
		t.Errorf("not given up: %+v", now)
	}
	mark := turn.Mark(r.s.Project().Dir, lost.ID)
	if len(r.marks) != 2 || r.marks[0] != mark || r.marks[1] != mark || r.stood[1] != state.TurnRunning {
		t.Errorf("reaped %q, want %q twice; they stood %v", r.marks, mark, r.stood)
	}
}

// Cancelling a turn reaps what is left of it, if nobody else can.
func TestCancelReapsALostTurn(t *testing.T) {
	t.Parallel()
	for _, alive := range []bool{true, false} {
		r, e, lost := reaped(t, alive)
		_, err := CancelTurn(t.Context(), e, lost.ID, "user")
		r.s.must(err)
		if got := len(r.marks) == 1; got == alive {
			t.Errorf("the process lives: %v, reaped: %q", alive, r.marks)
		}
	}
}

// The program of a turn carries the mark by which it is found.
func TestProgramsAreMarked(t *testing.T) {
	t.Parallel()
	p := answers("claude-code")
	s := newScene(t, p)
	s.attach()
	_, err := Send(t.Context(), s.Engine, "claude-code", "hello", s.options)
	s.must(err)
	turns := s.view().State.Turns()
	if want := turn.Mark(s.Project().Dir, turns[0].ID); p.turns[0].Mark != want {
		t.Errorf("mark %q, want %q", p.turns[0].Mark, want)
	}
}
