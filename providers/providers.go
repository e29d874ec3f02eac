// Package providers lists the agent programs that turns can go to. A provider is a package of its own below this one and a line here.
package providers

import (
	"maps"
	"slices"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/acp"
	"github.com/agentloadout/loadout/providers/claude"
	"github.com/agentloadout/loadout/providers/codex"
	"github.com/agentloadout/loadout/providers/internal/process"
	"github.com/agentloadout/loadout/providers/sim"
)

// All returns every provider: those that are built in, and one for each agent of the settings that speaks the Agent Client Protocol,
// given as its name and the command that starts it. A built-in name is not replaced.
func All(agents map[string][]string) []turn.Provider {
	all := []turn.Provider{claude.New(), codex.New(), sim.New(sim.Options{})}
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		if !slices.ContainsFunc(all, func(p turn.Provider) bool { return p.Name() == name }) {
			all = append(all, acp.New(name, agents[name]))
		}
	}
	return all
}

// Reaper ends what the programs of turns left running. Only Linux shows it; on Windows nothing is left.
type Reaper struct{}

// Reap ends every process of this user that carries a turn's mark.
func (Reaper) Reap(mark string) error { return process.Reap(mark) }
