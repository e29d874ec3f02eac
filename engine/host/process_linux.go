package host

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Find returns the running process with that number. The error wraps
// fs.ErrNotExist when there is none.
func (Machine) Find(pid int) (Process, error) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, fmt.Errorf("find process %d: %w", pid, err)
	}
	p, ended, err := parseStat(stat)
	if err != nil {
		return Process{}, fmt.Errorf("find process %d: %w", pid, err)
	}
	if ended {
		return Process{}, fmt.Errorf("find process %d: it has ended: %w", pid, fs.ErrNotExist)
	}
	p.Boot, err = boot()
	return p, err
}

// parseStat reads /proc/<pid>/stat, see proc_pid_stat(5). The name stands in
// parentheses and may hold any character, parentheses too, so that fields are
// counted from the last one. ended means that only the exit status is left.
func parseStat(stat []byte) (p Process, ended bool, err error) {
	open, closing := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 1 || closing < open {
		return p, false, errors.New("parse stat: no name")
	}
	const state, parent, start = 0, 1, 19 // the fields 3, 4 and 22 of the manual; the third follows the name
	fields := strings.Fields(string(stat[closing+1:]))
	if len(fields) <= start {
		return p, false, errors.New("parse stat: too few fields")
	}
	if p.PID, err = strconv.Atoi(strings.TrimSpace(string(stat[:open]))); err != nil {
		return p, false, fmt.Errorf("parse stat: %w", err)
	}
	if p.Parent, err = strconv.Atoi(fields[parent]); err != nil {
		return p, false, fmt.Errorf("parse stat: %w", err)
	}
	p.Name, p.Start = string(stat[open+1:closing]), fields[start]
	return p, fields[state] == "Z" || fields[state] == "X", nil
}

// boot identifies this boot of the system and the namespace of process numbers.
func boot() (string, error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read boot id: %w", err)
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		namespace = "" // not readable in every container
	}
	return strings.TrimSpace(string(id)) + " " + namespace, nil
}

// Alive reports whether the process is running. It errs on the side of alive:
// a process that was seen in another namespace of this boot cannot be looked up
// from here.
func (m Machine) Alive(p Process) bool {
	here, err := boot()
	if err != nil {
		return true
	}
	if p.Boot != here {
		id, _, _ := strings.Cut(here, " ")
		was, _, _ := strings.Cut(p.Boot, " ")
		return id == was
	}
	now, err := m.Find(p.PID)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return now.Start == p.Start
}
