package timeline

import (
	"cmp"
	"slices"

	"github.com/agentloadout/loadout/engine/event"
)

// window is a stretch of the log: of the events numbered from lo to hi, those that match, sorted by number. It is empty with
// lo = hi+1.
type window struct {
	events []event.Event
	lo, hi int64
	live   bool                    // hi is the end of the log: news belong to it
	match  func(*event.Event) bool // nil: every event does
}

// empty is a window that ends with the log's last event.
func emptyWindow(head int64, match func(*event.Event) bool) window {
	return window{lo: head + 1, hi: head, live: true, match: match}
}

// complete reports whether nothing is older.
func (w *window) complete() bool { return w.lo <= 0 }

// covers reports whether the window knows of the event with a number.
func (w *window) covers(seq int64) bool { return w.lo <= seq && (seq <= w.hi || w.live) }

// index is how many events there are up to a number.
func (w *window) index(seq int64) int {
	i, _ := slices.BinarySearchFunc(w.events, seq+1, bySeq)
	return i
}

func bySeq(e event.Event, seq int64) int { return cmp.Compare(e.Seq, seq) }

// append adds news. With keepOld, what would grow the window above maxKept is left to be read again later; else the oldest events are
// let go, and it returns how many.
func (w *window) append(news []event.Event, keepOld bool) (dropped int) {
	for i := range news {
		e := &news[i]
		switch {
		case e.Seq <= w.hi: // a number that falls, which only damaged logs have
			w.insert(e)
			continue
		case !w.live:
			continue
		case w.match == nil || w.match(e):
			if keepOld && len(w.events) >= maxKept {
				w.live = false
				continue
			}
			w.events = append(w.events, *e)
		}
		w.hi = e.Seq
	}
	if len(w.events) > maxKept+pageSize {
		dropped = w.dropOldest()
	}
	return dropped
}

// insert puts an event at its place, unless it is there.
func (w *window) insert(e *event.Event) {
	if e.Seq < w.lo || w.match != nil && !w.match(e) {
		return
	}
	at := w.index(e.Seq)
	for i := at - 1; i >= 0 && w.events[i].Seq == e.Seq; i-- {
		if w.events[i].ID == e.ID {
			return
		}
	}
	w.events = slices.Insert(w.events, at, *e)
}

// older puts a page before the window. The newest events are let go when there are too many: nobody looks at both ends.
func (w *window) older(p page) {
	w.events = slices.Concat(p.events, w.events)
	w.lo = p.lo
	if len(w.events) > maxKept {
		w.events = slices.Clone(w.events[:maxKept])
		w.hi, w.live = w.events[maxKept-1].Seq, false
	}
}

// newer puts a page behind the window and returns how many of the oldest events were let go.
func (w *window) newer(p page) (dropped int) {
	w.events = append(w.events, p.events...)
	w.hi, w.live = p.hi, p.end
	if len(w.events) > maxKept {
		dropped = w.dropOldest()
	}
	return dropped
}

func (w *window) dropOldest() (dropped int) {
	dropped = len(w.events) - maxKept
	w.events = slices.Clone(w.events[dropped:])
	w.lo = w.events[0].Seq
	return dropped
}

// narrow keeps what also matches another condition, which must be at least as strict.
func (w *window) narrow(match func(*event.Event) bool) {
	w.match = match
	var kept []event.Event
	for i := range w.events {
		if match(&w.events[i]) {
			kept = append(kept, w.events[i])
		}
	}
	w.events = kept
}
