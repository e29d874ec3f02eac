package engine

import (
	"context"
	"fmt"
	"strconv"

	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/store"
)

// StateAt is the state as of seq, also below a compaction. A seq that the log has not reached yet, or whose archive is gone, is
// a *NotFoundError.
func (e *Engine) StateAt(ctx context.Context, seq int64) (*state.State, error) {
	return steady(func() (*state.State, error) { return e.stateAt(ctx, seq) })
}

func (e *Engine) stateAt(ctx context.Context, seq int64) (*state.State, error) {
	v, err := e.View(ctx)
	if err != nil {
		return nil, err
	}
	head := v.State.Head()
	if seq < 0 || seq > head {
		return nil, &NotFoundError{
			Kind: "sequence number", Name: strconv.FormatInt(seq, 10),
			Reason: fmt.Sprintf("the log has reached %d", head),
		}
	}
	if seq == head {
		return v.State, nil
	}
	if seq <= e.lastCompaction().blurred {
		return e.archivedState(ctx, seq)
	}
	m := emptyMemory()
	if cp, err := e.log.LoadMark(seq, checkpointVersion); err == nil {
		if thawed, err := thaw(cp); err == nil {
			m = thawed
		}
	}
	ordered := v.State.Skips().OutOfOrder == 0
	_, err = e.log.Read(ctx, m.at, func(b store.Batch) error {
		before := m.at.Highest()
		past := m.foldUpTo(b, seq)
		switch {
		case ordered && len(past) > 0:
			return errEnough
		case len(past) == 0 && before/markEvery < m.at.Highest()/markEvery: // so that the next time is quick
			if cp, err := m.freeze(); err == nil {
				e.keep(nil, &cp)
			}
		}
		return nil
	})
	return m.state, ignore(err, errEnough)
}

// archivedState is the state as of a sequence number that a compaction took out of the log, from the oldest archive that
// reaches it: that one has lost the least.
func (e *Engine) archivedState(ctx context.Context, seq int64) (*state.State, error) {
	archives, err := e.log.Archives()
	if err != nil {
		return nil, err
	}
	for _, a := range archives {
		m := emptyMemory()
		later, reached := noCompaction, false
		err := e.log.ReadArchive(ctx, a, func(b store.Batch) error {
			past := m.foldUpTo(b, seq)
			for i := range past {
				if ev, err := borrowLine(&past[i]); err == nil {
					later.note(&past[i], &ev)
				}
			}
			for i := range b.Lines {
				reached = reached || b.Lines[i].Seq >= seq && b.Lines[i].Seq < farSeq
			}
			return nil
		})
		switch {
		case err != nil:
			return nil, fmt.Errorf("read archive %s: %w", a.Name, err)
		case !reached:
			continue
		case later.blurred < seq:
			return m.state, nil
		}
		break // an older archive had it, and is gone
	}
	return nil, &NotFoundError{
		Kind: "state at sequence number", Name: strconv.FormatInt(seq, 10),
		Reason: "a compaction took it out of the log, and the archive that had it is gone",
	}
}

// foldUpTo folds the lines of a batch whose number is at most seq and returns the others.
func (m *memory) foldUpTo(b store.Batch, seq int64) (past []store.Line) {
	upTo := make([]store.Line, 0, len(b.Lines))
	for _, l := range b.Lines {
		if l.Seq > seq {
			past = append(past, l)
		} else {
			upTo = append(upTo, l)
		}
	}
	b.Lines = upTo
	m.fold(b)
	return past
}
