package state

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// thread is a discussion and the numbers of its events.
type thread struct {
	Thread
	seqs  []int64 // the first, and the newest of the others: maxStatements in all
	epoch *epoch
}

// maxStatements is how many events of a discussion stay through a compaction; the protocol allows nineteen.
const maxStatements = 64

// The states of a Thread.
const (
	threadOpen   = "open"
	threadClosed = "closed"
	threadFailed = "failed"
)

// foldStatement folds an event of a discussion. A discussion begins with a start that names its participants.
func (s *State) foldStatement(e *event.Event, b event.Discussion, at time.Time) {
	t := s.thread(b.ThreadID)
	if t == nil {
		if b.Kind != event.KindStarted || len(b.Participants) == 0 {
			return
		}
		t = &thread{epoch: s.epoch, Thread: Thread{
			ID: b.ThreadID, Topic: event.Clip(b.Content, MaxSettledText), Participants: b.Participants,
			Status: threadOpen, Started: at,
		}}
		s.threads[b.ThreadID] = t
		s.trimThreads()
	}
	t.Statements++
	t.Updated, t.Seq = at, max(t.Seq, e.Seq)
	switch last := len(t.seqs) - 1; {
	case b.Kind == event.KindClosed && t.Status == threadFailed && last > 0:
		t.seqs[last] = e.Seq // of failures one after the other the newest: statements are worth more
	case last+1 == maxStatements:
		t.seqs = append(slices.Delete(t.seqs, 1, 2), e.Seq) // not the first, which says what it is about
	default:
		t.seqs = append(t.seqs, e.Seq)
	}
	switch b.Kind {
	case event.KindSummary:
		t.Decision = strings.Clone(event.Clip(e.Description, MaxSettledText))
	case event.KindClosed:
		t.Status = threadClosed
		if b.Outcome == "failed" {
			t.Status = threadFailed
		}
	case event.KindProposal, event.KindCritique, event.KindRevision:
		if t.Status == threadFailed { // it goes on; one that was decided stays so
			t.Status = threadOpen
		}
	case event.KindStarted:
	}
}

// thread returns a discussion to change, nil when there is none of that id.
func (s *State) thread(id string) *thread {
	t := s.threads[id]
	if t == nil || t.epoch == s.epoch {
		return t
	}
	own := *t
	own.seqs, own.epoch = slices.Clone(t.seqs), s.epoch
	s.threads[id] = &own
	return &own
}

// trimThreads forgets the discussions that rested longest, ended ones first.
func (s *State) trimThreads() {
	if len(s.threads) <= 2*MaxThreads {
		return
	}
	list := make([]*thread, 0, len(s.threads))
	for _, t := range s.threads {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *thread) int {
		if aOpen, bOpen := a.Status == threadOpen, b.Status == threadOpen; aOpen != bOpen {
			if aOpen {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Seq, a.Seq), strings.Compare(a.ID, b.ID))
	})
	for _, t := range list[MaxThreads:] {
		delete(s.threads, t.ID)
	}
}

// Threads lists discussions, the one with the newest event last.
func (s *State) Threads() []Thread {
	list := make([]Thread, 0, len(s.threads))
	for _, t := range s.threads {
		list = append(list, t.Thread)
	}
	slices.SortFunc(list, func(a, b Thread) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), strings.Compare(a.ID, b.ID)) })
	return list
}
