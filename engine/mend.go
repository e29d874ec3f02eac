package engine

import (
	"context"
	"fmt"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store"
)

// mend repairs what was found and returns the name of the archive that it made, if it touched the log.
func (e *Engine) mend(ctx context.Context, findings []Finding) (archive string, err error) {
	lines, derived, mail := false, false, false
	for _, f := range findings {
		switch f.Code {
		case string(store.TornTail), string(store.BadLines), string(store.NoSeqs), findingEvents:
			lines = true
		case string(store.BadCheckpoints), findingCheckpoint, findingDiverged:
			derived = true
		case findingMessages:
			mail = f.Fixable
		default:
			if f.fix != nil {
				if err := f.fix(ctx); err != nil {
					return "", err
				}
			}
		}
	}
	if lines {
		if archive, err = e.moveBadLines(ctx); err != nil {
			return archive, err
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
	return archive, nil
}

// moveBadLines archives the log and takes the lines out of it that are no events. Those that are not even JSON lie in the .corrupt
// file beside the archive, all others in the archive. A record of that takes the next number, so that none is used twice.
func (e *Engine) moveBadLines(ctx context.Context) (archive string, err error) {
	err = e.log.Update(ctx, func(tx *store.Tx) error {
		m := emptyMemory()
		bad := map[int64]bool{}
		if _, err := tx.Read(ctx, place{}, func(b store.Batch) error {
			for i := range b.Lines {
				l := &b.Lines[i]
				ev, err := decodeLine(l)
				if err == nil {
					_, err = ev.Body()
				}
				if err != nil {
					bad[l.Number] = true
				}
			}
			m.at = b.Pos
			return nil
		}); err != nil {
			return err
		}
		if len(bad) == 0 { // another writer has closed the torn line, and it was whole
			return nil
		}
		record, err := event.New(event.Loadout, event.Broadcast,
			fmt.Sprintf("Moved %s that could not be read out of the log", counted(len(bad), "line")), event.Status{})
		if err != nil {
			return err
		}
		record.ID, record.Seq, record.Timestamp = event.NewID(), m.at.Highest()+1, event.FormatTime(e.now())
		if err := record.Normalize(); err != nil {
			return err
		}
		a, err := tx.Rewrite(ctx, func(l store.Line) bool { return !bad[l.Number] }, [][]byte{record.AppendLine(nil)})
		archive = a.Name
		return err
	})
	return archive, err
}

// refold reads the log afresh and writes the checkpoint anew.
func (e *Engine) refold(ctx context.Context) error {
	fresh := emptyMemory()
	if _, err := e.log.Read(ctx, place{}, fresh.plain); err != nil {
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
