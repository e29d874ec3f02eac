package main

import (
	"github.com/agentloadout/loadout/engine/settings"
	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers"
)

// programs are the agent programs that turns can be given to: the built-in ones, and those of the settings that speak the Agent Client
// Protocol.
func programs(s settings.Settings) []turn.Provider {
	own := map[string][]string{}
	for name, p := range s.Providers {
		if p.Protocol != "" {
			own[name] = p.Command
		}
	}
	return providers.All(own)
}
