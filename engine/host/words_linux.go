package host

import (
	"fmt"
	"os"
	"strings"
)

// Arguments are the words that a process was started with.
func (Machine) Arguments(pid int) []string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
}

// WorkingDir is where a process works.
func (Machine) WorkingDir(pid int) string {
	dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return ""
	}
	return dir
}
