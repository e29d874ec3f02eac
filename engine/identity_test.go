package engine

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/turn"
)

// session puts the test below a process tree: pids from the nearest ancestor up.
func (s *scene) session(pids ...int) {
	s.machine.ancestors = nil
	for _, pid := range pids {
		s.machine.ancestors = append(s.machine.ancestors, process(pid, "sh"))
	}
}

// register makes a live session for a process.
func (s *scene) register(base string, pid int) string {
	s.t.Helper()
	r, err := s.Registration(Register{Base: base}, &pid)
	if err != nil {
		s.t.Fatal(err)
	}
	body, err := s.do(r).Events[0].Body()
	if err != nil {
		s.t.Fatal(err)
	}
	a, ok := body.(event.Agent)
	if !ok {
		s.t.Fatalf("body %+v", body)
	}
	return a.Name
}

func TestIdentify(t *testing.T) {
	setup := func(t *testing.T) *scene {
		t.Helper()
		s := newScene(t)
		first, second := s.register("claude-code", 100), s.register("claude-code", 200)
		if first != "claude-code" || second != "claude-code-2" {
			t.Fatalf("names %s, %s", first, second)
		}
		s.do(Register{Base: "codex", Session: "sess-7", PID: 300, Start: "start-300", Boot: "boot", Host: "here"})
		return s
	}
	tests := []struct {
		name         string
		explicit, as string
		env          map[string]string
		pids         []int
		dead         []int
		want         string
		refused      string
	}{
		{name: "nobody is a person", want: "user"},
		{name: "me without anything", explicit: "me", refused: "usage"},
		{name: "nearest ancestor", explicit: "Me", pids: []int{5, 200, 100}, want: "claude-code-2"},
		{name: "ancestor for nothing said", pids: []int{5, 100}, want: "claude-code"},
		{name: "session before ancestor", explicit: "me", env: map[string]string{EnvClaudeSession: "sess-7"}, pids: []int{100}, want: "codex"},
		{name: "environment before session", explicit: "me", env: map[string]string{EnvAgent: "claude-code", EnvClaudeSession: "sess-7"}, pids: []int{100}, want: "claude-code"},
		{name: "Codex's session, where its sandbox hides the rest", explicit: "me", env: map[string]string{EnvCodexSession: "sess-7"}, want: "codex"},
		{name: "Codex's session and one it was started from", explicit: "codex", env: map[string]string{EnvCodexSession: "sess-7", EnvClaudeSession: "other"}, want: "codex"},
		{name: "the agent of the turn", explicit: "me", env: map[string]string{EnvAgent: "claude-code", turn.EnvMark: "t1"}, pids: []int{200}, want: "claude-code"},
		{name: "another's in a turn", explicit: "claude-code", env: map[string]string{EnvAgent: "codex", turn.EnvMark: "t1"}, refused: "identity_conflict"},
		{name: "explicit before all", explicit: "gemini", env: map[string]string{EnvAgent: "codex"}, want: "gemini"},
		{name: "own session", explicit: "claude-code", pids: []int{100}, want: "claude-code"},
		{name: "another's live session", explicit: "claude-code", pids: []int{200}, refused: "identity_conflict"},
		{name: "another's by environment", explicit: "me", env: map[string]string{EnvAgent: "claude-code"}, pids: []int{200}, refused: "identity_conflict"},
		{name: "another's in other letters", explicit: "Claude-Code", refused: "identity_conflict"},
		{name: "a person at a terminal", explicit: "claude-code", refused: "identity_conflict"},
		{name: "with --as", explicit: "claude-code", as: "claude-code", want: "claude-code"},
		{name: "--as alone", as: "claude-code", pids: []int{200}, want: "claude-code"},
		{name: "--as and another name", explicit: "codex", as: "claude-code", refused: "usage"},
		{name: "a dead session", explicit: "claude-code", dead: []int{100}, want: "claude-code"},
		{name: "never registered", explicit: "gemini", pids: []int{200}, want: "gemini"},
		{name: "user is everybody's", explicit: "user", pids: []int{200}, want: "user"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := setup(t)
			s.env = tt.env
			s.session(tt.pids...)
			s.machine.dead = map[int]bool{}
			for _, pid := range tt.dead {
				s.machine.dead[pid] = true
			}
			got, err := s.Identify(t.Context(), tt.explicit, tt.as)
			if tt.refused != "" {
				if err == nil || ErrorCode(err) != tt.refused {
					t.Errorf("got %q, %v, want refusal %s", got, err, tt.refused)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestAClaimDoesNotMakeANameLive(t *testing.T) {
	s := newScene(t)
	s.do(own("claude-code", "src"))
	if l := s.view().Live("claude-code"); l.Known || l.Live {
		t.Errorf("liveness %+v", l)
	}
	s.session(77)
	if name, err := s.Identify(t.Context(), "claude-code", ""); err != nil || name != "claude-code" {
		t.Errorf("%q, %v", name, err)
	}
}

func TestRegistration(t *testing.T) {
	tests := []struct {
		name   string
		tree   []Process
		leader int
		words  map[int][]string
		pid    int
		want   int
		base   string
	}{
		{"claude", []Process{process(5, "sh"), process(4, "claude"), process(3, "zsh")}, 3, nil, 0, 4, "claude-code"},
		{"codex", []Process{process(5, "codex"), process(3, "zsh")}, 3, nil, 0, 5, "codex"},
		{"codex inside of claude", []Process{process(5, "codex"), process(4, "claude")}, 3, nil, 0, 5, "codex"},
		{"claude on node", []Process{process(5, "sh"), process(4, "node"), process(3, "zsh")}, 3, map[int][]string{4: {"node", "--max-old-space-size=99", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js", "-p"}}, 0, 4, "claude-code"},
		{"gemini on node", []Process{process(4, "node")}, 0, map[int][]string{4: {"node", "/usr/local/bin/gemini"}}, 0, 4, "gemini"},
		{"another script on node", []Process{process(5, "node"), process(3, "zsh")}, 3, map[int][]string{5: {"node", "server.js", "claude"}}, 0, 3, "agent"},
		{"session leader", []Process{process(5, "make"), process(3, "zsh"), process(2, "sshd")}, 3, nil, 0, 3, "agent"},
		{"parent", []Process{process(5, "cron")}, 99, nil, 0, 5, "agent"},
		{"given", []Process{process(5, "claude")}, 0, nil, 42, 42, "agent"},
		{"nothing known", nil, 0, nil, 0, 0, "agent"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.machine.ancestors, s.machine.leader, s.machine.words = tt.tree, tt.leader, tt.words
			s.env[EnvClaudeSession] = "sess"
			var pid *int
			if tt.pid != 0 {
				pid = &tt.pid
			}
			session := "sess"
			if tt.base == "codex" || tt.base == "gemini" { // the variable is that of another program
				session = ""
			}
			r, err := s.Registration(Register{}, pid)
			if err != nil || r.PID != tt.want || r.Base != tt.base || r.Session != session || r.Host != "here" {
				t.Errorf("%+v, %v", r, err)
			}
			if tt.want > 0 && (r.Start == "" || r.Boot == "") {
				t.Errorf("process without a start: %+v", r)
			}
		})
	}
	s := newScene(t)
	s.machine.dead = map[int]bool{9: true}
	for _, pid := range []int{9, 0, -1} {
		_, err := s.Registration(Register{}, &pid)
		if pid > 0 {
			as[*NotFoundError](t, err)
		} else if bad := as[*ValidationError](t, err); bad.Field != "pid" {
			t.Errorf("process %d: %v", pid, err)
		}
	}
}

// A process is registered once: its name is the answer however often it asks.
func TestRegisterTwice(t *testing.T) {
	s := newScene(t)
	pid, other := 100, 200
	ask := func(r Register, pid *int) Receipt {
		t.Helper()
		r, err := s.Registration(r, pid)
		if err != nil {
			t.Fatal(err)
		}
		return s.do(r)
	}
	first := ask(Register{Base: "codex"}, &pid)
	if first.Agent != "codex" || first.Duplicate {
		t.Errorf("first %+v", first)
	}
	for _, again := range []Register{{Base: "codex"}, {Base: "Codex"}, {Name: "CODEX"}} {
		r := ask(again, &pid)
		if r.Agent != "codex" || !r.Duplicate || len(r.Events) != 0 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "registered as codex before") {
			t.Errorf("again as %+v: %+v", again, r)
		}
	}
	for want, r := range map[string]Receipt{
		"codex-2": ask(Register{Base: "codex"}, &other),
		"gemini":  ask(Register{Base: "gemini"}, &pid),
		"codex-3": ask(Register{Base: "codex", Session: "another"}, &pid),
	} {
		if want != "codex-2" && want != "codex-3" && r.Agent != want || r.Duplicate || len(r.Events) != 1 || r.Agent != r.Events[0].From {
			t.Errorf("%s: %+v", want, r)
		}
	}
	s.machine.dead = map[int]bool{100: true}
	if r := ask(Register{Base: "codex"}, nil); r.Duplicate {
		t.Errorf("a dead session is answered with: %+v", r)
	}
}

// The last sign of life is never older than the last event.
func TestLastSignOfLife(t *testing.T) {
	s := newScene(t)
	s.register("codex", 100)
	s.clock.move(time.Hour)
	if _, err := s.Do(t.Context(), Request{Command: note("codex", "x"), By: "user"}); err != nil { // a person's write is no beat of the agent
		t.Fatal(err)
	}
	if last := s.view().Live("codex").LastBeat; !last.Equal(s.clock.time()) {
		t.Errorf("last sign of life %v, want %v", last, s.clock.time())
	}
}

func TestLiveness(t *testing.T) {
	s := newScene(t)
	s.register("claude-code", 100)
	s.do(Register{Base: "codex", Host: "elsewhere", PID: 100, Start: "x", Boot: "y"})
	live := func(name string) bool { return s.view().Live(name).Live }
	if !live("claude-code") || !live("codex") {
		t.Error("not live after registration")
	}
	s.machine.dead = map[int]bool{100: true}
	if live("claude-code") || !live("codex") {
		t.Error("a process of another machine was judged by this one's")
	}
	s.clock.move(beatLasts + time.Second)
	if live("codex") {
		t.Error("silence elsewhere is taken for life")
	}
	s.Beat(t.Context(), "codex")
	if l := s.view().Live("codex"); !l.Live || !l.LastBeat.Equal(s.clock.time()) {
		t.Errorf("after a beat %+v", l)
	}
	if err := os.WriteFile(s.path(beatsName), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if live("codex") {
		t.Error("a damaged file of beats keeps a session alive")
	}
}

func TestBeats(t *testing.T) {
	s := newScene(t)
	s.do(own("claude-code", "src"))
	if _, err := os.Stat(s.path(beatsName)); !os.IsNotExist(err) {
		t.Errorf("a name without a session has a beat: %v", err)
	}
	s.register("codex", 100)
	first := s.readBeats()["codex"].At
	if !first.Equal(s.clock.time()) {
		t.Errorf("registration left the beat %v", first)
	}
	s.clock.move(beatEvery / 2)
	for _, e := range []*Engine{s.Engine, s.open(Options{})} {
		e.Beat(t.Context(), "codex")
	}
	if at := s.readBeats()["codex"].At; !at.Equal(first) {
		t.Errorf("a beat after %v", at.Sub(first))
	}
	s.clock.move(beatEvery)
	s.do(note("Codex", "x"))
	if at := s.readBeats()["codex"].At; !at.Equal(s.clock.time()) {
		t.Errorf("a write left the beat at %v", at)
	}
}

func TestForceIsForAPerson(t *testing.T) {
	force := Own{Agent: "codex", Paths: []string{"src"}, Force: true, Reason: "blocked since noon"}
	for name, tt := range map[string]struct {
		tree   []Process
		env    map[string]string
		by     string
		person bool
	}{
		"a shell":             {tree: []Process{process(3, "zsh")}, person: true},
		"below claude":        {tree: []Process{process(5, "sh"), process(4, "claude")}},
		"in a session":        {env: map[string]string{EnvClaudeSession: "x"}},
		"with an agent named": {env: map[string]string{EnvAgent: "codex"}},
		"a person for it":     {env: map[string]string{EnvAgent: "codex"}, by: "user", person: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.do(own("claude-code", "src"))
			s.machine.ancestors, s.env = tt.tree, tt.env
			r, err := s.Do(t.Context(), Request{Command: force, By: tt.by})
			if (err == nil) != tt.person {
				t.Errorf("error %v", err)
			}
			if tt.person && (r.Events[0].From != "codex" || r.Events[0].By != event.User) {
				t.Errorf("who forced it is not on record: %+v", r.Events[0])
			}
		})
	}
}

// TestWhoForcesIsOnRecord: a person who types an agent's name signs what is forced, and needs no second name for it.
func TestWhoForcesIsOnRecord(t *testing.T) {
	s := newScene(t)
	s.do(own("codex", "src"))
	r := s.do(ReleasePaths{Agent: "gemini", Paths: []string{"src"}, Force: true, Reason: "its laptop is closed"})
	if r.Events[0].From != "gemini" || r.Events[0].By != event.User {
		t.Errorf("released as another: %+v", r.Events[0])
	}
	r = s.do(Own{Agent: event.User, Paths: []string{"src"}, Force: true, Reason: "mine"})
	if r.Events[0].By != "" {
		t.Errorf("in its own name: %+v", r.Events[0])
	}
	r = s.do(own("codex", "doc"))
	if r.Events[0].By != "" {
		t.Errorf("without force: %+v", r.Events[0])
	}
}
