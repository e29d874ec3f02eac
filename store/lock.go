package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// A process that writes again and again keeps the lock from one write to the next,
// for a turn: handing it over takes longer than several writes. Those who wait do
// so in the queue of the operating system, so each comes to its turn.
const (
	turnTime = 20 * time.Millisecond
	turnGap  = time.Millisecond // a longer one between two writes ends a turn

	// After a turn the process steps aside: the system only wakes who is first in
	// the queue, and the lock is for whoever takes it.
	shortPause = 500 * time.Microsecond
	longPause  = 5 * time.Millisecond // when others are known to wait
)

// recheck is how often who waits looks whether the lock file is still the one at
// the path.
const recheck = 250 * time.Millisecond

// turn is a run of writes of one process without a gap.
type turn struct {
	began time.Time   // when the lock was taken
	ended time.Time   // when the last write had ended
	run   bool        // the write at hand has come right after another one
	wait  bool        // others had the lock when it was wanted last
	over  bool        // the lock was given back because the turn was over
	keeps bool        // the lock, from one write to the next
	idle  *time.Timer // gives a kept lock back when no write follows
}

// next notes that a write is wanted.
func (t *turn) next(now time.Time) { t.run = now.Sub(t.ended) <= turnGap }

// goesOn notes that a write has ended, and reports whether another one is likely
// and still within the turn.
func (t *turn) goesOn(now time.Time) bool {
	t.ended = now
	t.over = t.run && now.Sub(t.began) >= turnTime
	return t.run && !t.over
}

// lockFile is a lock of the operating system on a file. It is for one goroutine
// at a time; two of them exclude each other, in one process as in two.
type lockFile struct {
	log   *Log
	path  string
	owner *ownerNote
	held  *flock.Flock // nil while it is free
	info  fs.FileInfo  // of the file that is locked
}

func (l *Log) newLockFile(path, command string) *lockFile {
	return &lockFile{log: l, path: path, owner: newOwnerNote(command)}
}

// acquire takes the lock, and reports whether somebody else had it. The error is a
// *LockedError when it was not free for so long.
func (f *lockFile) acquire(ctx context.Context, wait time.Duration) (taken bool, err error) {
	start := time.Now()
	for {
		lock := flock.New(f.path,
			flock.SetFlag(os.O_CREATE|os.O_RDWR|openNoFollow|openNonBlock), flock.SetPermissions(fileMode))
		locked, err := lock.TryLock()
		if isLink(err) {
			err = &UnsafeError{Path: f.path, Reason: "is a link"}
		}
		if err == nil && !locked {
			taken = true
			locked, err = f.queue(ctx, lock, start.Add(wait))
		}
		if err == nil && locked {
			f.held = lock
			if f.info, err = lock.Stat(); err == nil {
				locked, err = f.check()
			}
			if err == nil && locked {
				return taken, nil
			}
		}
		switch waited := time.Since(start); {
		case err != nil:
			return taken, fmt.Errorf("lock %s: %w", f.path, also(err, f.drop()))
		case ctx.Err() != nil:
			return taken, fmt.Errorf("wait for %s: %w", f.path, ctx.Err())
		case waited >= wait:
			return taken, &LockedError{Path: f.path, Owner: f.log.readOwner(f.path), Waited: waited}
		}
	}
}

// queue waits for a lock that somebody has, as long as the lock file is the one
// that is at the path now.
func (f *lockFile) queue(ctx context.Context, lock *flock.Flock, until time.Time) (locked bool, err error) {
	if !time.Now().Before(until) {
		return false, nil
	}
	info, err := f.log.fs.Lstat(f.path)
	if err != nil {
		return false, ignoreMissing(err)
	}
	done := make(chan error, 1)
	go func() { done <- lock.Lock() }()
	timer := time.NewTimer(min(recheck, time.Until(until)))
	defer timer.Stop()
	for {
		select {
		case err := <-done:
			return err == nil, err
		case <-ctx.Done():
		case now := <-timer.C:
			if same, err := f.log.names(f.path, info); err == nil && same && now.Before(until) {
				timer.Reset(min(recheck, until.Sub(now)))
				continue
			}
		}
		// Nothing ends the wait of the system: when it is over, the lock is given back.
		go func() {
			if <-done == nil {
				_ = lock.Unlock() // nobody waits for what comes of it
			}
		}()
		return false, nil
	}
}

// check reports whether the file that is locked is the one at the path. Another
// one does not count: it was deleted or replaced.
func (f *lockFile) check() (bool, error) {
	now, err := f.log.fs.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(f.info, now) {
		return false, f.drop()
	}
	if err == nil {
		err = safe(f.path, now, 0)
	}
	if err == nil && tooOpen(now) {
		_, err = f.log.narrow(f.path, now)
	}
	if err != nil {
		return false, also(err, f.drop())
	}
	return true, nil
}

// drop gives the lock back, if it is held. The file stays: removing it would let
// two processes lock two files of one name.
func (f *lockFile) drop() error {
	if f.held == nil {
		return nil
	}
	err := f.held.Unlock()
	f.held = nil
	return err
}

// release gives the lock back.
func (f *lockFile) release() error {
	if err := f.drop(); err != nil {
		return fmt.Errorf("unlock %s: %w", f.path, err)
	}
	return nil
}

// lock makes this goroutine the only writer of the log: first among those of the
// process, then among processes. The wait counts for both together.
func (l *Log) lock(ctx context.Context) (release func() error, err error) {
	start := time.Now()
	select {
	case l.writer <- struct{}{}:
	default:
		timer := time.NewTimer(max(l.options.LockWait, 0))
		defer timer.Stop()
		select {
		case l.writer <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s: %w", l.lockFile.path, ctx.Err())
		case <-timer.C:
			return nil, &LockedError{Path: l.lockFile.path, Owner: l.readOwner(l.lockFile.path), Waited: time.Since(start)}
		}
	}
	l.turn.next(start)
	if err := l.take(ctx, l.options.LockWait-time.Since(start)); err != nil {
		<-l.writer
		return nil, err
	}
	return func() error {
		defer func() { <-l.writer }()
		return l.giveBack()
	}, nil
}

// take makes sure that this process has the lock.
func (l *Log) take(ctx context.Context, wait time.Duration) error {
	if l.turn.keeps {
		l.turn.keeps = false
		l.turn.idle.Stop()
		if same, err := l.lockFile.check(); err != nil || same {
			return err
		}
	}
	switch {
	case l.turn.over && l.turn.run && l.turn.wait:
		time.Sleep(longPause)
	case l.turn.over && l.turn.run:
		time.Sleep(shortPause)
	}
	var err error
	if l.turn.wait, err = l.lockFile.acquire(ctx, wait); err != nil {
		return err
	}
	l.turn.began = time.Now()
	l.lockFile.owner.write(l.lockFile.path, l.turn.began)
	return nil
}

// giveBack gives the lock back, or keeps it when this process has just written
// before and will probably write again.
func (l *Log) giveBack() error {
	if l.turn.keeps = keepOpen && l.turn.goesOn(time.Now()); !l.turn.keeps {
		return l.lockFile.release()
	}
	if l.turn.idle == nil {
		l.turn.idle = time.AfterFunc(turnGap, l.endTurn)
	} else {
		l.turn.idle.Reset(turnGap)
	}
	return nil
}

// endTurn gives back a lock that was kept for a write that has not come. The timer
// may be early: then it waits for the goroutine that still holds the writer's place.
func (l *Log) endTurn() {
	l.writer <- struct{}{}
	defer func() { <-l.writer }()
	if l.turn.keeps {
		l.turn.keeps = false
		_ = l.lockFile.release() // a file that was closed has given it back
	}
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
	f := l.newLockFile(path, command)
	if _, err := f.acquire(context.Background(), 0); err != nil {
		return nil, err
	}
	f.owner.write(f.path, time.Now())
	return f.release, nil
}
