package state

import "github.com/agentloadout/loadout/engine/event"

// delivery is one piece of news by its number: enough to count.
type delivery struct {
	seq      int64
	high     int64 // highest seq of this and all before it
	from, to int   // places in the roster, or nobody, everybody
}

// news remembers the newest MaxNews deliveries and counts all.
type news struct {
	recent  ring[delivery]
	dropped int64 // highest seq that is no longer remembered, -1 for none
	total   int64 // sent to everybody, by whomever
}

// deliver counts an event for those whom it concerns.
func (s *State) deliver(e *event.Event, from, to int, late bool) {
	if !e.Type.IsNews(e.From) || to == nobody || to == from {
		return
	}
	if to == everybody {
		s.news.total++
		if from != nobody {
			s.members.list[from].sent++
		}
	} else {
		s.members.own()
		s.members.list[to].direct++
	}
	if late {
		s.deliverLate(e.Seq, from, to)
	}
	d := delivery{seq: e.Seq, high: e.Seq, from: from, to: to}
	if n := s.news.recent.len(); n > 0 {
		d.high = max(d.high, s.news.recent.at(n-1).high)
	}
	place, full := s.news.recent.next(MaxNews)
	if full {
		s.news.dropped = max(s.news.dropped, place.seq)
	}
	*place = d
}

// deliverLate counts news whose number is not above all before it as read by those who have acknowledged a higher number.
func (s *State) deliverLate(seq int64, from, to int) {
	s.members.own()
	for place := range s.members.list {
		if m := &s.members.list[place]; m.cursor >= seq && place != from && (to == everybody || to == place) {
			m.read++
		}
	}
}

// above counts the remembered deliveries for a place with a seq above after.
func (n *news) above(place int, after int64) int64 {
	count := int64(0)
	for _, d := range n.recent.newest() {
		if d.high <= after {
			break
		}
		if d.seq > after && d.from != place && (d.to == place || d.to == everybody) {
			count++
		}
	}
	return count
}

// rename makes the deliveries of one place those of another.
func (n *news) rename(from, to int) {
	n.change(func(place int) int {
		if place == from {
			return to
		}
		return place
	})
}

// renumber follows a change of places in the roster.
func (n *news) renumber(moved []int) {
	n.change(func(place int) int {
		if place < 0 {
			return place
		}
		return moved[place]
	})
}

func (n *news) change(to func(place int) int) {
	n.recent.own()
	for i := range n.recent.items {
		d := &n.recent.items[i]
		d.from, d.to = to(d.from), to(d.to)
	}
}

// foldAck moves a cursor, which never goes back.
func (s *State) foldAck(e *event.Event, b event.Ack) {
	if e.From == event.Loadout {
		return
	}
	place := s.members.join(e.From)
	s.members.own()
	m := &s.members.list[place]
	if b.EventSeq <= m.cursor {
		return
	}
	m.cursor, m.ackSeq = b.EventSeq, e.Seq
	if b.EventSeq >= s.news.dropped {
		m.read, m.inexact = s.total(m)-s.news.above(place, b.EventSeq), false
		return
	}
	// Where the cursor stands now is forgotten: what was unread remains so, which is at most too much.
	m.inexact = true
}

// total is how many news there ever were for a member.
func (s *State) total(m *member) int64 { return s.news.total - m.sent + m.direct }

func (s *State) unread(m *member) Unread {
	return Unread{Count: s.total(m) - m.read, Exact: !m.inexact}
}

// Unread counts the news for an agent above its cursor. For a name that is not known it is all that was sent to everybody.
func (s *State) Unread(agent string) Unread {
	if m := s.members.get(agent); m != nil {
		return s.unread(m)
	}
	return Unread{Count: s.news.total, Exact: true}
}
