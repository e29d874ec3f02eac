//go:build !linux && !darwin

package store

import (
	"errors"
	"fmt"
	"runtime"
)

// FindProcess is not supported here: the error wraps errors.ErrUnsupported.
func FindProcess(pid int) (Process, error) {
	return Process{}, fmt.Errorf("find process %d on %s: %w", pid, runtime.GOOS, errors.ErrUnsupported)
}

// Alive reports true: it is not known here, and a live process must not be taken
// for a dead one.
func Alive(Process) bool { return true }
