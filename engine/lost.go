package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store"
)

// farSeq is where sequence numbers begin that nobody can have counted up to. A line that carries one was damaged or planted; it
// must not use up the numbers of all who write after it.
const farSeq = 1 << 52

// FarNumberError says that there are no sequence numbers left, because of a line that cannot be right.
type FarNumberError struct {
	Path      string
	Line, Seq int64
}

func (e *FarNumberError) Error() string {
	return fmt.Sprintf("line %d of %s has the sequence number %d, after which there is none left; it cannot be right", e.Line, e.Path, e.Seq)
}

// Hint is what the caller can do next.
func (e *FarNumberError) Hint() []string {
	return []string{"loadout doctor --fix    archives the log and moves such lines out of it"}
}

// errNumbersSpent ends a draft that finds no number for its event.
var errNumbersSpent = errors.New("sequence numbers have reached their limit")

// explainSpent names the line that is to blame for errNumbersSpent; other errors stay as they are.
func (e *Engine) explainSpent(ctx context.Context, err error) error {
	if !errors.Is(err, errNumbersSpent) {
		return err
	}
	var far far
	if _, readErr := e.log.Read(ctx, place{}, far.look); readErr != nil || far.count == 0 {
		return err
	}
	return &FarNumberError{Path: e.log.Path(), Line: far.line, Seq: far.seq}
}

// far counts lines with numbers that cannot be right.
type far struct {
	count     int64
	line, seq int64 // the first of them
}

func (f *far) look(b store.Batch) error {
	for i := range b.Lines {
		if l := &b.Lines[i]; l.Seq >= farSeq {
			if f.count++; f.count == 1 {
				f.line, f.seq = l.Number, l.Seq
			}
		}
	}
	return nil
}

// lost says how far a log had come that is gone, as far as that is still known; Seq is -1 when none is missed. Numbers and fences
// must go on above it, or those who remember an old one would be taken for those who hold the new one. The caller holds e.mu.
func (e *Engine) lost(ctx context.Context) (store.Remembered, error) {
	if e.mem.at.Offset > 0 {
		return store.Remembered{Seq: -1}, nil
	}
	r, err := e.log.Remembered(ctx, farSeq)
	if err == nil && e.known > r.Seq {
		r = store.Remembered{Seq: e.known, From: "this process"}
	}
	return r, err
}

// remember keeps the highest number of a log, for when it is gone. The caller holds e.mu.
func (e *Engine) remember(seq int64) {
	if seq < farSeq {
		e.known = max(e.known, seq)
	}
}

// lossRecord is the event with which a log begins anew. Time travel and queries take it for a compaction, which it is: what it names
// is in the archives, if anywhere.
func lossRecord(r store.Remembered) (event.Event, error) {
	return event.New(event.Loadout, event.Broadcast,
		fmt.Sprintf("The log was gone; numbers go on above %d, which %s tells", r.Seq, r.From),
		event.Status{CompactedCount: r.Seq + 1, CompactedRange: &event.SeqRange{From: 0, To: r.Seq}})
}

// examineLoss reports a log that is gone, or that began anew after it was.
func (e *Engine) examineLoss(ctx context.Context, r *DoctorReport) error {
	told, err := e.log.Remembered(ctx, farSeq)
	if err != nil {
		return err
	}
	if told.Seq < 0 {
		r.add(Finding{Code: findingUnused, Info: true, Text: "there is no log yet: nothing was coordinated here"})
		return nil
	}
	text := fmt.Sprintf("the log is gone: it had reached seq %d, as %s tells; the next write goes on above that", told.Seq, told.From)
	archives, err := e.log.Archives()
	if err != nil {
		return err
	}
	if len(archives) == 0 {
		text += "; there is no archive of it"
	} else {
		newest, highest := archives[len(archives)-1], int64(-1)
		err := e.log.ReadArchive(ctx, newest, func(b store.Batch) error {
			for i := range b.Lines {
				if b.Lines[i].Seq < farSeq {
					highest = max(highest, b.Lines[i].Seq)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		text += fmt.Sprintf("; the newest archive, %s, holds everything up to seq %d: a copy of it named %s brings that back", newest.Name, highest, store.LogName)
	}
	r.add(Finding{Code: findingLost, Text: text})
	return nil
}
