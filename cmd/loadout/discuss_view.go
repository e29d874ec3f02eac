package main

import (
	"context"

	"github.com/agentloadout/loadout/engine/discuss"
)

// watch holds a discussion while its pane of the cockpit fills the terminal.
func (h *holder) watch(ctx context.Context, d *discuss.Discussion) (discuss.Result, error) {
	return d.Run(ctx)
}
