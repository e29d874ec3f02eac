//go:build unix

package misbehave

import (
	"os/exec"
	"syscall"
)

// ownSession makes the command the leader of a new session, as a shell or a daemon would be.
func ownSession(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
