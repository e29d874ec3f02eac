package engine

import "context"

// MaxCardBytes bounds a handover card.
const MaxCardBytes = 1024

// Card is what the next session of an agent must know, as text of at most MaxCardBytes: claims, open tasks, last decisions,
// files that are changed and not committed.
func (e *Engine) Card(ctx context.Context, agent string) (string, error) { panic("later") }
