package bridge

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
)

// history folds events that it numbers itself.
type history struct {
	t *testing.T
	*state.State
	next int64
}

func newHistory(t *testing.T) *history { return &history{t: t, State: state.New()} }

func (h *history) add(from, to string, body event.Body) event.Event {
	h.t.Helper()
	ev, err := event.New(from, to, fmt.Sprint("event ", h.next), body)
	if err != nil {
		h.t.Fatal(err)
	}
	ev.Seq, ev.ID, ev.Timestamp = h.next, event.NewID(), event.FormatTime(noon.Add(time.Duration(h.next)*time.Second))
	h.next++
	if err := h.Apply(&ev); err != nil {
		h.t.Fatal(err)
	}
	return ev
}

func (h *history) attach(agent string) {
	through := int64(-1)
	h.add("user", "*", event.Turn{Action: event.TurnAttached, Agent: agent, Provider: "p", Session: agent, Through: &through})
}

func (h *history) turn(agent, id string, depth int64, seqs ...int64) {
	h.add(event.Loadout, "*", event.Turn{Action: event.TurnQueued, Turn: id, Agent: agent, Provider: "p", Why: event.WhyDelivery, Seqs: seqs, Depth: depth})
	h.add(event.Loadout, "*", event.Turn{Action: event.TurnStarted, Turn: id})
}

func (h *history) finish(id string, tokens, micros int64) {
	h.add(event.Loadout, "*", event.Turn{
		Action: event.TurnFinished, Turn: id, Usage: &event.TurnUsage{Input: tokens, CostMicros: micros, Known: true, Priced: true},
	})
}

func TestSorting(t *testing.T) {
	h := newHistory(t)
	h.attach("claude-code")
	h.attach("codex")
	list := []event.Event{
		h.add("codex", "*", event.Handoff{}),
		h.add("claude-code", "*", event.Handoff{}),             // its own
		h.add("user", "codex", event.Handoff{}),                // for another one
		h.add("codex", "*", event.Update{Note: "n"}),           // wakes nobody
		h.add("codex", "*", event.Ack{EventSeq: 0}),            // neither
		h.add("codex", "*", event.Halt{Action: event.HaltSet}), // a record
		h.add("user", "claude-code", event.Task{}),
	}
	h.turn("codex", "t", 3)
	list = append(list, h.add("codex", "claude-code", event.Handoff{})) // by a turn at the end of a chain
	h.finish("t", 1, 1)
	twice := list[0]
	twice.Seq, twice.ID = h.next, "again"
	list = append(list, twice,
		event.Event{Seq: h.next + 1, ID: "x", Type: "poem", From: "codex", To: "*", Description: "later"},
		event.Event{Seq: h.next + 2, ID: "y", Type: event.TypeStatus, From: event.Loadout, To: "*", Description: "Compacted 12 events"})

	s := newSorter(h.State, "claude-code", -1, engine.Policy{}, 3)
	for i := range list {
		if !s.add(&list[i]) {
			t.Fatal("full")
		}
	}
	b := s.batch
	if got, want := seqsOf(b.deliver), []int64{list[0].Seq, list[6].Seq}; !slices.Equal(got, want) {
		t.Errorf("deliver %d, want %d", got, want)
	}
	if got, want := seqsOf(b.held), []int64{list[7].Seq}; !slices.Equal(got, want) {
		t.Errorf("held %d, want %d", got, want)
	}
	if b.passive != 2 || b.duplicate != 1 || b.heldDepth != 4 || b.depth != 0 || b.through != h.next+2 || b.full {
		t.Errorf("%+v", b)
	}
}

func TestFullTurn(t *testing.T) {
	s := newSorter(state.New(), "a", -1, engine.Policy{}, 3)
	for i := range int64(event.MaxTurnSeqs) {
		if !s.add(&event.Event{Seq: i, Type: event.TypeHandoff, From: "b", To: "*", Description: fmt.Sprint(i)}) {
			t.Fatal("full too early")
		}
	}
	if s.add(&event.Event{Seq: 9999, Type: event.TypeHandoff, From: "b", To: "*"}) || s.batch.through != event.MaxTurnSeqs-1 || !s.batch.full {
		t.Errorf("through %d", s.batch.through)
	}
}

func TestAdmit(t *testing.T) {
	caps := func(turns, total, tokens, cost int64) event.Turn {
		return event.Turn{Action: event.TurnCapped, Caps: &Limits{Turns: &turns, TotalTurns: &total, Tokens: &tokens, CostMicros: &cost}}
	}
	for _, tt := range []struct {
		name   string
		caps   event.Turn
		prompt int
		want   event.TurnCap
		why    string
	}{
		{"none", caps(0, 0, 0, 0), 1 << 20, "", ""},
		{"exactly as many turns as there may be", caps(3, 0, 0, 0), 0, "", ""},
		{"a turn too many", caps(2, 0, 0, 0), 0, event.CapTurns, ""},
		{"the running turn of the other one counts", caps(0, 3, 0, 0), 0, event.CapTotalTurns, ""},
		{"as many tokens as there may be", caps(0, 0, 300, 0), 0, "", ""},
		{"a turn like those before would pass it", caps(0, 0, 299, 0), 0, event.CapTokens, ""},
		{
			"so would a long prompt", caps(0, 0, 300, 0), 303, event.CapTokens,
			"the next turn would pass the cap on tokens: 200 used + about 101 for it > 300",
		},
		{"cost", caps(0, 0, 0, 29), 0, event.CapCost, "the next turn would pass the cap on cost: $0.000020 used + about $0.000010 for it > $0.000029"},
		{"as much cost as there may be", caps(0, 0, 0, 30), 0, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHistory(t)
			h.attach("a")
			h.attach("b")
			h.add(event.Loadout, "*", event.Turn{Action: event.TurnOpened, Agents: []string{"a", "b"}})
			h.add("user", "*", tt.caps)
			for _, id := range []string{"1", "2"} {
				h.turn("a", id, 0)
				h.finish(id, 100, 10)
			}
			h.turn("b", "3", 0)
			got := admit(h.State, "a", tt.prompt)
			if tt.why != "" && got.why != tt.why {
				t.Errorf("said %q", got.why)
			}
			if got.kind != tt.want {
				t.Errorf("%+v, want %q: %+v", got, tt.want, h.Caps())
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	running := state.Turn{ID: "t", Agent: "a", Provider: "p", Session: "s", Why: event.WhyDelivery}
	failure := &turn.Failure{Kind: turn.Quota, Spent: turn.Nothing, RetryAfter: time.Minute, Message: "secret words of the program"}
	for _, tt := range []struct {
		name       string
		err, cause error
		action     event.TurnAction
		why, spent string
	}{
		{"answered", nil, nil, event.TurnFinished, "", ""},
		{"answered as it was cancelled", nil, errByPerson, event.TurnFinished, "", ""},
		{"answered after the kill switch", nil, turn.ErrKilled, event.TurnCancelled, state.CauseHalt, "maybe"},
		{"failed", failure, nil, event.TurnFailed, "quota", "nothing"},
		{"failed in a way that is not known", errors.New("x"), nil, event.TurnFailed, "crashed", "maybe"},
		{"cancelled", failure, errByPerson, event.TurnCancelled, state.CausePerson, "nothing"},
		{"the bridge ended", failure, errEnded, event.TurnCancelled, state.CauseEnd, "nothing"},
		{"killed", failure, turn.ErrKilled, event.TurnCancelled, state.CauseHalt, "nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := outcome(running, turn.Reply{Text: "an answer", Usage: turn.Usage{Cost: 0.0000011, Priced: true}}, tt.err, tt.cause)
			if b.Action != tt.action || b.Cause != tt.why || b.Spent != tt.spent || b.Usage.CostMicros != 2 {
				t.Errorf("%+v", b)
			}
			if _, err := engine.TurnEvent(b); err != nil {
				t.Error(err)
			}
		})
	}
	if b := outcome(running, turn.Reply{}, failure, nil); b.RetryAfter != 60000 {
		t.Errorf("%+v", b)
	}
}

func TestPause(t *testing.T) {
	ended := noon
	for _, tt := range []struct {
		attempt int64
		after   time.Duration
		passed  time.Duration
		want    time.Duration
	}{
		{1, 0, 0, time.Second},
		{2, 0, 0, 4 * time.Second},
		{1, time.Minute, 0, time.Minute},
		{1, time.Minute, 50 * time.Second, 10 * time.Second},
		{1, 0, time.Hour, 0},
		{1, 0, -time.Hour, time.Second}, // a clock that went back
	} {
		turn := state.Turn{Status: state.TurnFailed, Attempt: tt.attempt, RetryAfter: tt.after, Ended: &ended}
		if got := pause(&turn, noon.Add(tt.passed), time.Second); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}
