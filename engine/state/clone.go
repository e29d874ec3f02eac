package state

import (
	"maps"
	"slices"

	"github.com/agentloadout/loadout/engine/event"
)

// Clone makes an independent copy. It shares what neither has changed yet, so it costs little more than the number of claims,
// contracts, open tasks and discussions.
func (s *State) Clone() *State {
	c := *s
	c.reader, c.scratch = event.Reader{}, nil
	c.last.id = slices.Clone(s.last.id)
	c.members = s.members.clone()
	c.claims = claims{byPath: maps.Clone(s.claims.byPath), sources: maps.Clone(s.claims.sources)}
	c.contracts = maps.Clone(s.contracts)
	c.tasks = tasks{open: maps.Clone(s.tasks.open), settled: s.tasks.settled.clone(), waiting: maps.Clone(s.tasks.waiting)}
	c.decisions = s.decisions.clone()
	c.threads = maps.Clone(s.threads)
	c.keys = s.keys.clone()
	c.news.recent = s.news.recent.clone()
	c.refs = s.refs.clone()
	c.turns = s.turns.clone()
	c.work = s.work.clone()
	c.gates = s.gates.clone()
	s.texts, c.texts = arena{}, arena{} // two must not write into one chunk
	s.epoch, c.epoch = new(epoch), new(epoch)
	return &c
}
