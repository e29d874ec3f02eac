package bridge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
)

func TestDelivers(t *testing.T) {
	claude, codex := answers("claude-code"), answers("codex")
	s := newScene(t, claude, codex)
	old := s.say("user", "*", "before the bridge")
	b := s.start()
	s.say("codex", "claude-code", "for claude alone")
	s.say("user", "*", "for all")
	st := s.delivered("claude-code", 2)
	st = s.until("the other", func(now *state.State) bool { st = now; return now.Meter("codex").Delivered >= 1 })
	if claude.mentions("before the bridge")+codex.mentions("before the bridge") != 0 {
		t.Errorf("what was there before #%d is delivered", old)
	}
	if claude.mentions("for claude alone") != 1 || codex.mentions("for claude alone") != 0 || codex.mentions("for all") != 1 {
		t.Errorf("claude: %q\ncodex: %q", claude.prompts(), codex.prompts())
	}
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"well, noted", "Between the two lines", "What stands between"} {
		if strings.Contains(s.log(), text) {
			t.Errorf("the log has %q:\n%s", text, s.log())
		}
	}
	m := st.Meter("claude-code")
	if m.Turns == 0 || m.Usage.Tokens() != 110*m.Turns || m.Usage.CostMicros != 10000*m.Turns {
		t.Errorf("meter %+v", m)
	}
	if got := claude.turns[0].Env; len(got) != 2 || got[0] != "LOADOUT_AGENT=claude-code" {
		t.Errorf("environment %q", got)
	}
	if st := s.view().State; st.Bridge().Open {
		t.Error("the bridge is still open in the log")
	}
	if finished := s.told.of(KindFinished); len(finished) == 0 || finished[0].Text != "well, noted" {
		t.Errorf("told %+v", finished)
	}
}

// What wakes nobody wakes nobody, and is counted.
func TestPassive(t *testing.T) {
	claude := answers("claude-code")
	s := newScene(t, claude)
	s.start()
	for i := range 5 {
		_, err := s.Do(t.Context(), engine.Request{Command: engine.Report{Agent: "codex", Update: event.Update{Note: fmt.Sprint("step ", i)}}})
		s.must(err)
	}
	s.say("codex", "claude-code", "wake up")
	st := s.delivered("claude-code", 1)
	if m := st.Meter("claude-code"); m.Passive != 5 || m.Turns != 1 || claude.mentions("step") != 0 {
		t.Errorf("%+v %q", m, claude.prompts())
	}
}

// A thousand events make few turns.
func TestBurst(t *testing.T) {
	claude := answers("claude-code")
	inner, answer := claude.do, make(chan struct{})
	claude.do = func(ctx context.Context, tt turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
		select {
		case <-answer: // as a program that takes its time
		case <-ctx.Done():
		}
		return inner(ctx, tt, progress)
	}
	s := newScene(t, claude)
	s.options.Settle, s.options.MaxSettle = DefaultSettle, DefaultMaxSettle
	s.start()
	const events = 1000
	for i := range events {
		s.say("codex", "*", fmt.Sprintf("item-%d.", i))
	}
	close(answer)
	st := s.delivered("claude-code", events)
	// One that began with the burst, and as many as are needed for the rest.
	if n := st.Meter("claude-code").Turns; n > 2+events/event.MaxTurnSeqs {
		t.Errorf("%d turns", n)
	}
	if st.Meter("claude-code").Delivered != events {
		t.Errorf("delivered %d", st.Meter("claude-code").Delivered)
	}
}

// What is urgent does not wait for quiet, and takes with it what does. Steady writers keep nobody waiting for longer than MaxSettle.
func TestSettling(t *testing.T) {
	urgent := func(s *scene, path string) {
		_, err := s.Do(t.Context(), engine.Request{Command: engine.Own{Agent: "codex", Paths: []string{path}}})
		s.must(err)
	}
	begin := func(limit time.Duration) *scene {
		s := newScene(t, answers("claude-code"))
		s.options.Settle, s.options.MaxSettle = time.Hour, limit
		s.start()
		urgent(s, "first")
		s.delivered("claude-code", 1) // and then it waits for news
		return s
	}
	t.Run("urgent", func(t *testing.T) {
		s := begin(time.Hour)
		s.say("user", "*", "take your time")
		urgent(s, "second")
		s.delivered("claude-code", 3)
	})
	t.Run("never quiet", func(t *testing.T) {
		s := begin(time.Millisecond)
		s.say("user", "*", "others write all the time")
		s.delivered("claude-code", 2)
	})
}

// Two agents that only answer each other stop, and a person may let them go on.
func TestPingPong(t *testing.T) {
	claude, codex := answers("claude-code"), answers("codex")
	s := newScene(t, claude, codex)
	for _, pair := range []struct {
		p  *program
		to string
	}{{claude, "codex"}, {codex, "claude-code"}} {
		inner := pair.p.do
		pair.p.do = func(ctx context.Context, tt turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
			if _, err := s.emit(ctx, pair.p.name, pair.to, "and what do you say, "+pair.to+"?"); err != nil {
				return turn.Reply{}, err // the test is over
			}
			return inner(ctx, tt, progress)
		}
	}
	s.options.MaxDepth = 3
	s.start()
	s.say("user", "claude-code", "begin")
	st := s.until("the chain to be held", func(now *state.State) bool {
		return len(turnsOf(now, "claude-code", state.TurnHeld))+len(turnsOf(now, "codex", state.TurnHeld)) > 0
	})
	if n := st.Meter("claude-code").Turns + st.Meter("codex").Turns; n != 4 {
		t.Errorf("%d turns\n%s", n, s.log())
	}
	held := turnsOf(st, "claude-code", state.TurnHeld)
	if len(held) != 1 || held[0].Depth != 4 || !held[0].Waits() {
		t.Fatalf("held %+v", held)
	}
	_, err := Retry(t.Context(), s.Engine, held[0].ID, "user")
	s.must(err)
	s.until("it to go on", func(now *state.State) bool { return now.Meter("claude-code").Turns >= 3 })
}

func TestCaps(t *testing.T) {
	two, none := int64(2), int64(0)
	for _, tt := range []struct {
		name   string
		limits Limits
		cap    event.TurnCap
		turns  int64
		raise  Limits
	}{
		{"turns", Limits{Turns: &two}, event.CapTurns, 2, Limits{Turns: &none}},
		{"turns of all", Limits{TotalTurns: &two}, event.CapTotalTurns, 2, Limits{TotalTurns: &none}},
		{"tokens", Limits{Tokens: pointer[int64](2500)}, event.CapTokens, 2, Limits{Tokens: &none}},
		{"cost", Limits{CostMicros: pointer[int64](20000)}, event.CapCost, 2, Limits{CostMicros: &none}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			claude := answers("claude-code")
			inner := claude.do
			claude.do = func(ctx context.Context, tt turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
				reply, err := inner(ctx, tt, progress)
				reply.Usage.Input = 990
				return reply, err
			}
			s := newScene(t, claude)
			b := s.start(func(all *Sessions) { all.Limits = tt.limits })
			for i := range tt.turns {
				s.say("user", "*", fmt.Sprint("item ", i))
				s.delivered("claude-code", i+1)
			}
			s.say("user", "*", "one too many")
			st := s.until("the stop", func(now *state.State) bool { got, _ := now.Session("claude-code"); return got.Stopped != "" })
			if got, _ := st.Session("claude-code"); got.Stopped != string(tt.cap) || got.Turns != tt.turns {
				t.Errorf("%+v", got)
			}
			// The count outlives the bridge.
			s.must(b.Stop())
			s.told.forget()
			b = s.start()
			s.say("user", "*", "still waiting")
			s.told.until(s, KindStopped)
			if len(claude.prompts()) != int(tt.turns) {
				t.Errorf("a turn over the cap")
			}
			_, err := Raise(t.Context(), s.Engine, "", "user", tt.raise)
			s.must(err)
			s.until("what waited", func(now *state.State) bool { return now.Meter("claude-code").Delivered >= tt.turns+2 })
			if claude.mentions("one too many") != 1 || claude.mentions("still waiting") != 1 {
				t.Errorf("%q", claude.prompts())
			}
			s.must(b.Stop())
		})
	}
}

func pointer[T any](v T) *T { return &v }

// waits makes a program that answers when it is told to, or its turn is cancelled.
func waits(name string) (p *program, begun chan turn.Turn, answer chan string) {
	begun, answer = make(chan turn.Turn, 100), make(chan string, 100)
	return &program{name: name, do: func(ctx context.Context, t turn.Turn, _ func(turn.Progress)) (turn.Reply, error) {
		begun <- t
		select {
		case text := <-answer:
			return turn.Reply{Session: t.Session, Text: text}, nil
		case <-ctx.Done():
			return turn.Reply{Session: t.Session}, &turn.Failure{Provider: name, Kind: turn.Cancelled, Spent: turn.Maybe, Err: context.Cause(ctx)}
		}
	}}, begun, answer
}

func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("waited in vain")
		panic("unreachable")
	}
}

func TestKillSwitch(t *testing.T) {
	claude, begun, _ := waits("claude-code")
	var cause error
	inner := claude.do
	claude.do = func(ctx context.Context, tt turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
		reply, _ := inner(ctx, tt, progress)
		cause = context.Cause(ctx)
		reply.Text = "an answer that came too late"
		return reply, nil // as a program that answers at the last moment
	}
	s := newScene(t, claude)
	b := s.start()
	s.say("user", "*", "work")
	receive(t, begun)
	_, err := s.Kill(t.Context(), "user", "enough")
	s.must(err)
	receive(t, b.Done())
	var halted *engine.HaltedError
	if err := b.Wait(); !errors.As(err, &halted) {
		t.Errorf("ended with %v", err)
	}
	if !errors.Is(cause, turn.ErrKilled) {
		t.Errorf("cause %v", cause)
	}
	cancelled := turnsOf(s.view().State, "claude-code", state.TurnCancelled)
	if len(cancelled) != 1 || cancelled[0].Cause != state.CauseHalt || !cancelled[0].Waits() || strings.Contains(s.log(), "too late") {
		t.Errorf("%+v\n%s", cancelled, s.log())
	}
	if len(s.told.of(KindFinished)) != 0 {
		t.Error("the answer was shown")
	}
	if _, err := Start(t.Context(), s.Engine, Sessions{Refs: []Ref{{Agent: "claude-code"}}}, s.options); !errors.As(err, &halted) {
		t.Errorf("a bridge starts while halted: %v", err)
	}
	if _, err := Send(t.Context(), s.Engine, "claude-code", "hello", s.options); !errors.As(err, &halted) {
		t.Errorf("a message is sent while halted: %v", err)
	}
}

// The kill switch between the record of a turn and its start: the program is never asked.
func TestKillSwitchBeforeTheStart(t *testing.T) {
	claude := answers("claude-code")
	s := newScene(t, claude)
	var armed atomic.Bool
	s.options.Permissions = func(string, string) turn.Permissions { // asked for last
		if armed.Load() {
			_, err := s.Kill(context.Background(), "user", "enough")
			s.must(err)
		}
		return turn.Permissions{}
	}
	b := s.start()
	armed.Store(true)
	s.say("user", "*", "work")
	var halted *engine.HaltedError
	if err := b.Wait(); !errors.As(err, &halted) {
		t.Errorf("ended with %v", err)
	}
	cancelled := turnsOf(s.view().State, "claude-code", state.TurnCancelled)
	if len(claude.prompts()) != 0 || len(cancelled) != 1 || cancelled[0].Spent != string(turn.Nothing) || cancelled[0].Cause != state.CauseHalt {
		t.Errorf("%q %+v", claude.prompts(), cancelled)
	}
}

// A session whose turn runs is not forgotten, nor what that costs.
// A session is live while a bridge drives it or a turn of it runs, and else only known: no program of it is there.
func TestOnlyKnown(t *testing.T) {
	claude := answers("claude-code")
	s := newScene(t, claude)
	live := func() engine.Liveness { return s.view().Live("claude-code") }
	_, err := Attach(t.Context(), s.Engine, Ref{Provider: "claude-code", Session: "elsewhere"}, "", nil, s.options)
	s.must(err)
	if l := live(); !l.Known || l.Live || !l.Idle {
		t.Errorf("attached: %+v", l)
	}
	var conflict *engine.ConflictError
	if _, err := s.Do(t.Context(), engine.Request{Command: engine.Register{Name: "claude-code"}}); !errors.As(err, &conflict) || conflict.Kind != engine.ConflictName {
		t.Errorf("its name goes to somebody else: %v", err)
	}
	during := engine.Liveness{}
	inner := claude.do
	claude.do = func(ctx context.Context, tt turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
		during = live()
		return inner(ctx, tt, progress)
	}
	_, err = Send(t.Context(), s.Engine, "claude-code", "hi", s.options)
	s.must(err)
	if l := live(); !during.Live || l.Live {
		t.Errorf("in a turn %+v, after it %+v", during, l)
	}
	b, err := Start(t.Context(), s.Engine, Sessions{Refs: []Ref{{Agent: "claude-code"}}}, s.options)
	s.must(err)
	s.say("user", "*", "something")
	s.delivered("claude-code", 1)
	if l := live(); !l.Live {
		t.Errorf("with a bridge: %+v", l)
	}
	s.must(b.Stop())
	if l := live(); l.Live || !l.Idle {
		t.Errorf("after the bridge: %+v", l)
	}
	_, err = Forget(t.Context(), s.Engine, "claude-code", "user")
	s.must(err)
	if a, _ := s.view().State.Agent("claude-code"); a.Registered || live().Known {
		t.Errorf("forgotten: %+v", a)
	}
}

func TestForgetWhileATurnRuns(t *testing.T) {
	claude, begun, _ := waits("claude-code")
	s := newScene(t, claude)
	s.start()
	s.say("user", "*", "work")
	receive(t, begun)
	var conflict *engine.ConflictError
	if _, err := Forget(t.Context(), s.Engine, "claude-code", "user"); !errors.As(err, &conflict) || len(engine.Hints(err)) == 0 {
		t.Errorf("forgotten: %v", err)
	}
	_, err := CancelTurn(t.Context(), s.Engine, "claude-code", "user")
	s.must(err)
	if end := s.told.until(s, KindCancelled); end.Text != state.CausePerson {
		t.Errorf("told %+v", end)
	}
	_, err = Forget(t.Context(), s.Engine, "claude-code", "user")
	s.must(err)
}

func TestCancelOneTurn(t *testing.T) {
	claude, begun, answer := waits("claude-code")
	s := newScene(t, claude)
	b := s.start()
	s.say("user", "*", "first")
	receive(t, begun)
	running := b.Running()
	if len(running) != 1 {
		t.Fatalf("running %+v", running)
	}
	s.must(b.CancelTurn(running[0].Turn.ID))
	s.until("the end", func(now *state.State) bool {
		c := turnsOf(now, "claude-code", state.TurnCancelled)
		return len(c) == 1 && c[0].Cause == state.CausePerson
	})
	// And from another process.
	s.say("user", "*", "second")
	receive(t, begun)
	_, err := CancelTurn(t.Context(), s.Engine, "claude-code", "user")
	s.must(err)
	s.say("user", "*", "third")
	receive(t, begun) // not before the second has ended, which would take its answer
	answer <- "fine"
	s.delivered("claude-code", 1)
	if claude.mentions("first") != 1 || claude.mentions("second") != 1 || claude.mentions("third") != 1 {
		t.Errorf("%q", claude.prompts())
	}
}

// failing makes a program whose turns fail in turn, and then succeed.
func failing(name string, failures ...*turn.Failure) *program {
	p := answers(name)
	inner, n := p.do, 0
	p.do = func(ctx context.Context, t turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
		if n++; n <= len(failures) {
			return turn.Reply{}, failures[n-1]
		}
		return inner(ctx, t, progress)
	}
	return p
}

func TestFailures(t *testing.T) {
	free := &turn.Failure{Provider: "codex", Kind: turn.Overloaded, Spent: turn.Nothing}
	paid := &turn.Failure{Provider: "codex", Kind: turn.Timeout, Spent: turn.Maybe}

	t.Run("one that cost nothing is made again", func(t *testing.T) {
		codex := failing("codex", free, free)
		s := newScene(t, codex)
		s.start()
		s.say("user", "*", "tell-this")
		st := s.delivered("codex", 1)
		got, _ := st.Session("codex")
		if codex.mentions("tell-this") != 3 || got.Turns != 1 {
			t.Errorf("%d attempts, %+v", codex.mentions("tell-this"), got)
		}
	})
	t.Run("but only twice", func(t *testing.T) {
		codex := failing("codex", free, free, free)
		s := newScene(t, codex)
		s.start()
		s.say("user", "*", "tell-this")
		s.until("a person to be waited for", func(now *state.State) bool {
			f := turnsOf(now, "codex", state.TurnFailed)
			return len(f) == 1 && f[0].Waits() && f[0].Attempt == 3
		})
		_, err := Retry(t.Context(), s.Engine, "codex", "user")
		s.must(err)
		s.delivered("codex", 1)
	})
	t.Run("one that may have cost something waits, and others behind it", func(t *testing.T) {
		codex := failing("codex", paid)
		s := newScene(t, codex)
		s.start()
		s.say("user", "*", "first")
		st := s.until("the failure", func(now *state.State) bool { return len(turnsOf(now, "codex", state.TurnFailed)) == 1 })
		if got, _ := st.Session("codex"); !got.Paused {
			t.Errorf("not paused: %+v", got)
		}
		s.say("user", "*", "second")
		_, err := Skip(t.Context(), s.Engine, "codex", "user")
		s.must(err)
		s.delivered("codex", 1)
		if codex.mentions("first") != 1 || codex.mentions("second") != 1 {
			t.Errorf("%q", codex.prompts())
		}
		var notFound *engine.NotFoundError
		if _, err := Skip(t.Context(), s.Engine, "codex", "user"); !errors.As(err, &notFound) {
			t.Errorf("nothing is left to skip: %v", err)
		}
	})
	t.Run("an answer in another session is none", func(t *testing.T) {
		codex := answers("codex")
		codex.do = func(context.Context, turn.Turn, func(turn.Progress)) (turn.Reply, error) {
			return turn.Reply{Session: "another", Text: "hello"}, nil
		}
		s := newScene(t, codex)
		s.start()
		s.say("user", "*", "tell-this")
		st := s.until("the failure", func(now *state.State) bool { return len(turnsOf(now, "codex", state.TurnFailed)) == 1 })
		if got, _ := st.Session("codex"); got.ID != "codex-1" {
			t.Errorf("session %+v", got)
		}
	})
}

// What a stopped bridge cancelled before it cost anything is made by the next one; the rest waits for a person.
func TestStopAndGoOn(t *testing.T) {
	for _, spent := range []turn.Spent{turn.Nothing, turn.Maybe} {
		t.Run(string(spent), func(t *testing.T) {
			claude := answers("claude-code")
			answer, begun, first := claude.do, make(chan bool, 1), true
			claude.do = func(ctx context.Context, tt turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
				if !first {
					return answer(ctx, tt, progress)
				}
				first = false
				begun <- true
				<-ctx.Done()
				return turn.Reply{}, &turn.Failure{Provider: "claude-code", Kind: turn.Cancelled, Spent: spent}
			}
			s := newScene(t, claude)
			b := s.start()
			s.say("user", "*", "item one")
			receive(t, begun)
			s.must(b.Stop())
			s.start()
			s.say("user", "*", "item two")
			if spent == turn.Nothing {
				s.delivered("claude-code", 2)
				return
			}
			st := s.delivered("claude-code", 1)
			if c := turnsOf(st, "claude-code", state.TurnCancelled); len(c) != 1 || !c[0].Waits() || claude.mentions("item one") != 1 {
				t.Errorf("%+v %q", c, claude.prompts())
			}
		})
	}
}

func TestSendAndOpen(t *testing.T) {
	claude := answers("claude-code")
	claude.do = func(_ context.Context, tt turn.Turn, _ func(turn.Progress)) (turn.Reply, error) {
		session := tt.Session
		if session == "" {
			session = fmt.Sprintf("new-%d", len(claude.prompts()))
		}
		return turn.Reply{Session: session, Text: "yes", Total: turn.Usage{Input: 18, Known: true}}, nil
	}
	s := newScene(t, claude)
	for _, want := range []string{"claude-code", "claude-code-2"} {
		opened, err := Open(t.Context(), s.Engine, "claude-code", "", "", s.options)
		if err != nil || opened.Session.Agent != want || opened.Session.Cursor < 0 {
			t.Fatalf("%+v %v\n%s", opened, err, s.log())
		}
		a, _ := s.view().State.Agent(want)
		if a.Session != opened.Session.ID || opened.Session.Total.Input != 18 { // what the next turn's use is the difference to
			t.Errorf("agent %+v, session %+v", a, opened.Session)
		}
	}
	reply, err := Send(t.Context(), s.Engine, "claude-code-2", "/compact @secret", s.options)
	if err != nil || reply.Text != "yes" {
		t.Errorf("%+v %v", reply, err)
	}
	last := claude.prompts()[2]
	if strings.HasPrefix(last, "/") || strings.Contains(last, "@secret") {
		t.Errorf("prompt %q", last)
	}
	if strings.Contains(s.log(), "compact") {
		t.Errorf("the words are in the log:\n%s", s.log())
	}
	records, err := s.SessionRecords()
	if err != nil || len(records) != 2 || records[0].Cwd == "" || records[1].SessionID != "new-2" {
		t.Errorf("%+v %v", records, err)
	}
	var missing *engine.NotFoundError
	if _, err := Send(t.Context(), s.Engine, "nobody", "hi", s.options); !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
	if _, err := Forget(t.Context(), s.Engine, "claude-code", "user"); err != nil {
		t.Error(err)
	}
	if records, err := s.SessionRecords(); err != nil || len(records) != 1 {
		t.Errorf("%+v %v", records, err)
	}
}

// A session that cannot be kept gets no name, and no turn.
func TestOpenWithDamagedSessions(t *testing.T) {
	codex := answers("codex")
	s := newScene(t, codex)
	s.attach()
	s.must(os.WriteFile(filepath.Join(s.Project().Dir, engine.SessionsName), []byte("{"), 0o600))
	before := s.log()
	var invalid *engine.ValidationError
	if _, err := Open(t.Context(), s.Engine, "codex", "", "", s.options); !errors.As(err, &invalid) || s.log() != before || len(codex.prompts()) != 0 {
		t.Errorf("%v, or it wrote\n%s", err, s.log())
	}
}

// A program that does not start leaves no name behind.
func TestOpenFails(t *testing.T) {
	codex := failing("codex", &turn.Failure{Provider: "codex", Kind: turn.NotSignedIn, Spent: turn.Nothing, Hints: []string{"codex login"}})
	s := newScene(t, codex)
	_, err := Open(t.Context(), s.Engine, "codex", "", "", s.options)
	var provider *engine.ProviderError
	if !errors.As(err, &provider) || len(engine.Hints(err)) == 0 {
		t.Errorf("%v %q", err, engine.Hints(err))
	}
	if a, _ := s.view().State.Agent("codex"); a.Registered {
		t.Errorf("%+v", a)
	}
}

// A session that was attached begins at the end of the log, or where it is told to, and goes on where it was.
func TestCursor(t *testing.T) {
	claude := answers("claude-code")
	s := newScene(t, claude)
	s.say("user", "*", "one")
	two := s.say("user", "*", "two")
	s.say("user", "*", "three")
	from := two - 1
	b := s.start(func(all *Sessions) { all.From = &from })
	s.delivered("claude-code", 2)
	s.must(b.Stop())
	s.say("user", "*", "four")
	s.start()
	s.delivered("claude-code", 3)
	for text, want := range map[string]int{"one": 0, "two": 1, "three": 1, "four": 1} {
		if got := claude.mentions(": " + text + "\n"); got != want {
			t.Errorf("%s was told %d times", text, got)
		}
	}
}

func TestOnce(t *testing.T) {
	claude, codex := failing("claude-code", &turn.Failure{Kind: turn.Overloaded, Spent: turn.Nothing}), answers("codex")
	s := newScene(t, claude, codex)
	s.attach()
	s.say("user", "*", "something")
	b := s.start(func(all *Sessions) { all.Once = true })
	if err := b.Wait(); err != nil {
		t.Fatal(err)
	}
	if st := s.view().State; st.Meter("claude-code").Delivered != 1 || st.Meter("codex").Delivered != 1 {
		t.Errorf("%s", s.log())
	}
}

func TestOneBridge(t *testing.T) {
	claude := answers("claude-code")
	s := newScene(t, claude)
	s.start()
	_, err := Start(t.Context(), openProject(s.Project().Root), Sessions{Refs: []Ref{{Agent: "claude-code"}}}, s.options)
	var locked *engine.LockedError
	if !errors.As(err, &locked) {
		t.Errorf("%v", err)
	}
	if holder, err := s.BridgeHolder(t.Context()); err != nil || holder == nil {
		t.Errorf("%v %v", holder, err)
	}
}

// A lock file that no program wrote is none that anybody holds.
func TestPlaceWithOddContent(t *testing.T) {
	s := newScene(t, answers("claude-code"))
	s.attach()
	for _, text := range []string{"", "{", "\x00\xff", `{"pid": 1, "token": "of another program"}`} {
		s.must(os.WriteFile(filepath.Join(s.Project().Dir, "bridge.lock"), []byte(text), 0o600))
		s.must(s.start().Stop())
	}
}

// Many that attach sessions at once lose none of them.
func TestManyAttachManySessions(t *testing.T) {
	s := newScene(t, answers("claude-code"))
	const many = 8
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() { // each as a process of its own
			ref := Ref{Provider: "claude-code", Session: fmt.Sprint("session-", i)}
			if _, err := Attach(t.Context(), openProject(s.Project().Root), ref, "", nil, s.options); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if records, err := s.SessionRecords(); err != nil || len(records) != many || len(s.view().State.Sessions()) != many {
		t.Errorf("%d sessions, %v", len(records), err)
	}
}

// A session that many attach at once has one driver.
func TestManyAttachOneSession(t *testing.T) {
	claude, codex := answers("claude-code"), answers("codex")
	s := newScene(t, claude, codex)
	b := s.start(func(all *Sessions) { all.Refs = all.Refs[:1] })
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if err := b.Attach(t.Context(), Ref{Provider: "codex", Session: "codex-1"}, "", nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.say("user", "*", "for both")
	s.delivered("codex", 1)
	if n := len(s.told.of(KindSession)); n != 2 || codex.mentions("for both") != 1 {
		t.Errorf("%d sessions, %q", n, codex.prompts())
	}
}

func TestAttachToARunningBridge(t *testing.T) {
	claude, codex := answers("claude-code"), answers("codex")
	s := newScene(t, claude, codex)
	b := s.start(func(all *Sessions) { all.Refs = all.Refs[:1] })
	s.must(b.Attach(t.Context(), Ref{Provider: "codex", Session: "codex-1"}, "", nil))
	s.say("user", "*", "for both")
	s.delivered("claude-code", 1)
	st := s.delivered("codex", 1)
	if agents := st.Bridge().Agents; len(agents) != 2 {
		t.Errorf("%q", agents)
	}
	_, err := Forget(t.Context(), s.Engine, "codex", "user")
	s.must(err)
	_, err = Forget(t.Context(), s.Engine, "claude-code", "user")
	s.must(err)
	if err := b.Wait(); err != nil { // nobody is left to drive
		t.Error(err)
	}
	if said := s.told.of(KindNotice); len(said) != 2 || !strings.HasPrefix(said[0].Text, "its session is not known any more") {
		t.Errorf("a bridge ends without a word: %+v", said)
	}
}

// TestALostLogEndsTheBridge: it says why.
func TestALostLogEndsTheBridge(t *testing.T) {
	s := newScene(t, answers("claude-code"))
	b := s.start()
	s.must(os.Remove(filepath.Join(s.Project().Dir, "coordination.jsonl")))
	s.say("user", "*", "is anybody there?")
	if err := b.Wait(); err != nil {
		t.Error(err)
	}
	if said := s.told.of(KindNotice); len(said) != 1 || !strings.Contains(said[0].Text, "not known any more") {
		t.Errorf("%+v", said)
	}
}

func TestRefusals(t *testing.T) {
	s := newScene(t, answers("claude-code"))
	s.say("user", "*", "x")
	for name, tt := range map[string]struct {
		all  Sessions
		want any
	}{
		"no session":         {Sessions{}, new(*engine.UsageError)},
		"an unknown agent":   {Sessions{Refs: []Ref{{Agent: "nobody"}}}, new(*engine.NotFoundError)},
		"an unknown program": {Sessions{Refs: []Ref{{Provider: "vim", Session: "1"}}}, new(*engine.NotFoundError)},
		"named twice":        {Sessions{Refs: []Ref{{Provider: "claude-code", Session: "1"}, {Provider: "claude-code", Session: "1"}}}, new(*engine.UsageError)},
		"no such id":         {Sessions{Refs: []Ref{{Provider: "claude-code", Session: "--continue"}}}, new(*engine.UsageError)},
		"a cursor ahead":     {Sessions{Refs: []Ref{{Provider: "claude-code", Session: "1"}}, From: pointer[int64](99)}, new(*engine.ValidationError)},
	} {
		t.Run(name, func(t *testing.T) {
			before := s.log()
			if _, err := Start(t.Context(), s.Engine, tt.all, s.options); !errors.As(err, tt.want) || s.log() != before {
				t.Errorf("%v, or it wrote", err)
			}
			if _, err := Plan(t.Context(), s.Engine, tt.all, s.options); !errors.As(err, tt.want) {
				t.Errorf("a dry run: %v", err)
			}
			if len(tt.all.Refs) != 1 {
				return
			}
			if _, err := Attach(t.Context(), s.Engine, tt.all.Refs[0], "", tt.all.From, s.options); !errors.As(err, tt.want) || s.log() != before {
				t.Errorf("attached: %v, or it wrote", err)
			}
		})
	}
	for _, text := range []string{"", ":x", "codex:", ":"} {
		if ref, err := ParseRef(text); err == nil {
			t.Errorf("%q is %+v", text, ref)
		}
	}
	if ref, err := ParseRef("codex:a:b"); err != nil || ref != (Ref{Provider: "codex", Session: "a:b"}) {
		t.Errorf("%+v %v", ref, err)
	}
}

func TestPlanWritesNothing(t *testing.T) {
	claude := answers("claude-code")
	s := newScene(t, claude)
	s.attach()
	s.say("codex", "claude-code", "look at this")
	before := s.log()
	list, err := Plan(t.Context(), s.Engine, Sessions{Refs: []Ref{{Agent: "claude-code"}, {Provider: "claude-code", Session: "unknown"}}}, s.options)
	s.must(err)
	if len(list) != 2 || len(list[0].Seqs) != 1 || !strings.Contains(list[0].Prompt, "look at this") || len(list[1].Seqs) != 0 {
		t.Errorf("%+v", list)
	}
	if s.log() != before || len(claude.prompts()) != 0 {
		t.Errorf("the plan wrote or spent something")
	}
}
