package engine

import (
	"github.com/agentloadout/loadout/engine/host"
	"github.com/agentloadout/loadout/store"
)

// Where says where the search for a project starts.
type Where = store.Where

// Project is one coordinated project: its root, its .handoff directory and the worktree that was asked from.
type Project = store.Project

// Worktree is one git worktree of a project.
type Worktree = store.Worktree

// Process is one process of this machine, told apart from a later one with the same number.
type Process = host.Process

// FS is the file system below the log; tests inject faults with it.
type FS = store.FS

// Discover finds the project: --project, LOADOUT_PROJECT, the nearest .handoff/, the main worktree, the working directory.
func Discover(w Where) (Project, error) { return store.Discover(w) }
