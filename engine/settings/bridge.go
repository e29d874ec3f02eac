package settings

import (
	"github.com/agentloadout/loadout/engine/turn"
)

// Bridge is what bounds the turns that are made by themselves.
type Bridge struct {
	Depth    Depth    `json:"depth" help:"longest chain of turns that cause one another"`
	Deadline TurnTime `json:"deadline" help:"how long a turn may take"`
}

// Provider is how one agent program is driven. It can only be set by a person for all projects: a project's file, which may come with
// somebody else's repository, must not say what programs may do, nor which ones are started.
type Provider struct {
	Protocol    string                      `json:"protocol" allowed:"acp" help:"acp: the program is one of your own that speaks the Agent Client Protocol"`
	Command     []string                    `json:"command" help:"how to start the program, instead of by its usual name"`
	Permissions turn.Permissions            `json:"permissions" help:"what its turns may do"`
	Sessions    map[string]turn.Permissions `json:"sessions" help:"the same for single agents, by name, instead"`
}

// Permissions are what a turn of an agent may do with a program: what is set for the agent, else for the program, else what the program
// does by itself.
func (s *Settings) Permissions(program, agent string) turn.Permissions {
	p := s.Providers[program]
	may, ok := p.Sessions[agent]
	if !ok {
		may = p.Permissions
	}
	if len(may.Command) == 0 && p.Protocol == "" {
		may.Command = p.Command
	}
	return may
}
