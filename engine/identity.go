package engine

import "context"

// Me stands for the calling agent wherever one is named.
const Me = "me"

// Environment variables that say who calls.
const (
	EnvAgent         = "LOADOUT_AGENT"
	EnvClaudeSession = "CLAUDE_CODE_SESSION_ID"
)

// Host tells about the processes of the machine.
type Host interface {
	Name() string
	Find(pid int) (Process, error)
	Alive(p Process) bool
	Ancestors() []Process // nearest first; the calling process is not among them
	SessionLeader() int   // pid, 0 when there is none
}

// Identify says who a call acts as. explicit is the agent that an argument or --agent names; empty or Me: find out, first
// LOADOUT_AGENT, then the host's session, then the nearest ancestor process that was registered. as is the value of --as: it
// wins, and permits to act as an agent whose live session belongs to another process tree, which is a *ConflictError
// of kind identity otherwise.
func (e *Engine) Identify(ctx context.Context, explicit, as string) (string, error) { panic("later") }

// Registration completes a Register command with the session and the process that it stands for: pid, or, when that is 0,
// the nearest ancestor that is a known host program, the session leader if it is an ancestor, the parent.
func (e *Engine) Registration(r Register, pid int) (Register, error) { panic("later") }
