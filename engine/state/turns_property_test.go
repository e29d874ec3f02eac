package state

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/agentloadout/loadout/engine/event"
)

// drawTurn makes a step of one of a few turns, so that they meet each other.
func drawTurn(t *rapid.T, seq int64, agent string) event.Turn {
	number := func(name string) int64 { return rapid.Int64Range(0, 9).Draw(t, name) }
	through := rapid.Int64Range(-1, seq).Draw(t, "through")
	b := event.Turn{
		Action: rapid.SampledFrom([]event.TurnAction{
			event.TurnAttached, event.TurnAttached, event.TurnForgotten, event.TurnOpened, event.TurnClosed, event.TurnPassed, event.TurnQueued,
			event.TurnQueued, event.TurnHeld, event.TurnStarted, event.TurnStarted, event.TurnFinished, event.TurnFailed, event.TurnCancelled,
			event.TurnUncertain, event.TurnRetried, event.TurnSkipped, event.TurnStopped, event.TurnCapped,
		}).Draw(t, "step"),
		Turn:  fmt.Sprintf("turn-%d", rapid.IntRange(0, 4).Draw(t, "turn")),
		Agent: agent, Provider: "p", Session: rapid.SampledFrom([]string{"s1", "s2"}).Draw(t, "session"),
		Why:     rapid.SampledFrom([]event.TurnWhy{event.WhyDelivery, event.WhyDelivery, event.WhyMessage}).Draw(t, "why"),
		Through: &through, Passive: number("passive"), Duplicate: number("duplicate"), Depth: number("depth"), RetryAfter: number("wait"),
		Cause: rapid.SampledFrom([]string{string(event.CapTurns), CauseEnd, CausePerson}).Draw(t, "cause"),
		Spent: rapid.SampledFrom([]string{"", spentNothing, "maybe"}).Draw(t, "spent"),
		Usage: &event.TurnUsage{Input: number("input"), Output: number("output"), CostMicros: number("cost"), Priced: true, Known: true},
	}
	if seq > 0 {
		b.Seqs = []int64{seq - 1}
	}
	switch b.Action {
	case event.TurnOpened:
		b.Agents = []string{agent}
	case event.TurnCapped:
		limit := number("limit")
		b.Caps = &event.TurnLimits{Turns: &limit, Tokens: &limit}
	default:
	}
	return b
}
