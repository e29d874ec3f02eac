// Package timeline is the pane that shows every event of the log, newest last. It follows the end until somebody scrolls up, keeps a
// stretch of the log in memory and reads older parts when they are wanted.
package timeline

import (
	"fmt"
	"strconv"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
)

// maxFrom is the widest that the sender column gets.
const maxFrom = 16

// Pane is the timeline pane.
type Pane struct {
	pane.Browser
	snap    pane.Snapshot
	win     window
	started bool
	end     int     // events of the window that are shown: all, or those up to a place in the past
	matches []int32 // with a filter: the indexes of the shown events that match
	tested  int     // with a filter: events that were tested
	from    int     // cells of the sender column
}

// New makes the pane.
func New(look pane.Look) *Pane {
	p := &Pane{from: 4, win: window{limit: maxKept}}
	p.Browser = pane.NewBrowser(look, (*rows)(p), true)
	return p
}

func serialKey(n int) string { return strconv.Itoa(n) }

// ID is the pane's name in commands.
func (p *Pane) ID() string { return "timeline" }

// Title is the pane's name in its frame.
func (p *Pane) Title() string { return "Timeline" }

// Scope is where the pane's keys are.
func (p *Pane) Scope() keymap.Scope { return keymap.Timeline }

// Status says whether the end is followed, and what a filter found so far.
func (p *Pane) Status() string {
	switch {
	case p.Filter() != "" && p.win.loading:
		return fmt.Sprintf("%d found, searching #%d", len(p.matches), max(p.win.first(), 0))
	case p.Filter() != "" && p.win.full() && !p.win.complete:
		return fmt.Sprintf("%d found since #%d", len(p.matches), p.win.first())
	case p.Filter() != "":
		return fmt.Sprintf("%d found", len(p.matches))
	case p.win.failed != nil:
		return "older events cannot be read"
	case p.snap.Past:
		return ""
	case p.List.Following():
		return "following"
	case p.List.Len() > 0:
		return fmt.Sprintf("%d newer", p.List.Len()-1-p.List.Cursor())
	}
	return ""
}

// Apply takes a snapshot and the events since the last one.
func (p *Pane) Apply(s pane.Snapshot, c pane.Changes) pane.Action {
	was := p.snap
	p.snap = s
	var load pane.Action
	switch {
	case c.Reset || !p.started:
		p.started = true
		before := int64(0)
		if s.Past {
			before = s.At + 1 + ahead
		}
		load = p.win.restart(before)
		p.forget()
	case len(c.Events) > 0:
		p.measure(c.Events)
		p.appended(p.win.append(c.Events))
	}
	switch {
	case s.Past && !p.win.covers(s.At) && !p.win.loading:
		load = p.win.restart(s.At + 1 + ahead)
		p.forget()
	case was.Past && !s.Past && p.win.detached:
		load = p.win.restart(0)
		p.forget()
	}
	p.show()
	if s.Past && (!was.Past || was.At != s.At) {
		p.List.End(false)
	} else if was.Past && !s.Past {
		p.List.End(true)
	}
	if load != nil {
		return load
	}
	return p.want()
}

// measure widens the sender column.
func (p *Pane) measure(events []event.Event) {
	for i := range events {
		if name := events[i].From; len(name) > p.from && p.from < maxFrom {
			p.from = max(p.from, min(text.Width(text.Line(name)), maxFrom))
		}
	}
}

// appended keeps the selection as old events were let go.
func (p *Pane) appended(dropped int) {
	if dropped == 0 {
		return
	}
	gone := dropped
	if p.Filter() != "" {
		gone = 0
		for gone < len(p.matches) && int(p.matches[gone]) < dropped {
			gone++
		}
		p.matches = p.matches[gone:]
		for i := range p.matches {
			p.matches[i] -= int32(dropped)
		}
		p.tested = max(p.tested-dropped, 0)
	}
	p.List.Reselect(max(p.List.Cursor()-gone, 0))
}

// forget drops what was found in a window that was emptied.
func (p *Pane) forget() {
	p.matches, p.tested = nil, 0
	p.List.SetLen(0)
}

// show brings the list up to date with the window, the past and the filter.
func (p *Pane) show() {
	p.end = len(p.win.events)
	if p.snap.Past {
		p.end = p.win.index(p.snap.At)
	}
	if p.Filter() != "" {
		for ; p.tested < len(p.win.events); p.tested++ {
			if p.match(p.tested) {
				p.matches = append(p.matches, int32(p.tested))
			}
		}
		n := len(p.matches)
		for n > 0 && int(p.matches[n-1]) >= p.end {
			n--
		}
		p.List.SetLen(n)
	} else {
		p.List.SetLen(p.end)
	}
	p.Changed()
}

func (p *Pane) match(i int) bool {
	e := &p.win.events[i]
	return pane.Matches(p.Filter(), e.Description, e.From, e.To, string(e.Type), e.ID)
}

// SetFilter shows only events that match. Older pages are read until they fill the window.
func (p *Pane) SetFilter(filter string) pane.Action {
	if filter == p.Filter() {
		return nil
	}
	selected := p.at(p.List.Cursor())
	p.KeepFilter(filter)
	p.matches, p.tested = nil, 0
	follow := p.List.Following()
	p.show()
	switch i := p.row(selected); {
	case follow:
		p.List.End(true)
	case i >= 0:
		p.List.Select(i)
	default:
		p.List.End(!p.snap.Past)
	}
	return p.want()
}

// at is the index in the window of row i, -1 for none.
func (p *Pane) at(i int) int {
	switch {
	case i < 0 || i >= p.List.Len():
		return -1
	case p.Filter() != "":
		return int(p.matches[i])
	}
	return i
}

// row is the row of the event at an index in the window, or the nearest before it; -1 for none.
func (p *Pane) row(at int) int {
	if p.Filter() == "" || at < 0 {
		return at
	}
	n := p.List.Len()
	for n > 0 && int(p.matches[n-1]) > at {
		n--
	}
	return n - 1
}

func (p *Pane) selected() *event.Event {
	if at := p.at(p.List.Cursor()); at >= 0 && at < len(p.win.events) {
		return &p.win.events[at]
	}
	return nil
}

// want asks for older events when the rows above the first are near to be seen.
func (p *Pane) want() pane.Action {
	from, to := p.List.Visible()
	near := from <= to-from
	switch {
	case p.Filter() == "" && near:
		return p.win.older(olderPage)
	case p.Filter() != "" && near && !p.win.full():
		return p.win.older(searchPage)
	}
	return nil
}

// Loaded takes a page of older events.
func (p *Pane) Loaded(key string, value any, err error) pane.Action {
	if key != p.win.key || !p.win.loading {
		return nil
	}
	result, ok := value.(engine.EventsResult)
	if err != nil || !ok {
		p.win.loading, p.win.failed = false, err
		return nil
	}
	empty := len(p.win.events) == 0
	added := p.win.loaded(result)
	p.measure(result.Events[:added])
	rows := added
	if p.Filter() != "" {
		rows = p.prepended(added)
	}
	if empty {
		p.show()
		p.List.End(!p.snap.Past)
	} else {
		p.List.Prepend(rows)
		p.show()
	}
	return p.want()
}

// prepended tests a page against the filter and returns how many events matched.
func (p *Pane) prepended(added int) int {
	var found []int32
	for i := range added {
		if p.match(i) {
			found = append(found, int32(i))
		}
	}
	for _, m := range p.matches {
		found = append(found, m+int32(added))
	}
	n := len(found) - len(p.matches)
	p.matches = found
	p.tested += added
	return n
}

// Handle moves, opens, follows and travels.
func (p *Pane) Handle(intent keymap.Intent) pane.Action {
	switch intent {
	case keymap.Follow:
		p.List.Follow(!p.List.Following() && !p.snap.Past)
		p.Changed()
		return p.catchUp()
	case keymap.Travel:
		if e := p.selected(); e != nil {
			return pane.Travel{Seq: e.Seq}
		}
	default:
		if !p.Browse(intent) {
			return pane.Ignored{}
		}
		if intent == keymap.End {
			p.List.Follow(!p.snap.Past)
			return p.catchUp()
		}
	}
	return p.want()
}

// catchUp reads the newest events again when somebody wants the end after having scrolled so far back that they were let go.
func (p *Pane) catchUp() pane.Action {
	if !p.List.Following() || !p.win.detached {
		return p.want()
	}
	load := p.win.restart(0)
	p.forget()
	return load
}

// Step is the sequence number n events after seq, before it for a negative n, or nearer where the window ends. It reports false when the
// window does not know.
func (p *Pane) Step(seq int64, n int) (int64, bool) {
	if !p.win.covers(seq) || len(p.win.events) == 0 {
		return 0, false
	}
	i := p.win.index(seq) - 1 + n
	if i < 0 {
		return p.win.first(), p.win.complete
	}
	if i >= len(p.win.events) {
		return 0, false
	}
	return p.win.events[i].Seq, true
}

// Subject is the selected event; its copy is its line of the log.
func (p *Pane) Subject() pane.Subject {
	e := p.selected()
	if e == nil {
		return pane.Subject{Seq: -1}
	}
	return pane.Subject{Seq: e.Seq, Agent: e.From, Text: string(e.AppendLine(nil))}
}
