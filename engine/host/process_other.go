//go:build !linux && !darwin

package host

import (
	"errors"
	"fmt"
	"runtime"
)

// Find is not supported here: the error wraps errors.ErrUnsupported.
func (Machine) Find(pid int) (Process, error) {
	return Process{}, fmt.Errorf("find process %d on %s: %w", pid, runtime.GOOS, errors.ErrUnsupported)
}

// Alive reports true: it is not known here, and a live process must not be taken
// for a dead one.
func (Machine) Alive(Process) bool { return true }
