package state

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// Bounds of what a State remembers of work items. Everything older is in the log.
const (
	MaxWorkItems   = 1000 // items that are held
	MaxWorkers     = 1000 // runs of agents that take items
	MaxEndedWork   = 200  // items that were let go
	MaxEscalations = 200  // those that wait for a person
)

// WorkItem is a typed piece of work that one run of an agent holds, or that it let go.
type WorkItem struct {
	Type    string            `json:"type"`
	ID      string            `json:"id"`
	Run     string            `json:"run"`   // id of the run that holds it
	Agent   string            `json:"agent"` // whose it is
	Harness string            `json:"harness,omitempty"`
	Human   string            `json:"human,omitempty"`
	Since   time.Time         `json:"since"`
	Paused  bool              `json:"paused,omitempty"`
	Reason  string            `json:"reason,omitempty"`
	Seq     int64             `json:"seq"`             // the event that took it
	Ended   *time.Time        `json:"ended,omitempty"` // nil while it is held
	How     event.WorkAction  `json:"how,omitempty"`   // it ended: released, lapsed, yielded, or its run ended
	Outcome event.WorkOutcome `json:"outcome,omitempty"`
	To      string            `json:"to,omitempty"`   // the run that it was let go for
	Beat    *time.Time        `json:"beat,omitempty"` // of a lapsed one: the last sign of life

	pauseSeq int64 // the newest pause or resume, -1 for none
}

// Escalation asks a person which of two runs shall have an item.
type Escalation struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Item      string    `json:"item"`
	Requester string    `json:"requester"` // runs
	Holder    string    `json:"holder"`
	From      string    `json:"from"` // agent of the requester
	At        time.Time `json:"at"`
	Seq       int64     `json:"seq"`
}

// worker is a run of an agent.
type worker struct {
	id, agent, harness, human string
	seq                       int64
}

// work is what is known of work items. Its values are not changed in place.
type work struct {
	held    map[string]WorkItem // by itemKey
	ended   ring[WorkItem]
	open    map[string]Escalation
	workers map[string]worker
}

// itemKey is the key of an item in work.held.
func itemKey(kind, id string) string { return kind + "\x00" + id }

func newWork() work {
	return work{held: map[string]WorkItem{}, open: map[string]Escalation{}, workers: map[string]worker{}}
}

func (k *work) clone() work {
	return work{held: maps.Clone(k.held), ended: k.ended.clone(), open: maps.Clone(k.open), workers: maps.Clone(k.workers)}
}

// fold follows what becomes of items. Nothing is refused here: the engine decided before it wrote, and a take of an item that is held
// means that its holder is gone.
func (k *work) fold(e *event.Event, b *event.Work, at time.Time) {
	var key string
	if b.Item != nil {
		key = itemKey(b.Item.Type, b.Item.ID)
	}
	switch b.Action {
	case event.WorkRegistered:
		k.workers[b.Agent] = worker{b.Agent, strings.Clone(e.From), b.Harness, b.Human, e.Seq}
		forgetOldest(k.workers, MaxWorkers, func(w worker) int64 { return w.seq })
	case event.WorkUnregistered:
		for _, key := range slices.Sorted(maps.Keys(k.held)) {
			if k.held[key].Run == b.Agent {
				k.end(key, b, at)
			}
		}
		delete(k.workers, b.Agent)
	case event.WorkTaken:
		k.end(key, b, at)
		k.held[key] = WorkItem{
			Type: b.Item.Type, ID: b.Item.ID, Run: b.Agent, Agent: strings.Clone(e.From), Harness: b.Harness,
			Human: b.Human, Since: at, Reason: b.Reason, Seq: e.Seq, pauseSeq: -1,
		}
		forgetOldest(k.held, MaxWorkItems, func(i WorkItem) int64 { return i.Seq })
	case event.WorkReleased, event.WorkLapsed, event.WorkYielded:
		if item, ok := k.held[key]; ok && item.Run == b.Agent {
			k.end(key, b, at)
		}
	case event.WorkPaused, event.WorkResumed:
		if item, ok := k.held[key]; ok && item.Run == b.Agent {
			item.Paused, item.pauseSeq = b.Action == event.WorkPaused, e.Seq
			k.held[key] = item
		}
	case event.WorkEscalated:
		k.open[b.Escalation] = Escalation{
			ID: b.Escalation, Type: b.Item.Type, Item: b.Item.ID, Requester: b.Agent, Holder: b.Holder,
			From: strings.Clone(e.From), At: at, Seq: e.Seq,
		}
		forgetOldest(k.open, MaxEscalations, func(x Escalation) int64 { return x.Seq })
	case event.WorkResolved:
		delete(k.open, b.Escalation)
	}
}

// end moves an item to those that were let go.
func (k *work) end(key string, b *event.Work, at time.Time) {
	item, ok := k.held[key]
	if !ok {
		return
	}
	delete(k.held, key)
	item.Ended, item.How, item.Outcome, item.To = &at, b.Action, b.Outcome, b.To
	if beat, ok := event.ParseTime(b.Beat); ok {
		item.Beat = &beat
	}
	k.ended.push(item, MaxEndedWork)
}

// forgetOldest keeps at most limit values of a map.
func forgetOldest[V any](m map[string]V, limit int, seq func(V) int64) {
	if len(m) <= limit {
		return
	}
	var oldest string
	least := int64(event.MaxSeq)
	for key, value := range m {
		if n := seq(value); n <= least {
			oldest, least = key, n
		}
	}
	delete(m, oldest)
}

// WorkItems lists the items that are held, in the order in which they were taken.
func (s *State) WorkItems() []WorkItem {
	return slices.SortedFunc(maps.Values(s.work.held), func(a, b WorkItem) int { return cmp.Compare(a.Seq, b.Seq) })
}

// EndedWork lists the items that were let go, newest last, at most MaxEndedWork.
func (s *State) EndedWork() []WorkItem { return s.work.ended.list() }

// Escalations lists those that wait for a person, oldest first.
func (s *State) Escalations() []Escalation {
	return slices.SortedFunc(maps.Values(s.work.open), func(a, b Escalation) int { return cmp.Compare(a.Seq, b.Seq) })
}

// Worker names the agent and the program of a run, empty when the run is not known.
func (s *State) Worker(run string) (agent, harness string) {
	w := s.work.workers[run]
	return w.agent, w.harness
}

// roots marks the events that the held items and the open escalations are built from.
func (k *work) roots(roots map[int64]bool) {
	for _, item := range k.held {
		roots[item.Seq], roots[item.pauseSeq] = true, true
	}
	for _, x := range k.open {
		roots[x.Seq] = true
	}
	for _, w := range k.workers {
		roots[w.seq] = true
	}
}

// carriedWork names what the lines that stay after a compaction show and that has ended.
type carriedWork struct {
	Held [][2]string `json:"held,omitempty"` // type and id
	Open []string    `json:"open,omitempty"`
	Runs []string    `json:"runs,omitempty"`
}

// carry is nil when the lines that stay show nothing but what holds.
func (k *work) carry(kept *work) *carriedWork {
	var c carriedWork
	for _, key := range missing(kept.held, k.held) {
		c.Held = append(c.Held, [2]string{kept.held[key].Type, kept.held[key].ID})
	}
	c.Open, c.Runs = missing(kept.open, k.open), missing(kept.workers, k.workers)
	if c.Held == nil && c.Open == nil && c.Runs == nil {
		return nil
	}
	return &c
}

// missing lists the keys of one map that another has not.
func missing[V any](some, others map[string]V) []string {
	var keys []string
	for key := range some {
		if _, ok := others[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// restore forgets what a compaction lets go. since is the number from which on every line has stayed.
func (k *work) restore(c *carriedWork, since int64) {
	k.ended.keepIf(func(i *WorkItem) bool { return i.Seq >= since })
	if c == nil {
		return
	}
	for _, item := range c.Held {
		delete(k.held, itemKey(item[0], item[1]))
	}
	for _, id := range c.Open {
		delete(k.open, id)
	}
	for _, id := range c.Runs {
		delete(k.workers, id)
	}
}

func (k *work) wire(w *wire) {
	wireMap(w, k.held, func(w *wire, key *string, i *WorkItem) {
		wireWorkItem(w, i)
		*key = itemKey(i.Type, i.ID)
	})
	wireRing(w, &k.ended, MaxEndedWork, wireWorkItem)
	wireMap(w, k.open, wireEscalation)
	wireMap(w, k.workers, wireWorker)
}

func wireWorkItem(w *wire, i *WorkItem) {
	for _, p := range [...]*string{&i.Type, &i.Run, &i.Agent, &i.Harness, &i.Human, &i.To} {
		w.name(p)
	}
	w.text(&i.ID)
	w.text(&i.Reason)
	w.time(&i.Since)
	w.bool(&i.Paused)
	w.number(&i.Seq)
	w.moment(&i.Ended)
	word(w, &i.How)
	word(w, &i.Outcome)
	w.moment(&i.Beat)
	w.number(&i.pauseSeq)
}

func wireEscalation(w *wire, id *string, x *Escalation) {
	w.text(id)
	for _, p := range [...]*string{&x.Type, &x.Requester, &x.Holder, &x.From} {
		w.name(p)
	}
	w.text(&x.Item)
	w.time(&x.At)
	w.number(&x.Seq)
	x.ID = *id
}

func wireWorker(w *wire, id *string, k *worker) {
	w.text(id)
	for _, p := range [...]*string{&k.agent, &k.harness, &k.human} {
		w.name(p)
	}
	w.number(&k.seq)
	k.id = *id
}
