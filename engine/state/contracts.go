package state

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// contract is what is known of a named agreement.
type contract struct {
	body    string     // of the latest revision
	history []revision // by revision, the newest MaxHistory; never empty
	older   int64      // revisions before those
	readers []declaration
	epoch   *epoch
}

// revision is a Revision and whom it was published to.
type revision struct {
	Revision
	to string // empty: everybody
}

// declaration says that an agent builds on a contract.
type declaration struct {
	agent string
	seq   int64 // the event that said so
}

func (c *contract) latest() *revision { return &c.history[len(c.history)-1] }

// contract returns a contract to change, nil when there is none of that name.
func (s *State) contract(name string) *contract {
	c := s.contracts[name]
	if c == nil || c.epoch == s.epoch {
		return c
	}
	own := *c
	own.history, own.readers, own.epoch = slices.Clone(c.history), slices.Clone(c.readers), s.epoch
	s.contracts[name] = &own
	return &own
}

func (s *State) foldContract(e *event.Event, b event.Contract, at time.Time) {
	c := s.contract(b.Name)
	if c == nil {
		c = &contract{epoch: s.epoch}
		s.contracts[b.Name] = c
	} else if c.latest().Revision.Revision < b.Revision {
		s.supersede(c.latest().Seq, e.Seq)
	}
	r := revision{Revision: Revision{
		Revision: b.Revision, Publisher: strings.Clone(e.From), Format: b.Format,
		EventID: strings.Clone(e.ID), Seq: e.Seq, At: at,
	}}
	if e.To != event.Broadcast {
		r.to = strings.Clone(e.To)
	}
	// Logs of other programs may be out of order, or hold a revision twice: then the later event counts.
	i := len(c.history)
	for i > 0 && c.history[i-1].Revision.Revision > b.Revision {
		i--
	}
	if i == len(c.history) {
		c.body = b.Body
	}
	c.history = slices.Insert(c.history, i, r)
	if len(c.history) > MaxHistory {
		c.history = slices.Delete(c.history, 0, 1)
		c.older++
	}
}

// foldConsumes notes who builds on which contract. A contract that is not known yet is left out: nobody can read it.
func (s *State) foldConsumes(e *event.Event, b event.Update) {
	for _, name := range b.Consumes {
		c := s.contract(name)
		if c == nil {
			continue
		}
		i := slices.IndexFunc(c.readers, func(d declaration) bool { return event.SameName(d.agent, e.From) })
		if i < 0 {
			c.readers = append(c.readers, declaration{agent: strings.Clone(e.From), seq: e.Seq})
		}
	}
}

func (s *State) renameReaders(previous, name string) {
	for contractName, shared := range s.contracts {
		if !slices.ContainsFunc(shared.readers, func(d declaration) bool { return event.SameName(d.agent, previous) }) {
			continue
		}
		c := s.contract(contractName)
		if !event.SameName(previous, name) {
			c.readers = slices.DeleteFunc(c.readers, func(d declaration) bool { return event.SameName(d.agent, name) })
		}
		for i := range c.readers {
			if event.SameName(c.readers[i].agent, previous) {
				c.readers[i].agent = name
			}
		}
	}
}

// Contracts lists the contracts by name.
func (s *State) Contracts() []Contract {
	list := make([]Contract, 0, len(s.contracts))
	keys := s.members.keys()
	for name, c := range s.contracts {
		list = append(list, s.describe(name, c, keys))
	}
	slices.SortFunc(list, func(a, b Contract) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Contract finds a contract by its name.
func (s *State) Contract(name string) (Contract, bool) {
	c := s.contracts[name]
	if c == nil {
		return Contract{}, false
	}
	return s.describe(name, c, s.members.keys()), true
}

// describe says what is known of a contract. keys are the names of the members as they are compared, which costs too much to find out
// for each contract.
func (s *State) describe(name string, c *contract, keys []string) Contract {
	latest := c.latest().Revision
	history := make([]Revision, len(c.history))
	for i := range c.history {
		history[i] = c.history[i].Revision
	}
	return Contract{
		Name:      name,
		Revision:  latest.Revision,
		Body:      c.body,
		Format:    latest.Format,
		Publisher: latest.Publisher,
		EventID:   latest.EventID,
		Seq:       latest.Seq,
		At:        latest.At,
		History:   history,
		Older:     c.older,
		Readers:   s.readers(c, keys),
	}
}

// readers lists who builds on a contract: who declared it, and who else acknowledged a revision that concerned it.
func (s *State) readers(c *contract, keys []string) []Reader {
	type keyed struct {
		Reader
		key string
	}
	list := []keyed{}
	revisions := c.keyed()
	declared := map[string]bool{}
	for _, d := range c.readers {
		key, cursor := event.FoldName(d.agent), int64(-1)
		declared[key] = true
		if m := s.members.get(d.agent); m != nil {
			cursor = m.cursor
		}
		list = append(list, keyed{c.reader(revisions, d.agent, key, true, cursor), key})
	}
	for i := range s.members.list {
		m, key := &s.members.list[i], keys[i]
		if m.forgotten || m.cursor < 0 || declared[key] || key == revisions[len(revisions)-1].publisher {
			continue
		}
		if r := c.reader(revisions, m.name, key, false, m.cursor); r.Revision > 0 {
			list = append(list, keyed{r, key})
		}
	}
	slices.SortFunc(list, func(a, b keyed) int { return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.Agent, b.Agent)) })
	readers := make([]Reader, len(list))
	for i := range list {
		readers[i] = list[i].Reader
	}
	return readers
}

// revisionKey is whose a revision is and for whom, as names are compared; to is empty for everybody.
type revisionKey struct{ publisher, to string }

func (c *contract) keyed() []revisionKey {
	list := make([]revisionKey, len(c.history))
	for i := range c.history {
		h := &c.history[i]
		list[i].publisher = event.FoldName(h.Publisher)
		if h.to != "" {
			list[i].to = event.FoldName(h.to)
		}
	}
	return list
}

// reader says how far an agent that has acknowledged everything up to cursor has read the contract.
func (c *contract) reader(revisions []revisionKey, agent, key string, declared bool, cursor int64) Reader {
	r := Reader{Agent: agent, Declared: declared}
	for i := range c.history {
		h := &c.history[i]
		switch {
		case revisions[i].publisher == key, h.Seq <= cursor && (declared || revisions[i].to == "" || revisions[i].to == key):
			r.Revision, r.Behind = h.Revision.Revision, 0 // what it passed over is in this one
		case revisions[i].to != "" && revisions[i].to != key && !declared:
		default:
			r.Behind++
		}
	}
	if r.Revision == 0 {
		r.Behind += c.older
	}
	return r
}
