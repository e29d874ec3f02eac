// Package host looks at the processes of the machine that the program runs on: who called it, and whether they still run. What a
// system does not tell is unknown, never guessed, and an unknown process counts as alive.
package host

import "os"

// Process identifies a process beyond the reuse of its number: by when it was
// started, and by the boot and, where there are such, the namespace in which the
// number counts.
type Process struct {
	PID    int    `json:"pid"`
	Start  string `json:"start"`          // when it was started, in the unit of the system; only for comparison
	Boot   string `json:"boot"`           // of the system, with the namespace of the number
	Name   string `json:"name,omitempty"` // of its program, as the system cuts it
	Parent int    `json:"parent,omitempty"`
}

// Machine is the machine that the program runs on.
type Machine struct{}

// maxAncestors bounds the walk to the first process.
const maxAncestors = 64

// Ancestors returns the parent of this process, its parent, and so on, nearest
// first, as far as they can be seen. It is empty where the system does not tell.
func (m Machine) Ancestors() []Process {
	var list []Process
	for pid := os.Getppid(); pid > 0 && len(list) < maxAncestors; {
		p, err := m.Find(pid)
		if err != nil {
			break
		}
		list = append(list, p)
		pid = p.Parent
	}
	return list
}

// Name is the name of the machine, "" where it has none.
func (Machine) Name() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
