package bridge

import (
	"fmt"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// bytesPerToken is a low estimate, so that a prompt is not taken for shorter than it is.
const bytesPerToken = 3

// bound is what keeps a next turn from being started.
type bound struct {
	kind event.TurnCap // "": nothing does
	why  string        // in words
}

// admit says which cap the next turn of an agent would pass. What a turn will use is not known before: it is taken for
// what the session's turns used on average, and at least for its prompt. Turns that run are counted in the same way.
func admit(s *state.State, agent string, prompt int) bound {
	mine, _ := s.Session(agent)
	tokens, cost := mean(mine)
	tokens = max(tokens, int64(prompt/bytesPerToken))
	for _, t := range s.OpenTurns() {
		if t.Status != state.TurnRunning || t.Why != event.WhyDelivery {
			continue
		}
		if other, ok := s.Session(t.Agent); ok {
			moreTokens, moreCost := mean(other)
			tokens, cost = tokens+moreTokens, cost+moreCost
		}
	}
	for _, c := range s.Caps() {
		if c.Limit == 0 || c.Agent != "" && !event.SameName(c.Agent, agent) {
			continue
		}
		next, about := int64(1), ""
		switch c.Kind {
		case event.CapTurns, event.CapTotalTurns:
		case event.CapTokens:
			next, about = tokens, "about "
		case event.CapCost:
			next, about = max(cost, 1), "about "
		}
		if c.Used+next > c.Limit {
			return bound{c.Kind, fmt.Sprintf("the next turn would pass the cap on %s: %s used + %s%s for it > %s",
				engine.CapName(c.Kind), c.Amount(c.Used), about, c.Amount(next), c.Amount(c.Limit))}
		}
	}
	return bound{}
}

// mean is what an automatic turn of a session used on average.
func mean(s state.Session) (tokens, cost int64) {
	if s.Turns <= 0 {
		return 0, 0
	}
	return s.Usage.Tokens() / s.Turns, s.Usage.CostMicros / s.Turns
}
