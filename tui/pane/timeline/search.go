package timeline

import (
	"slices"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/pane"
)

// finding is a search for one event that is not in the window.
type finding struct {
	words   string
	d       int   // 1: towards the end of the log, -1: towards its start
	from    int64 // the next number to look at
	wrapped bool  // it has begun anew at the other end
}

// Search selects the next event that has every word, d rows on at the least, and begins anew behind the last one. What is not in memory
// is read, so it may report true before it has found one; the status says how far it is. It reports false when no event of a log that is
// in memory as a whole has the words.
func (p *Pane) Search(words string, d int) (pane.Action, bool) {
	p.stopFinding()
	match := p.finder(words)
	if p.selectFrom(p.List.Cursor()+d, d, match) {
		return p.want(), true
	}
	switch {
	case p.win.complete() && (p.win.live || p.snap.Past && p.win.covers(p.snap.At)):
		first := 0
		if d < 0 {
			first = p.end - 1
		}
		return nil, p.selectFrom(first, d, match)
	case d < 0:
		p.find = &finding{words: words, d: d, from: p.win.lo - 1}
	default:
		p.find = &finding{words: words, d: d, from: p.win.hi + 1}
	}
	return p.seek(), true
}

// finder is the condition of a search among what the filter shows.
func (p *Pane) finder(words string) func(*event.Event) bool {
	shown := p.win.match
	return func(e *event.Event) bool { return has(e, words) && (shown == nil || shown(e)) }
}

// selectFrom selects the first event of the window that matches, from row i on.
func (p *Pane) selectFrom(i, d int, match func(*event.Event) bool) bool {
	for ; i >= 0 && i < p.end; i += d {
		if match(&p.win.events[i]) {
			p.List.Select(i)
			p.Changed()
			return true
		}
	}
	return false
}

// stopFinding gives up a search that goes on, and forgets one that found nothing.
func (p *Pane) stopFinding() {
	p.find, p.missed = nil, ""
	if p.load.seek {
		p.load.on = false
	}
}

// seek reads on for a search.
func (p *Pane) seek() pane.Action {
	f := p.find
	if f.d < 0 && f.from < 0 || f.d > 0 && f.from > p.last() {
		return p.turn()
	}
	p.load = loading{serial: p.load.serial + 1, on: true, seek: true, older: f.d < 0, at: f.from, dry: p.load.dry}
	p.Changed()
	return request{from: f.from, older: f.d < 0, match: p.finder(f.words)}.load(p.key())
}

// last is the highest number that is shown.
func (p *Pane) last() int64 {
	if p.snap.Past {
		return p.snap.At
	}
	return p.head
}

// turn begins anew at the other end, once.
func (p *Pane) turn() pane.Action {
	f := p.find
	if f.wrapped {
		p.stopFinding()
		p.missed = f.words
		p.Changed()
		return nil
	}
	f.wrapped = true
	if f.from = 0; f.d < 0 {
		f.from = p.last()
	}
	return p.seek()
}

// sought takes what a search has read: it goes to the nearest event that was found, or reads on.
func (p *Pane) sought(got page) pane.Action {
	f := p.find
	if f == nil {
		return p.want()
	}
	events := slices.DeleteFunc(got.events, func(e event.Event) bool { return e.Seq > p.last() })
	switch {
	case len(events) > 0 && f.d < 0:
		p.find = nil
		return p.jump(place{seq: events[len(events)-1].Seq})
	case len(events) > 0:
		p.find = nil
		return p.jump(place{seq: events[0].Seq})
	case f.d < 0:
		f.from = got.lo - 1
	case got.end:
		return p.turn()
	default:
		f.from = got.hi + 1
	}
	return p.seek()
}
