package discussion

import (
	"context"
	"slices"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text/markdown"
	"github.com/agentloadout/loadout/tui/theme"
)

// Bounds of what is loaded and kept.
const (
	maxStatements = 1000 // of one thread, the newest
	reach         = 500  // numbers between two statements that are read rather than skipped
	maxRendered   = 2000 // texts that stay rendered
	maxAtOnce     = 2048 // bytes of a text that is rendered as it is drawn
)

// statement is one event of a discussion.
type statement struct {
	event.Discussion
	seq   int64
	from  string
	title string
	at    time.Time
}

func newStatement(e *event.Event) (statement, bool) {
	if e.Type != event.TypeDiscussion {
		return statement{}, false
	}
	body, err := e.Body()
	if err != nil {
		return statement{}, false
	}
	d, ok := body.(event.Discussion)
	return statement{Discussion: d, seq: e.Seq, from: e.From, title: e.Description, at: e.Time()}, ok
}

// readThread loads the statements with these numbers, which rise, and no long stretches between them.
func readThread(key, id string, seqs []int64) pane.Action {
	return pane.Load{Key: key, Run: func(ctx context.Context, source pane.Source) (any, error) {
		var list []statement
		for len(seqs) > 0 {
			n := 1
			for n < len(seqs) && seqs[n]-seqs[n-1] <= reach {
				n++
			}
			result, err := source.Events(ctx, engine.Query{
				After: seqs[0] - 1, Before: seqs[n-1] + 1, Types: []event.Type{event.TypeDiscussion},
			})
			if err != nil {
				return nil, err
			}
			for i := range result.Events {
				if s, ok := newStatement(&result.Events[i]); ok && s.ThreadID == id {
					list = append(list, s)
				}
			}
			seqs = seqs[n:]
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
func render(key string, look pane.Look, list []statement, w int) pane.Action {
	return pane.Load{Key: key, Run: func(ctx context.Context, _ pane.Source) (any, error) {
		done := map[rendering][]theme.Spans{}
		for _, s := range list {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			done[rendering{s.seq, w}] = markdown.Render(look.Theme, s.Content, w)
		}
		return done, nil
	}}
}

// sorted puts statements in order, each once, the newest maxStatements.
func sorted(list []statement) []statement {
	slices.SortStableFunc(list, func(a, b statement) int { return int(a.seq - b.seq) })
	list = slices.CompactFunc(list, func(a, b statement) bool { return a.seq == b.seq })
	return list[max(0, len(list)-maxStatements):]
}
