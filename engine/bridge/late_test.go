package bridge

import (
	"context"
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
	s.start()
	s.say("user", "*", "first")
	if notice := s.told.until(s, KindNotice); !strings.Contains(notice.Text, "could not be recorded") {
		t.Errorf("%+v", notice)
	}
	s.must(os.WriteFile(sessions, kept, 0o600))
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
