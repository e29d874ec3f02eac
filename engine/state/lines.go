package state

import (
	"errors"
	"slices"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store/jsonline"
)

// Line is a line of a log.
type Line struct {
	Number int64
	Seq    int64            // -1 when none can be read
	Object *jsonline.Object // its fields, which are borrowed; nil when the line cannot be read
	Reason string           // why it cannot
}

// reading is an event with everything about it that does not depend on the state.
type reading struct {
	event event.Event
	body  event.Body
	at    time.Time
	err   error
	line  int64
}

// chunk is how many lines are handed from one goroutine to the other at once: enough that handing over costs little, few enough
// to stay in the processor's cache.
const chunk = 128

// chunks is how many of them are on their way at once, so that neither goroutine waits for the other over a slow line.
const chunks = 4

// ApplyLines folds n lines, which line describes. folded, which may be nil, is told of every event that was not refused; the event
// is borrowed. It is the quick way to fold many: while some are folded, a second goroutine reads the next ones, and calls line.
func (s *State) ApplyLines(n int, line func(i int) Line, folded func(i int, e *event.Event)) {
	if n <= chunk {
		var r reading
		for i := range n {
			r.read(&s.reader, line(i))
			s.applyReading(&r, i, folded)
		}
		return
	}
	if s.scratch == nil {
		s.scratch = make([]reading, chunks*chunk)
	}
	defer clear(s.scratch) // it would hold on to the lines
	free, full := make(chan []reading, chunks), make(chan []reading, chunks)
	for readings := range slices.Chunk(s.scratch, chunk) {
		free <- readings
	}
	go func() {
		defer close(full)
		for i := 0; i < n; i += chunk {
			readings := (<-free)[:min(chunk, n-i)]
			for k := range readings {
				readings[k].read(&s.reader, line(i+k))
			}
			full <- readings
		}
	}()
	i := 0
	for readings := range full {
		for k := range readings {
			s.applyReading(&readings[k], i, folded)
			i++
		}
		free <- readings[:cap(readings)]
	}
}

// read reads the event of a line.
func (r *reading) read(reader *event.Reader, l Line) {
	r.line = l.Number
	if l.Object == nil {
		r.event, r.err = event.Event{Seq: l.Seq}, errors.New(l.Reason)
		return
	}
	if r.at, r.err = event.BorrowInto(&r.event, l.Object); r.err != nil {
		r.event.Seq = l.Seq
		return
	}
	r.body, r.err = reader.Brief(&r.event)
}

func (s *State) applyReading(r *reading, i int, folded func(int, *event.Event)) {
	if s.apply(r) == nil && folded != nil {
		folded(i, &r.event)
	}
}
