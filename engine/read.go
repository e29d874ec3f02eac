package engine

import (
	"context"

	"github.com/agentloadout/loadout/engine/state"
)

// View reads the state up to the last complete line. It takes no lock. The caller owns the state.
func (e *Engine) View(ctx context.Context) (*View, error) {
	v, err := e.glance(ctx)
	if err != nil {
		return nil, err
	}
	e.keepDue()
	halted, err := e.Halted()
	if err != nil {
		return nil, err
	}
	v.Halted = halted
	return &v, nil
}

// glance is View without the kill switch.
func (e *Engine) glance(ctx context.Context) (View, error) {
	answered := e.readHead()
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.catchUp(ctx, e.log.Read); err != nil {
		return View{}, err
	}
	v := e.view(e.mem.state.Clone())
	lost, err := e.lost(ctx, answered)
	if err == nil && lost.Seq >= 0 {
		v.Notes = append(v.Notes, lost.String()+"; loadout doctor says what is left of it")
	}
	return v, err
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
