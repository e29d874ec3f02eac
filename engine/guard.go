package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
)

// MayEdit says why an agent should not edit paths, in stored form: others hold them, what is above them or what is below them
// exclusively. nil when nothing is in the way. agent is empty when it is not known who edits.
func (v *View) MayEdit(agent string, paths []string) *ConflictError {
	blocking := slices.DeleteFunc(v.blocking(agent, paths, event.Exclusive), func(c Conflict) bool { return c.Claim.Mode != event.Exclusive })
	if len(blocking) == 0 {
		return nil
	}
	var held []string
	for _, c := range blocking {
		if !slices.Contains(held, c.Requested) {
			held = append(held, c.Requested)
		}
	}
	who := cmp.Or(agent, Me)
	are := "is"
	if len(held) > 1 {
		are = "are"
	}
	headline := fmt.Sprintf("%s %s not to be edited by %s", toldList(held), are, told(cmp.Or(agent, "you")))
	return &ConflictError{
		Kind:      ConflictOwnership,
		Message:   strings.Join(append([]string{headline}, v.tell(blocking)...), "\n"),
		Conflicts: blocking,
		Want:      -1,
		Have:      blocking[0].Claim.Seq,
		Hints:     v.claimHints(Own{Agent: who, Paths: held}, blocking),
	}
}
