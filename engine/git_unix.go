//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a command in a process group of its own and ends the whole group when the command's context ends.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
