//go:build unix

package process

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// killLimit bounds the time that a family is hunted for. Only a process that forks faster than it can be killed needs more.
const killLimit = 2 * time.Second

// entry is a process in the table of the system.
type entry struct {
	pid, parent, group int
	start              uint64 // in a unit of the system; greater is later
}

// family is a program with its descendants. It is used by one goroutine.
type family struct {
	pid   int    // of the program, and so of its group; 0: there is none
	start uint64 // of the program; 0 when it could not be seen
	ours  func(mark string) bool
	known map[int]uint64 // pid to start of each living member seen
}

// isolate gives the command a process group of its own, which is then named by the command's pid.
func isolate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func newFamily(p *os.Process, mark string) *family {
	f := &family{pid: p.Pid, known: map[int]uint64{}, ours: func(m string) bool { return m == mark || strings.HasPrefix(m, mark+"/") }}
	if e, ok := lookUp(p.Pid); ok {
		f.start = e.start
		f.known[e.pid] = e.start
	}
	return f
}

func (f *family) close() {}

// observe remembers the members that can be seen now and forgets those that ended.
func (f *family) observe() []entry {
	all := table()
	byPID := make(map[int]entry, len(all))
	children := make(map[int][]entry, len(all))
	for _, e := range all {
		byPID[e.pid] = e
		children[e.parent] = append(children[e.parent], e)
	}
	for pid, start := range f.known {
		if e, ok := byPID[pid]; !ok || e.start != start {
			delete(f.known, pid)
		}
	}
	// The number of a group that still has members is not given away; without any, its number may lead another group by now.
	leader, led := byPID[f.pid]
	if ours := f.pid > 0 && (!led || leader.start == f.start); ours {
		for _, e := range all {
			if e.group == f.pid {
				f.known[e.pid] = e.start
			}
		}
	}
	queue := make([]int, 0, len(f.known))
	for pid := range f.known {
		queue = append(queue, pid)
	}
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		for _, e := range children[pid] {
			if _, ok := f.known[e.pid]; !ok {
				f.known[e.pid] = e.start
				queue = append(queue, e.pid)
			}
		}
	}
	return all
}

// interrupt asks the program and its group to stop. Those that left the group are the program's own to stop.
func (f *family) interrupt() { _ = syscall.Kill(-f.pid, syscall.SIGINT) } // it may have ended meanwhile

// kill ends every member but this process. It returns when none is left, or after killLimit.
func (f *family) kill() {
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		found := false
		for _, e := range f.observe() {
			if _, ok := f.known[e.pid]; !ok && e.start >= f.start && f.ours(markOf(e.pid)) {
				f.known[e.pid] = e.start
				found = true
			}
		}
		if found {
			f.observe() // their children, as long as they can be told by them
		}
		delete(f.known, os.Getpid()) // which may run on behalf of the turn that it ends
		if len(f.known) == 0 || time.Since(began) > killLimit {
			return
		}
		for pid, start := range f.known {
			f.strike(pid, start)
		}
	}
}

// Reap is turn.Reaper's.
func Reap(mark string) error {
	if mark == "" {
		return nil // not everything without one
	}
	f := &family{known: map[int]uint64{}, ours: func(m string) bool { return slices.Contains(strings.Split(m, "/"), mark) }}
	f.kill()
	if len(f.known) > 0 {
		return fmt.Errorf("processes that a turn left cannot be ended: %d", slices.Sorted(maps.Keys(f.known)))
	}
	return nil
}

// strike kills one process. FindProcess comes before the comparison: where the system has handles of processes, it holds
// the one that is compared, whatever happens to the number.
func (f *family) strike(pid int, start uint64) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return // it has ended
	}
	defer func() { _ = p.Release() }()
	if e, ok := lookUp(pid); ok && e.start == start {
		_ = p.Kill() // it may have ended meanwhile, and what cannot be killed is seen by the limit
	}
}

// status is how a program ended. An error that is no exit status leaves code -1.
func status(s *os.ProcessState, err error) (code int, signal string) {
	if s == nil {
		return -1, ""
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return -1, ""
	}
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -1, ws.Signal().String()
	}
	return s.ExitCode(), ""
}
