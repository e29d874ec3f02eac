package host

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// zombie is SZOMB of sys/proc.h: only the exit status is left.
const zombie = 5

// Find returns the running process with that number. The error wraps
// fs.ErrNotExist when there is none.
func (Machine) Find(pid int) (Process, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	// Without such a process the kernel answers nothing, which reads as EIO.
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) || err == nil && (int(info.Proc.P_pid) != pid || info.Proc.P_stat == zombie) {
		return Process{}, fmt.Errorf("find process %d: %w", pid, fs.ErrNotExist)
	}
	if err != nil {
		return Process{}, fmt.Errorf("find process %d: %w", pid, err)
	}
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return Process{}, fmt.Errorf("read boot id: %w", err)
	}
	start := info.Proc.P_starttime
	return Process{
		PID: pid, Parent: int(info.Eproc.Ppid), Boot: boot,
		Start: fmt.Sprintf("%d.%06d", start.Sec, start.Usec),
		Name:  unix.ByteSliceToString(info.Proc.P_comm[:]),
	}, nil
}

// Alive reports whether the process is running. It errs on the side of alive
// when the system does not tell.
func (m Machine) Alive(p Process) bool {
	if boot, err := unix.Sysctl("kern.bootsessionuuid"); err == nil && boot != p.Boot {
		return false
	}
	now, err := m.Find(p.PID)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return now.Start == p.Start
}
