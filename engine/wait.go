package engine

import (
	"context"
	"time"
)

// OwnWait carries an Own command out and, while another agent's claim is in the way, waits up to wait for it to end.
// progress, which may be nil, is told at once and then about once a second who is in the way and how much time is left.
// When the time is up the last refusal is returned.
func (e *Engine) OwnWait(ctx context.Context, r Request, wait time.Duration, progress func(*ConflictError, time.Duration)) (Receipt, error) {
	panic("later")
}
