package store

import (
	"context"
	"errors"
)

// relocate finds the place to go on in the open file, which is not the one that
// was read before. The reason becomes the note unless it was a rewrite.
func (f *follower) relocate(ctx context.Context, reason string) error {
	compacted, err := f.throughArchives(ctx)
	if err != nil {
		return err
	}
	pos, found, err := place(ctx, f.file, f.pos, compacted)
	switch {
	case err != nil:
		return err
	case compacted:
		f.note = "log was compacted"
	case found:
		f.note = reason + ", went on after the last line that was read"
	default:
		f.note, f.reset = reason+", reading it from the start", true
	}
	f.pos, f.ended = pos, false
	return nil
}

// throughArchives reports whether the position lies in an archive, so that the
// log was rewritten since. It then delivers what follows the position there and
// in later archives.
func (f *follower) throughArchives(ctx context.Context) (found bool, err error) {
	archives, err := f.log.Archives()
	if err != nil {
		return false, err
	}
	for i := len(archives) - 1; i >= 0; i-- {
		fits, err := f.fitsArchive(archives[i])
		if err != nil {
			return false, err
		}
		if !fits {
			continue
		}
		for j, a := range archives[i:] {
			if err := f.readArchive(ctx, a, j == 0); err != nil {
				return false, err
			}
		}
		return true, nil
	}
	return false, nil
}

func (f *follower) fitsArchive(a Archive) (bool, error) {
	if a.Size < f.pos.Offset {
		return false, nil
	}
	file, err := f.log.openArchive(a)
	if err != nil {
		return false, ignoreMissing(err)
	}
	_, err = f.pos.fits(file, false)
	if err = also(err, file.Close()); errors.Is(err, ErrReplaced) {
		return false, nil
	}
	return err == nil, err
}

// readArchive delivers the rest of an archive: after the position when it lies in
// there, else after the place that corresponds to it.
func (f *follower) readArchive(ctx context.Context, a Archive, inside bool) error {
	file, err := f.log.openArchive(a)
	if err != nil {
		return err
	}
	pos := f.pos
	if !inside {
		pos, _, err = place(ctx, file, f.pos, true)
	}
	var tail []byte
	if err == nil {
		tail, err = pos.fits(file, false)
	}
	if err == nil {
		err = f.read(ctx, file, pos, tail)
	}
	return also(err, file.Close())
}

// place returns the position in another file that corresponds to pos: after the
// line that pos follows. When that line is not there and the file is known to be
// a rewrite of the one of pos, it is before the first line with a higher number.
// Else it is the start, and not found.
func place(ctx context.Context, f *source, pos Position, rewritten bool) (_ Position, found bool, err error) {
	after, higher := int64(-1), int64(-1)
	end, err := newScanner(f, Position{}, nil).run(ctx, &buffer{}, func(b Batch) error {
		for i := range b.Lines {
			line := &b.Lines[i]
			if line.Seq == pos.LastSeq && digestLine(line.Raw) == pos.Last {
				after = line.end()
			}
			if higher < 0 && line.Seq > pos.Highest() {
				higher = line.Offset
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return Position{}, false, err
	case after >= 0:
		end.Offset = after
	case !rewritten:
		return Position{}, false, nil
	case higher >= 0:
		end.Offset = higher
	}
	s := newScanner(f, Position{}, nil)
	s.end = end.Offset
	end, err = s.run(ctx, &buffer{}, func(Batch) error { return nil })
	end.MaxSeq = max(end.MaxSeq, pos.Highest())
	return end, true, err
}
