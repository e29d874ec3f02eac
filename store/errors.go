package store

import (
	"errors"
	"fmt"
	"time"
)

// Errors about the log, for errors.Is.
var (
	// ErrMissing: there is no log although a position in one was given.
	ErrMissing = errors.New("log does not exist")
	// ErrReplaced: the log at the path is not the one that the position was taken
	// in, or what it held before the position has changed. Read again from the
	// start.
	ErrReplaced = errors.New("log is not the one that was read before")
	// ErrChanged: the log grew, shrank or went away under the lock, so a program
	// that does not take the lock writes to it too. Nothing was stored, unless the
	// error is ErrUncertain as well.
	ErrChanged = errors.New("log was changed by a program that does not hold the lock")
	// ErrUncertain: a line was written but could neither be synced nor be taken
	// back. It may or may not be found later; it was not acknowledged.
	ErrUncertain = errors.New("it is not known whether the line was stored")
	// ErrLine: a line that Append was given is no single-line JSON object, is
	// longer than MaxLineBytes, or has a seq that does not rise.
	ErrLine = errors.New("line cannot be stored")
	// ErrSequence: a rewrite would have lowered the highest seq of the log, so that
	// numbers would be used twice.
	ErrSequence = errors.New("highest sequence number would fall")
)

// Errors about small files and checkpoints, for errors.Is.
var (
	// ErrExists: Create found the file already there.
	ErrExists = errors.New("file exists already")
	// ErrTooLarge: a file is larger than its reader accepts.
	ErrTooLarge = errors.New("file is too large")
	// ErrUnsafe matches every *UnsafeError.
	ErrUnsafe = errors.New("unsafe path")
	// ErrNoCheckpoint: no checkpoint was saved.
	ErrNoCheckpoint = errors.New("no checkpoint")
	// ErrVersion: the checkpoint is from another version of the program.
	ErrVersion = errors.New("checkpoint is from another version")
	// ErrDamaged: the checkpoint file is incomplete or altered.
	ErrDamaged = errors.New("checkpoint is damaged")
)

// UnsafeError refuses a path that could be somebody else's or lead elsewhere: a
// symbolic link, a foreign owner, another kind of file, a network file system.
type UnsafeError struct {
	Path   string
	Reason string // completes "<path> …"
}

func (e *UnsafeError) Error() string { return e.Path + " " + e.Reason }

// Is reports whether target is ErrUnsafe.
func (e *UnsafeError) Is(target error) bool { return target == ErrUnsafe }

// LockedError says that a lock was not free in time and who holds it.
type LockedError struct {
	Path   string
	Owner  Owner         // zero when it cannot be read
	Waited time.Duration // how long it was tried
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%s is held by %s; waited %s", e.Path, e.Owner, e.Waited.Round(time.Millisecond))
}

// BadLineError says why a line of the log cannot be read. Such a line changes no
// state and hides no other line.
type BadLineError struct {
	Number int64  // physical line, 0 when not known
	Length int64  // bytes without the newline
	Reason string // lower case
}

func (e *BadLineError) Error() string {
	return fmt.Sprintf("line %d (%d bytes) cannot be read: %s", e.Number, e.Length, e.Reason)
}

// also adds the error of a clean-up to err, which stays as it is without one.
func also(err, more error) error {
	switch {
	case more == nil:
		return err
	case err == nil:
		return more
	}
	return errors.Join(err, more)
}
