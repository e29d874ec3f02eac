package timeline

import (
	"context"
	"slices"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/pane"
)

// Sizes, in events. Whatever is not in memory is read again when somebody scrolls there.
const (
	pageSize = 1000   // read at once
	maxKept  = 6000   // in memory, some 5 MB with ordinary events
	nearEdge = 250    // rows between what is seen and the window's edge, below which more is read
	ahead    = 250    // read beyond a place in the past, so that steps forward find their events
	scanStep = 10_000 // read at once by a search
	scanMax  = 50_000 // looked at by a search before it reports how far it is
)

// page is what was read: of the events numbered from lo to hi, those that match, sorted by number.
type page struct {
	events []event.Event
	lo, hi int64
	end    bool // hi is the end of the log as it was read
}

// request asks for the events on one side of a number. Reading goes by numbers, so that any place costs the same.
type request struct {
	from  int64 // the first number to look at
	older bool  // towards the start of the log, else towards its end
	match func(*event.Event) bool
}

// load makes the request an action of the pane.
func (r request) load(key string) pane.Action {
	return pane.Load{Key: key, Run: func(ctx context.Context, s pane.Source) (any, error) { return r.read(ctx, s) }}
}

// read reads stretches until there is a page of matching events, or enough were looked at, or the log ends. A stretch without events,
// as a compaction leaves, makes the next one longer.
func (r request) read(ctx context.Context, s pane.Source) (page, error) {
	p := page{lo: r.from, hi: r.from - 1}
	if r.older {
		p = page{lo: r.from + 1, hi: r.from}
	}
	step := int64(pageSize)
	if r.match != nil {
		step = scanStep
	}
	for looked := 0; ; {
		lo, hi := p.hi+1, min(p.hi+step, event.MaxSeq)
		if r.older {
			lo, hi = max(p.lo-step, 0), p.lo-1
		}
		if lo > hi {
			return r.cut(p), nil
		}
		result, err := s.Events(ctx, engine.Query{After: lo - 1, Before: hi + 1})
		if err != nil {
			return page{}, err
		}
		looked += len(result.Events)
		if len(result.Events) == 0 {
			step *= 2
		}
		r.add(&p, lo, hi, result)
		done := p.end
		if r.older {
			done = p.lo == 0
		}
		if done || len(p.events) >= pageSize || looked >= scanMax {
			return r.cut(p), nil
		}
	}
}

// add puts a stretch to the page.
func (r request) add(p *page, lo, hi int64, result engine.EventsResult) {
	found := make([]event.Event, 0, len(result.Events))
	for i := range result.Events {
		if e := &result.Events[i]; lo <= e.Seq && e.Seq <= hi && (r.match == nil || r.match(e)) {
			found = append(found, *e)
		}
	}
	slices.SortStableFunc(found, func(a, b event.Event) int { return bySeq(a, b.Seq) })
	if r.older {
		p.events, p.lo = slices.Concat(found, p.events), lo
	} else {
		p.events, p.hi = slices.Concat(p.events, found), hi
	}
	if p.hi >= result.AsOf && (r.older && hi == p.hi || !r.older) {
		p.hi, p.end = max(result.AsOf, p.lo-1), true
	}
}

// cut shortens the page to what is nearest to where it was asked for.
func (r request) cut(p page) page {
	over := len(p.events) - pageSize
	switch {
	case over <= 0:
	case r.older:
		for over > 0 && p.events[over-1].Seq == p.events[over].Seq {
			over--
		}
		p.events = slices.Clone(p.events[over:])
		p.lo = p.events[0].Seq
	default:
		n := pageSize
		for n < len(p.events) && p.events[n].Seq == p.events[n-1].Seq {
			n++
		}
		if n < len(p.events) {
			p.end, p.hi = false, p.events[n-1].Seq
			p.events = slices.Clone(p.events[:n])
		}
	}
	return p
}
