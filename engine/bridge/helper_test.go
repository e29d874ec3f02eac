package bridge

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
)

// TestMain runs the test binary as one of the processes that tests start, or the tests.
func TestMain(m *testing.M) {
	if role := os.Getenv("BRIDGE_TEST_ROLE"); role != "" {
		if err := playRole(role, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// patience is how long tests wait for what must happen.
const patience = 20 * time.Second

// scene is a project with scripted programs.
type scene struct {
	t testing.TB
	*engine.Engine
	programs []*program
	options  Options
	told     *told
}

func newScene(t testing.TB, programs ...*program) *scene {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, Engine: openProject(root), programs: programs, told: &told{}}
	s.options = Options{
		Settle: 5 * time.Millisecond, MaxSettle: 50 * time.Millisecond, Backoff: time.Millisecond, Report: s.told.add,
		Mark: func() string { return "MARK" },
	}
	for _, p := range programs {
		s.options.Providers = append(s.options.Providers, p)
	}
	return s
}

// openProject makes an engine that takes whoever calls for a person.
func openProject(root string) *engine.Engine {
	return engine.Open(engine.Project{Root: root, Dir: filepath.Join(root, ".handoff")}, engine.Options{
		Command: "test", Env: func(string) string { return "" }, Poll: 10 * time.Millisecond,
	})
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// attach makes a session of each program known and returns their agents' names.
func (s *scene) attach() []string {
	s.t.Helper()
	var names []string
	for _, p := range s.programs {
		session, err := Attach(s.t.Context(), s.Engine, Ref{Provider: p.name, Session: p.name + "-1"}, "", nil, s.options)
		s.must(err)
		names = append(names, session.Agent)
	}
	return names
}

// start attaches and starts a bridge that ends with the test.
func (s *scene) start(change ...func(*Sessions)) *Bridge {
	s.t.Helper()
	var all Sessions
	for _, p := range s.programs {
		all.Refs = append(all.Refs, Ref{Provider: p.name, Session: p.name + "-1"})
	}
	for _, fn := range change {
		fn(&all)
	}
	b, err := Start(s.t.Context(), s.Engine, all, s.options)
	s.must(err)
	s.t.Cleanup(func() { _ = b.Stop() })
	return b
}

// say stores an event that weighs enough for a turn.
func (s *scene) say(from, to, text string) int64 {
	s.t.Helper()
	seq, err := s.emit(s.t.Context(), from, to, text)
	s.must(err)
	return seq
}

// emit is say for programs, whose turns end with the test.
func (s *scene) emit(ctx context.Context, from, to, text string) (int64, error) {
	r, err := s.Do(ctx, engine.Request{Command: engine.Emit{Event: event.Event{
		Type: event.TypeHandoff, From: from, To: to, Description: text,
	}}})
	return r.Seq(), err
}

func (s *scene) view() *engine.View {
	s.t.Helper()
	v, err := s.View(s.t.Context())
	s.must(err)
	return v
}

// until waits for the log to say something.
func (s *scene) until(what string, ok func(*state.State) bool) *state.State {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	v, err := s.View(ctx)
	s.must(err)
	now := v.State
	if ok(now) {
		return now
	}
	err = s.FollowFrom(ctx, v, func(d engine.Delivery) error {
		if now = d.Fold(now); ok(now) {
			return errFound
		}
		return nil
	})
	if err != errFound { //nolint:errorlint // it comes back as it is
		s.t.Fatalf("waited in vain for %s: %v\n%s", what, err, s.log())
	}
	return now
}

var errFound = fmt.Errorf("found")

// ends waits until so many turns of an agent have been answered.
func (s *scene) delivered(agent string, events int64) *state.State {
	s.t.Helper()
	return s.until(fmt.Sprintf("%d events delivered to %s", events, agent), func(st *state.State) bool {
		return st.Meter(agent).Delivered >= events
	})
}

// log is the log in short, for failures.
func (s *scene) log() string {
	r, err := s.Events(context.Background(), engine.Query{After: engine.Everything})
	s.must(err)
	var b strings.Builder
	for _, ev := range r.Events {
		fmt.Fprintf(&b, "%d %s %s→%s %s %s\n", ev.Seq, ev.Type, ev.From, ev.To, ev.Description, ev.Payload)
	}
	if text := b.String(); len(text) > 10000 {
		return text[:5000] + "…\n" + text[len(text)-5000:]
	}
	return b.String()
}

func turnsOf(s *state.State, agent string, status state.TurnStatus) []state.Turn {
	return slices.DeleteFunc(s.Turns(), func(t state.Turn) bool { return t.Agent != agent || t.Status != status })
}

// told collects what was reported.
type told struct {
	mu   sync.Mutex
	list []Progress
}

func (t *told) add(p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, p)
}

func (t *told) of(kind Kind) []Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(t.list), func(p Progress) bool { return p.Kind != kind })
}

// until waits for a report.
func (t *told) until(s *scene, kind Kind) Progress {
	s.t.Helper()
	late := time.After(patience)
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for {
		if list := t.of(kind); len(list) > 0 {
			return list[0]
		}
		select {
		case <-look.C:
		case <-late:
			s.t.Fatalf("waited in vain to be told %s\n%s", kind, s.log())
		}
	}
}

// forget drops what was reported so far.
func (t *told) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = nil
}

// program is a scripted agent program in this process.
type program struct {
	name string
	do   func(ctx context.Context, t turn.Turn, progress func(turn.Progress)) (turn.Reply, error)

	mu      sync.Mutex
	turns   []turn.Turn
	running int
}

// answers makes a program that answers every turn.
func answers(name string) *program {
	return &program{name: name, do: func(_ context.Context, t turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
		progress(turn.Started{Session: t.Session})
		progress(turn.Text{Delta: "well, "})
		progress(turn.Text{Delta: "noted"})
		return turn.Reply{Session: t.Session, Text: "well, noted", Usage: turn.Usage{Input: 100, Output: 10, Cost: 0.01, Priced: true, Known: true}}, nil
	}}
}

func (p *program) Name() string   { return p.name }
func (p *program) Scripted() bool { return true }

func (p *program) Detect(context.Context, []string) (turn.Program, error) {
	return turn.Program{Path: "/bin/" + p.name, Version: "1", SignedIn: true}, nil
}

func (p *program) Describe(turn.Permissions) (string, error) { return "may do nothing at all", nil }

func (p *program) CheckSession(id string) error {
	if strings.HasPrefix(id, "-") {
		return &turn.Failure{Provider: p.name, Kind: turn.UnknownSession, Spent: turn.Nothing}
	}
	return nil
}

func (p *program) Do(ctx context.Context, t turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
	p.mu.Lock()
	p.turns = append(p.turns, t)
	p.running++
	if p.running > 1 {
		p.mu.Unlock()
		panic("two turns of one session at once")
	}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.running--
	}()
	if progress == nil {
		progress = func(turn.Progress) {}
	}
	return p.do(ctx, t, progress)
}

// prompts lists what the program was told.
func (p *program) prompts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []string
	for _, t := range p.turns {
		list = append(list, t.Prompt)
	}
	return list
}

// mentions counts the prompts that have a text.
func (p *program) mentions(text string) int {
	n := 0
	for _, prompt := range p.prompts() {
		n += strings.Count(prompt, text)
	}
	return n
}
