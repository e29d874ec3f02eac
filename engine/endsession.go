package engine

import (
	"context"
	"fmt"

	"github.com/agentloadout/loadout/engine/event"
)

// EndSession ends an agent's session. One that edited files, or holds claims or tasks, leaves its handover card first, as an update
// that whoever comes next reads (see Card). Errors: those of Do.
func (e *Engine) EndSession(ctx context.Context, agent, reason string) error {
	v, err := e.View(ctx)
	if err != nil {
		return err
	}
	if files := e.Touched(agent); len(files) > 0 || v.Leaves(agent) {
		card, err := e.Card(ctx, agent)
		if err != nil {
			return err
		}
		if _, err := e.Do(ctx, Request{Command: Report{Agent: agent, Update: event.Update{
			Files: files, Note: fmt.Sprintf("The session of %s has ended.\n%s", agent, card.Text),
		}}}); err != nil {
			return err
		}
	}
	_, err = e.Do(ctx, Request{Command: EndAgent{Name: agent, Reason: reason}})
	return err
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
