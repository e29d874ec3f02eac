package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/store"
)

// Everything is the After of a query or a follower that wants the log from its first line.
const Everything int64 = -1

// NewOnly is the after of a follower that wants only what comes from now on.
const NewOnly int64 = math.MaxInt64

// Query selects events of the log. The zero value asks for all after sequence 0; use After: Everything for the first too.
type Query struct {
	After  int64        // only events with a higher sequence number
	Before int64        // only events with a lower sequence number, 0: no bound
	Agent  string       // only events from or to this agent, or to everybody; empty: all
	Types  []event.Type // only these types; empty: all
	Last   int          // only the newest so many of what is selected, read backwards; 0: no bound
	Max    int          // only the oldest so many, so that a reader can page; 0: no bound
	Count  bool         // also count what Last or Max leaves out, as far as a little more reading tells
}

// GoneText says for people what EventsResult.Gone and Delivery.Gone mean.
const GoneText = "a compaction took some of them out of the log, and the archive that had them is gone"

// EventsResult answers a Query and says what it left out.
type EventsResult struct {
	Events  []event.Event `json:"events"`
	AsOf    int64         `json:"highSeq"`                  // the log was read up to here, -1 when it is empty
	Omitted int64         `json:"omitted"`                  // matching events left out by Last or Max, -1: some, not counted
	AtLeast int64         `json:"omittedAtLeast,omitempty"` // where Omitted is -1: so many of them are known
	Gone    bool          `json:"gone,omitempty"`           // a compaction took some out, and the archive that had them is gone
	Skips   state.Skips   `json:"skipped"`                  // lines of the log that nobody can read
}

// Events reads events of the log, oldest first.
func (e *Engine) Events(ctx context.Context, q Query) (EventsResult, error) {
	if q.Last < 0 || q.Max < 0 || q.After < Everything || q.Before < 0 {
		return EventsResult{}, &ValidationError{Field: "query", Reason: "has a negative bound"}
	}
	return steady(func() (EventsResult, error) { return e.query(ctx, q) })
}

// rewrites is how often a log that is rewritten while it is read is read anew.
const rewrites = 3

// steady reads again when the log was rewritten, so that what is known of its places no longer holds.
func steady[T any](read func() (T, error)) (T, error) {
	for tries := 0; ; tries++ {
		found, err := read()
		if tries == rewrites || !rewritten(err) {
			return found, err
		}
	}
}

func rewritten(err error) bool {
	return errors.Is(err, store.ErrReplaced) || errors.Is(err, store.ErrMissing)
}

func (e *Engine) query(ctx context.Context, q Query) (EventsResult, error) {
	l, err := e.look(ctx)
	if err != nil {
		return EventsResult{}, err
	}
	s := search{engine: e, query: q, look: l}
	switch {
	case q.Last > 0 && q.Before == 0 && l.skips.OutOfOrder > 0:
		err = s.lastLines(ctx)
	case q.Last > 0:
		err = s.backwards(ctx)
	default:
		err = s.forwards(ctx)
	}
	if err != nil {
		return EventsResult{}, err
	}
	return EventsResult{Events: orEmpty(s.found), AsOf: s.asOf, Omitted: s.omitted, AtLeast: s.atLeast, Gone: s.gone, Skips: l.skips}, nil
}

// look is what is known about the log after catching up with it.
type look struct {
	index     store.Index
	head      int64
	events    int64 // folded
	skips     state.Skips
	compacted int64 // highest sequence number that a compaction took out, -1: none
}

func (e *Engine) look(ctx context.Context) (look, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.catchUp(ctx, e.log.Read); err != nil {
		return look{}, err
	}
	m := &e.mem
	return look{m.index, m.at.Highest(), m.state.Count(), m.state.Skips(), m.last.removed}, nil
}

// search is one query in progress.
type search struct {
	engine  *Engine
	query   Query
	look    look
	found   []event.Event
	asOf    int64
	omitted int64
	atLeast int64
	gone    bool
}

// How far a search goes on only to count: for so many matches, and through so many events.
const (
	maxCounted = 1000
	countSpan  = 1 << 14
)

// forwards reads from After on, also what compactions took out of the log, from their archives. Max ends it early.
func (s *search) forwards(ctx context.Context) error {
	from, enough := s.query.After+1, false
	if from <= s.look.compacted {
		var err error
		if from, err = s.archived(ctx, func() error {
			if enough = s.query.Max > 0 && len(s.found) > s.query.Max; enough {
				return errEnough
			}
			return nil
		}); err != nil {
			return err
		}
	}
	archived, limit := s.found, s.query.Max
	if limit > 0 {
		limit = max(1, limit-len(archived))
	}
	more, whole, err := s.read(ctx, from, limit)
	if err != nil {
		return err
	}
	s.found = append(archived, s.found...)
	if over := len(s.found) - s.query.Max; s.query.Max > 0 && over > 0 {
		s.found, more = s.found[:s.query.Max], more+int64(over)
	}
	switch {
	case !whole || s.gone || enough: // enough: the archives were not read to their end
		s.omitted, s.atLeast = -1, more
	default:
		s.omitted = more
	}
	return nil
}

// archived finds the matching events after After in the archives and returns the number from which the log goes on. It calls added
// after each, whose errEnough ends it.
func (s *search) archived(ctx context.Context, added func() error) (next int64, err error) {
	s.found = nil
	var last again
	next, s.gone, err = s.engine.readArchives(ctx, s.query.After+1, s.look.compacted, func(b store.Batch) error {
		for i := range b.Lines {
			l := &b.Lines[i]
			if l.Err != nil || s.query.Before > 0 && l.Seq >= s.query.Before {
				continue
			}
			ev, wanted := s.query.wants(l, &last)
			if !wanted {
				continue
			}
			s.found = append(s.found, ev)
			if err := added(); err != nil {
				return err
			}
		}
		return nil
	})
	return next, err
}

// readArchives calls fn with the lines of the archives from a sequence number on, each once, oldest first: an archive is a whole copy of
// the log, so each gives what the one before had not. It returns the number from which the log goes on, which has lost what is up to
// compacted, and whether some are gone with an archive. An errEnough of fn ends it early.
func (e *Engine) readArchives(ctx context.Context, from, compacted int64, fn func(store.Batch) error) (next int64, gone bool, err error) {
	archives, err := e.log.Archives()
	if err != nil {
		return from, false, err
	}
	for _, a := range archives {
		highest, older, enough := from-1, noCompaction, false
		err := e.log.ReadArchive(ctx, a, func(b store.Batch) error {
			lines := make([]store.Line, 0, len(b.Lines))
			for _, l := range b.Lines {
				if l.Seq < from || l.Seq >= farSeq { // a far one would hide all that comes after it
					continue
				}
				if !enough {
					highest = max(highest, l.Seq)
					lines = append(lines, l)
				}
				if ev, err := borrowLine(&l); err == nil {
					older.note(&l, &ev)
				}
			}
			if enough { // the record of a compaction stands after the lines that it kept
				return nil
			}
			b.Lines = lines
			err := fn(b)
			enough = errors.Is(err, errEnough)
			return ignore(err, errEnough)
		})
		if err != nil {
			return from, false, fmt.Errorf("read archive %s: %w", a.Name, err)
		}
		gone = gone || older.removed >= from
		if enough {
			return highest + 1, gone, nil
		}
		from = highest + 1
	}
	return from, gone || from <= compacted, nil
}

// backwards reads ever larger pieces that end at the newest event in question, until there are Last matches in them. Where a compaction
// has been, it goes on in the archives.
func (s *search) backwards(ctx context.Context) error {
	top := s.look.head + 1
	if s.query.Before > 0 {
		top = min(top, s.query.Before)
	}
	span, wanted := int64(s.query.Last), s.query.Last
	if s.query.Count && !s.allCounted() {
		span, wanted = max(span, maxCounted), wanted+maxCounted
	}
	ordered := s.look.skips.OutOfOrder == 0 // else numbers say nothing about places
	floor, compacted := s.query.After+1, s.query.After < s.look.compacted
	if compacted && ordered {
		floor = s.look.compacted + 1
	}
	for ; ; span *= 4 {
		from := floor
		if ordered {
			from = max(floor, top-span)
		}
		if _, _, err := s.read(ctx, from, 0); err != nil {
			return err
		}
		switch {
		case from > floor && (len(s.found) < s.query.Last || len(s.found) < wanted && span < countSpan):
			continue
		case compacted && ordered && len(s.found) < s.query.Last:
			return s.newest(ctx)
		}
		s.keepLast(from == floor && !compacted)
		return nil
	}
}

// newest finds the newest matches in the archives and the log together.
func (s *search) newest(ctx context.Context) error {
	over := 0
	from, err := s.archived(ctx, func() error {
		if n := len(s.found) - s.query.Last; n > s.query.Last { // seldom, because the others move up
			over, s.found = over+n, slices.Delete(s.found, 0, n)
		}
		return nil
	})
	if err != nil {
		return err
	}
	archived := s.found
	if _, _, err := s.read(ctx, from, 0); err != nil {
		return err
	}
	s.found = append(archived, s.found...)
	s.keepLast(!s.gone)
	if s.omitted >= 0 {
		s.omitted += int64(over)
	} else {
		s.atLeast += int64(over)
	}
	return nil
}

// allCounted reports whether all events match, so that the fold has counted them.
func (s *search) allCounted() bool {
	q := &s.query
	toEnd := q.Before == 0 || q.Before > s.look.head
	return q.After == Everything && toEnd && q.Agent == "" && len(q.Types) == 0 && s.look.compacted < 0
}

// keepLast cuts what was found to the newest Last and says what that leaves out. whole means that all that can match was read.
func (s *search) keepLast(whole bool) {
	over := max(0, len(s.found)-s.query.Last)
	s.found = s.found[over:]
	switch {
	case whole:
		s.omitted = int64(over)
	case s.allCounted():
		s.omitted = max(int64(over), s.look.events-int64(len(s.found)))
	default:
		s.omitted, s.atLeast = -1, int64(over)
	}
}

// lastLines is backwards for a log whose numbers say nothing about places: it takes ever more lines from the end.
func (s *search) lastLines(ctx context.Context) error {
	s.asOf = s.look.head
	for n := s.query.Last; ; n *= 4 {
		lines, err := s.engine.log.Last(ctx, n)
		if err != nil {
			return err
		}
		s.found = nil
		var last again
		for i := range lines {
			l := &lines[i]
			if l.Err != nil || l.Seq <= s.query.After {
				continue
			}
			if ev, wanted := s.query.wants(l, &last); wanted {
				s.found, s.asOf = append(s.found, ev), max(s.asOf, l.Seq)
			}
		}
		if whole := len(lines) < n; whole || len(s.found) >= s.query.Last {
			s.keepLast(whole && s.query.After >= s.look.compacted)
			return nil
		}
	}
}

// errEnough ends a reading that has what it wants.
var errEnough = errors.New("enough")

// read finds the events from a sequence number on that match, at most limit of them (0: all). more is how many there are beyond, as far
// as it went on; whole says that this was to the end.
func (s *search) read(ctx context.Context, from int64, limit int) (more int64, whole bool, err error) {
	s.found, s.asOf, whole = nil, s.look.head, true
	read := 0
	var last again
	err = s.engine.log.ReadFrom(ctx, s.look.index.Before(from), func(b store.Batch) error {
		for i := range b.Lines {
			l := &b.Lines[i]
			if l.Err != nil || l.Seq < from {
				continue
			}
			if s.query.Before > 0 && l.Seq >= s.query.Before {
				if s.look.skips.OutOfOrder == 0 {
					return errEnough
				}
				continue
			}
			s.asOf = max(s.asOf, l.Seq)
			if more > 0 {
				if read++; read > countSpan {
					whole = false
					return errEnough
				}
			}
			ev, wanted := s.query.wants(l, &last)
			if !wanted {
				continue
			}
			if limit > 0 && len(s.found) == limit {
				if more++; !s.query.Count || more == maxCounted {
					whole = false
					return errEnough
				}
				continue
			}
			s.found = append(s.found, ev)
		}
		return nil
	})
	return more, whole, ignore(err, errEnough)
}

// wants reads the event of a good line and reports whether it matches and repeats not the one before.
func (q *Query) wants(l *store.Line, last *again) (event.Event, bool) {
	ev, err := event.Decode(l.Object, l.Raw)
	return ev, err == nil && !last.repeats(&ev) && q.matches(&ev)
}

func (q *Query) matches(ev *event.Event) bool {
	if q.Agent != "" && ev.To != event.Broadcast && !event.SameName(ev.To, q.Agent) && !event.SameName(ev.From, q.Agent) {
		return false
	}
	return len(q.Types) == 0 || slices.Contains(q.Types, ev.Type)
}

// eventAt reads the event with a sequence number, from the log or from the oldest archive that has it.
func (e *Engine) eventAt(ctx context.Context, seq int64) (event.Event, bool, error) {
	f, err := steady(func() (f finder, err error) {
		l, err := e.look(ctx)
		if err == nil {
			err = e.log.ReadFrom(ctx, l.index.Before(seq), f.find(seq))
		}
		return f, ignore(err, errEnough)
	})
	if err != nil || f.ok {
		return f.event, f.ok, err
	}
	archives, err := e.log.Archives()
	if err != nil {
		return event.Event{}, false, err
	}
	for _, a := range archives {
		var f finder
		if err := ignore(e.log.ReadArchive(ctx, a, f.find(seq)), errEnough); err != nil {
			return event.Event{}, false, err
		}
		if f.ok {
			return f.event, true, nil
		}
	}
	return event.Event{}, false, nil
}

// finder keeps the first readable event with one sequence number.
type finder struct {
	event event.Event
	ok    bool
}

func (f *finder) find(seq int64) func(store.Batch) error {
	return func(b store.Batch) error {
		for i := range b.Lines {
			l := &b.Lines[i]
			if l.Seq != seq || l.Err != nil {
				continue
			}
			if ev, err := event.Decode(l.Object, l.Raw); err == nil {
				f.event, f.ok = ev, true
				return errEnough
			}
		}
		return nil
	}
}

// ignore is err, or nil when it is the one to be ignored.
func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// storedWithKey reads the events that one request stored with a retry key, the first of which has the sequence number seq.
func (e *Engine) storedWithKey(ctx context.Context, seq int64, key string) ([]event.Event, error) {
	first, ok, err := e.eventAt(ctx, seq)
	if err != nil {
		return nil, err
	}
	if !ok { // taken out of the log and of its archives: what is known is the number
		return []event.Event{{Seq: seq, Key: key}}, nil
	}
	r, err := e.Events(ctx, Query{After: seq, Max: 2 * event.MaxPaths})
	if err != nil {
		return nil, err
	}
	stored := []event.Event{first}
	for _, ev := range r.Events {
		if ev.Key != key || ev.From != first.From || ev.Seq != stored[len(stored)-1].Seq+1 {
			break
		}
		stored = append(stored, ev)
	}
	return stored, nil
}
