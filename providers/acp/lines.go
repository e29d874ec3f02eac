package acp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/agentloadout/loadout/providers/internal/process"
)

// The library closes the connection when more than 1,024 notifications wait to be handled, as they do when a long session is
// replayed. Reading stops before, and goes on when some were handled, or, should one never be, after stallWait.
const (
	maxWaiting = 512
	stallWait  = time.Second
)

// lines hands the agent's output to the library, a line at a time and not faster than it is worked off.
type lines struct {
	in   *bufio.Reader
	gate chan struct{} // closed when reading may begin

	rest  []byte // of the line that is being handed over
	total int
	err   error // why reading was given up; read when the connection is over

	mu      sync.Mutex
	waiting int
	handled chan struct{} // has a value when one was handled
}

func newLines(r io.Reader) *lines {
	return &lines{in: bufio.NewReaderSize(r, 64<<10), gate: make(chan struct{}), handled: make(chan struct{}, 1)}
}

func (l *lines) open() { close(l.gate) }

// Read is called by one goroutine.
func (l *lines) Read(b []byte) (int, error) {
	<-l.gate
	if len(l.rest) == 0 {
		line, err := l.next()
		if len(line) == 0 {
			return 0, err
		}
		l.rest = line
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// next is a line with its newline.
func (l *lines) next() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		line = append(line, part...)
		if l.total += len(part); l.total > process.MaxOutput {
			l.err = process.ErrFlood
		} else if len(line) > process.MaxLine {
			l.err = errors.New("a line that is too long")
		}
		if l.err != nil {
			return nil, l.err
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if bytes.Contains(line, []byte(`"session/update"`)) {
			l.wait()
		}
		return line, err
	}
}

// wait returns when there is room for one more notification, and counts it.
func (l *lines) wait() {
	stalled := time.NewTimer(stallWait)
	defer stalled.Stop()
	for {
		l.mu.Lock()
		room := l.waiting < maxWaiting
		if room {
			l.waiting++
		}
		l.mu.Unlock()
		if room {
			return
		}
		select {
		case <-l.handled:
		case <-stalled.C:
			return
		}
	}
}

// done says that a notification was handled.
func (l *lines) done() {
	l.mu.Lock()
	l.waiting = max(0, l.waiting-1)
	l.mu.Unlock()
	select {
	case l.handled <- struct{}{}:
	default:
	}
}
