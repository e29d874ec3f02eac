package state

import (
	"sort"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// remember keeps the event in short.
func (s *State) remember(e *event.Event, at time.Time) {
	// Strings of an event share a copy of its line. That is worth holding while the line is small.
	const small = 2 << 10
	id, from, to, description := e.ID, e.From, e.To, event.Clip(e.Description, MaxRefDescription)
	if len(e.Description)+len(e.Context)+len(e.Payload) > small {
		id, from, to, description = strings.Clone(id), strings.Clone(from), strings.Clone(to), strings.Clone(description)
	}
	s.refs.push(Ref{Seq: e.Seq, ID: id, Type: e.Type, From: from, To: to, Description: description, At: at}, MaxRefs)
}

// supersede marks the event old as old news, by the event that made it so.
func (s *State) supersede(old, by int64) {
	refs := s.refs.all(MaxRefs)
	if len(refs) == 0 || old < refs[0].Seq && s.skips.OutOfOrder == 0 {
		return
	}
	i := sort.Search(len(refs), func(i int) bool { return refs[i].Seq >= old })
	if i == len(refs) || refs[i].Seq != old {
		if s.skips.OutOfOrder == 0 {
			return
		}
		for i = len(refs) - 1; i >= 0 && refs[i].Seq != old; i-- { // numbers may be out of order
		}
		if i < 0 {
			return
		}
	}
	s.refs.own()
	s.refs.all(MaxRefs)[i].SupersededBy = by
}

// Recent lists the newest n events, oldest first, of at most MaxRefs that are remembered.
func (s *State) Recent(n int) []Ref {
	refs := s.refs.all(MaxRefs)
	return append([]Ref{}, refs[max(0, len(refs)-max(0, n)):]...)
}

// News lists the newest limit events above after that are news for an agent, oldest first, and how many more there are. Those
// that are no longer remembered one by one are counted among them.
func (s *State) News(agent string, after int64, limit int) (list []Ref, omitted int64) {
	list = []Ref{}
	refs := s.refs.all(MaxRefs)
	for i := len(refs) - 1; i >= 0 && len(list) < limit; i-- {
		if r := &refs[i]; r.Seq > after && r.isNewsFor(agent) {
			list = append(list, *r)
		}
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
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

// isNewsFor is isNews for an event in short, and whether it concerns an agent.
func (r *Ref) isNewsFor(agent string) bool {
	switch r.Type {
	case event.TypeAck, event.TypeAgent, event.TypeHalt:
		return false
	case event.TypeStatus:
		if r.From == event.Loadout && strings.HasPrefix(r.ID, "compaction-") {
			return false
		}
	case event.TypeTask, event.TypeHandoff, event.TypeQuestion, event.TypeDone, event.TypeError, event.TypeCancel,
		event.TypeContract, event.TypeOwnership, event.TypeDecision, event.TypeUpdate, event.TypeDiscussion:
	}
	return !event.SameName(r.From, agent) && (r.To == event.Broadcast || event.SameName(r.To, agent))
}
