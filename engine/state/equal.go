package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
)

// Equal compares two states in everything but how many lines they were folded from and which of those were left out. When they
// differ, it says in what.
func Equal(a, b *State) (equal bool, difference string) {
	for _, compare := range [...]func(a, b *State) string{
		func(a, b *State) string { return differ("head", a.head, b.head) },
		func(a, b *State) string { return differ("time", a.at.UTC(), b.at.UTC()) },
		func(a, b *State) string { return differAny("claim", a.Claims(), b.Claims()) },
		func(a, b *State) string { return differAny("contract", a.Contracts(), b.Contracts()) },
		func(a, b *State) string { return differAny("task", a.Tasks(), b.Tasks()) },
		func(a, b *State) string { return differAny("decision", a.Decisions(), b.Decisions()) },
		func(a, b *State) string { return differAny("discussion", a.Threads(), b.Threads()) },
		func(a, b *State) string { return differAny("session", a.Sessions(), b.Sessions()) },
		func(a, b *State) string { return differAny("turn", a.Turns(), b.Turns()) },
		func(a, b *State) string { return differAny("meter", a.Meters(), b.Meters()) },
		func(a, b *State) string { return differ("kill switch", a.halt, b.halt) },
		func(a, b *State) string { return differAny("agent", a.Agents(), b.Agents()) },
		func(a, b *State) string { return differAny("recent event", a.Recent(MaxRefs), b.Recent(MaxRefs)) },
		differHidden,
	} {
		if difference = compare(a, b); difference != "" {
			return false, difference
		}
	}
	return true, ""
}

// differ says in what two values of one kind differ, empty if in nothing. What is not exported is not compared.
func differ[T any](kind string, a, b T) string {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	if errA == nil && errB == nil && bytes.Equal(x, y) {
		return ""
	}
	return fmt.Sprintf("%s: %s, and %s", kind, x, y)
}

// differAny is differ for the first pair of two lists that differs.
func differAny[T any](kind string, a, b []T) string {
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return differ[any](kind, nil, b[i])
		case i >= len(b):
			return differ[any](kind, a[i], nil)
		}
		if difference := differ(kind, a[i], b[i]); difference != "" {
			return difference
		}
	}
	return ""
}

// differHidden compares what no query shows as a whole.
func differHidden(a, b *State) string {
	for _, part := range [...]struct {
		kind string
		wire func(*State, *wire)
	}{
		{"bridge, caps and chains of turns", func(s *State, w *wire) {
			part := turns{caused: s.turns.caused, bridge: s.turns.bridge, limits: s.turns.limits}
			part.wire(w)
		}},
		{"work items", func(s *State, w *wire) { s.work.wire(w) }},
		{"gates and waves", func(s *State, w *wire) { s.gates.wire(w) }},
		{"retry keys", func(s *State, w *wire) { wireRing(w, &s.keys, MaxKeys, wireKeyed) }},
		{"counts of news", func(s *State, w *wire) { s.wireMembersInOrder(w); s.wireNewsInOrder(w) }},
		{"takings of tasks", func(s *State, w *wire) {
			for _, t := range s.Pending() {
				w.number(&s.tasks.open[t.ID].takenSeq)
			}
		}},
		{"readers of contracts", func(s *State, w *wire) {
			for _, c := range s.Contracts() {
				readers := slices.Clone(s.contracts[c.Name].readers)
				slices.SortFunc(readers, func(a, b declaration) int { return strings.Compare(a.agent, b.agent) })
				for _, d := range readers {
					w.name(&d.agent)
					w.number(&d.seq)
				}
			}
		}},
	} {
		x, y := newEncoder(), newEncoder()
		part.wire(a, x)
		part.wire(b, y)
		if !bytes.Equal(x.out, y.out) {
			return part.kind
		}
	}
	return ""
}

// wireMembersInOrder carries the counters of the known names in the order of their names: their places are of no meaning.
func (s *State) wireMembersInOrder(w *wire) {
	for _, a := range s.Agents() {
		m := s.members.get(a.Name)
		for _, n := range [...]*int64{&m.ackSeq, &m.sent, &m.direct, &m.read} {
			w.int(n)
		}
	}
}

// wireNewsInOrder carries the remembered deliveries by name.
func (s *State) wireNewsInOrder(w *wire) {
	name := func(place int) string {
		switch {
		case place == everybody:
			return event.Broadcast
		case place < 0:
			return ""
		}
		return event.FoldName(s.members.list[place].name)
	}
	w.number(&s.news.dropped)
	w.int(&s.news.total)
	for _, d := range s.news.recent.list() {
		from, to := name(d.from), name(d.to)
		w.number(&d.seq)
		w.name(&from)
		w.name(&to)
	}
}
