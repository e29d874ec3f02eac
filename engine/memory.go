package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/store"
)

// place is where a log was read to.
type place = store.Position

const (
	// A checkpoint is written when so much was read past the last one: what a verb can read in a few milliseconds.
	checkpointLines = 128
	checkpointBytes = 256 << 10

	// checkpointAge is how old a checkpoint must be to be written anew: of many processes that write at once, one does it.
	checkpointAge = time.Second

	// warmFor is how long a memory counts as up to date enough to catch up under the lock.
	warmFor = time.Second

	// markEvery is how many sequence numbers lie between two state marks for time travel.
	markEvery = 10000
)

// checkpointVersion names everything that a checkpoint's meaning depends on.
const checkpointVersion = "1/" + state.Version

// memory is the folded state of a log up to a place in it.
type memory struct {
	state *state.State
	at    place
	index store.Index
	last  compaction

	started bool              // the checkpoint has been tried
	saved   place             // where the checkpoint on disk ends
	mark    *store.Checkpoint // a state mark that is due, written after the lock was given back
}

// compaction is what a log tells about the newest compaction that it went through.
type compaction struct {
	removed int64 // highest sequence number that is gone, -1 when there was none
	blurred int64 // up to this number only an archive tells the state exactly: what was carried over comes after it
	end     int64 // size of the log just after it
}

var noCompaction = compaction{removed: -1, blurred: -1}

func emptyMemory() memory {
	return memory{state: state.New(), last: noCompaction, started: true}
}

// catchUp folds what was stored since the last time. It starts from the checkpoint, and starts over when the log is not the
// one that was read before. The caller holds e.mu.
func (e *Engine) catchUp(ctx context.Context, read store.ReadFunc) error {
	if !e.mem.started {
		e.mem = e.restore()
	}
	for tries := 0; ; tries++ {
		_, err := read(ctx, e.mem.at, e.mem.follow)
		if err == nil {
			e.read = e.now()
			return nil
		}
		if tries == rewrites || !rewritten(err) {
			return fmt.Errorf("read log: %w", err)
		}
		e.remember(e.mem.at.Highest())
		e.mem = e.restore()
	}
}

// restore is the memory that the checkpoint holds, or an empty one: a checkpoint that is missing, stale, damaged or from
// another version is simply not used, and doctor says why.
func (e *Engine) restore() memory {
	cp, err := e.log.LoadCheckpoint(checkpointVersion)
	if err != nil {
		return emptyMemory()
	}
	m, err := thaw(cp)
	if err != nil {
		return emptyMemory()
	}
	return m
}

// fold takes in the next lines.
func (m *memory) fold(b store.Batch) {
	m.index.Observe(b)
	m.state.ApplyLines(len(b.Lines), func(i int) state.Line {
		l := &b.Lines[i]
		if l.Err != nil {
			return state.Line{Number: l.Number, Seq: l.Seq, Reason: reason(l.Err)}
		}
		return state.Line{Number: l.Number, Seq: l.Seq, Object: l.Object}
	}, func(i int, ev *event.Event) { m.last.note(&b.Lines[i], ev) })
	m.at = b.Pos
}

// follow is fold, and takes a state mark when it passes one. On a long way it takes none: a first fold should not write a
// hundred files that time travel makes when it needs them.
func (m *memory) follow(b store.Batch) error {
	before := m.at.Highest()
	m.fold(b)
	if before/markEvery < m.at.Highest()/markEvery && m.at.Lines-m.saved.Lines < markEvery {
		if cp, err := m.freeze(); err == nil {
			m.mark = &cp
		}
	}
	return nil
}

// borrowLine is the event on a line as long as the line is there: the fold copies what it keeps.
func borrowLine(l *store.Line) (event.Event, error) {
	if l.Err != nil {
		return event.Event{}, l.Err
	}
	return event.Borrow(l.Object)
}

// decodeLine is the event on a line.
func decodeLine(l *store.Line) (event.Event, error) {
	if l.Err != nil {
		return event.Event{}, l.Err
	}
	return event.Decode(l.Object, l.Raw)
}

// note remembers the summary that a compaction left.
func (c *compaction) note(l *store.Line, ev *event.Event) {
	if ev.Type != event.TypeStatus || ev.From != event.Loadout {
		return
	}
	body, err := ev.Body()
	if err != nil {
		return
	}
	if s, ok := body.(event.Status); ok && s.CompactedCount > 0 && s.CompactedRange != nil {
		c.removed, c.end = max(c.removed, s.CompactedRange.To), l.Offset+int64(len(l.Raw))+1
		c.blurred = max(c.blurred, c.removed)
		if len(s.Carried) > 0 {
			c.blurred = ev.Seq - 1
		}
	}
}

// freeze is the memory as a checkpoint.
func (m *memory) freeze() (store.Checkpoint, error) {
	var data []byte
	for _, n := range []int64{m.last.removed, m.last.blurred, m.last.end} {
		data = binary.AppendVarint(data, n)
	}
	data, err := m.state.AppendBinary(data)
	if err != nil {
		return store.Checkpoint{}, fmt.Errorf("freeze state: %w", err)
	}
	return store.Checkpoint{Version: checkpointVersion, Pos: m.at, Index: m.index, State: data}, nil
}

// thaw is the memory that a checkpoint holds.
func thaw(cp store.Checkpoint) (memory, error) {
	m := memory{at: cp.Pos, index: cp.Index, started: true, saved: cp.Pos}
	data := cp.State
	for _, field := range []*int64{&m.last.removed, &m.last.blurred, &m.last.end} {
		value, n := binary.Varint(data)
		if n <= 0 {
			return memory{}, errors.New("thaw state: too short")
		}
		*field, data = value, data[n:]
	}
	var err error
	if m.state, err = state.Unmarshal(data); err != nil {
		return memory{}, fmt.Errorf("thaw state: %w", err)
	}
	return m, nil
}

// lastCompaction is the newest compaction that the log has gone through, as far as it was read.
func (e *Engine) lastCompaction() compaction {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.mem.last
}

// due takes what should be written beside the log: a checkpoint when much was read past the last one, unless isNew says that
// somebody has just written one, and a state mark when one was passed. The caller holds e.mu and writes them without it.
func (m *memory) due(isNew func() bool) (checkpoint, mark *store.Checkpoint) {
	mark, m.mark = m.mark, nil
	// With a mark comes a checkpoint: who reads next would pass the same place, and write the same mark, again.
	if mark == nil && m.at.Lines-m.saved.Lines <= checkpointLines && m.at.Offset-m.saved.Offset <= checkpointBytes {
		return nil, mark
	}
	m.saved = m.at
	if isNew() {
		return nil, mark
	}
	if mark != nil && mark.Pos == m.at {
		return mark, mark
	}
	if cp, err := m.freeze(); err == nil {
		checkpoint = &cp
	}
	return checkpoint, mark
}

// keepDue writes what is due.
func (e *Engine) keepDue() []string {
	e.mu.Lock()
	checkpoint, mark := e.mem.due(e.checkpointIsNew)
	e.mu.Unlock()
	return e.keep(checkpoint, mark)
}

// checkpointIsNew reports whether some process has just written the checkpoint.
func (e *Engine) checkpointIsNew() bool {
	at, ok := e.log.CheckpointTime()
	age := e.now().Sub(at)
	return ok && age >= 0 && age < checkpointAge
}

// keep writes what due found. Best effort: what lies beside the log only saves time, and may be in a directory that this
// user may only read.
func (e *Engine) keep(checkpoint, mark *store.Checkpoint) []string {
	var notes []string
	if checkpoint != nil {
		if err := e.log.SaveCheckpoint(*checkpoint); err != nil {
			notes = append(notes, fmt.Sprintf("the checkpoint could not be written: %v", err))
		}
	}
	if mark != nil {
		if err := e.log.SaveMark(mark.Pos.Highest(), *mark); err != nil {
			notes = append(notes, fmt.Sprintf("a state mark could not be written: %v", err))
		}
	}
	return notes
}

// reason is why a line cannot be read, without the place that its reference names anyway.
func reason(err error) string {
	var bad *store.BadLineError
	if errors.As(err, &bad) {
		return bad.Reason
	}
	return err.Error()
}
