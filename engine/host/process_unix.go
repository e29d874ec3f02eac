//go:build unix

package host

import "golang.org/x/sys/unix"

// SessionLeader returns the number of the process that leads the session of the
// operating system that this process belongs to, 0 when it is not known.
func (Machine) SessionLeader() int {
	sid, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return sid
}
