package main

import (
	"context"
	"sync"

	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/tui"
)

// watch holds a discussion while its pane of the cockpit fills the terminal. When the person leaves that before the end, the discussion
// goes on, told as text.
func (h *holder) watch(ctx context.Context, d *discuss.Discussion) (discuss.Result, error) {
	c := h.call
	type end struct {
		result discuss.Result
		err    error
	}
	over := make(chan end, 1)
	h.hush(true)
	go func() {
		result, err := d.Run(ctx)
		over <- end{result, err}
	}()
	if err := c.openCockpit(ctx, tui.Options{At: tui.Now, Discussion: d}); err != nil && ctx.Err() == nil {
		c.note("note: the discussion cannot be drawn and is told as text: %s", err)
	}
	h.hush(false)
	if l := d.Live(); !l.Over {
		c.note("The discussion goes on. %s interrupts it; loadout kill stops everything.", c.stopKey())
	}
	e := <-over
	return e.result, e.err
}

// stage is where a cockpit sees the discussion that one of its verbs holds, as tui.Discussion.
type stage struct {
	changed chan struct{}

	mu   sync.Mutex
	held *discuss.Discussion // nil: none
}

func newStage() *stage { return &stage{changed: make(chan struct{}, 1)} }

// show shows a discussion, unless another one is shown, until hide is called.
func (s *stage) show(d *discuss.Discussion) (hide func()) {
	s.swap(nil, d)
	return func() { s.swap(d, nil) }
}

// swap puts another discussion in the place of one that is shown.
func (s *stage) swap(one, other *discuss.Discussion) {
	s.mu.Lock()
	if s.held == one {
		s.held = other
	}
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Live is how the discussion stands, the zero Live when none is held any more: how it ended its verb says.
func (s *stage) Live() (l discuss.Live) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil {
		l = s.held.Live()
	}
	if l.Over {
		return discuss.Live{}
	}
	return l
}

// Changed has a token whenever Live is another than before.
func (s *stage) Changed() <-chan struct{} { return s.changed }
