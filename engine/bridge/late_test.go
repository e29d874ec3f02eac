package bridge

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
)

// used is what turns of these tests use.
var used = turn.Usage{Input: 10_000, Output: 10, Cost: 0.5, Priced: true, Known: true}

// What a turn used before another process cancelled it counts against the caps.
func TestUsageOfACancelledTurnCounts(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{"failed": &turn.Failure{Kind: turn.Cancelled, Spent: turn.Yes}, "had answered": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := make(chan struct{}, 1)
			p := &program{name: "claude-code", do: func(ctx context.Context, t turn.Turn, _ func(turn.Progress)) (turn.Reply, error) {
				begun <- struct{}{}
				<-ctx.Done()
				return turn.Reply{Session: t.Session, Usage: used}, failure
			}}
			s := newScene(t, p)
			limit := used.Tokens()
			s.start(func(all *Sessions) { all.Limits.Tokens = &limit })
			s.say("user", "*", "first")
			receive(t, begun)
			_, err := CancelTurn(t.Context(), s.Engine, "claude-code", "user")
			s.must(err)
			st := s.until("what it used", func(now *state.State) bool { return now.Meter("claude-code").Usage.Known })
			session, _ := st.Session("claude-code")
			turns := turnsOf(st, "claude-code", state.TurnCancelled)
			if session.Usage.Tokens() != used.Tokens() || session.Turns != 1 || st.Meter("claude-code").Failed != 1 {
				t.Errorf("%+v, %+v", session, st.Meter("claude-code"))
			}
			if len(turns) != 1 || turns[0].Cause != state.CausePerson || turns[0].Usage.Tokens() != used.Tokens() {
				t.Errorf("%+v", turns)
			}
			s.say("user", "*", "second")
			if stop := s.told.until(s, KindStopped); !strings.Contains(stop.Text, "tokens") {
				t.Errorf("%+v", stop)
			}
		})
	}
}

// The end of a turn that cannot be stored when it comes is stored when it can, also when somebody took the turn for lost meanwhile.
func TestEndIsStoredLate(t *testing.T) {
	t.Parallel()
	p := answers("claude-code")
	s := newScene(t, p)
	mend := s.spoilt(p)
	s.start()
	s.say("user", "*", "first")
	if notice := s.told.until(s, KindNotice); !strings.Contains(notice.Text, "could not be recorded") {
		t.Errorf("%+v", notice)
	}
	mend()
	st := s.until("the end", func(now *state.State) bool { return now.Meter("claude-code").Usage.Known })
	session, _ := st.Session("claude-code")
	if session.Usage.Tokens() != 110 || session.Running != "" || len(turnsOf(st, "claude-code", state.TurnFinished)) != 1 {
		t.Errorf("%+v\n%s", session, s.log())
	}
	if got := len(p.prompts()); got != 1 {
		t.Errorf("told %d times", got)
	}
}

// A turn that was taken for lost ends as it did, when that is known.
func TestLostTurnIsFound(t *testing.T) {
	t.Parallel()
	s := newScene(t, answers("claude-code"))
	s.attach()
	session, _ := s.view().State.Session("claude-code")
	id, through := event.NewID(), int64(0)
	queued, started, lost := of(session, event.TurnQueued), of(session, event.TurnStarted), of(session, event.TurnUncertain)
	queued.Turn, queued.Why, queued.Seqs, queued.Through = id, event.WhyDelivery, []int64{0}, &through
	started.Turn, started.Why, started.Attempt = id, event.WhyDelivery, 1
	lost.Turn, lost.Why = id, event.WhyDelivery
	_, err := s.RecordTurns(t.Context(), "", func(engine.View) ([]event.Event, error) { return events(queued, started, lost) })
	s.must(err)
	end := outcome(s.view().State.OpenTurns()[0], turn.Reply{Session: session.ID, Usage: used}, nil, nil)
	got, err := recordEnd(t.Context(), s.Engine, end, "", func(_ engine.View, end event.Turn) ([]event.Event, error) { return events(end) }, nil)
	s.must(err)
	st := s.view().State
	session, _ = st.Session("claude-code")
	if got.Action != event.TurnFinished || len(turnsOf(st, "claude-code", state.TurnFinished)) != 1 || session.Usage.Tokens() != used.Tokens() {
		t.Errorf("%+v, %+v", got, session)
	}
}

// spoilt makes the end of a turn of p one that cannot be recorded, until the returned function is called.
func (s *scene) spoilt(p *program) (mend func()) {
	answer, sessions := p.do, filepath.Join(s.Project().Dir, engine.SessionsName)
	var kept []byte
	p.do = func(ctx context.Context, t turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
		var err error
		if kept, err = os.ReadFile(sessions); err == nil { //nolint:gosec // a file of this test
			err = os.WriteFile(sessions, []byte("damaged"), 0o600)
		}
		if err != nil {
			return turn.Reply{}, err
		}
		return answer(ctx, t, progress)
	}
	return func() { s.must(os.WriteFile(sessions, kept, 0o600)) }
}

// What was answered and paid for reaches who asked, also when it cannot be recorded, and is no refusal.
func TestAnswerComesThoughItIsNotRecorded(t *testing.T) {
	t.Parallel()
	p := answers("claude-code")
	s := newScene(t, p)
	s.attach()
	s.spoilt(p)
	reply, err := Send(t.Context(), s.Engine, "claude-code", "hello", s.options)
	var unrecorded *UnrecordedError
	if !errors.As(err, &unrecorded) || engine.ErrorCode(err) != "internal_error" || reply.Text != "well, noted" {
		t.Errorf("%+v, %v", reply, err)
	}
}

// A session that was opened and cannot be made known is told with what it answered.
func TestAnswerOfASessionThatIsNotKnown(t *testing.T) {
	t.Parallel()
	p := answers("claude-code")
	answer := p.do
	p.do = func(ctx context.Context, t turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
		t.Session = "new"
		return answer(ctx, t, progress)
	}
	s := newScene(t, p)
	s.attach() // so that there is a file of sessions
	s.spoilt(p)
	opened, err := Open(t.Context(), s.Engine, "claude-code", "", "hello", s.options)
	var unrecorded *UnrecordedError
	if !errors.As(err, &unrecorded) || opened.Session.ID != "" || opened.Reply.Session != "new" || opened.Reply.Text != "well, noted" {
		t.Errorf("%+v, %v", opened, err)
	}
}

// A turn that was taken for lost and that a person wants made again ends as it did if it was answered; else what it used is counted and it
// is made again.
func TestLateEndOfARetriedTurn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		want state.TurnStatus
	}{
		"answered": {nil, state.TurnFinished},
		"failed":   {&turn.Failure{Kind: turn.Crashed, Spent: turn.Yes}, state.TurnQueued},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, answers("claude-code"))
			s.attach()
			session, _ := s.view().State.Session("claude-code")
			id, through := event.NewID(), int64(0)
			var steps []event.Turn
			for _, action := range []event.TurnAction{event.TurnQueued, event.TurnStarted, event.TurnUncertain, event.TurnRetried} {
				b := of(session, action)
				b.Turn, b.Why = id, event.WhyDelivery
				steps = append(steps, b)
			}
			steps[0].Seqs, steps[0].Through = []int64{0}, &through
			_, err := s.RecordTurns(t.Context(), "", func(engine.View) ([]event.Event, error) { return events(steps...) })
			s.must(err)
			end := outcome(s.view().State.OpenTurns()[0], turn.Reply{Session: session.ID, Usage: used}, tt.err, nil)
			_, err = recordEnd(t.Context(), s.Engine, end, "", func(_ engine.View, end event.Turn) ([]event.Event, error) { return events(end) }, nil)
			s.must(err)
			st := s.view().State
			session, _ = st.Session("claude-code")
			if len(turnsOf(st, "claude-code", tt.want)) != 1 || session.Usage.Tokens() != used.Tokens() || st.Meter("claude-code").Usage.Tokens() != used.Tokens() {
				t.Errorf("%+v, %+v\n%s", session, st.Turns(), s.log())
			}
		})
	}
}

// A turn that fails, or is cancelled, tells what it used as one that is answered does.
func TestEveryEndTellsWhatItUsed(t *testing.T) {
	t.Parallel()
	for kind, failure := range map[Kind]error{
		KindFinished:  nil,
		KindFailed:    &turn.Failure{Kind: turn.Crashed, Spent: turn.Yes},
		KindCancelled: &turn.Failure{Kind: turn.Cancelled, Spent: turn.Yes},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			p := &program{name: "claude-code", do: func(_ context.Context, t turn.Turn, _ func(turn.Progress)) (turn.Reply, error) {
				if kind == KindCancelled {
					cancel(errByPerson)
				}
				return turn.Reply{Session: t.Session, Usage: used}, failure
			}}
			s := newScene(t, p)
			s.attach()
			_, _ = Send(ctx, s.Engine, "claude-code", "hello", s.options) // it fails, or not
			if told := s.told.of(kind); len(told) != 1 || told[0].Tokens != used.Tokens() || told[0].Cost != used.Cost {
				t.Errorf("%+v", told)
			}
		})
	}
}
