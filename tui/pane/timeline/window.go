package timeline

import (
	"context"
	"math"
	"slices"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/pane"
)

// Sizes of the part of the log that is in memory, in events. What is not is read again when somebody scrolls there.
const (
	firstPage  = 1000
	olderPage  = 4000
	searchPage = 20_000
	ahead      = 250     // read beyond a place in the past, so that steps forward find their events
	maxKept    = 200_000 // some 100 MB with ordinary events; a tenth more before any is let go
)

// window is a stretch of the log without a gap.
type window struct {
	events   []event.Event // in log order
	room     []event.Event // the array of events with free places in front, so that older pages do not move all
	complete bool          // nothing is older
	detached bool          // newer events than its last are in the log and not in it
	loading  bool
	key      string // of the Load that is awaited; a result with another key is dropped
	serial   int
	failed   error
	limit    int // events that are kept
}

// first and last are the sequence numbers at the window's ends; an empty window is before everything.
func (w *window) first() int64 {
	if len(w.events) == 0 {
		return math.MaxInt64
	}
	return w.events[0].Seq
}

func (w *window) last() int64 {
	if len(w.events) == 0 {
		return -1
	}
	return w.events[len(w.events)-1].Seq
}

// covers reports whether the events around seq are in the window.
func (w *window) covers(seq int64) bool {
	return (w.complete || w.first() <= seq) && (!w.detached || seq <= w.last())
}

// index is how many events there are up to seq. Where numbers fall, which only damaged logs have, the last place counts.
func (w *window) index(seq int64) int {
	for i := len(w.events); i > 0; i-- {
		if w.events[i-1].Seq <= seq {
			return i
		}
	}
	return 0
}

// append adds live events and returns how many old ones were let go for them.
func (w *window) append(events []event.Event) (dropped int) {
	if w.detached {
		return 0
	}
	w.events = append(w.events, events...)
	over := len(w.events) - w.limit
	if over <= w.limit/10 {
		return 0
	}
	w.events = slices.Clone(w.events[over:])
	w.room = nil
	w.complete = false
	return over
}

// prepend adds older events, and lets the newest go when there are too many: nobody looks at both ends.
func (w *window) prepend(page []event.Event) {
	free := len(w.room) - len(w.events)
	if len(w.room) == 0 || free < len(page) || &w.room[len(w.room)-1] != &w.events[len(w.events)-1] {
		free = max(len(page), len(w.events))
		w.room = append(make([]event.Event, free, free+len(w.events)), w.events...)
	}
	from := free - len(page)
	copy(w.room[from:], page)
	w.events = w.room[from:]
	if len(w.events) > w.limit+w.limit/10 {
		w.events = slices.Clone(w.events[:w.limit])
		w.room = nil
		w.detached = true
	}
}

// full reports whether no more events are read for a search.
func (w *window) full() bool { return len(w.events) >= w.limit }

// restart empties the window and asks for the events before seq, 0: the newest.
func (w *window) restart(before int64) pane.Action {
	*w = window{serial: w.serial, limit: w.limit, detached: before > 0}
	return w.load(before, firstPage)
}

// older asks for the events before the window's first.
func (w *window) older(n int) pane.Action {
	if w.loading || w.complete || w.failed != nil {
		return nil
	}
	if len(w.events) == 0 {
		return w.load(0, firstPage)
	}
	return w.load(w.first(), n)
}

func (w *window) load(before int64, n int) pane.Action {
	w.serial++
	w.loading = true
	w.key = serialKey(w.serial)
	q := engine.Query{After: engine.Everything, Before: before, Last: n}
	return pane.Load{Key: w.key, Run: func(ctx context.Context, s pane.Source) (any, error) {
		return s.Events(ctx, q)
	}}
}

// loaded puts older events before the window's and returns how many.
func (w *window) loaded(r engine.EventsResult) (added int) {
	w.loading = false
	page := r.Events
	for len(page) > 0 && page[len(page)-1].Seq >= w.first() { // arrived live in the meantime
		page = page[:len(page)-1]
	}
	if r.Omitted == 0 || len(r.Events) == 0 {
		w.complete = true
	}
	if w.detached && w.last() < 0 && len(page) > 0 && page[len(page)-1].Seq >= r.AsOf {
		w.detached = false // the page reaches the end of the log
	}
	if len(page) > 0 {
		w.prepend(page)
	}
	return len(page)
}
