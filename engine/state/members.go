package state

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// member is a name that has taken part.
type member struct {
	name       string
	registered bool
	forgotten  bool // not shown until it takes part again
	ended      time.Time
	since      time.Time // registered at
	identity

	cursor  int64 // has acknowledged everything up to here, -1 for nothing
	ackSeq  int64 // the event that said so, -1 for none
	lastSeq int64 // its newest event, -1 for none
	lastAt  time.Time

	sent    int64 // news that it sent to everybody
	direct  int64 // news that others sent to it alone
	read    int64 // news for it, up to its cursor
	inexact bool  // read is too small by a number that is not known
}

// identity is what a session says of itself.
type identity struct {
	base, human, session, start, boot, host string
	pid                                     int
}

// roster is everybody who has taken part.
type roster struct {
	list   []member
	index  map[string]int // folded name → place in list
	shared bool           // list and index are those of a clone too
}

// Places that are not in a roster.
const (
	nobody    = -1 // this program, or a name that was removed
	everybody = -2
	stranger  = -3 // a name that is not known
)

func (r *roster) clone() roster {
	r.shared = true
	return *r
}

func (r *roster) own() {
	if !r.shared {
		return
	}
	r.list, r.index, r.shared = slices.Clone(r.list), maps.Clone(r.index), false
}

// find returns the place of a name, stranger if it is not known.
func (r *roster) find(name string) int {
	if i, ok := r.index[name]; ok { // the name is in its folded form, as most are
		return i
	}
	if i, ok := r.index[event.FoldName(name)]; ok {
		return i
	}
	return stranger
}

// keys are the folded names of the list.
func (r *roster) keys() []string {
	keys := make([]string, len(r.list))
	for key, i := range r.index {
		keys[i] = key
	}
	return keys
}

// get returns the member of a name, nil if it is not known or forgotten.
func (r *roster) get(name string) *member {
	i := r.find(name)
	if i == stranger || r.list[i].forgotten {
		return nil
	}
	return &r.list[i]
}

// join returns the place of a name, which it makes known.
func (r *roster) join(name string) int {
	i := r.find(name)
	if i == stranger {
		r.own()
		i = len(r.list)
		r.list = append(r.list, member{name: strings.Clone(name), cursor: -1, ackSeq: -1, lastSeq: -1})
		r.index[strings.Clone(event.FoldName(name))] = i
	}
	if r.list[i].forgotten {
		r.own()
		r.list[i].forgotten = false
	}
	return i
}

// parties makes sender and receiver known and returns their places.
func (s *State) parties(e *event.Event, at time.Time) (from, to int) {
	from, to = nobody, everybody
	before := len(s.members.list)
	if e.From != event.Loadout {
		from = s.members.join(e.From)
		s.members.own()
		m := &s.members.list[from]
		m.lastSeq = max(m.lastSeq, e.Seq)
		if at.After(m.lastAt) {
			m.lastAt = at
		}
		if e.Type != event.TypeAgent {
			m.ended = time.Time{} // somebody uses the name again
		}
	}
	if e.To != event.Broadcast {
		if to = nobody; e.To != event.Loadout {
			to = s.members.join(e.To)
		}
	}
	if n := len(s.members.list); n > before && n > 2*MaxStrangers && n%MaxStrangers == 0 {
		s.forgetStrangers()
		from, to = s.place(e.From, from), s.place(e.To, to)
	}
	return from, to
}

// place finds somebody again after places have changed.
func (s *State) place(name string, was int) int {
	if was < 0 {
		return was
	}
	return max(s.members.find(name), nobody)
}

// foldAgent folds the life of a session.
func (s *State) foldAgent(b event.Agent, at time.Time) {
	switch b.Action {
	case event.AgentRegistered:
		if m := s.member(b.Name); m.name != b.Name { // who registers says how it is spelled
			s.rename(m.name, b.Name)
		}
		m := s.member(b.Name)
		m.registered, m.since, m.ended = true, at, time.Time{}
		m.identity = identity{b.Base, b.Human, b.Session, b.Start, b.Boot, b.Host, b.PID}
	case event.AgentEnded:
		m := s.member(b.Name)
		m.registered, m.ended = false, at
		s.reopen(b.Name)
	case event.AgentForgotten:
		m := s.member(b.Name)
		*m = member{name: m.name, forgotten: true, cursor: -1, ackSeq: -1, lastSeq: -1, sent: m.sent, direct: m.direct}
		s.reopen(b.Name)
	case event.AgentRenamed:
		s.rename(b.Previous, b.Name)
	}
}

// member returns a member to change.
func (s *State) member(name string) *member {
	i := s.members.join(name)
	s.members.own()
	return &s.members.list[i]
}

// rename gives somebody another name, with all that it holds. Who had that name before becomes the same one.
func (s *State) rename(previous, name string) {
	from, to := s.members.join(previous), s.members.find(name)
	s.members.own()
	m := &s.members.list[from]
	if to != stranger && to != from {
		s.merge(m, to)
		s.news.rename(to, from)
	}
	delete(s.members.index, event.FoldName(previous))
	s.members.index[event.FoldName(name)] = from
	m.name = name
	s.renameClaims(previous, name)
	s.renameTasks(previous, name)
	s.renameReaders(previous, name)
}

// merge adds what the member at place other has to m and empties that place.
func (s *State) merge(m *member, other int) {
	o := &s.members.list[other]
	m.sent += o.sent
	m.direct += o.direct
	m.read += o.direct - o.sent // what is unread of m stays as it is
	if o.cursor > m.cursor {
		m.cursor, m.ackSeq = o.cursor, o.ackSeq
	}
	m.lastSeq = max(m.lastSeq, o.lastSeq)
	if o.lastAt.After(m.lastAt) {
		m.lastAt = o.lastAt
	}
	*o = member{forgotten: true, cursor: -1, ackSeq: -1, lastSeq: -1}
}

// forgetStrangers drops the names that took part least lately, of those that have no session and hold nothing.
func (s *State) forgetStrangers() {
	s.members.own()
	type stranger struct {
		place   int
		lastSeq int64
	}
	var strangers []stranger
	holders := s.holders()
	for i := range s.members.list {
		m := &s.members.list[i]
		if m.name == "" || !m.registered && !holders[event.FoldName(m.name)] {
			strangers = append(strangers, stranger{i, m.lastSeq})
		}
	}
	if len(strangers) <= MaxStrangers {
		return
	}
	slices.SortFunc(strangers, func(a, b stranger) int {
		return cmp.Or(cmp.Compare(b.lastSeq, a.lastSeq), cmp.Compare(b.place, a.place))
	})
	gone := map[int]bool{}
	for _, g := range strangers[MaxStrangers:] {
		gone[g.place] = true
	}
	s.removeMembers(func(place int) bool { return gone[place] })
}

// holders are the folded names of those who hold a claim or work on a task.
func (s *State) holders() map[string]bool {
	names := map[string]bool{}
	for _, held := range s.claims.byPath {
		for i := range held {
			names[event.FoldName(held[i].Agent)] = true
		}
	}
	for _, t := range s.tasks.open {
		if t.TakenBy != "" {
			names[event.FoldName(t.TakenBy)] = true
		}
	}
	return names
}

// removeMembers drops places and renumbers the rest.
func (s *State) removeMembers(gone func(place int) bool) {
	s.members.own()
	moved := make([]int, len(s.members.list))
	kept := s.members.list[:0]
	for i := range s.members.list {
		moved[i] = nobody
		if !gone(i) {
			moved[i] = len(kept)
			kept = append(kept, s.members.list[i])
		}
	}
	clear(s.members.list[len(kept):])
	s.members.list = kept
	clear(s.members.index)
	for i := range kept {
		if kept[i].name != "" {
			s.members.index[event.FoldName(kept[i].name)] = i
		}
	}
	s.news.renumber(moved)
}

// Agents lists everybody who has taken part, by name.
func (s *State) Agents() []Agent {
	agents := make([]Agent, 0, len(s.members.list))
	for i := range s.members.list {
		if m := &s.members.list[i]; !m.forgotten {
			agents = append(agents, s.agent(m))
		}
	}
	slices.SortFunc(agents, func(a, b Agent) int {
		return cmp.Or(strings.Compare(event.FoldName(a.Name), event.FoldName(b.Name)), strings.Compare(a.Name, b.Name))
	})
	return agents
}

// Registered lists who has a session that was not ended, in no order.
func (s *State) Registered() []Agent {
	var agents []Agent
	for i := range s.members.list {
		if m := &s.members.list[i]; m.registered && !m.forgotten {
			agents = append(agents, s.agent(m))
		}
	}
	return agents
}

// Agent finds somebody by name.
func (s *State) Agent(name string) (Agent, bool) {
	m := s.members.get(name)
	if m == nil {
		return Agent{}, false
	}
	return s.agent(m), true
}

func (s *State) agent(m *member) Agent {
	return Agent{
		Name:       m.name,
		Registered: m.registered,
		Ended:      pointer(m.ended),
		Base:       m.base,
		Human:      m.human,
		Session:    m.session,
		PID:        m.pid,
		Start:      m.start,
		Boot:       m.boot,
		Host:       m.host,
		Since:      pointer(m.since),
		Cursor:     m.cursor,
		LastSeq:    m.lastSeq,
		LastAt:     pointer(m.lastAt),
		Unread:     s.unread(m),
	}
}

// pointer is nil for the zero time.
func pointer(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
