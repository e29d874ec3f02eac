package state

import (
	"maps"
	"slices"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

func (t *turns) wire(w *wire) {
	wireMap(w, t.sessions, func(w *wire, key *string, s *Session) {
		w.name(key)
		wireSession(w, s)
	})
	wireMap(w, t.open, func(w *wire, id *string, turn *Turn) {
		w.text(id)
		wireTurn(w, turn)
	})
	wireRing(w, &t.ended, MaxEnded, wireTurn)
	wireMap(w, t.meters, func(w *wire, key *string, m *Meter) {
		w.name(key)
		w.name(&m.Agent)
		for _, n := range [...]*int64{&m.Delivered, &m.Passive, &m.Duplicate, &m.Turns, &m.Failed} {
			w.int(n)
		}
		wireUsage(w, &m.Usage)
		w.number(&m.Seq)
	})
	wireRing(w, &t.caused, MaxCaused, wireCaused)
	list(w, &t.bridge.Agents, (*wire).name)
	w.time(&t.bridge.Since)
	w.bool(&t.bridge.Open)
	w.number(&t.bridge.Seq)
	for _, n := range [...]*int64{&t.limits.turns, &t.limits.totalTurns, &t.limits.tokens, &t.limits.costMicros} {
		w.int(n)
	}
}

func wireSession(w *wire, s *Session) {
	w.name(&s.Agent)
	w.name(&s.Provider)
	w.name(&s.ID)
	w.bool(&s.Scripted)
	w.time(&s.Attached)
	w.number(&s.Cursor)
	w.int(&s.Turns)
	wireUsage(w, &s.Usage)
	wireUsage(w, &s.Total)
	w.int(&s.MaxTurns)
	w.text(&s.Running)
	w.name(&s.Stopped)
	w.number(&s.Seq)
}

func wireTurn(w *wire, t *Turn) {
	w.text(&t.ID)
	w.name(&t.Agent)
	w.name(&t.Provider)
	w.name(&t.Session)
	w.bool(&t.Scripted)
	word(w, &t.Why)
	w.name(&t.Thread)
	word(w, &t.Status)
	list(w, &t.Seqs, (*wire).number)
	w.int(&t.Events)
	w.int(&t.Depth)
	w.int(&t.Attempt)
	w.time(&t.Queued)
	w.moment(&t.Started)
	w.moment(&t.Ended)
	w.number(&t.Seq)
	w.name(&t.Cause)
	w.name(&t.Spent)
	wireDuration(w, &t.RetryAfter)
	wireDuration(w, &t.Duration)
	wireUsage(w, &t.Usage)
	list(w, &t.lines, (*wire).number)
}

func wireDuration(w *wire, d *time.Duration) {
	n := int64(*d)
	if w.int(&n); w.decoding {
		*d = time.Duration(n)
	}
}

func wireUsage(w *wire, u *Usage) {
	for _, n := range [...]*int64{&u.Input, &u.Cached, &u.Output, &u.CostMicros} {
		w.int(n)
	}
	w.bool(&u.Priced)
	w.bool(&u.Known)
}

func wireCaused(w *wire, c *caused) {
	w.number(&c.seq)
	w.int(&c.depth)
}

// carriedTurns is what the summary of a compaction says about sessions and turns. The events of turns that are not over stay.
type carriedTurns struct {
	Sessions []Session   `json:"sessions,omitempty"`
	Meters   []Meter     `json:"meters,omitempty"`
	Open     [][2]string `json:"open,omitempty"` // id and agent
	Caused   [][2]int64  `json:"caused,omitempty"`
	Bridge   Bridge      `json:"bridge"`
	Limits   [4]int64    `json:"limits"`
}

// maxCarriedMeters bounds the meters that outlive a compaction: those of the agents that took part last.
const maxCarriedMeters = 100

// carry is nil when there is nothing to carry.
func (t *turns) carry() *carriedTurns {
	fresh := newTurns()
	if len(t.sessions) == 0 && len(t.meters) == 0 && len(t.open) == 0 && t.limits == fresh.limits && t.bridge.Agents == nil {
		return nil
	}
	c := carriedTurns{
		Sessions: slices.SortedFunc(maps.Values(t.sessions), func(a, b Session) int { return int(a.Seq - b.Seq) }),
		Bridge:   t.bridge,
		Limits:   [4]int64{t.limits.turns, t.limits.totalTurns, t.limits.tokens, t.limits.costMicros},
	}
	for _, id := range slices.Sorted(maps.Keys(t.open)) {
		c.Open = append(c.Open, [2]string{id, t.open[id].Agent})
	}
	c.Meters = slices.SortedFunc(maps.Values(t.meters), func(a, b Meter) int { return int(a.Seq - b.Seq) })
	c.Meters = c.Meters[max(0, len(c.Meters)-maxCarriedMeters):]
	behind := int64(event.MaxSeq)
	for _, s := range c.Sessions {
		behind = min(behind, s.Cursor)
	}
	for _, item := range t.caused.list() {
		if item.seq > behind {
			c.Caused = append(c.Caused, [2]int64{item.seq, item.depth})
		}
	}
	return &c
}

// restore makes the turns what is carried. since is the number from which on every line has stayed.
func (t *turns) restore(c *carriedTurns, since int64) {
	if c == nil {
		c = &carriedTurns{Limits: [4]int64{DefaultMaxTurns}}
	}
	t.sessions, t.meters, t.caused = map[string]Session{}, map[string]Meter{}, ring[caused]{}
	for _, s := range c.Sessions {
		s.Attached = s.Attached.UTC()
		t.sessions[event.FoldName(s.Agent)] = s
	}
	for _, m := range c.Meters {
		t.meters[event.FoldName(m.Agent)] = m
	}
	for _, pair := range c.Caused {
		t.caused.push(caused{pair[0], pair[1]}, MaxCaused)
	}
	open := map[string]Turn{}
	for _, pair := range c.Open {
		if turn, ok := t.open[pair[0]]; ok {
			turn.Agent = pair[1]
			open[turn.ID] = turn
		}
	}
	t.open = open
	t.ended.keepIf(func(turn *Turn) bool { return turn.Seq >= since })
	t.bridge = c.Bridge
	t.bridge.Since = t.bridge.Since.UTC()
	t.limits = limits{c.Limits[0], c.Limits[1], c.Limits[2], c.Limits[3]}
}
