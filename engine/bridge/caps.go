package bridge

import (
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// bytesPerToken is a low estimate, so that a prompt is not taken for shorter than it is.
const bytesPerToken = 3

// admit says which cap the next turn of an agent would pass, "" for none. What a turn will use is not known before: it is taken for
// what the session's turns used on average, and at least for its prompt. Turns that run are counted in the same way.
func admit(s *state.State, agent string, prompt int) event.TurnCap {
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
		next := c.Used
		switch c.Kind {
		case event.CapTurns, event.CapTotalTurns:
			next++
		case event.CapTokens:
			next += tokens
		case event.CapCost:
			next += max(cost, 1)
		}
		if next > c.Limit {
			return c.Kind
		}
	}
	return ""
}

// mean is what an automatic turn of a session used on average.
func mean(s state.Session) (tokens, cost int64) {
	if s.Turns <= 0 {
		return 0, 0
	}
	return s.Usage.Tokens() / s.Turns, s.Usage.CostMicros / s.Turns
}
