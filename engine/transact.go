package engine

import "context"

// Do carries a command out: all of it, on disk, or a typed refusal and nothing.
func (e *Engine) Do(ctx context.Context, r Request) (Receipt, error) { panic("later") }
