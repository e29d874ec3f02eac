package process

import (
	"os"
	"sync"
	"time"
)

// MaxStderr is how many bytes of stderr are kept. The reason of a failure is in its last lines.
const MaxStderr = 16 << 10

// output is the reading end of a pipe that knows whether its reader is waiting for data or has been busy with them.
type output struct {
	file  *os.File
	ended chan struct{} // closed at the first failed read

	mu      sync.Mutex
	waiting time.Time // since when a read is in progress; zero: none is
	over    bool
}

func newOutput(f *os.File) *output {
	return &output{file: f, ended: make(chan struct{})}
}

func (o *output) Read(b []byte) (int, error) {
	o.mu.Lock()
	o.waiting = time.Now()
	o.mu.Unlock()
	n, err := o.file.Read(b)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = time.Time{}
	if err != nil && !o.over {
		o.over = true
		close(o.ended)
	}
	return n, err
}

// drained waits until the output has ended and reports true, or false as soon as the reader has waited d for more, counted from now.
// A reader that is busy has all the time it wants: what is in the pipe is not lost.
func (o *output) drained(d time.Duration) bool {
	from := time.Now()
	look := time.NewTicker(d / 10)
	defer look.Stop()
	for {
		select {
		case <-o.ended:
			return true
		case <-look.C:
			o.mu.Lock()
			since := o.waiting
			o.mu.Unlock()
			if since.Before(from) && !since.IsZero() {
				since = from
			}
			if !since.IsZero() && time.Since(since) >= d {
				return false
			}
		}
	}
}

// close ends a read in progress.
func (o *output) close() { _ = o.file.Close() } // read only; the second time it is closed already

// tail keeps the last MaxStderr bytes that are written to it.
type tail struct{ kept []byte }

func (t *tail) Write(b []byte) (int, error) {
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - MaxStderr; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string { return string(t.kept) }
