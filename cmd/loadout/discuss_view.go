package main

import (
	"context"

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
		c.note("The discussion goes on. Ctrl-C interrupts it; loadout kill stops everything.")
	}
	e := <-over
	return e.result, e.err
}
