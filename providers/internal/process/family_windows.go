package process

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// family is a program with its descendants, held by a job object. A child that the program starts in the moment before it is put
// into the job is not in it. Without a job the program alone is stopped.
type family struct {
	process *os.Process
	job     windows.Handle
}

// isolate gives the command a group of its own, so that a break can be sent to it alone.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

func newFamily(p *os.Process, _ string) *family {
	f := &family{process: p}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return f
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))) //nolint:gosec // the call takes a pointer and a size
	if err == nil {
		assign := func(h uintptr) { err = windows.AssignProcessToJobObject(job, windows.Handle(h)) }
		if gone := p.WithHandle(assign); gone != nil {
			err = gone
		}
	}
	if err != nil {
		_ = windows.CloseHandle(job) // it holds nothing
		return f
	}
	f.job = job
	return f
}

func (f *family) close() {
	if f.job != 0 {
		_ = windows.CloseHandle(f.job) // with it ends what may be left
	}
}

// observe has nothing to do: children are born into the job.
func (*family) observe() {}

func (f *family) interrupt() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(f.process.Pid)) // without a console the kill follows
}

func (f *family) kill() {
	if f.job == 0 {
		_ = f.process.Kill() // it may have ended meanwhile
		return
	}
	_ = windows.TerminateJobObject(f.job, 1) // an empty job is fine
}

func status(s *os.ProcessState, _ error) (code int, signal string) {
	if s == nil {
		return -1, ""
	}
	return s.ExitCode(), ""
}

// Reap finds nothing: a job object ends its processes with whoever holds it.
func Reap(string) error { return nil }
