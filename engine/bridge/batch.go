package bridge

import (
	"context"
	"crypto/sha256"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// batch is what stands behind a session's cursor, sorted.
type batch struct {
	deliver   []event.Event // the next turn is made of these
	held      []event.Event // these would make a chain of turns too long
	through   int64         // everything up to here is sorted
	passive   int64         // events that wake nobody
	duplicate int64         // events that say the same as another one
	depth     int64         // of the turn: how many bridged turns led to it
	heldDepth int64
	full      bool // there is more than one turn can take
}

// empty reports whether there is nothing to tell anybody.
func (b *batch) empty() bool { return len(b.deliver) == 0 && len(b.held) == 0 }

// sorter sorts events into a batch.
type sorter struct {
	agent    string
	policy   engine.Policy
	maxDepth int64
	depth    func(seq int64) int64
	seen     map[[sha256.Size]byte]bool
	batch    batch
}

func newSorter(s *state.State, agent string, cursor int64, policy engine.Policy, maxDepth int) *sorter {
	return &sorter{
		agent: agent, policy: policy, maxDepth: int64(maxDepth), depth: s.Depth, seen: map[[sha256.Size]byte]bool{},
		batch: batch{through: cursor},
	}
}

// add sorts one event. It reports false, and leaves the event for another turn, when this one is full.
func (s *sorter) add(ev *event.Event) bool {
	b := &s.batch
	level := LevelFor(ev, s.agent, s.policy)
	if level == engine.Passive {
		b.passive++
	}
	if level == engine.Immediate || level == engine.Boundary {
		depth := s.depth(ev.Seq)
		list, deepest := &b.deliver, &b.depth
		if depth > s.maxDepth {
			list, deepest = &b.held, &b.heldDepth
		}
		digest := digestOf(ev)
		switch {
		case s.seen[digest]:
			b.duplicate++
		case len(*list) == event.MaxTurnSeqs:
			b.full = true
			return false
		default:
			s.seen[digest] = true
			*list = append(*list, *ev)
			*deepest = max(*deepest, depth)
		}
	}
	b.through = max(b.through, ev.Seq)
	return true
}

// LevelFor is how much an event weighs for one agent, whom it may not concern at all.
func LevelFor(ev *event.Event, agent string, policy engine.Policy) engine.Level {
	if !ev.Concerns(agent) || ev.Type == event.TypeStatus && !ev.Type.IsNews(ev.From) {
		return engine.Never
	}
	return policy.Level(ev)
}

// digestOf is the same for two events that say the same.
func digestOf(ev *event.Event) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join([]string{
		string(ev.Type), event.FoldName(ev.From), event.FoldName(ev.To), ev.Resolves, ev.Description, ev.Context, string(ev.Payload),
	}, "\x00")))
}

// page is how many events are read at once.
const page = 2048

// collect sorts what stands behind the cursor, up to what fits one turn.
func collect(ctx context.Context, e *engine.Engine, s *sorter) (batch, error) {
	for {
		r, err := e.Events(ctx, engine.Query{After: s.batch.through, Max: page})
		if err != nil {
			return batch{}, err
		}
		for i := range r.Events {
			if !s.add(&r.Events[i]) {
				return s.batch, nil
			}
		}
		if len(r.Events) < page {
			return s.batch, nil
		}
	}
}

// read finds the events of a turn again, those that are left of them.
func read(ctx context.Context, e *engine.Engine, seqs []int64) ([]event.Event, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	wanted := map[int64]bool{}
	low, high := seqs[0], seqs[0]
	for _, seq := range seqs {
		wanted[seq] = true
		low, high = min(low, seq), max(high, seq)
	}
	r, err := e.Events(ctx, engine.Query{After: low - 1, Before: high + 1})
	if err != nil {
		return nil, err
	}
	found := make([]event.Event, 0, len(seqs))
	for i := range r.Events {
		if wanted[r.Events[i].Seq] {
			found = append(found, r.Events[i])
		}
	}
	return found, nil
}

func seqsOf(events []event.Event) []int64 {
	seqs := make([]int64, len(events))
	for i := range events {
		seqs[i] = events[i].Seq
	}
	return seqs
}
