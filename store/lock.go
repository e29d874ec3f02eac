package store

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// A writer that writes again and again finds the lock free each time, while those
// who wait sleep. After turnTime it steps aside for turnPause, in which one of
// them takes over.
const (
	turnTime  = 20 * time.Millisecond
	turnPause = 2 * time.Millisecond
	turnGap   = time.Millisecond // a longer one between two writes ends a turn
)

// pause returns how long to sleep before the next try of a lock that was waited
// for so long already. Waiting polls, because a blocking flock can neither be
// bounded nor cancelled, and because it hands the lock over after every write,
// which takes longer than several writes of one process. Most locks are free
// again after a write; then it is worth waiting quietly; who has waited long
// looks more often and so goes first.
func pause(waited time.Duration) time.Duration {
	switch {
	case waited < time.Millisecond:
		return 500 * time.Microsecond
	case waited < 5*time.Millisecond:
		return 2 * time.Millisecond
	case waited < 150*time.Millisecond:
		return 15 * time.Millisecond
	case waited < 400*time.Millisecond:
		return 5 * time.Millisecond
	case waited < 2*time.Second:
		return time.Millisecond
	}
	return 10 * time.Millisecond // somebody holds it for long
}

// turn is a run of writes of one process without a gap.
type turn struct{ began, ended time.Time }

// over reports whether it is time to step aside before the next write.
func (t *turn) over(now time.Time) bool {
	if now.Sub(t.ended) > turnGap {
		t.began = now
	}
	if now.Sub(t.began) < turnTime {
		return false
	}
	t.began = now
	return true
}

// held is a lock of the operating system that this process holds.
type held struct {
	log  *Log
	lock *flock.Flock
	path string
	info fs.FileInfo // of the file that is locked
}

// acquire takes the lock file at path. Every acquisition has a descriptor of its
// own, so two goroutines exclude each other as two processes do. A lock file that
// was deleted or replaced while it was being taken does not count.
func (l *Log) acquire(ctx context.Context, path string, note *ownerNote, wait time.Duration) (*held, error) {
	start := time.Now()
	h := &held{log: l, path: path, lock: flock.New(path,
		flock.SetFlag(os.O_CREATE|os.O_RDWR|openNoFollow|openNonBlock), flock.SetPermissions(fileMode))}
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("wait for %s: %w", path, err)
		}
		locked, err := h.try()
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if locked {
			note.write(h)
			return h, nil
		}
		waited := time.Since(start)
		if waited >= wait {
			return nil, &LockedError{Path: path, Owner: l.readOwner(path), Waited: waited}
		}
		p := pause(waited)
		sleep(ctx, min(wait-waited, p/2+rand.N(p))) //nolint:gosec // jitter, not a secret
	}
}

// sleep pauses for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// try takes the lock if it is free and the file at the path is the one locked.
func (h *held) try() (bool, error) {
	locked, err := h.lock.TryLock()
	if isLink(err) {
		return false, &UnsafeError{Path: h.path, Reason: "is a link"}
	}
	if err != nil || !locked {
		return false, err
	}
	h.info, err = h.lock.Stat()
	if err == nil {
		err = safe(h.path, h.info, 0)
	}
	if err == nil && tooOpen(h.info) {
		_, err = h.log.narrow(h.path, h.info)
	}
	if err == nil {
		locked, err = h.log.names(h.path, h.info)
	}
	if err != nil || !locked {
		return false, also(err, h.lock.Unlock())
	}
	return true, nil
}

// release gives the lock back. The file stays: removing it would let two
// processes lock two files of one name.
func (h *held) release() error {
	if err := h.lock.Unlock(); err != nil {
		return fmt.Errorf("unlock %s: %w", h.path, err)
	}
	return nil
}

// lock makes this goroutine the only writer of the log: first among those of the
// process, then among processes. The wait counts for both together.
func (l *Log) lock(ctx context.Context) (release func() error, h *held, err error) {
	path := filepath.Join(l.dir, LockName)
	start := time.Now()
	select {
	case l.writer <- struct{}{}:
	default:
		timer := time.NewTimer(max(l.options.LockWait, 0))
		defer timer.Stop()
		select {
		case l.writer <- struct{}{}:
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("wait for %s: %w", path, ctx.Err())
		case <-timer.C:
			return nil, nil, &LockedError{Path: path, Owner: l.readOwner(path), Waited: time.Since(start)}
		}
	}
	if l.turn.over(time.Now()) {
		sleep(ctx, turnPause)
	}
	h, err = l.acquire(ctx, path, l.owner, l.options.LockWait-time.Since(start))
	if err != nil {
		<-l.writer
		return nil, nil, err
	}
	return func() error {
		defer func() {
			l.turn.ended = time.Now()
			<-l.writer
		}()
		return h.release()
	}, h, nil
}

// Lease takes the lock file name in the directory of the log for as long as this
// process wants it: the one place of a bridge or a daemon. It does not wait; the
// error is a *LockedError when somebody has it. A process that dies releases it.
func (l *Log) Lease(name, command string) (release func() error, err error) {
	path, err := l.resolve(name)
	if err != nil {
		return nil, err
	}
	if _, err := l.makeDir(); err != nil {
		return nil, err
	}
	h, err := l.acquire(context.Background(), path, newOwnerNote(command), 0)
	if err != nil {
		return nil, err
	}
	return h.release, nil
}
