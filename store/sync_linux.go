package store

import (
	"os"
	"syscall"
)

// Sync makes the content durable, and of what is said about the file only what is needed to read it again: its size, not its time.
// That is less to write than for fsync.
func (f osFile) Sync() error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	controlErr := conn.Control(func(fd uintptr) {
		for {
			if err = syscall.Fdatasync(int(fd)); err != syscall.EINTR { //nolint:errorlint // a number of the system
				return
			}
		}
	})
	if err == nil {
		err = controlErr
	} else {
		err = &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
	}
	return err
}
