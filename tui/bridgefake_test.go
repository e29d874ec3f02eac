package tui

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/event"
)

// fakeBridge writes down what it is asked for, and makes no turn by itself.
type fakeBridge struct {
	engine *fakeEngine
	refuse error // the next call is refused with it

	mu      sync.Mutex
	calls   []string
	report  func(bridge.Progress) // of the newest call that makes turns
	running *fakeRunning
	answer  chan error // ends Open and Send, which wait for it
}

// fakeRunning ends when it is stopped, when its context does, or with the error that a test gives it.
type fakeRunning struct {
	bridge *fakeBridge
	over   chan struct{}
	once   sync.Once
	err    error
}

func (f *fakeBridge) call(format string, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, fmt.Sprintf(format, args...))
	err := f.refuse
	f.refuse = nil
	return err
}

func (*fakeBridge) Programs() []Program { return []Program{{"claude-code", false}, {"sim", true}} }

func (*fakeBridge) Describe(program, _ string) (string, error) {
	return "everything that " + program + " may", nil
}

func (f *fakeBridge) Plan(ctx context.Context, s bridge.Sessions) ([]bridge.Planned, error) {
	v, err := f.engine.View(ctx)
	if err != nil {
		return nil, err
	}
	var list []bridge.Planned
	for i, ref := range s.Refs {
		p := bridge.Planned{Agent: ref.Agent, Provider: ref.Provider, Session: ref.Session}
		if x, ok := v.State.Session(ref.Agent); ok {
			p.Provider = x.Provider
		} else if ref.Session == "" {
			return nil, &engine.NotFoundError{Kind: "session", Name: ref.Agent}
		}
		p.May = "everything that " + p.Provider + " may"
		if i == 0 {
			p.Seqs = []int64{1, 2, 3}
		}
		list = append(list, p)
	}
	return list, f.call("plan %d", len(list))
}

func capsText(l bridge.Limits) string {
	var b strings.Builder
	for i, n := range []*int64{l.Turns, l.TotalTurns, l.Tokens, l.CostMicros} {
		if n != nil {
			fmt.Fprintf(&b, " %s=%d", []string{"turns", "total", "tokens", "micros"}[i], *n)
		}
	}
	return b.String()
}

func (f *fakeBridge) Start(ctx context.Context, s bridge.Sessions, report func(bridge.Progress)) (RunningBridge, error) {
	var agents []string
	for _, ref := range s.Refs {
		agents = append(agents, ref.Agent)
	}
	if err := f.call("start %s%s", strings.Join(agents, ","), capsText(s.Limits)); err != nil {
		return nil, err
	}
	f.engine.add(failer{}, event.Loadout, event.Broadcast, "opened", event.Turn{Action: event.TurnOpened, Agents: agents})
	r := &fakeRunning{bridge: f, over: make(chan struct{})}
	context.AfterFunc(ctx, func() { r.end(nil) })
	f.mu.Lock()
	f.running, f.report = r, report
	f.mu.Unlock()
	return r, nil
}

func (r *fakeRunning) end(err error) {
	r.once.Do(func() {
		r.err = err
		close(r.over)
	})
}

func (r *fakeRunning) Attach(_ context.Context, ref bridge.Ref, _ string, _ *int64) error {
	return r.bridge.call("drive %s", ref.Agent)
}

func (r *fakeRunning) Stop() error {
	r.end(nil)
	return r.Wait()
}

func (r *fakeRunning) Wait() error {
	<-r.over
	return r.err
}

func (f *fakeBridge) Attach(_ context.Context, ref bridge.Ref, dir string) (string, error) {
	return ref.Provider + ref.Agent, f.call("attach %s:%s%s %q", ref.Provider, ref.Session, ref.Agent, dir)
}

// turn is a single turn. It is started when the test does so through report, and ends when the test answers.
func (f *fakeBridge) turn(ctx context.Context, report func(bridge.Progress), id string) error {
	f.mu.Lock()
	f.report = report
	f.mu.Unlock()
	report(bridge.Progress{Kind: bridge.KindStarted, Turn: id})
	select {
	case err := <-f.answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fakeBridge) Open(ctx context.Context, program, dir, text string, report func(bridge.Progress)) (string, error) {
	if err := f.call("open %s %q %q", program, dir, text); err != nil {
		return "", err
	}
	return program + "-9", f.turn(ctx, report, "opening")
}

func (f *fakeBridge) Send(ctx context.Context, agent, text string, report func(bridge.Progress)) error {
	if err := f.call("send %s %q", agent, text); err != nil {
		return err
	}
	return f.turn(ctx, report, "message")
}

func (f *fakeBridge) receipt(format string, args ...any) (engine.Receipt, error) {
	err := f.call(format, args...)
	return engine.Receipt{Events: []event.Event{{Seq: 99}}}, err
}

func (f *fakeBridge) Forget(_ context.Context, agent string) (engine.Receipt, error) {
	return f.receipt("forget %s", agent)
}

func (f *fakeBridge) Raise(_ context.Context, agent string, l bridge.Limits) (engine.Receipt, error) {
	return f.receipt("raise %q%s", agent, capsText(l))
}

func (f *fakeBridge) Cancel(_ context.Context, turn string) (engine.Receipt, error) {
	return f.receipt("cancel %s", turn)
}

func (f *fakeBridge) Retry(_ context.Context, turn string) (engine.Receipt, error) {
	return f.receipt("retry %s", turn)
}

func (f *fakeBridge) Skip(_ context.Context, turn string) (engine.Receipt, error) {
	return f.receipt("skip %s", turn)
}

// bridgeStory has two sessions.
func bridgeStory(tb testing.TB) *fakeEngine {
	tb.Helper()
	f := newFake()
	through := int64(-1)
	for _, program := range []string{"claude-code", "sim"} {
		f.add(tb, event.Loadout, event.Broadcast, program+" registered", event.Agent{Action: event.AgentRegistered, Name: program, Base: program})
		f.add(tb, event.Loadout, event.Broadcast, "attached", event.Turn{
			Action: event.TurnAttached, Agent: program, Provider: program, Session: program + "-7f3a", Through: &through, Scripted: program == "sim",
		})
	}
	return f
}

// turn adds steps of a delivery.
func (f *fakeEngine) turn(tb testing.TB, id, agent string, actions ...event.TurnAction) {
	tb.Helper()
	through := int64(0)
	for _, a := range actions {
		b := event.Turn{Action: a, Turn: id, Agent: agent, Provider: agent, Why: event.WhyDelivery}
		switch a {
		case event.TurnQueued:
			b.Seqs, b.Through = []int64{0}, &through
		case event.TurnFailed:
			b.Cause, b.Spent = "timeout", "maybe"
		default:
		}
		f.add(tb, event.Loadout, event.Broadcast, string(a), b)
	}
}

// driveBridge opens a cockpit with a bridge to start, in its pane.
func driveBridge(t *testing.T, f *fakeEngine) (*driver, *fakeBridge) {
	t.Helper()
	b := &fakeBridge{engine: f, answer: make(chan error)}
	d := drive(t, f, func(o *Options) { o.Bridge, o.Pane = b, "bridge" })
	ctx, cancel := context.WithCancel(context.Background())
	d.m.ctx, d.m.turns.ctx = ctx, ctx
	t.Cleanup(func() {
		cancel()
		d.m.turns.close()
	})
	d.m.zoom(true)
	return d, b
}

// asked fails unless that was the last call.
func (f *fakeBridge) asked(t *testing.T, want string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.calls) == 0 || f.calls[len(f.calls)-1] != want {
		t.Fatalf("asked for %q, last of all %q", f.calls, want)
	}
}

// awaits shows news of turns until the screen has a text.
func (d *driver) awaits(text string) {
	d.Helper()
	over := time.After(20 * time.Second)
	for !strings.Contains(d.screen(), text) {
		select {
		case <-d.m.turns.feed.ready:
			settle(d.m, d.m.turned(d.m.turns.feed.take()))
		case <-over:
			d.Fatalf("the screen never shows %q:\n%s", text, d.screen())
		}
	}
}
