package engine

import (
	"context"

	"github.com/agentloadout/loadout/engine/state"
)

// View reads the state up to the last complete line. It takes no lock. The caller owns the state.
func (e *Engine) View(ctx context.Context) (*View, error) {
	e.mu.Lock()
	if err := e.catchUp(ctx, e.log.Read); err != nil {
		e.mu.Unlock()
		return nil, err
	}
	v := e.view(e.mem.state.Clone())
	e.mu.Unlock()
	e.keepDue()
	halted, err := e.Halted()
	if err != nil {
		return nil, err
	}
	v.Halted = halted
	return &v, nil
}

// view is what rules look at. The caller holds e.mu; s is the memory's state or a copy of it.
func (e *Engine) view(s *state.State) View {
	now := e.now()
	return View{
		State:    s,
		Now:      now,
		FoldCase: e.project.FoldCase,
		Live:     e.liveness(s, now),
		at:       e.mem.at,
	}
}
