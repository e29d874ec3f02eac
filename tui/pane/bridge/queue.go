package bridge

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/pane"
)

// maxQueue bounds the events that are looked at for what waits: as many as one turn can take.
const maxQueue = event.MaxTurnSeqs

// queue is what waits for each session behind its cursor, where a bridge would find it.
type queue struct {
	serial  int   // of the log
	head    int64 // of the log when it was looked at last
	loading bool
	found   map[string]waits // by folded agent
}

// waits is how many events wait for a session, and what the log does not tell of it.
type waits struct {
	events int
	more   bool   // there may be more
	folder string // where it works
	stale  string // why it may be of no use any more
}

func (w waits) String() string {
	if w.more {
		return strconv.Itoa(w.events) + "+"
	}
	return strconv.Itoa(w.events)
}

func (w waits) words() string {
	if w.events == 1 && !w.more {
		return "1 event"
	}
	return w.String() + " events"
}

func (q *queue) key() string { return fmt.Sprint("queue ", q.serial) }

// count looks at what waits, if the log has gone on since that was done.
func (p *Pane) count() pane.Action {
	q, head := &p.queue, p.snap.State.Head()
	sessions := slices.DeleteFunc(p.snap.State.Sessions(), p.snap.State.Rests)
	if p.snap.Past || q.loading || len(sessions) == 0 || q.found != nil && q.head == head {
		return nil
	}
	q.loading, q.head = true, head
	now := p.snap.Now
	return pane.Load{Key: q.key(), Run: func(ctx context.Context, source pane.Source) (any, error) {
		var policy engine.Policy
		if s, ok := source.(interface{ Policy() (engine.Policy, error) }); ok {
			var err error
			if policy, err = s.Policy(); err != nil {
				return nil, err // nor would a bridge start
			}
		}
		var records []engine.SessionRecord
		if s, ok := source.(interface {
			SessionRecords() ([]engine.SessionRecord, error)
		}); ok {
			var err error
			if records, err = s.SessionRecords(); err != nil {
				return nil, err // nor would a bridge start
			}
		}
		low := sessions[0].Cursor
		for _, s := range sessions {
			low = min(low, s.Cursor)
		}
		r, err := source.Events(ctx, engine.Query{After: low, Max: maxQueue})
		if err != nil {
			return nil, err
		}
		found := map[string]waits{}
		for _, s := range sessions {
			w := waits{more: len(r.Events) == maxQueue}
			for i := range r.Events {
				if ev := &r.Events[i]; ev.Seq > s.Cursor {
					if level := bridge.LevelFor(ev, s.Agent, policy); level == engine.Immediate || level == engine.Boundary {
						w.events++
					}
				}
			}
			for i := range records {
				if r := &records[i]; event.SameName(r.Agent, s.Agent) {
					w.folder, w.stale = r.Cwd, r.Stale(now)
				}
			}
			found[event.FoldName(s.Agent)] = w
		}
		return found, nil
	}}
}
