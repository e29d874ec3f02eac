package engine

import "context"

// Beat notes that a registered agent is alive, at most every ten seconds. Best effort: a beat that cannot be written is
// no reason for anything to fail.
func (e *Engine) Beat(ctx context.Context, agent string) { panic("later") }
