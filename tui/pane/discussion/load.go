package discussion

import (
	"context"
	"slices"

	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text/markdown"
	"github.com/agentloadout/loadout/tui/theme"
)

// Bounds of what is loaded and kept.
const (
	maxStatements = 1000 // of one thread, the newest
	maxRendered   = 2000 // texts that stay rendered
	maxAtOnce     = 2048 // bytes of a text that is rendered as it is drawn
)

// readThread loads the statements with these numbers.
func readThread(key, id string, seqs []int64) pane.Action {
	return pane.Load{Key: key, Run: func(ctx context.Context, source pane.Source) (any, error) {
		events, err := discuss.Events(ctx, source, id, seqs)
		if err != nil {
			return nil, err
		}
		list := make([]discuss.Statement, 0, len(events))
		for i := range events {
			if s, ok := discuss.NewStatement(&events[i]); ok {
				list = append(list, s)
			}
		}
		return list, nil
	}}
}

// rendering names a text at a width.
type rendering struct {
	seq int64
	w   int
}

// render draws the markdown of statements away from the update loop.
func render(key string, look pane.Look, list []discuss.Statement, w int) pane.Action {
	return pane.Load{Key: key, Run: func(ctx context.Context, _ pane.Source) (any, error) {
		done := map[rendering][]theme.Spans{}
		for _, s := range list {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			done[rendering{s.Seq, w}] = markdown.Render(look.Theme, s.Content, w)
		}
		return done, nil
	}}
}

// sorted puts statements in order, each once, the newest maxStatements.
func sorted(list []discuss.Statement) []discuss.Statement {
	slices.SortStableFunc(list, func(a, b discuss.Statement) int { return int(a.Seq - b.Seq) })
	list = slices.CompactFunc(list, func(a, b discuss.Statement) bool { return a.Seq == b.Seq })
	return list[max(0, len(list)-maxStatements):]
}
