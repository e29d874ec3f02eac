// Package timeline is the pane that shows every event of the log, newest last. It follows the end until somebody scrolls up. However long
// the log is, only a stretch of it is in memory: what is scrolled to, jumped to or searched is read by its numbers.
package timeline

import (
	"fmt"
	"strconv"
	"strings"

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
	head    int64 // the highest number known, also while the past is shown
	started bool
	win     window
	end     int             // events of the window that are shown: all, or those up to a place in the past
	old     map[int64]int64 // recent events that are old news, and what made them so
	from    int             // cells of the sender column
	load    loading
	find    *finding // the search that goes on, nil for none
	missed  string   // what the last search did not find
}

// loading is the one reading that is awaited.
type loading struct {
	serial int    // of the newest Load; results of others are dropped
	on     bool   // it has not come yet
	jump   *place // it replaces the window
	older  bool
	seek   bool  // it is for a search and leaves the window as it is
	at     int64 // where it starts
	dry    bool  // the log ends before the newest number known, as when it was replaced: what comes next is told by the next snapshot
	failed error
}

// place is where somebody wants to be.
type place struct {
	seq    int64
	follow bool // at the end, whatever its number is when it is read
}

// New makes the pane.
func New(look pane.Look) *Pane {
	p := &Pane{from: 4, head: -1, win: emptyWindow(-1, nil)}
	p.Browser = pane.NewBrowser(look, (*rows)(p), true)
	p.ListShare = 60
	return p
}

// ID is the pane's name in commands.
func (p *Pane) ID() string { return "timeline" }

// Title is the pane's name in its frame.
func (p *Pane) Title() string { return "Timeline" }

// Scope is where the pane's keys are.
func (p *Pane) Scope() keymap.Scope { return keymap.Timeline }

// Status says where the selection is, whether the end is followed, and what a filter found so far.
func (p *Pane) Status() string {
	e := p.selected()
	switch {
	case p.load.failed != nil:
		return "events cannot be read"
	case p.find != nil:
		return fmt.Sprintf("searching #%d", max(p.load.at, 0))
	case p.missed != "":
		return "no event has " + text.Line(p.missed)
	case p.win.match != nil:
		return p.found()
	case p.load.on && p.load.jump != nil:
		return fmt.Sprintf("going to #%d", max(p.load.at, 0))
	case e == nil, p.snap.Past:
		return ""
	case p.List.Following():
		return "following"
	}
	return fmt.Sprintf("#%d of #%d", e.Seq, p.head)
}

func (p *Pane) found() string {
	n := len(p.win.events)
	switch {
	case p.load.on:
		return fmt.Sprintf("%d found, searching #%d", n, max(p.load.at, 0))
	case p.win.complete() && p.win.live:
		return fmt.Sprintf("%d found", n)
	}
	return fmt.Sprintf("%d found from #%d to #%d", n, max(p.win.lo, 0), p.win.hi)
}

// Apply takes a snapshot and the events since the last one.
func (p *Pane) Apply(s pane.Snapshot, c pane.Changes) pane.Action {
	was := p.snap
	p.snap = s
	p.load.dry = false
	p.old = superseded(s)
	reset := c.Reset || !p.started
	if reset {
		p.started, p.head = true, -1
	}
	if !s.Past {
		p.head = max(p.head, s.State.Head())
	}
	if reset {
		p.stopFinding()
		p.load = loading{serial: p.load.serial}
		p.win = emptyWindow(p.head, p.matcher())
		p.win.live = !s.Past
		p.show()
	} else if len(c.Events) > 0 {
		p.news(c.Events)
	}
	p.show()
	switch {
	case s.Past && was.Past && was.At == s.At && !reset:
	case s.Past && !p.win.covers(s.At):
		return p.jump(place{seq: s.At})
	case s.Past:
		p.List.End(false)
	case was.Past && !s.Past:
		return p.toEnd()
	}
	return p.want()
}

// superseded lists the recent events that are old news.
func superseded(s pane.Snapshot) map[int64]int64 {
	old := map[int64]int64{}
	for _, r := range s.State.Recent(1 << 16) {
		if r.SupersededBy > 0 {
			old[r.Seq] = r.SupersededBy
		}
	}
	return old
}

// news adds what was stored since. Who looks at the first half of the window keeps it.
func (p *Pane) news(events []event.Event) {
	p.measure(events)
	for i := range events {
		p.head = max(p.head, events[i].Seq)
	}
	dropped := p.win.append(events, !p.List.Following() && p.List.Cursor() < maxKept/2)
	if dropped > 0 {
		p.List.Reselect(max(p.List.Cursor()-dropped, 0))
	}
}

// measure widens the sender column.
func (p *Pane) measure(events []event.Event) {
	for i := range events {
		if name := events[i].From; len(name) > p.from && p.from < maxFrom {
			p.from = max(p.from, min(text.Width(text.Line(name)), maxFrom))
		}
	}
}

// show brings the list up to date with the window and the past.
func (p *Pane) show() {
	p.end = len(p.win.events)
	if p.snap.Past {
		p.end = p.win.index(p.snap.At)
	}
	p.List.SetLen(p.end)
	p.Changed()
}

// matcher is the condition of the filter, nil when every event is shown.
func (p *Pane) matcher() func(*event.Event) bool {
	filter := p.Filter()
	if _, number := numbered(filter); filter == "" || number {
		return nil
	}
	return func(e *event.Event) bool {
		return has(e, filter)
	}
}

// has reports whether every word is somewhere in an event.
func has(e *event.Event, words string) bool {
	return pane.Matches(words, e.Description, e.From, e.To, string(e.Type), e.ID)
}

// numbered reads a filter that is the number of an event: #123.
func numbered(filter string) (seq int64, ok bool) {
	digits, ok := strings.CutPrefix(filter, "#")
	if !ok || digits == "" {
		return 0, ok
	}
	seq, err := strconv.ParseInt(digits, 10, 64)
	return min(seq, event.MaxSeq), err == nil && seq >= 0
}

// SetFilter shows only events that match, or goes to the event when the filter is a number like #123. The whole log is searched, as far
// as there is room on the screen for what is found.
func (p *Pane) SetFilter(filter string) pane.Action {
	before := p.Filter()
	if filter == before {
		return nil
	}
	p.KeepFilter(filter)
	if seq, ok := numbered(filter); ok && p.win.match == nil {
		if filter == "#" || p.snap.Past {
			return nil
		}
		return p.jump(place{seq: seq})
	}
	at, follow, match := p.here(), p.List.Following(), p.matcher()
	p.stopFinding()
	p.load.on = false // what was searched is no longer wanted
	if match != nil && (p.win.match == nil || strings.HasPrefix(filter, before)) {
		p.win.narrow(match)
		p.show()
		p.List.Select(p.win.index(at) - 1)
		if follow {
			p.List.End(true)
		}
		return p.want()
	}
	p.win.match = match
	return p.jump(place{seq: at, follow: follow})
}

// here is the number of the selected event, or of the newest one.
func (p *Pane) here() int64 {
	if e := p.selected(); e != nil {
		return e.Seq
	}
	if p.snap.Past {
		return p.snap.At
	}
	return p.head
}

// jump reads the events around a place; they replace the window.
func (p *Pane) jump(to place) pane.Action {
	from := to.seq
	switch {
	case to.follow:
		from = p.head
	case p.win.match == nil:
		from = min(from, event.MaxSeq-ahead) + ahead
	}
	return p.read(request{from: from, older: true, match: p.win.match}, &to)
}

func (p *Pane) read(r request, jump *place) pane.Action {
	p.load = loading{serial: p.load.serial + 1, on: true, jump: jump, older: r.older, at: r.from, dry: p.load.dry}
	return r.load(p.key())
}

// key tells the result of the newest Load from those of others.
func (p *Pane) key() string { return strconv.Itoa(p.load.serial) }

// toStart and toEnd go to the ends of the log.
func (p *Pane) toStart() pane.Action {
	if p.win.complete() {
		return p.want()
	}
	return p.read(request{from: 0, match: p.win.match}, &place{})
}

func (p *Pane) toEnd() pane.Action {
	switch {
	case p.snap.Past && !p.win.covers(p.snap.At):
		return p.jump(place{seq: p.snap.At})
	case !p.snap.Past && !p.win.live:
		return p.jump(place{seq: p.head, follow: true})
	}
	p.List.End(!p.snap.Past)
	return p.want()
}

// want reads on when an edge of the window is near.
func (p *Pane) want() pane.Action {
	switch {
	case p.load.failed != nil, p.load.on && (p.find == nil || p.load.seek):
		return nil
	case p.find != nil:
		return p.seek()
	}
	from, to := p.List.Visible()
	near := nearEdge
	if p.win.match != nil { // what is found may be far apart: only what is about to be seen is worth searching for
		near = max(to-from, 1)
	}
	enough := p.win.live || p.snap.Past && p.win.hi >= p.snap.At+ahead
	switch {
	case from <= near && !p.win.complete():
		return p.read(request{from: p.win.lo - 1, older: true, match: p.win.match}, nil)
	case p.end-to <= near && !enough && !p.load.dry:
		return p.read(request{from: p.win.hi + 1, match: p.win.match}, nil)
	}
	return nil
}

// Loaded takes a page.
func (p *Pane) Loaded(key string, value any, err error) pane.Action {
	if !p.load.on || key != p.key() {
		return nil
	}
	p.load.on = false
	got, ok := value.(page)
	if err != nil || !ok {
		p.load.failed = err
		p.Changed()
		return nil
	}
	if p.load.seek {
		return p.sought(got)
	}
	p.measure(got.events)
	p.load.dry = got.end && got.hi < p.head
	got.end = got.end && !p.load.dry
	switch {
	case p.load.jump != nil:
		p.arrived(*p.load.jump, got)
	case p.load.older:
		p.win.older(got)
		p.List.Prepend(len(got.events))
		p.show()
	default:
		dropped := p.win.newer(got)
		p.show()
		if dropped > 0 {
			p.List.Reselect(max(p.List.Cursor()-dropped, 0))
		}
	}
	return p.want()
}

// arrived shows the events around a place.
func (p *Pane) arrived(to place, got page) {
	p.win = window{events: got.events, lo: got.lo, hi: got.hi, live: got.end, match: p.win.match}
	p.show()
	switch {
	case to.follow || p.snap.Past && to.seq >= p.snap.At:
		p.List.End(!p.snap.Past)
	default:
		p.List.Select(p.win.index(to.seq) - 1)
	}
}

// Handle moves, opens, follows and travels.
func (p *Pane) Handle(intent keymap.Intent) pane.Action {
	p.load.failed = nil // it is tried again
	p.stopFinding()
	switch {
	case intent == keymap.Follow:
		p.Changed()
		if p.List.Following() || p.snap.Past {
			p.List.Follow(false)
			return p.want()
		}
		return p.toEnd()
	case intent == keymap.Travel:
		if e := p.selected(); e != nil {
			return pane.Travel{Seq: e.Seq}
		}
		return nil
	case !p.Browse(intent):
		return pane.Ignored{}
	case intent == keymap.Home && !p.Inside():
		return p.toStart()
	case intent == keymap.End && !p.Inside():
		return p.toEnd()
	}
	return p.want()
}

func (p *Pane) selected() *event.Event {
	if i := p.List.Cursor(); i >= 0 && i < p.end {
		return &p.win.events[i]
	}
	return nil
}

// Step is the sequence number n events after seq, before it for a negative n, or nearer where the window ends. It reports false when the
// window does not know.
func (p *Pane) Step(seq int64, n int) (int64, bool) {
	if p.win.match != nil || !p.win.covers(seq) || len(p.win.events) == 0 {
		return 0, false
	}
	switch i := p.win.index(seq) - 1 + n; {
	case i < 0:
		return p.win.events[0].Seq, p.win.complete()
	case i >= len(p.win.events):
		return 0, false
	default:
		return p.win.events[i].Seq, true
	}
}

// Subject is the selected event; its copy is its line of the log.
func (p *Pane) Subject() pane.Subject {
	e := p.selected()
	if e == nil {
		return pane.Subject{Seq: -1}
	}
	return pane.Subject{Seq: e.Seq, Agent: e.From, Text: string(e.AppendLine(nil))}
}
