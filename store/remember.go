package store

import (
	"context"
	"path/filepath"
	"slices"
)

// Remembered is what the files beside a log tell of it when it is gone.
type Remembered struct {
	Seq  int64  // highest sequence number, -1 when nothing is told
	From string // name of the file that tells it
}

// Remembered asks the checkpoint, the state marks and the newest archive that can
// be read how far the log had come. They need not be from the log that is there
// now. Numbers from limit on are not believed. It reads an archive, so it is for
// the case that the log is missing or empty.
func (l *Log) Remembered(ctx context.Context, limit int64) (Remembered, error) {
	r := Remembered{Seq: -1}
	note := func(seq int64, from string) {
		if seq > r.Seq && seq < limit {
			r = Remembered{Seq: seq, From: from}
		}
	}
	if data, err := l.ReadFile(checkpointName, maxCheckpointBytes); err == nil {
		if h, _, ok := readHeader(data); ok {
			note(h.Pos.Highest(), checkpointName)
		}
	}
	if marks, err := l.markSeqs(); err == nil {
		for _, seq := range marks {
			note(seq, markName(seq))
		}
	}
	archives, err := l.Archives()
	if err != nil {
		return r, err
	}
	for _, a := range slices.Backward(archives) {
		highest := int64(-1)
		err := l.ReadArchive(ctx, a, func(b Batch) error {
			for i := range b.Lines {
				if seq := b.Lines[i].Seq; seq < limit {
					highest = max(highest, seq)
				}
			}
			return nil
		})
		note(highest, filepath.Base(a.Path))
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
	}
	return r, nil
}
