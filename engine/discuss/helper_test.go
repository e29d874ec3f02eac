package discuss

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/turn"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestMain runs the test binary as one of the processes that tests start, or the tests.
func TestMain(m *testing.M) {
	if role := os.Getenv("DISCUSS_TEST_ROLE"); role != "" {
		if err := playRole(role, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

const synthesis = `{"decision":"Use cents","rationale":"No rounding in src/api/pay.go","alternatives":["decimals"],"unresolved":["who rounds taxes"]}`

// program is a scripted agent program in this process.
type program struct {
	name   string
	paid   bool // as if a model answered
	detect error
	// say answers the nth turn of all programs of a scene, from 1.
	say func(ctx context.Context, n int, t turn.Turn) (turn.Reply, error)

	scene *scene
	turns []turn.Turn
}

func (p *program) Name() string   { return p.name }
func (p *program) Scripted() bool { return !p.paid }
func (p *program) Detect(context.Context, []string) (turn.Program, error) {
	return turn.Program{}, p.detect
}
func (p *program) Describe(m turn.Permissions) (string, error) { return fmt.Sprint(m), nil }
func (p *program) Do(ctx context.Context, t turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
	p.scene.mu.Lock()
	p.scene.calls++
	n := p.scene.calls
	p.turns = append(p.turns, t)
	p.scene.mu.Unlock()
	reply, err := p.say(ctx, n, t)
	if reply.Session == "" {
		reply.Session = t.Session
	}
	if reply.Session == "" {
		reply.Session = fmt.Sprintf("%s-session-%d", p.name, n)
	}
	progress(turn.Started{Session: reply.Session})
	progress(turn.Text{Delta: reply.Text})
	return reply, err
}

// sensible answers as a program should.
func sensible(_ context.Context, n int, t turn.Turn) (turn.Reply, error) {
	r := turn.Reply{Text: fmt.Sprintf("Statement %d about src/api/pay.go.", n), Usage: turn.Usage{Input: 100, Output: 10, Known: true}}
	if t.Schema != nil {
		r.Text = synthesis
	}
	return r, nil
}

// scene is a project with two programs.
type scene struct {
	t testing.TB
	*engine.Engine
	claude, codex *program
	options       Options

	mu    sync.Mutex
	calls int
	told  []Progress
}

func newScene(t testing.TB) *scene {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return openScene(t, root)
}

func openScene(t testing.TB, root string) *scene {
	s := &scene{t: t, Engine: engine.Open(engine.Project{Root: root, Dir: filepath.Join(root, ".handoff")}, engine.Options{
		Command: "test", Env: func(string) string { return "" }, Poll: 10 * time.Millisecond,
	})}
	s.claude = &program{name: "claude-code", say: sensible, scene: s}
	s.codex = &program{name: "codex", say: sensible, scene: s}
	s.options = Options{
		Providers: []turn.Provider{s.claude, s.codex}, Mark: func() string { return "MARK" },
		Report: func(p Progress) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.told = append(s.told, p)
		},
	}
	return s
}

func request(change ...func(*Request)) Request {
	r := Request{
		Topic: "Cents or decimals?", Thread: "pay", Programs: []string{"claude-code", "codex"},
		Rounds: 1, MaxTurns: 17, Timeout: 30 * time.Second,
	}
	for _, fn := range change {
		fn(&r)
	}
	return r
}

// hold prepares and runs a discussion.
func (s *scene) hold(ctx context.Context, r Request) (Result, error) {
	s.t.Helper()
	d, err := Prepare(ctx, s.Engine, r, s.options)
	if err != nil {
		s.t.Fatal(err)
	}
	return d.Run(ctx)
}

// goOn resumes the thread.
func (s *scene) goOn(ctx context.Context) (Result, error) {
	s.t.Helper()
	d, _, err := Resume(ctx, s.Engine, ResumeRequest{Thread: "pay"}, s.options)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.log())
	}
	return d.Run(ctx)
}

func (s *scene) thread() Thread {
	s.t.Helper()
	t, err := Load(s.t.Context(), s.Engine, "pay")
	if err != nil {
		s.t.Fatal(err)
	}
	return t
}

func (s *scene) events(types ...event.Type) []event.Event {
	s.t.Helper()
	r, err := s.Events(s.t.Context(), engine.Query{After: engine.Everything, Types: types})
	if err != nil {
		s.t.Fatal(err)
	}
	return r.Events
}

func (s *scene) log() string {
	var b strings.Builder
	for _, ev := range s.events() {
		fmt.Fprintf(&b, "%d %s %s→%s %.200s %.300s\n", ev.Seq, ev.Type, ev.From, ev.To, ev.Description, ev.Payload)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path) //nolint:gosec // a file of this test
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", name, got)
	}
}
