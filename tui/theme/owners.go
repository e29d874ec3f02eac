package theme

import "github.com/agentloadout/loadout/engine/event"

// Owners gives every agent a colour and keeps it for as long as the cockpit runs.
type Owners struct {
	theme *Theme
	slots map[string]int
}

// NewOwners starts with no agent.
func (t *Theme) NewOwners() *Owners { return &Owners{theme: t, slots: map[string]int{}} }

// Style is the style of an agent's name. The person and this program have no colour of their own.
func (o *Owners) Style(agent string) Style {
	switch agent {
	case event.User, event.Loadout, event.Broadcast, "":
		return o.theme.Text
	}
	name := event.FoldName(agent)
	slot, ok := o.slots[name]
	if !ok {
		slot = len(o.slots)
		o.slots[name] = slot
	}
	return o.theme.Owner(slot)
}
