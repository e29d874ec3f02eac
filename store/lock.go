package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// recheck is how often who waits looks whether the lock file is still the one at
// the path.
const recheck = 250 * time.Millisecond

// hurried is how long a process that had the lock before tries to have it again
// before it joins the queue.
const hurried = 5 * time.Millisecond

// lockFile is a lock of the operating system on a file. It is for one goroutine
// at a time; two of them exclude each other, in one process as in two.
type lockFile struct {
	log     *Log
	path    string
	command string // of the owner record
	record  []byte // nil until it is first needed

	held   *flock.Flock // nil while it is free, or held through kept
	kept   *os.File     // the lock file as it was locked last, where an open file is in nobody's way; nil: none
	again  bool         // held through kept
	queued *queued      // where the last wait was given up; nil: none was
	info   fs.FileInfo  // of the file that is locked
}

func (l *Log) newLockFile(path, command string) *lockFile {
	return &lockFile{log: l, path: path, command: command}
}

// acquire takes the lock. The error is a *LockedError when it was not free for so
// long.
func (f *lockFile) acquire(ctx context.Context, wait time.Duration) error {
	start := time.Now()
	if f.kept != nil {
		if locked, err := f.retake(ctx, min(wait, hurried)); err != nil || locked {
			return err
		}
		f.close()
	}
	for {
		lock := f.open()
		locked, err := lock.TryLock()
		if isLink(err) {
			err = &UnsafeError{Path: f.path, Reason: "is a link"}
		}
		if err == nil && !locked {
			lock, err = f.queue(ctx, start.Add(wait))
			locked = lock != nil
		}
		if err == nil && locked {
			f.held = lock
			if f.info, err = lock.Stat(); err == nil {
				locked, err = f.check()
			}
			if err == nil && locked {
				return nil
			}
		}
		switch waited := time.Since(start); {
		case err != nil:
			return fmt.Errorf("lock %s: %w", f.path, also(err, f.drop()))
		case ctx.Err() != nil:
			return fmt.Errorf("wait for %s: %w", f.path, ctx.Err())
		case waited >= wait:
			return &LockedError{Path: f.path, Owner: f.log.readOwner(f.path), Waited: waited}
		}
	}
}

// retake takes the lock through the file that was left open, unless somebody has
// it for longer. That costs less than to open the file and to wait in a goroutine,
// which those who write again and again would do at every line.
func (f *lockFile) retake(ctx context.Context, wait time.Duration) (bool, error) {
	for start := time.Now(); ; pause() {
		locked, err := tryLock(f.kept)
		if locked {
			f.again = true
			return f.check()
		}
		if err != nil || ctx.Err() != nil || time.Since(start) >= wait {
			return false, nil //nolint:nilerr // there is another way
		}
	}
}

// note writes down that this process holds the lock from now on: for people, and
// for noted. It is not synced.
func (f *lockFile) note() error {
	if f.record == nil {
		f.record = ownerRecord(f.command)
	}
	copy(f.record[len(ownerPrefix):], time.Now().UTC().Format(ownerTime))
	if f.kept == nil {
		file, err := os.OpenFile(f.path, os.O_WRONLY|openNoFollow|openNonBlock, 0)
		if err != nil {
			return fmt.Errorf("note who holds the lock: %w", err)
		}
		f.kept = file
		if info, err := file.Stat(); err != nil || !os.SameFile(f.info, info) {
			f.close()
			return fmt.Errorf("note who holds the lock: %w", cmp.Or(err, ErrChanged))
		}
	}
	_, err := f.kept.WriteAt(f.record, ownerOffset)
	if !keepOpen {
		f.close()
	}
	if err != nil {
		return fmt.Errorf("note who holds the lock: %w", err)
	}
	return nil
}

// noted reports whether this was the last to note that it has the lock: then
// nobody else has had it since.
func (f *lockFile) noted() bool { return bytes.Equal(f.log.readRecord(f.path), f.record) }

func (f *lockFile) close() {
	_ = f.kept.Close() // what it holds is not the log
	f.kept = nil
}

// open returns a lock on what is at the path when it is taken.
func (f *lockFile) open() *flock.Flock {
	return flock.New(f.path,
		flock.SetFlag(os.O_CREATE|os.O_RDWR|openNoFollow|openNonBlock), flock.SetPermissions(fileMode))
}

// queued is a place in the queue of the system, which nothing can end: a wait that is
// given up leaves it, with a thread and an open file, to the next one.
type queued struct {
	lock *flock.Flock
	info fs.FileInfo   // of the lock file
	got  chan error    // for who waits when the lock is there
	over chan struct{} // closed when it is of no use any more
}

func (q *queued) wait() {
	defer close(q.over)
	err := q.lock.Lock()
	select {
	case q.got <- err:
	default:
		if err == nil {
			_ = q.lock.Unlock() // nobody waits for what comes of it
		}
	}
}

// queue waits for a lock that somebody has, as long as the lock file is the one
// that is at the path now. It returns nil when that was in vain.
func (f *lockFile) queue(ctx context.Context, until time.Time) (*flock.Flock, error) {
	if !time.Now().Before(until) {
		return nil, nil //nolint:nilnil // in vain
	}
	info, err := f.log.fs.Lstat(f.path)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	timer := time.NewTimer(min(recheck, time.Until(until)))
	defer timer.Stop()
	if f.queued == nil || !os.SameFile(f.queued.info, info) {
		f.queued = &queued{lock: f.open(), info: info, got: make(chan error), over: make(chan struct{})}
		go f.queued.wait()
	}
	for {
		select {
		case err := <-f.queued.got:
			lock := f.queued.lock
			f.queued = nil
			if err != nil {
				return nil, err
			}
			return lock, nil
		case <-f.queued.over:
			f.queued = nil
		case <-ctx.Done():
		case now := <-timer.C:
			if same, err := f.log.names(f.path, info); err == nil && same && now.Before(until) {
				timer.Reset(min(recheck, until.Sub(now)))
				continue
			}
		}
		return nil, nil //nolint:nilnil // in vain
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
func (f *lockFile) drop() (err error) {
	switch {
	case f.again:
		f.again = false
		err = unlock(f.kept)
	case f.held != nil:
		err = f.held.Unlock()
		f.held = nil
	}
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
// process, then among processes. The wait counts for both together. leave lets the
// next goroutine of the process in; the lock among processes is given back before.
func (l *Log) lock(ctx context.Context) (leave func(), err error) {
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
	leave = func() {
		l.turn.ended = time.Now()
		<-l.writer
	}
	if l.turn.begin(ctx) && l.options.Waited != nil {
		l.options.Waited(ctx, l.readScratch)
	}
	if err := l.lockFile.acquire(ctx, l.options.LockWait-time.Since(start)); err != nil {
		leave()
		if locked := (*LockedError)(nil); errors.As(err, &locked) {
			locked.Waited = time.Since(start)
		}
		return nil, err
	}
	if err := l.lockFile.note(); err != nil {
		err = also(err, l.lockFile.release())
		leave()
		return nil, err
	}
	return leave, nil
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
	if err := f.acquire(context.Background(), 0); err != nil {
		return nil, err
	}
	_ = f.note() // for people only
	f.close()
	return f.release, nil
}
