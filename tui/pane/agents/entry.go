package agents

import (
	"cmp"
	"slices"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/pane"
)

// entry is an agent with what concerns it.
type entry struct {
	state.Agent
	heard  time.Time // last sign of life: a beat, or its newest event
	claims []state.Claim
	asked  int // questions for it that nobody has answered
	tasks  int // open tasks that it has taken or that are addressed to it
	meter  state.Meter
}

// collect gathers what concerns each agent. This program itself is no agent.
func collect(s *pane.Snapshot) []entry {
	var all []entry
	index := map[string]int{}
	for _, a := range s.State.Agents() {
		if a.Name == event.Loadout {
			continue
		}
		waiting := s.Tasks.Counts(a.Name)
		e := entry{
			Agent: a, heard: s.Live[a.Name].LastBeat, meter: s.State.Meter(a.Name), asked: waiting.Questions, tasks: waiting.Tasks,
		}
		if a.LastAt != nil && a.LastAt.After(e.heard) {
			e.heard = *a.LastAt
		}
		index[event.FoldName(a.Name)] = len(all)
		all = append(all, e)
	}
	find := func(name string) *entry {
		if i, ok := index[event.FoldName(name)]; ok {
			return &all[i]
		}
		return &entry{} // nobody's
	}
	for _, c := range s.State.Claims() {
		e := find(c.Agent)
		e.claims = append(e.claims, c)
	}
	return all
}

// sortEntries sorts agents, by name where the order leaves it open.
func sortEntries(s *pane.Snapshot, all []entry, by order) {
	slices.SortStableFunc(all, func(a, b entry) int {
		first := 0
		switch by {
		case byRank:
			first = cmp.Compare(rank(s, &a), rank(s, &b))
		case byUnread:
			first = cmp.Compare(b.Unread.Count, a.Unread.Count)
		case byAge:
			first = b.heard.Compare(a.heard)
		case byName, orders:
		}
		return cmp.Or(first, cmp.Compare(event.FoldName(a.Name), event.FoldName(b.Name)))
	})
}

// rank sorts people first, then live sessions, then names that only act, then sessions that are over.
func rank(s *pane.Snapshot, e *entry) int {
	live := s.Live[e.Name]
	switch {
	case e.Name == event.User:
		return 0
	case live.Live:
		return 1
	case e.Ended != nil || live.Known && !live.Idle:
		return 3
	}
	return 2
}
