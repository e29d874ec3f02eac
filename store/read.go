package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Read calls fn with every complete line after from, in batches, and returns the
// position after the last one. It reads up to the size that the log has when it
// starts, never takes the lock, and does not see an unterminated last line. A log
// that does not exist reads as empty from the zero position.
//
// Large reads scan ahead in a goroutine of their own while fn runs in the
// caller's; it has ended when Read returns. An error of fn ends Read and is
// returned as it is, with the position after the last batch that fn accepted.
// Other errors are ErrMissing, ErrReplaced, a *UnsafeError, ctx.Err() or those of
// the file system.
func (l *Log) Read(ctx context.Context, from Position, fn func(Batch) error) (Position, error) {
	return l.read(ctx, from, &buffer{}, fn)
}

// readScratch is Read for whoever has the writer's place.
func (l *Log) readScratch(ctx context.Context, from Position, fn func(Batch) error) (Position, error) {
	return l.read(ctx, from, &l.scratch, fn)
}

func (l *Log) read(ctx context.Context, from Position, b *buffer, fn func(Batch) error) (Position, error) {
	f, err := l.openLog(from)
	if err != nil || f == nil {
		return from, err
	}
	pos, err := readFile(ctx, f, from, b, fn)
	return pos, also(err, f.Close())
}

// openLog opens the log for reading. It returns nil and no error when there is
// none and from asks for none.
func (l *Log) openLog(from Position) (*source, error) {
	_, err := l.checkDir()
	var f *source
	if err == nil {
		f, err = l.openSource(l.path, os.O_RDONLY)
	}
	switch {
	case err == nil:
		return f, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("open log: %w", err)
	case from.Offset > 0:
		return nil, ErrMissing
	}
	return nil, nil //nolint:nilnil // no log is an empty one
}

// openSource is openSafe for a file of lines.
func (l *Log) openSource(path string, flag int) (*source, error) {
	f, info, err := l.openSafe(path, flag)
	if err != nil {
		return nil, err
	}
	src, err := newSource(f, info)
	if err != nil {
		return nil, also(err, f.Close())
	}
	return src, nil
}

// readFile reads f from a position in it.
func readFile(ctx context.Context, f *source, from Position, b *buffer, fn func(Batch) error) (Position, error) {
	tail, err := from.fits(f, true)
	if err != nil {
		return from, err
	}
	return newScanner(f, from, tail).run(ctx, b, fn)
}

// run hands all batches to fn and returns the position after the last that fn
// accepted. It uses the memory of b, which its caller may keep for the next run:
// for the few lines that a write catches up with, fresh memory costs more than
// reading them.
func (s *scanner) run(ctx context.Context, b *buffer, fn func(Batch) error) (Position, error) {
	done := s.pos
	if err := ctx.Err(); err != nil {
		return done, err
	}
	for s.size < batchBytes {
		batch, err := s.next(b)
		switch {
		case errors.Is(err, io.EOF):
			return done, nil
		case err != nil:
			return done, err
		case ctx.Err() != nil:
			return done, ctx.Err()
		}
		if err := fn(batch); err != nil {
			return done, err
		}
		if done = batch.Pos; s.atEnd() {
			return done, nil
		}
	}
	return s.pipeline(ctx, done, b, fn)
}

// pipeline scans ahead of fn in a goroutine. Buffers go round: there are three,
// one that fn looks at, one that is full and one that is being filled.
func (s *scanner) pipeline(ctx context.Context, done Position, b *buffer, fn func(Batch) error) (Position, error) {
	type filled struct {
		batch Batch
		b     *buffer
		err   error
	}
	full := make(chan filled, 1)
	free := make(chan *buffer, 3)
	stop := make(chan struct{})
	free <- b
	free <- &buffer{}
	free <- &buffer{}
	go func() {
		defer close(full)
		for {
			var b *buffer
			select {
			case b = <-free:
			case <-stop:
				return
			}
			batch, err := s.next(b)
			select {
			case full <- filled{batch, b, err}:
			case <-stop:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	defer func() { // wait for the goroutine: the file may be closed afterwards
		close(stop)
		for range full { //nolint:revive // drained until it is closed
		}
	}()
	for {
		next := <-full
		switch {
		case errors.Is(next.err, io.EOF):
			return done, nil
		case next.err != nil:
			return done, next.err
		case ctx.Err() != nil:
			return done, ctx.Err()
		}
		if err := fn(next.batch); err != nil {
			return done, err
		}
		done = next.batch.Pos
		free <- next.b
	}
}

// ReadFrom calls fn with every complete line after a mark of an Index, in
// batches. The error is ErrReplaced when the mark is from another file.
func (l *Log) ReadFrom(ctx context.Context, mark Mark, fn func(Batch) error) error {
	pos := mark.position()
	f, err := l.openLog(pos)
	if err != nil || f == nil {
		return err
	}
	s, err := mark.scanner(f)
	if err == nil {
		_, err = s.run(ctx, &buffer{}, fn)
	}
	return also(err, f.Close())
}
