package process

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/agentloadout/loadout/engine/turn"
)

// table lists the living processes of the system, as far as they can be seen.
func table() []entry {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, err := proc.Readdirnames(-1)
	if err != nil {
		return nil
	}
	list := make([]entry, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if e, ok := lookUp(pid); ok {
				list = append(list, e)
			}
		}
	}
	return list
}

// lookUp reads /proc/<pid>/stat, see proc_pid_stat(5). The name stands in parentheses and may hold any character, so that
// fields are counted from the last parenthesis. What only waits for its parent to read the exit status has ended.
func lookUp(pid int) (entry, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return entry{}, false
	}
	const state, parent, group, start = 0, 1, 2, 19 // the fields 3, 4, 5 and 22 of the manual
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return entry{}, false
	}
	e := entry{pid: pid}
	if e.parent, err = strconv.Atoi(fields[parent]); err != nil {
		return entry{}, false
	}
	if e.group, err = strconv.Atoi(fields[group]); err != nil {
		return entry{}, false
	}
	if e.start, err = strconv.ParseUint(fields[start], 10, 64); err != nil {
		return entry{}, false
	}
	return e, true
}

// markOf is the mark in the environment with which a process of this user was started, "" without one.
func markOf(pid int) string {
	dir := "/proc/" + strconv.Itoa(pid)
	var stat syscall.Stat_t
	if err := syscall.Stat(dir, &stat); err != nil || int(stat.Uid) != os.Getuid() {
		return ""
	}
	env, err := os.ReadFile(dir + "/environ") //nolint:gosec // of the process table
	if err != nil {
		return "" // ended, or not for us to see
	}
	for kv := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(kv, []byte(turn.EnvMark+"=")); ok {
			return string(value)
		}
	}
	return ""
}
