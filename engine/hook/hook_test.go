package hook

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/settings"
	"github.com/agentloadout/loadout/engine/turn"
)

// scene is a project with the session of one agent, whose program tells no process.
type scene struct {
	t       *testing.T
	project engine.Project
}

// nobody is a machine on which no process can be seen.
type nobody struct{}

func (nobody) Name() string                     { return "here" }
func (nobody) Find(int) (engine.Process, error) { return engine.Process{}, nil }
func (nobody) Alive(engine.Process) bool        { return true }
func (nobody) Ancestors() []engine.Process      { return nil }
func (nobody) SessionLeader() int               { return 0 }
func (nobody) Arguments(int) []string           { return nil }
func (nobody) WorkingDir(int) string            { return "" }

func newScene(t *testing.T) *scene {
	t.Helper()
	p, err := engine.Discover(engine.Where{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return &scene{t, p}
}

func (s *scene) open() *engine.Engine {
	return engine.Open(s.project, engine.Options{Host: nobody{}, Env: func(string) string { return "" }, LockWait: 10 * time.Second})
}

func (s *scene) do(c engine.Command) {
	s.t.Helper()
	if _, err := s.open().Do(s.t.Context(), engine.Request{Command: c}); err != nil {
		s.t.Fatal(err)
	}
}

// tell answers an event of the session as a process of its own would.
func (s *scene) tell(ev Event) string {
	s.t.Helper()
	a, err := Handle(s.t.Context(), s.open(), settings.Default().Guard, Call{Event: ev, Program: "codex", Session: "s1", Dir: s.project.Root})
	if err != nil {
		s.t.Fatal(err)
	}
	return a.Context
}

func TestParseEvent(t *testing.T) {
	for _, name := range []string{"PreToolUse", "pretooluse", "pre-tool-use", "PRE_TOOL_USE"} {
		if ev, ok := ParseEvent(name); !ok || ev != PreToolUse {
			t.Errorf("%s: %s %v", name, ev, ok)
		}
	}
	if _, ok := ParseEvent("pre tool use"); ok {
		t.Error("taken for an event")
	}
}

// In a turn that a bridge makes, the session is introduced already, told by the turn's prompt, and not over when the program ends.
func TestInATurn(t *testing.T) {
	s := newScene(t)
	s.do(engine.Own{Agent: "codex", Paths: []string{"src"}})
	env := map[string]string{engine.EnvAgent: "codex", turn.EnvMark: "t1"}
	head := func() int64 {
		v, err := s.open().View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return v.State.Head()
	}
	before := head()
	for _, ev := range []Event{SessionStart, UserPromptSubmit, PostToolUse, Stop, SessionEnd} {
		e := engine.Open(s.project, engine.Options{Host: nobody{}, Env: func(name string) string { return env[name] }})
		a, err := Handle(t.Context(), e, settings.Default().Guard, Call{Event: ev, Program: "codex", Session: "s1", Dir: s.project.Root})
		if err != nil || a.Context != "" {
			t.Errorf("%s: %+v, %v", ev, a, err)
		}
	}
	if now := head(); now != before {
		t.Errorf("%d events were stored", now-before)
	}
}

// What a bridge has queued for the session is not told again, and what came behind that is.
func TestOneCursorWithTheBridge(t *testing.T) {
	s := newScene(t)
	if said := s.tell(SessionStart); !strings.Contains(said, "You are codex here") {
		t.Fatal(said)
	}
	s.do(engine.Publish{Agent: "gemini", Name: "first", Body: "x"})
	v, err := s.open().View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	session, ok := v.State.Session("codex")
	if !ok || session.ID != "s1" {
		t.Fatalf("session %+v", session)
	}
	head := v.State.Head()
	_, err = s.open().RecordTurns(t.Context(), "", func(engine.View) ([]event.Event, error) {
		return turnEvents(event.Turn{
			Action: event.TurnQueued, Turn: "t1", Agent: "codex", Provider: "codex", Session: "s1", Why: event.WhyDelivery, Seqs: []int64{head}, Through: &head,
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if said := s.tell(UserPromptSubmit); said != "" {
		t.Errorf("told again: %s", said)
	}
	s.do(engine.Publish{Agent: "gemini", Name: "second", Body: "x"})
	if said := s.tell(UserPromptSubmit); !strings.Contains(said, "contract: second") || strings.Contains(said, "contract: first") {
		t.Errorf("told %s", said)
	}
	if v, err = s.open().View(t.Context()); err != nil || v.State.Meter("codex").Delivered != 1 {
		t.Errorf("meter %+v, %v", v.State.Meter("codex"), err)
	}
}

// Of several prompts at once one is told the news.
func TestToldOnce(t *testing.T) {
	s := newScene(t)
	s.tell(SessionStart)
	s.do(engine.Publish{Agent: "gemini", Name: "api", Body: "x"})
	var wg sync.WaitGroup
	var mu sync.Mutex
	told := 0
	for range 8 {
		wg.Go(func() {
			a, err := Handle(context.WithoutCancel(t.Context()), s.open(), settings.Default().Guard, Call{Event: UserPromptSubmit, Program: "codex", Session: "s1", Dir: s.project.Root})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			told += strings.Count(a.Context, "contract: api")
		})
	}
	wg.Wait()
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

// Two hooks that have both found the session alive end it once.
func TestEndedOnce(t *testing.T) {
	s := newScene(t)
	s.tell(SessionStart)
	var late []handler
	for range 2 {
		e := s.open()
		v, err := e.View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		late = append(late, handler{e, settings.Default().Guard, Call{Event: SessionEnd, Program: "codex", Session: "s1"}, v})
	}
	for i := range late {
		if _, err := late[i].end(t.Context()); err != nil {
			t.Errorf("hook %d: %v", i, err)
		}
	}
	found, err := s.open().Events(t.Context(), engine.Query{After: engine.Everything, Types: []event.Type{event.TypeAgent}})
	if err != nil || len(found.Events) != 2 || !strings.Contains(found.Events[1].Description, "has left") {
		t.Errorf("%v: %+v", err, found.Events)
	}
}

// A long history is told in a bounded text that says what it leaves out.
func TestBounded(t *testing.T) {
	s := newScene(t)
	s.tell(SessionStart)
	for range 40 {
		s.do(engine.Report{Agent: "gemini", Update: event.Update{Note: strings.Repeat("word ", 200)}})
	}
	said := s.tell(UserPromptSubmit)
	if len(said) > maxNews+2000 || !strings.Contains(said, "Left out for their size") || !strings.Contains(said, "40 coordination items new") {
		t.Errorf("%d bytes: %s", len(said), said)
	}
	for line := range strings.SplitSeq(said, "\n") {
		if strings.Contains(line, "word word") && !strings.HasPrefix(line, "| ") {
			t.Errorf("outside of the fence: %s", line)
		}
	}
	if said := s.tell(SessionStart); len(said) > maxSnapshot+3000 {
		t.Errorf("%d bytes: %s", len(said), said)
	}
}

func TestJournalIsBounded(t *testing.T) {
	s := newScene(t)
	Journal(s.project, time.Unix(0, 0), "nothing uses this project")
	s.tell(SessionStart)
	for range 200 {
		Journal(s.project, time.Unix(0, 0), strings.Repeat("x", 5000)+"\n"+"second line")
	}
	text, err := os.ReadFile(filepath.Join(s.project.Dir, JournalName))
	if err != nil || len(text) > maxJournal+maxEntry+100 || !strings.HasSuffix(string(text), "\n") || strings.Contains(string(text), "nothing uses") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
