package engine

import (
	"context"

	"github.com/agentloadout/loadout/engine/state"
)

// StateAt is the state as of seq, also below a compaction. A seq that the log has not reached yet, or whose archive is gone, is
// a *NotFoundError.
func (e *Engine) StateAt(ctx context.Context, seq int64) (*state.State, error) { panic("later") }
