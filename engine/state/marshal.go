package state

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"github.com/agentloadout/loadout/engine/event"
)

// AppendBinary appends the compact form for a checkpoint.
func (s *State) AppendBinary(dst []byte) ([]byte, error) {
	const each = 160 // an estimate of what an open task takes: text that grows is moved again and again
	w := newEncoder()
	w.out = slices.Grow(dst, each*len(s.tasks.open))
	s.wire(w)
	return w.out, nil
}

// Unmarshal reads what AppendBinary of the same Version wrote. Bytes that are damaged give an error; whether they are those that
// were written, a checksum has to say. The State keeps data, which must not be changed any more.
func Unmarshal(data []byte) (*State, error) {
	s := New()
	w := &wire{decoding: true, in: unsafe.String(unsafe.SliceData(data), len(data))} //nolint:gosec // it does not change, see above
	s.wire(w)
	if w.err == nil && w.pos < len(w.in) {
		w.fail()
	}
	if w.err == nil {
		w.err = s.check()
	}
	if w.err != nil {
		return nil, fmt.Errorf("unmarshal state: %w", w.err)
	}
	return s, nil
}

// check refuses what would make a query or the fold fail.
func (s *State) check() error {
	places := len(s.members.list)
	for _, d := range s.news.recent.items {
		if d.from >= places || d.to >= places {
			return errDamaged
		}
	}
	for _, c := range s.contracts {
		if len(c.history) == 0 {
			return errDamaged
		}
	}
	return nil
}

func (s *State) wire(w *wire) {
	s.wireCounts(w)
	s.wireMembers(w)
	s.wireClaims(w)
	s.wireContracts(w)
	s.wireTasks(w)
	wireRing(w, &s.decisions, MaxDecisions, wireDecision)
	s.wireThreads(w)
	s.wireHalt(w)
	wireRing(w, &s.keys, MaxKeys, wireKeyed)
	s.wireNews(w)
	wireRing(w, &s.refs, MaxRefs, wireRef)
	s.turns.wire(w)
	s.work.wire(w)
	s.gates.wire(w)
}

func (s *State) wireCounts(w *wire) {
	w.number(&s.head)
	w.int(&s.count)
	w.time(&s.at)
	w.int(&s.skips.Bad)
	w.int(&s.skips.Duplicate)
	w.int(&s.skips.OutOfOrder)
	list(w, &s.skips.Recent, func(w *wire, b *BadRef) {
		w.int(&b.Line)
		w.int(&b.Seq)
		w.text(&b.Reason)
	})
	w.number(&s.last.seq)
	id := string(s.last.id)
	w.text(&id)
	s.last.id = []byte(id)
}

// wireRing carries what a ring keeps.
func wireRing[T any](w *wire, r *ring[T], keep int, each func(*wire, *T)) {
	if !w.decoding {
		w.length(r.len())
		for i := range r.len() {
			each(w, r.at(i))
		}
		return
	}
	list(w, &r.items, each)
	if len(r.items) > keep {
		w.fail()
	}
}

// wireMap carries a map in the order of its keys.
func wireMap[K cmp.Ordered, V any](w *wire, m map[K]V, each func(*wire, *K, *V)) {
	keys := slices.Sorted(maps.Keys(m))
	n := w.length(len(keys))
	for i := range n {
		var (
			key   K
			value V
		)
		if !w.decoding {
			key, value = keys[i], m[keys[i]]
		}
		each(w, &key, &value)
		if w.err != nil {
			return
		}
		if w.decoding {
			m[key] = value
		}
	}
}

func (s *State) wireMembers(w *wire) {
	list(w, &s.members.list, wireMember)
	if !w.decoding {
		return
	}
	for i := range s.members.list {
		if m := &s.members.list[i]; m.name != "" {
			s.members.index[event.FoldName(m.name)] = i
		}
	}
}

func wireMember(w *wire, m *member) {
	w.name(&m.name)
	w.bool(&m.registered)
	w.bool(&m.forgotten)
	w.time(&m.ended)
	w.time(&m.since)
	for _, p := range [...]*string{&m.base, &m.human, &m.session, &m.start, &m.boot, &m.host} {
		w.name(p)
	}
	w.small(&m.pid)
	w.number(&m.cursor)
	w.number(&m.ackSeq)
	w.number(&m.lastSeq)
	w.time(&m.lastAt)
	w.int(&m.sent)
	w.int(&m.direct)
	w.int(&m.read)
	w.bool(&m.inexact)
}

func (s *State) wireClaims(w *wire) {
	wireMap(w, s.claims.byPath, func(w *wire, key *string, held *[]Claim) {
		w.text(key)
		list(w, held, wireClaim)
	})
	wireMap(w, s.claims.sources, func(w *wire, seq *int64, count *int) {
		w.number(seq)
		w.small(count)
	})
}

func wireClaim(w *wire, c *Claim) {
	w.text(&c.Path)
	w.name(&c.Agent)
	word(w, &c.Mode)
	w.text(&c.Reason)
	w.time(&c.Since)
	w.number(&c.Seq)
	w.number(&c.Fence)
	w.moment(&c.ExpiresAt)
}

func (s *State) wireContracts(w *wire) {
	wireMap(w, s.contracts, func(w *wire, name *string, p **contract) {
		if w.decoding {
			*p = &contract{epoch: s.epoch}
		}
		c := *p
		w.text(name)
		w.text(&c.body)
		w.int(&c.older)
		list(w, &c.history, wireRevision)
		list(w, &c.readers, func(w *wire, d *declaration) {
			w.name(&d.agent)
			w.number(&d.seq)
		})
	})
}

func wireRevision(w *wire, r *revision) {
	w.int(&r.Revision.Revision)
	w.name(&r.Publisher)
	w.name(&r.Format)
	w.text(&r.EventID)
	w.number(&r.Seq)
	w.time(&r.At)
	w.name(&r.to)
}

func (s *State) wireTasks(w *wire) {
	open := s.tasks.sorted(every)
	settled := s.tasks.settled.list()
	wireTaskList(w, &open)
	wireTaskList(w, &settled)
	if !w.decoding {
		return
	}
	s.tasks.open = make(map[string]*task, len(open)) // it grows by copies otherwise
	for _, t := range open {
		t.epoch = s.epoch
		s.tasks.open[t.ID] = t
		for _, need := range t.Waiting {
			s.wait(need, t.ID)
		}
	}
	if s.tasks.settled.items = settled; len(settled) > MaxSettled {
		w.fail()
	}
}

// wireTaskList carries a list of tasks. Decoded ones lie side by side.
func wireTaskList(w *wire, p *[]*task) {
	const least = 16 // bytes that a task takes
	n := w.length(len(*p))
	if w.decoding && n > (len(w.in)-w.pos)/least {
		w.fail()
		return
	}
	if w.decoding {
		block := make([]task, n)
		*p = make([]*task, n)
		for i := range block {
			(*p)[i] = &block[i]
		}
	}
	for _, t := range *p {
		wireTask(w, t)
	}
}

func wireTask(w *wire, t *task) {
	w.text(&t.ID)
	w.number(&t.Seq)
	w.name(&t.From)
	w.name(&t.To)
	w.bool(&t.Question)
	w.bool(&t.Handoff)
	w.text(&t.Description)
	w.text(&t.Context)
	w.time(&t.At)
	w.strings(&t.Needs)
	w.strings(&t.Waiting)
	word(w, &t.Status)
	w.name(&t.TakenBy)
	w.moment(&t.TakenAt)
	w.number(&t.takenSeq)
	w.name(&t.SettledBy)
	w.moment(&t.SettledAt)
	w.number(&t.SettledSeq)
	w.text(&t.Answer)
	w.text(&t.Evidence)
}

func wireDecision(w *wire, d *Decision) {
	w.text(&d.ID)
	w.number(&d.Seq)
	w.name(&d.From)
	w.text(&d.Title)
	w.text(&d.Rationale)
	w.time(&d.At)
	w.text(&d.Supersedes)
	w.text(&d.SupersededBy)
	w.name(&d.DiscussionID)
}

func (s *State) wireThreads(w *wire) {
	wireMap(w, s.threads, func(w *wire, id *string, p **thread) {
		if w.decoding {
			*p = &thread{epoch: s.epoch}
		}
		t := *p
		wireThread(w, &t.Thread)
		list(w, &t.seqs, (*wire).number)
		*id = t.ID
	})
}

func wireThread(w *wire, t *Thread) {
	w.text(&t.ID)
	w.text(&t.Topic)
	w.strings(&t.Participants)
	w.name(&t.Status)
	w.text(&t.Decision)
	w.int(&t.Statements)
	w.time(&t.Started)
	w.time(&t.Updated)
	w.number(&t.Seq)
}

func (s *State) wireHalt(w *wire) {
	on := s.halt != nil
	w.bool(&on)
	if !on {
		return
	}
	if w.decoding {
		s.halt = &Halt{}
	}
	w.name(&s.halt.By)
	w.text(&s.halt.Reason)
	w.time(&s.halt.At)
	w.number(&s.halt.Seq)
}

func wireKeyed(w *wire, k *keyed) {
	high, low := binary.BigEndian.Uint64(k.key[:8]), binary.BigEndian.Uint64(k.key[8:])
	w.uint(&high)
	w.uint(&low)
	w.number(&k.seq)
	w.uint(&k.intent)
	if !w.decoding {
		return
	}
	binary.BigEndian.PutUint64(k.key[:8], high)
	binary.BigEndian.PutUint64(k.key[8:], low)
}

func (s *State) wireNews(w *wire) {
	w.number(&s.news.dropped)
	w.int(&s.news.total)
	high := int64(-1)
	wireRing(w, &s.news.recent, MaxNews, func(w *wire, d *delivery) {
		w.number(&d.seq)
		w.small(&d.from)
		w.small(&d.to)
		if high = max(high, d.seq); w.decoding {
			d.high = high
		}
	})
}

func wireRef(w *wire, r *Ref) {
	w.number(&r.Seq)
	w.text(&r.ID)
	word(w, &r.Type)
	w.name(&r.From)
	w.name(&r.To)
	w.text(&r.Description)
	w.time(&r.At)
	present := r.SupersededBy != 0
	w.bool(&present)
	if present {
		w.number(&r.SupersededBy)
	}
}
