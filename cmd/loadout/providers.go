package main

import (
	"github.com/agentloadout/loadout/engine/settings"
	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/claude"
	"github.com/agentloadout/loadout/providers/codex"
	"github.com/agentloadout/loadout/providers/sim"
)

// providers are the agent programs that turns can be given to. A further one is one line here.
func providers(settings.Settings) []turn.Provider {
	return []turn.Provider{
		claude.New(),
		codex.New(),
		sim.New(sim.Options{}),
	}
}
