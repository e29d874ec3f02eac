package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/store"
)

// mend repairs what was found and returns the name of the archive that it made, if it touched the log.
func (e *Engine) mend(ctx context.Context, findings []Finding) (archive string, err error) {
	lines, derived, mail := false, false, false
	var failed error // one thing that cannot be mended keeps no other from it
	for _, f := range findings {
		switch f.Code {
		case string(store.TornTail), string(store.BadLines), string(store.NoSeqs), string(store.RepeatedLines), findingEvents, findingFar:
			lines = true
		case string(store.BadCheckpoints), findingCheckpoint, findingDiverged:
			derived = true
		case findingMessages:
			mail = mail || f.Fixable
		default:
			if f.fix != nil {
				failed = errors.Join(failed, f.fix(ctx))
				mail = mail || filepath.Base(f.path) == MessagesName
				derived = derived || f.Code == string(store.UnsafePath)
			}
		}
	}
	if lines {
		if archive, err = e.moveBadLines(ctx); err != nil {
			return archive, e.inWords(err)
		}
	}
	if lines || derived {
		if err := e.refold(ctx); err != nil {
			return archive, err
		}
	}
	if mail {
		e.mendMessages(ctx)
	}
	return archive, e.inWords(failed)
}

// moveBadLines archives the log and takes the lines out of it that the fold refuses, that carry a number which cannot be right, or
// that are copies. Those that are not even JSON and those with such a number lie in the .corrupt file beside the archive, all others
// in the archive. A record of that takes the next number, so that none is used twice.
func (e *Engine) moveBadLines(ctx context.Context) (archive string, err error) {
	err = e.log.Update(ctx, func(tx *store.Tx) error {
		out, highest, err := sift(ctx, tx)
		if err != nil || len(out) == 0 { // another writer has closed the torn line, and it was whole
			return err
		}
		record, err := event.New(event.Loadout, event.Broadcast,
			fmt.Sprintf("Moved %s that could not be read out of the log", words.Plural(len(out), "line")), event.Status{})
		if err != nil {
			return err
		}
		records, next, err := e.afterLoss(highest)
		if err != nil {
			return err
		}
		record.ID, record.Seq, record.Timestamp = event.NewID(), next, event.FormatTime(e.now())
		if err := record.Normalize(); err != nil {
			return err
		}
		var extra [][]byte
		for _, r := range append(records, record) {
			extra = append(extra, r.AppendLine(nil))
		}
		a, err := tx.RewriteBelow(ctx, farSeq, func(l store.Line) bool { return !out[l.Number] }, extra)
		if err != nil {
			return err
		}
		archive = a.Name
		e.answered(next)
		return nil
	})
	return archive, err
}

// sift returns the physical numbers of the lines that the log is better without, and the highest sequence number that is right.
// What it sifts out does not count for what comes after it.
func sift(ctx context.Context, tx *store.Tx) (out map[int64]bool, highest int64, err error) {
	out, highest = map[int64]bool{}, -1
	copies, err := store.Repeated(ctx, tx.Read)
	if err != nil {
		return nil, -1, err
	}
	folded := state.New()
	_, err = tx.Read(ctx, place{}, func(b store.Batch) error {
		for i := range b.Lines {
			l := &b.Lines[i]
			if l.Seq >= farSeq || copies[l.Number] {
				out[l.Number] = true
				continue
			}
			highest = max(highest, l.Seq)
			ev, err := borrowLine(l)
			if err == nil {
				err = folded.ApplyLine(&ev, l.Number)
			}
			if err != nil {
				out[l.Number] = true
			}
		}
		return nil
	})
	return out, highest, err
}

// refold reads the log afresh and writes the checkpoint anew.
func (e *Engine) refold(ctx context.Context) error {
	fresh := emptyMemory()
	if _, err := e.log.Read(ctx, place{}, fresh.take); err != nil {
		return err
	}
	checkpoint, err := fresh.freeze()
	if err != nil {
		return err
	}
	fresh.saved = fresh.at
	e.mu.Lock()
	e.mem = fresh
	e.mu.Unlock()
	if fresh.at.Lines == 0 {
		return nil
	}
	return e.log.SaveCheckpoint(checkpoint)
}
