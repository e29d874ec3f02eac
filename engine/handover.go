package engine

import (
	"context"
	"fmt"

	"github.com/agentloadout/loadout/engine/event"
)

// handOver stores the card of an agent whose session is about to end, if it has something to hand over: claims, tasks, or files that it
// has edited since its last update. It answers a note on that; what keeps the card from being stored does not keep the session from ending.
func (e *Engine) handOver(ctx context.Context, agent, by string) (note string) {
	v, err := e.View(ctx)
	if err != nil {
		return "" // ending it says so
	}
	a, ok := v.State.Agent(agent)
	files := e.Touched(a.Name)
	if !ok || !a.Registered || len(files) == 0 && !v.Leaves(a.Name) {
		return ""
	}
	card, err := e.Card(ctx, a.Name)
	if err == nil {
		note := fmt.Sprintf("The session of %s has ended.\n%s", a.Name, card.Text)
		_, err = e.Do(ctx, Request{Command: Report{Agent: a.Name, Update: event.Update{Files: files, Note: note}}, By: by})
	}
	if err != nil {
		return fmt.Sprintf("it leaves no handover card: %v", err)
	}
	return "a handover card tells what it leaves: loadout coord card " + word(a.Name)
}

// Leaves reports whether an agent would leave something behind: it holds claims or has taken tasks.
func (v *View) Leaves(agent string) bool {
	if len(v.State.ClaimsOf(agent)) > 0 {
		return true
	}
	for _, t := range v.State.Pending() {
		if event.SameName(t.TakenBy, agent) {
			return true
		}
	}
	return false
}
