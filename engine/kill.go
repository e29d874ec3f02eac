package engine

import "context"

// KillSwitchName is the file whose presence stops every write.
const KillSwitchName = "KILL_SWITCH"

// Kill sets the kill switch: first the file, without the lock, so that it holds at once, then the record. When it is set already
// the receipt is a Duplicate and a note says by whom.
func (e *Engine) Kill(ctx context.Context, by, reason string) (Receipt, error) { panic("later") }

// Resume lifts the kill switch and records that. When it is not set the receipt is a Duplicate.
func (e *Engine) Resume(ctx context.Context, by string) (Receipt, error) { panic("later") }

// Halted is the kill switch as its file tells it now, nil when it is not there. A damaged file still halts.
func (e *Engine) Halted() (*HaltedError, error) { panic("later") }
