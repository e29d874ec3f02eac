package state

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
)

// Sessions lists the sessions that turns can be given to, by agent.
func (s *State) Sessions() []Session {
	list := make([]Session, 0, len(s.turns.sessions))
	for _, session := range s.turns.sessions {
		list = append(list, s.turns.session(session))
	}
	slices.SortFunc(list, func(a, b Session) int {
		return cmp.Or(strings.Compare(event.FoldName(a.Agent), event.FoldName(b.Agent)), strings.Compare(a.Agent, b.Agent))
	})
	return list
}

// Session finds the session of an agent.
func (s *State) Session(agent string) (Session, bool) {
	session, ok := s.turns.sessions[event.FoldName(agent)]
	if !ok {
		return Session{}, false
	}
	return s.turns.session(session), true
}

func (t *turns) session(s Session) Session {
	for _, turn := range t.open {
		if turn.Status == TurnFailed && turn.Waits() && event.SameName(turn.Agent, s.Agent) {
			s.Paused = true
		}
	}
	return s
}

// Turns lists the turns that are remembered, in the order in which they were queued: all that are not over or wait for a person, and
// the newest MaxEnded of the others.
func (s *State) Turns() []Turn {
	list := append(s.turns.ended.list(), s.OpenTurns()...)
	slices.SortFunc(list, asQueued)
	return list
}

func asQueued(a, b Turn) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), strings.Compare(a.ID, b.ID)) }

// OpenTurns lists the turns that are not over or wait for a person, in the order in which they were queued.
func (s *State) OpenTurns() []Turn {
	list := make([]Turn, 0, len(s.turns.open))
	for _, turn := range s.turns.open {
		list = append(list, turn)
	}
	slices.SortFunc(list, asQueued)
	return list
}

// Turn finds a turn that is not over or waits for a person.
func (s *State) Turn(id string) (Turn, bool) {
	turn, ok := s.turns.open[id]
	return turn, ok
}

// Bridge is the bridge as the log tells it.
func (s *State) Bridge() Bridge {
	b := s.turns.bridge
	b.Agents = append([]string{}, b.Agents...)
	return b
}

// Caps lists the bounds of the sessions of the bridge that runs or ran last: those of each session, then those for all together,
// without limit ones included.
func (s *State) Caps() []Cap {
	t := &s.turns
	list := []Cap{}
	var turns int64
	var used Usage
	for _, session := range s.Sessions() {
		if !t.drives(session.Agent) {
			continue
		}
		turns += session.Turns
		used = used.add(session.Usage)
		list = append(list, Cap{Kind: event.CapTurns, Agent: session.Agent, Used: session.Turns, Limit: session.MaxTurns})
	}
	list = append(list,
		Cap{Kind: event.CapTotalTurns, Used: turns, Limit: t.limits.totalTurns},
		Cap{Kind: event.CapTokens, Used: used.Tokens(), Limit: t.limits.tokens},
		Cap{Kind: event.CapCost, Used: used.CostMicros, Limit: t.limits.costMicros},
	)
	for i := range list {
		for _, session := range t.sessions {
			if session.Stopped == string(list[i].Kind) && t.drives(session.Agent) &&
				(list[i].Agent == "" || event.SameName(list[i].Agent, session.Agent)) {
				list[i].Stopped = true
			}
		}
	}
	return list
}

// Rests reports whether a session is one whose agent has ended, without a turn or a bridge: one of a discussion that is over, say. It goes on
// when it is named.
func (s *State) Rests(x Session) bool {
	a, ok := s.Agent(x.Agent)
	return ok && a.Ended != nil && x.Running == "" && x.Stopped == "" && !x.Paused && !s.turns.drives(x.Agent)
}

// Meter is what was delivered to an agent and what it used.
func (s *State) Meter(agent string) Meter {
	m, ok := s.turns.meters[event.FoldName(agent)]
	if !ok {
		return Meter{Agent: agent, Seq: -1}
	}
	return m
}

// Meters lists the meters of all agents that turns were given to, by name.
func (s *State) Meters() []Meter {
	list := make([]Meter, 0, len(s.turns.meters))
	for _, m := range s.turns.meters {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Meter) int { return strings.Compare(event.FoldName(a.Agent), event.FoldName(b.Agent)) })
	return list
}

// Depth is how many bridged turns led to an event, one by the other: 0 for an event that none caused, or that is forgotten.
func (s *State) Depth(seq int64) int64 {
	for _, c := range s.turns.caused.newest() {
		if c.seq == seq {
			return c.depth
		}
	}
	return 0
}

// SupersededBy is the seq of what made an event old news, 0 when nothing did or when that is forgotten.
func (s *State) SupersededBy(seq int64) int64 {
	for _, r := range s.refs.newest() {
		if r.Seq == seq {
			return r.SupersededBy
		}
	}
	return 0
}
