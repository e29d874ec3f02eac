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
	if seq := v.at.Highest(); seq > e.readHead() { // who wrote it does not keep that file
		e.writeHead(seq)
	}
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
	if lost := lost.note(); lost != "" {
		v.Notes = append(v.Notes, lost)
	}
	return v, err
}

// Loss reads the log to its end and says, for people, what was answered and is there no more: the log is gone, or an older copy lies in
// its place. It is "" when nothing is missed, and again after the next write, which takes that down.
func (e *Engine) Loss(ctx context.Context) (string, error) {
	answered := e.readHead()
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.catchUp(ctx, e.log.Read); err != nil {
		return "", err
	}
	lost, err := e.lost(ctx, answered)
	return lost.note(), err
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
		typed:    e.typed,
	}
}
