package process

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// MaxLine is the longest line of stdout that is read, in bytes: room for turn.MaxAnswer with every character escaped.
	MaxLine = 8 << 20
	// MaxOutput is how much a program may write to stdout in one run, in bytes. Streams of real turns stay below a tenth of it.
	MaxOutput = 64 << 20
)

// ErrFlood is the reason to stop a program that writes more than MaxOutput.
var ErrFlood = fmt.Errorf("more than %d MiB of output", MaxOutput>>20)

// Lines is the outcome of Run.
type Lines struct {
	Result

	Dropped int   // lines longer than MaxLine, which were skipped
	Err     error // why the program was stopped by us: ErrFlood or the error of the callback
}

// Run starts c, gives it input on stdin, and calls line with each line of its stdout, without the newline, from the calling
// goroutine. The bytes are valid during the call alone. An error of line kills the program. The error of Run is that of Start.
func Run(ctx context.Context, c Command, input string, line func([]byte) error) (Lines, error) {
	p, err := Start(ctx, c)
	if err != nil {
		return Lines{}, err
	}
	var writing sync.WaitGroup
	writing.Go(func() {
		_, _ = io.WriteString(p.Stdin, input) // a program that does not read it to the end says so by its answer
		_ = p.Stdin.Close()
	})
	dropped, err := readLines(p.Stdout, line)
	if err != nil {
		p.Kill()
		_, _ = io.Copy(io.Discard, p.Stdout) // until it is dead
	}
	result := p.Wait()
	writing.Wait()
	return Lines{Result: result, Dropped: dropped, Err: err}, nil
}

// readLines calls line for each line up to MaxLine bytes and counts the longer ones. An end by a closed pipe is an end.
func readLines(r io.Reader, line func([]byte) error) (dropped int, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	var (
		buf   []byte
		total int
		over  bool
	)
	for {
		part, readErr := in.ReadSlice('\n')
		total += len(part)
		if total > MaxOutput {
			return dropped, ErrFlood
		}
		if over = over || len(buf)+len(part) > MaxLine; !over {
			buf = append(buf, part...)
		}
		if errors.Is(readErr, bufio.ErrBufferFull) {
			continue
		}
		if over {
			dropped++
		} else if text := bytes.TrimRight(buf, "\r\n"); len(text) > 0 {
			if err := line(text); err != nil {
				return dropped, err
			}
		}
		if readErr != nil {
			return dropped, nil //nolint:nilerr // the end of the program's output, however it came
		}
		buf, over = buf[:0], false
	}
}
