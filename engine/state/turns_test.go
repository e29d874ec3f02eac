package state

import (
	"fmt"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
)

// steps folds turn events.
func steps(t *testing.T, list ...event.Turn) *log {
	t.Helper()
	l := newLog(t)
	for _, b := range list {
		l.add(event.Loadout, event.Broadcast, b)
	}
	return l
}

func attachedTo(agent, session string, through int64) event.Turn {
	return event.Turn{Action: event.TurnAttached, Agent: agent, Provider: "p", Session: session, Through: &through}
}

func queuedFor(agent, id string, through int64, seqs ...int64) event.Turn {
	return event.Turn{
		Action: event.TurnQueued, Turn: id, Agent: agent, Provider: "p", Why: event.WhyDelivery, Seqs: seqs, Through: &through, Passive: 2, Duplicate: 1,
	}
}

func stepOf(id string, action event.TurnAction, change ...func(*event.Turn)) event.Turn {
	b := event.Turn{Action: action, Turn: id}
	for _, fn := range change {
		fn(&b)
	}
	return b
}

func ending(cause, spent string) func(*event.Turn) {
	return func(b *event.Turn) { b.Cause, b.Spent = cause, spent }
}

func TestWhatBecomesOfATurn(t *testing.T) {
	for _, tt := range []struct {
		name                   string
		last                   []event.Turn
		status                 TurnStatus
		over, waits, repeats   bool
		turns, failed, deliver int64
		paused                 bool
	}{
		{"queued", nil, TurnQueued, false, false, false, 0, 0, 0, false},
		{"running", []event.Turn{stepOf("t", event.TurnStarted)}, TurnRunning, false, false, false, 1, 0, 0, false},
		{"answered", []event.Turn{stepOf("t", event.TurnStarted), stepOf("t", event.TurnFinished)}, TurnFinished, true, false, false, 1, 0, 2, false},
		{
			"failed for nothing",
			[]event.Turn{stepOf("t", event.TurnStarted), stepOf("t", event.TurnFailed, ending("quota", "nothing"))},
			TurnFailed, false, false, true, 0, 1, 0, false,
		},
		{
			"failed, perhaps paid",
			[]event.Turn{stepOf("t", event.TurnStarted), stepOf("t", event.TurnFailed, ending("timeout", "maybe"))},
			TurnFailed, false, true, false, 1, 1, 0, true,
		},
		{
			"cancelled by a person",
			[]event.Turn{stepOf("t", event.TurnStarted), stepOf("t", event.TurnCancelled, ending(CausePerson, "maybe"))},
			TurnCancelled, true, false, false, 1, 1, 0, false,
		},
		{
			"cut short by the end of the bridge",
			[]event.Turn{stepOf("t", event.TurnStarted), stepOf("t", event.TurnCancelled, ending(CauseEnd, "maybe"))},
			TurnCancelled, false, true, false, 1, 1, 0, false,
		},
		{
			"the same before it cost anything",
			[]event.Turn{stepOf("t", event.TurnStarted), stepOf("t", event.TurnCancelled, ending(CauseEnd, "nothing"))},
			TurnCancelled, false, false, true, 0, 1, 0, false,
		},
		{"lost", []event.Turn{stepOf("t", event.TurnStarted), stepOf("t", event.TurnUncertain)}, TurnUncertain, false, true, false, 1, 1, 0, false},
		{
			"wanted again",
			[]event.Turn{stepOf("t", event.TurnStarted), stepOf("t", event.TurnUncertain), stepOf("t", event.TurnRetried)},
			TurnQueued, false, false, false, 1, 1, 0, false,
		},
		{"let go", []event.Turn{stepOf("t", event.TurnStarted), stepOf("t", event.TurnUncertain), stepOf("t", event.TurnSkipped)}, TurnSkipped, true, false, false, 1, 1, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := steps(t, append([]event.Turn{attachedTo("a", "s", -1), queuedFor("a", "t", 9, 3, 4)}, tt.last...)...).state
			turn := s.Turns()[0]
			if turn.Status != tt.status || turn.Over() != tt.over || turn.Waits() != tt.waits || turn.Repeats() != tt.repeats || turn.Events != 2 {
				t.Errorf("%+v", turn)
			}
			if (len(turn.Seqs) == 0) != tt.over {
				t.Errorf("triggers %d", turn.Seqs)
			}
			session, _ := s.Session("A")
			if session.Cursor != 9 || session.Turns != tt.turns || session.Paused != tt.paused || (session.Running != "") != (tt.status == TurnRunning) {
				t.Errorf("%+v", session)
			}
			if m := s.Meter("a"); m.Passive != 2 || m.Duplicate != 1 || m.Delivered != tt.deliver || m.Failed != tt.failed {
				t.Errorf("%+v", m)
			}
			if data, err := s.AppendBinary(nil); err != nil {
				t.Error(err)
			} else if again, err := Unmarshal(data); err != nil {
				t.Error(err)
			} else if same, difference := Equal(s, again); !same {
				t.Error(difference)
			}
		})
	}
}

func TestOnlyThreeAttempts(t *testing.T) {
	list := []event.Turn{attachedTo("a", "s", -1), queuedFor("a", "t", 9, 3)}
	for range MaxAttempts {
		list = append(list, stepOf("t", event.TurnStarted), stepOf("t", event.TurnFailed, ending("quota", "nothing")))
	}
	if turn, ok := steps(t, list...).state.Turn("t"); !ok || turn.Repeats() || !turn.Waits() || turn.Attempt != MaxAttempts {
		t.Errorf("%+v", turn)
	}
}

func TestSessionsOfAnAgent(t *testing.T) {
	finished := stepOf("t", event.TurnFinished, func(b *event.Turn) {
		b.Usage = &event.TurnUsage{Input: 10, Output: 5, CostMicros: 7, Priced: true, Known: true}
		b.Total = &event.TurnUsage{Input: 99}
	})
	l := steps(t, attachedTo("a", "s", -1), queuedFor("a", "t", 9, 3), stepOf("t", event.TurnStarted), finished)
	s := l.state
	got, _ := s.Session("a")
	if got.Usage.Tokens() != 15 || got.Usage.CostMicros != 7 || got.Total.Input != 99 || got.MaxTurns != DefaultMaxTurns {
		t.Errorf("%+v", got)
	}
	l.add(event.Loadout, "*", attachedTo("a", "s", 2)) // the same one: it is told again what came since
	if got, _ := s.Session("a"); got.Cursor != 2 || got.Turns != 1 {
		t.Errorf("%+v", got)
	}
	l.add(event.Loadout, "*", attachedTo("a", "other", 5)) // another one
	if got, _ := s.Session("a"); got.ID != "other" || got.Turns != 0 || got.Cursor != 5 {
		t.Errorf("%+v", got)
	}
	l.add("a", "*", event.Agent{Action: event.AgentRenamed, Name: "b", Previous: "a"})
	if got, ok := s.Session("b"); !ok || got.ID != "other" || s.Meter("b").Turns != 1 {
		t.Errorf("%+v", got)
	}
	l.add("user", "*", event.Agent{Action: event.AgentForgotten, Name: "b"})
	if list := s.Sessions(); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// A session is forgotten when there are too many, but none that has something to do.
func TestIdleSessionsAreForgotten(t *testing.T) {
	list := []event.Turn{attachedTo("waits", "s", -1), queuedFor("waits", "t", 0), attachedTo("driven", "s", -1), {Action: event.TurnOpened, Agents: []string{"driven"}}, attachedTo("idle", "s", -1)}
	for i := range MaxSessions {
		list = append(list, attachedTo(fmt.Sprint("agent-", i), "s", -1))
	}
	s := steps(t, list...).state
	for agent, want := range map[string]bool{"waits": true, "driven": true, "idle": false, "agent-999": true} {
		if _, ok := s.Session(agent); ok != want {
			t.Errorf("%s: %v", agent, ok)
		}
	}
	if n := len(s.Sessions()); n != MaxSessions {
		t.Errorf("%d sessions", n)
	}
}

// Whatever is stored, what is remembered stays small.
func TestTurnsAreBounded(t *testing.T) {
	var list []event.Turn
	for i := range 2 * MaxOpenTurns {
		agent, id := fmt.Sprint("agent-", i), fmt.Sprint("turn-", i)
		list = append(list, attachedTo(agent, agent, -1), queuedFor(agent, id, 0), queuedFor(agent, id+"-over", 0), stepOf(id+"-over", event.TurnSkipped))
	}
	s := steps(t, list...).state
	if a, b, c := len(s.Sessions()), len(s.OpenTurns()), len(s.Turns()); a > MaxSessions+MaxOpenTurns || b > MaxOpenTurns || c > MaxOpenTurns+MaxEnded {
		t.Errorf("%d sessions, %d open turns, %d turns", a, b, c)
	}
}

// An event that the agent of a running turn stores is one further in the chain; what a person stores as that agent is not.
func TestDepth(t *testing.T) {
	l := steps(t, attachedTo("a", "s", -1), func() event.Turn { b := queuedFor("a", "t", 0); b.Depth = 2; return b }(), stepOf("t", event.TurnStarted))
	l.add("a", "*", event.Handoff{})
	l.add("b", "*", event.Handoff{})
	l.add(event.Loadout, "*", stepOf("t", event.TurnFinished))
	l.add("a", "*", event.Handoff{})
	for seq, want := range map[int64]int64{3: 3, 4: 0, 6: 0} {
		if got := l.state.Depth(seq); got != want {
			t.Errorf("#%d is %d deep, want %d", seq, got, want)
		}
	}
}
