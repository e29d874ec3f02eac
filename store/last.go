package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/agentloadout/loadout/store/jsonline"
)

// backBytes is how much is read at a time when reading backwards.
const backBytes = 64 << 10

// Last returns the last n lines that are complete and not blank, oldest first. It
// reads backwards from the end, so its cost does not grow with the log. The lines
// own their memory; their Number is 0 and their Prior -1, because what lies
// before is not read.
func (l *Log) Last(ctx context.Context, n int) ([]Line, error) {
	if n <= 0 {
		return nil, nil
	}
	f, err := l.openLog(Position{})
	if err != nil || f == nil {
		return nil, err
	}
	lines, err := lastLines(ctx, f, n)
	return lines, also(err, f.Close())
}

func lastLines(ctx context.Context, f *source, n int) ([]Line, error) {
	end, err := lastNewline(f, f.info.Size())
	if err != nil {
		return nil, err
	}
	for want := n; ; want *= 2 { // more when some of them are blank
		start, err := lineStart(ctx, f, end, want)
		if err != nil {
			return nil, err
		}
		lines, err := copyLines(ctx, f, start, end)
		if err != nil {
			return nil, err
		}
		if len(lines) >= n || start == 0 {
			return lines[max(0, len(lines)-n):], nil
		}
	}
}

// copyLines returns the lines between two offsets.
func copyLines(ctx context.Context, f File, start, end int64) ([]Line, error) {
	s := &scanner{file: f, end: end, pos: Position{Offset: start, MaxSeq: -1, LastSeq: -1}}
	var lines []Line
	_, err := s.run(ctx, &buffer{}, func(b Batch) error {
		for _, line := range b.Lines {
			line.Raw = bytes.Clone(line.Raw)
			line.Number, line.Prior = 0, -1
			if bad := (*BadLineError)(nil); errors.As(line.Err, &bad) {
				bad.Number = 0
			} else {
				line.Object = nil
				line.parse(new(jsonline.Object))
			}
			lines = append(lines, line)
		}
		return nil
	})
	return lines, err
}

// lineStart returns the offset at which the n-th last line before end starts, or
// 0 when there are fewer. A newline lies just before end.
func lineStart(ctx context.Context, f File, end int64, n int) (int64, error) {
	b := make([]byte, backBytes)
	for upTo := end; upTo > 0; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		from := max(upTo-backBytes, 0)
		piece := b[:upTo-from]
		if err := readFull(f, piece, from); err != nil {
			return 0, err
		}
		for i := len(piece); i > 0; {
			if i = bytes.LastIndexByte(piece[:i], '\n'); i < 0 {
				break
			}
			if n--; n < 0 {
				return from + int64(i) + 1, nil
			}
		}
		upTo = from
	}
	return 0, nil
}

// lastNewline returns the offset past the last newline of the first size bytes of
// f, 0 when there is none.
func lastNewline(f File, size int64) (int64, error) {
	if size == 0 {
		return 0, nil
	}
	var last [1]byte
	if n, err := f.ReadAt(last[:], size-1); n == 1 && last[0] == '\n' {
		return size, nil
	} else if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read last byte: %w", err)
	}
	return lineStart(context.Background(), f, size, 0)
}
