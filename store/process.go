package store

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

// maxAncestors bounds the walk to the first process.
const maxAncestors = 64

// Ancestors returns the parent of this process, its parent, and so on, nearest
// first, as far as they can be seen. It is empty where the system does not tell.
func Ancestors() []Process {
	var list []Process
	for pid := os.Getppid(); pid > 0 && len(list) < maxAncestors; {
		p, err := FindProcess(pid)
		if err != nil {
			break
		}
		list = append(list, p)
		pid = p.Parent
	}
	return list
}
