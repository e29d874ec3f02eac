package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store"
)

// TestMain runs the test binary as one of the processes that tests start, or the tests.
func TestMain(m *testing.M) {
	if role := os.Getenv("ENGINE_TEST_ROLE"); role != "" {
		if err := playRole(role, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// clock is a clock that stands until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 9, 10, 8, 0, 0, 0, time.UTC)} }

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// machine is a Host of made-up processes.
type machine struct {
	name      string
	ancestors []Process
	leader    int
	dead      map[int]bool
	words     map[int][]string
	dirs      map[int]string
}

func (m *machine) Name() string { return m.name }

func (m *machine) Find(pid int) (Process, error) {
	if m.dead[pid] {
		return Process{}, errors.New("no such process")
	}
	for _, p := range m.ancestors {
		if p.PID == pid {
			return p, nil
		}
	}
	return process(pid, "other"), nil
}

func (m *machine) Alive(p Process) bool       { return p.PID > 0 && !m.dead[p.PID] }
func (m *machine) Ancestors() []Process       { return m.ancestors }
func (m *machine) SessionLeader() int         { return m.leader }
func (m *machine) Arguments(pid int) []string { return m.words[pid] }
func (m *machine) WorkingDir(pid int) string  { return m.dirs[pid] }

func process(pid int, name string) Process {
	return Process{PID: pid, Start: fmt.Sprintf("start-%d", pid), Boot: "boot", Name: name}
}

// scene is a project in a temporary directory with a clock and a machine of its own.
type scene struct {
	t       testing.TB
	dir     string
	clock   *clock
	machine *machine
	env     map[string]string
	*Engine
}

func newScene(t testing.TB) *scene {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, dir: dir, clock: newClock(), machine: &machine{name: "here"}, env: map[string]string{}}
	s.Engine = s.open(Options{})
	return s
}

// open makes another engine on the same project.
func (s *scene) open(o Options) *Engine {
	if o.Clock == nil {
		o.Clock = s.clock.time
	}
	o.Env = func(name string) string { return s.env[name] }
	o.Host = s.machine
	if o.Poll == 0 {
		o.Poll = 10 * time.Millisecond
	}
	return Open(Project{Root: s.dir, Dir: filepath.Join(s.dir, store.DirName)}, o)
}

func (s *scene) path(name string) string { return filepath.Join(s.dir, store.DirName, name) }

// do carries a command out that must not be refused.
func (s *scene) do(c Command) Receipt {
	s.t.Helper()
	r, err := s.Do(s.t.Context(), Request{Command: c})
	if err != nil {
		s.t.Fatalf("%T: %v", c, err)
	}
	return r
}

func (s *scene) view() *View {
	s.t.Helper()
	v, err := s.View(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return v
}

// log is the log's text.
func (s *scene) log() string {
	s.t.Helper()
	b, err := os.ReadFile(s.path(store.LogName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return string(b)
}

// lines is how many lines the log has.
func (s *scene) lines() int { return strings.Count(s.log(), "\n") }

// append writes text behind the engine's back.
func (s *scene) append(text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path("x")), 0o700); err != nil {
		s.t.Fatal(err)
	}
	f, err := os.OpenFile(s.path(store.LogName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		s.t.Fatal(err)
	}
}

// fill writes n updates from agent with numbers from seq on, a minute apart, ending at the clock's time.
func (s *scene) fill(agent string, seq int64, n int) {
	s.t.Helper()
	var text strings.Builder
	for i := range n {
		ev := s.draft(agent, "*", event.Update{Note: fmt.Sprintf("note %d", seq+int64(i))})
		ev.Seq = seq + int64(i)
		ev.Timestamp = s.clock.time().Add(-time.Duration(n-i) * time.Minute).Format(event.TimeFormat)
		text.Write(ev.AppendLine(nil))
		text.WriteByte('\n')
	}
	s.append(text.String())
}

// draft is an event ready to be written by hand.
func (s *scene) draft(from, to string, body event.Body) event.Event {
	s.t.Helper()
	ev, err := event.New(from, to, "by hand", body)
	if err != nil {
		s.t.Fatal(err)
	}
	ev.ID, ev.Timestamp = event.NewID(), s.clock.time().Format(event.TimeFormat)
	return ev
}

// note is a command that is never refused.
func note(agent, text string) Command {
	return Report{Agent: agent, Update: event.Update{Note: text}}
}

func own(agent string, paths ...string) Own { return Own{Agent: agent, Paths: paths} }

// as is errors.As for tests.
func as[E error](t testing.TB, err error) E {
	t.Helper()
	var want E
	if !errors.As(err, &want) {
		t.Fatalf("error is %T (%v), want %T", err, err, want)
	}
	return want
}

// ctxFor ends with the test, and well before its timeout.
func ctxFor(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// patience bounds what a test waits for; it is only reached by a failure.
const patience = 20 * time.Second

// receive waits for what another goroutine has to say, but not for ever: who waits in vain fails, and does not hang.
func receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("waited in vain")
		panic("unreachable")
	}
}
