package discuss

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/suggest"
)

// Bounds of what is read and listed.
const (
	MaxEvents = 100 // events of one thread that are shown, the newest
	reach     = 500 // numbers between two statements that are read rather than skipped
)

// The states of a thread.
const (
	StatusOpen   = "open"
	StatusClosed = "closed"
	StatusFailed = "failed"
)

// Row is a discussion in a list.
type Row struct {
	ThreadID      string    `json:"threadId"`
	Topic         string    `json:"topic"`
	Participants  []string  `json:"participants"` // the proposer first
	Status        string    `json:"status"`       // open, closed or failed
	FinalDecision string    `json:"finalDecision,omitempty"`
	Rationale     string    `json:"rationale,omitempty"`
	Alternatives  []string  `json:"alternatives"`
	Unresolved    []string  `json:"unresolved"`
	EventCount    int64     `json:"eventCount"`
	StartedAt     time.Time `json:"startedAt"`
	UpdatedAt     time.Time `json:"updatedAt"`
	Rounds        int       `json:"rounds"` // 0: the log does not say
	Said          int       `json:"said"`   // statements that were stored, of Turns(Rounds)
}

// Thread is a discussion with what was said in it.
type Thread struct {
	Row
	Initiator       string            `json:"initiator"`
	Terms           Terms             `json:"-"`
	Statements      []Statement       `json:"-"` // oldest first, start and end included
	Turns           []state.Turn      `json:"turns"`
	Events          []json.RawMessage `json:"events"` // as the log has them, at most MaxEvents
	TruncatedEvents bool              `json:"truncatedEvents"`
	Failure         string            `json:"failure,omitempty"` // why it stopped, of a failed one
}

// Unknown are the turns of the thread that may have been paid for and left no statement.
func (t *Thread) Unknown() []state.Turn {
	return slices.DeleteFunc(slices.Clone(t.Turns), func(turn state.Turn) bool {
		return turn.Status != state.TurnUncertain && (turn.Status != state.TurnCancelled || turn.Spent == "nothing")
	})
}

// Running is the turn in which the next statement is made, nil when there is none.
func (t *Thread) Running() *state.Turn {
	for i := range t.Turns {
		if t.Turns[i].Status == state.TurnRunning {
			return &t.Turns[i]
		}
	}
	return nil
}

// Conclusion is what the thread came to, nil while it came to nothing.
func (t *Thread) Conclusion() *Conclusion {
	if t.Status != StatusClosed {
		return nil
	}
	return &Conclusion{Decision: t.FinalDecision, Rationale: t.Rationale, Alternatives: t.Alternatives, Unresolved: t.Unresolved}
}

// EventSource is where statements are read from.
type EventSource interface {
	Events(ctx context.Context, q engine.Query) (engine.EventsResult, error)
}

// Source is where threads are read from. *engine.Engine is one.
type Source interface {
	EventSource
	View(ctx context.Context) (*engine.View, error)
}

// Events reads the events of a thread by their numbers, which rise, and no long stretches between them.
func Events(ctx context.Context, source EventSource, thread string, seqs []int64) ([]event.Event, error) {
	var found []event.Event
	for len(seqs) > 0 {
		n := 1
		for n < len(seqs) && seqs[n]-seqs[n-1] <= reach {
			n++
		}
		r, err := source.Events(ctx, engine.Query{After: seqs[0] - 1, Before: seqs[n-1] + 1, Types: []event.Type{event.TypeDiscussion}})
		if err != nil {
			return nil, err
		}
		for i := range r.Events {
			if s, ok := NewStatement(&r.Events[i]); ok && s.ThreadID == thread {
				found = append(found, r.Events[i])
			}
		}
		seqs = seqs[n:]
	}
	return found, nil
}

// Load reads a thread by its id, or by a beginning of it of at least four characters that no other has.
func Load(ctx context.Context, source Source, id string) (Thread, error) {
	v, err := source.View(ctx)
	if err != nil {
		return Thread{}, err
	}
	known, err := find(v.State, id)
	if err != nil {
		return Thread{}, err
	}
	return read(ctx, source, v.State, known)
}

// List reads the threads that are remembered, the newest first, at most so many, and says how many more there are.
func List(ctx context.Context, source Source, most int) (rows []Row, more int, err error) {
	v, err := source.View(ctx)
	if err != nil {
		return nil, 0, err
	}
	known := v.State.Threads()
	slices.Reverse(known)
	most = min(len(known), most)
	rows = []Row{}
	for _, k := range known[:most] {
		t, err := read(ctx, source, v.State, k)
		if err != nil {
			return nil, 0, err
		}
		rows = append(rows, t.Row)
	}
	return rows, len(known) - most, nil
}

func find(s *state.State, id string) (state.Thread, error) {
	const least, most = 4, 3 // characters of a beginning, ids that are suggested
	all := s.Threads()
	var begun []state.Thread
	for _, t := range all {
		if t.ID == id {
			return t, nil
		}
		if len(id) >= least && strings.HasPrefix(t.ID, id) {
			begun = append(begun, t)
		}
	}
	if len(begun) == 1 {
		return begun[0], nil
	}
	missing := &engine.NotFoundError{Kind: "discussion", Name: id, Hints: []string{"loadout coord discuss list    for those that there are"}}
	if len(begun) > 1 {
		missing.Reason = "several begin so"
		for _, t := range begun[max(0, len(begun)-most):] {
			missing.Suggestions = append(missing.Suggestions, t.ID)
		}
		return state.Thread{}, missing
	}
	ids := make([]string, len(all))
	for i, t := range all {
		ids[i] = t.ID
	}
	missing.Suggestions = suggest.Closest(id, ids)
	return state.Thread{}, missing
}

// read loads the events of a thread that the state knows.
func read(ctx context.Context, source Source, s *state.State, known state.Thread) (Thread, error) {
	events, err := Events(ctx, source, known.ID, s.Statements(known.ID))
	if err != nil {
		return Thread{}, err
	}
	t := Thread{Row: Row{
		ThreadID: known.ID, Topic: known.Topic, Participants: known.Participants, Status: known.Status, FinalDecision: known.Decision,
		Alternatives: []string{}, Unresolved: []string{}, EventCount: known.Statements, StartedAt: known.Started, UpdatedAt: known.Updated,
	}, Events: []json.RawMessage{}, Turns: []state.Turn{}}
	for i := range events {
		t.add(&events[i])
	}
	t.TruncatedEvents = int64(len(t.Events)) < t.EventCount
	t.Said = len(Said(t.Statements))
	for _, turn := range s.Turns() {
		if turn.Thread == known.ID {
			t.Turns = append(t.Turns, turn)
		}
	}
	return t, nil
}

func (t *Thread) add(ev *event.Event) {
	s, ok := NewStatement(ev)
	if !ok {
		return
	}
	switch s.Kind {
	case event.KindStarted:
		if len(t.Statements) == 0 {
			t.Initiator, t.Terms, t.Topic = s.From, s.Terms, s.Content
			t.Rounds = t.Terms.Rounds
		}
	case event.KindSummary:
		t.FinalDecision, t.Rationale = s.Title, s.Content
		t.Alternatives, t.Unresolved = append([]string{}, s.Alternatives...), append([]string{}, s.Unresolved...)
	case event.KindClosed:
		if t.Failure = ""; s.Outcome == "failed" {
			t.Failure = s.Content
		} else { // other programs may close without a summary
			t.FinalDecision = cmp.Or(t.FinalDecision, event.Clip(safetext.Line(s.Content), event.MaxTitle))
		}
	case event.KindProposal, event.KindCritique, event.KindRevision:
		t.Failure = ""
	}
	t.Statements = append(t.Statements, s)
	t.Events = append(t.Events, json.RawMessage(ev.AppendLine(nil)))
	t.Events = t.Events[max(0, len(t.Events)-MaxEvents):]
}
