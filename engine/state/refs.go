package state

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// remember keeps the event in short. from and to are the places of its sender and receiver.
func (s *State) remember(e *event.Event, from, to int, at time.Time) {
	text := s.texts.keep(e.ID, event.Clip(e.Description, MaxRefDescription))
	r, _ := s.refs.next(MaxRefs)
	r.Seq, r.Type, r.At, r.SupersededBy = e.Seq, e.Type, at, 0
	r.ID, r.Description = text[:len(e.ID)], text[len(e.ID):]
	r.From, r.To = s.nameAt(from, e.From), s.nameAt(to, e.To)
}

// nameAt is name as a string that may be kept: usually the roster has it.
func (s *State) nameAt(place int, name string) string {
	switch {
	case place == everybody:
		return event.Broadcast
	case place >= 0 && s.members.list[place].name == name:
		return s.members.list[place].name
	}
	return strings.Clone(name)
}

// arena keeps many short strings, of which the old ones are let go together, with few allocations.
type arena struct{ chunk *strings.Builder }

// keep returns a joined copy of two strings.
func (a *arena) keep(first, second string) string {
	const size = 16 << 10
	need := len(first) + len(second)
	if a.chunk == nil || a.chunk.Cap()-a.chunk.Len() < need {
		a.chunk = new(strings.Builder)
		a.chunk.Grow(max(size, need))
	}
	start := a.chunk.Len()
	a.chunk.WriteString(first)
	a.chunk.WriteString(second)
	return a.chunk.String()[start:]
}

// supersede marks the event old as old news, by the event that made it so.
func (s *State) supersede(old, by int64) {
	ordered := s.skips.OutOfOrder == 0
	n := s.refs.len()
	if n == 0 || ordered && old < s.refs.at(0).Seq {
		return
	}
	i := n - 1 - int(s.refs.at(n-1).Seq-old) // where it is if no number was left out
	if i < 0 || i >= n || s.refs.at(i).Seq != old {
		i = sort.Search(n, func(i int) bool { return s.refs.at(i).Seq >= old })
	}
	if !ordered && (i == n || s.refs.at(i).Seq != old) {
		for i = 0; i < n && s.refs.at(i).Seq != old; i++ {
		}
	}
	if i < n && s.refs.at(i).Seq == old {
		s.refs.own()
		s.refs.at(i).SupersededBy = by
	}
}

// Recent lists the newest n events, oldest first, of at most MaxRefs that are remembered.
func (s *State) Recent(n int) []Ref {
	refs := s.refs.list()
	return refs[max(0, len(refs)-max(0, n)):]
}

// News lists the newest limit events above after that are news for an agent, oldest first, and how many more there are. Those
// that are no longer remembered one by one are counted among them.
func (s *State) News(agent string, after int64, limit int) (list []Ref, omitted int64) {
	list = []Ref{}
	for _, r := range s.refs.newest() {
		if len(list) >= limit {
			break
		}
		if r.Seq > after && r.isNewsFor(agent) {
			list = append(list, *r)
		}
	}
	slices.Reverse(list)
	return list, max(0, s.countNews(agent, after)-int64(len(list)))
}

// countNews counts the news for an agent above after: exactly where that is remembered, else at most.
func (s *State) countNews(agent string, after int64) int64 {
	if after >= s.news.dropped {
		return s.news.above(s.members.find(agent), after)
	}
	m := s.members.get(agent)
	switch {
	case m == nil:
		return s.news.total
	case after < m.cursor:
		return s.total(m)
	}
	return s.unread(m).Count
}

// isNewsFor reports whether an event is news, and for the agent.
func (r *Ref) isNewsFor(agent string) bool {
	return r.Type.IsNews(r.From) && !event.SameName(r.From, agent) && (r.To == event.Broadcast || event.SameName(r.To, agent))
}
