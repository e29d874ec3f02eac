package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/turn"
)

// whoIs is the agent that a client's server acts as.
func (c *client) whoIs() string {
	c.t.Helper()
	var snap snapshotOut
	c.call("snapshot", nil, &snap)
	return snap.Agent
}

// Two servers for one program are two agents; each is registered on connecting, and ended when its client goes.
func TestTwoServersAreTwoAgents(t *testing.T) {
	for _, version := range []string{newest2026, usual2025} {
		t.Run(version, func(t *testing.T) {
			s := newScene(t)
			a := s.connect("Some Client (beta)", version, s.engine(nil), Options{})
			b := s.connect("Some Client (beta)", version, s.engine(nil), Options{})
			st := s.state()
			for _, name := range []string{"Some-Client--beta", "Some-Client--beta-2"} {
				if agent, ok := st.Agent(name); !ok || !agent.Registered || agent.PID == 0 {
					t.Errorf("%s: %+v", name, agent)
				}
			}
			if a.whoIs() != "Some-Client--beta" || b.whoIs() != "Some-Client--beta-2" {
				t.Errorf("they are %s and %s", a.whoIs(), b.whoIs())
			}
			if !strings.Contains(b.InitializeResult().Instructions, `you are the agent "Some-Client--beta-2"`) {
				t.Errorf("instructions %q", b.InitializeResult().Instructions)
			}
			// The name of the other live session is refused; a name without one is taken as typed.
			b.refused("identity_conflict", "publish_update", args{"agent": "some-client--BETA", "note": "x"}, "is another live session; this server speaks for Some-Client--beta-2")
			b.refused("identity_conflict", "snapshot", args{"agent": "Some-Client--beta"})
			var about stored
			for _, name := range []string{"gemini", "me", "Some-Client--beta-2"} {
				b.call("publish_update", args{"agent": name, "note": "x"}, &about)
				if want := strings.Replace(name, "me", "Some-Client--beta-2", 1); name != "gemini" && about.Agent != want && about.Agent != "Some-Client--beta-2" {
					t.Errorf("%s acts as %s", name, about.Agent)
				}
			}
			a.leave()
			if agent, _ := s.state().Agent("Some-Client--beta"); agent.Registered || agent.Ended == nil {
				t.Errorf("after it left: %+v", agent)
			}
			b.call("publish_update", args{"agent": "Some-Client--beta", "note": "its session has ended"}, &about)
			if about.Agent != "Some-Client--beta" {
				t.Errorf("acts as %s", about.Agent)
			}
		})
	}
}

// A server below a known program is that program's session, as hooks and shells are, whoever registers it first.
func TestServerIsItsHost(t *testing.T) {
	s := newScene(t)
	claude := process(7, "claude")
	first := s.connect("claude-code", usual2025, s.engine(nil, process(8, "sh"), claude), Options{})
	second := s.connect("claude-code", usual2025, s.engine(nil, claude), Options{})
	other := s.connect("claude-code", usual2025, s.engine(nil, process(9, "claude")), Options{})
	if a, b, c := first.whoIs(), second.whoIs(), other.whoIs(); a != "claude-code" || b != "claude-code" || c != "claude-code-2" {
		t.Errorf("they are %s, %s, %s", a, b, c)
	}
	shell := s.engine(nil, process(70, "bash"), claude)
	if me, err := shell.Identify(t.Context(), engine.Me, ""); err != nil || me != "claude-code" {
		t.Errorf("its shell is %s, %v", me, err)
	}
	second.leave() // it had joined: the session goes on
	if a, _ := s.state().Agent("claude-code"); !a.Registered {
		t.Error("the session ended with a server that did not register it")
	}
	// A client that reconnects within one process is the same agent again, with what it holds.
	first.call("claim_task", args{"description": "x", "ownPaths": []string{"src"}}, nil)
	first.leave() // it registered the session, which is the host's all the same
	if a, _ := s.state().Agent("claude-code"); !a.Registered {
		t.Error("the session ended with its server, though the host lives on")
	}
	again := s.connect("claude-code", usual2025, s.engine(nil, claude), Options{})
	if me := again.whoIs(); me != "claude-code" {
		t.Errorf("after reconnecting it is %s", me)
	}
	again.call("release_ownership", args{"paths": []string{"src"}}, nil)
}

// A hook that registered the session with its id is joined.
func TestServerJoinsTheSessionOfAHook(t *testing.T) {
	s := newScene(t)
	host := process(7, "codex")
	s.do(engine.Register{Base: "codex", Session: "s-1", PID: host.PID, Start: host.Start, Boot: host.Boot, Host: "machine"})
	s.do(engine.Register{Base: "claude-code", Session: "s-2", PID: 99, Start: "99", Boot: "boot", Host: "machine"})
	c := s.connect("codex-mcp-client", usual2025, s.engine(nil, host), Options{})
	d := s.connect("claude", usual2025, s.engine(map[string]string{engine.EnvClaudeSession: "s-2"}), Options{})
	if c.whoIs() != "codex" || d.whoIs() != "claude-code" {
		t.Errorf("they are %s and %s", c.whoIs(), d.whoIs())
	}
	d.leave()
	if a, _ := s.state().Agent("claude-code"); !a.Registered {
		t.Error("the hook's session was ended")
	}
}

// In a turn of the bridge the server is the turn's agent, whose session is neither registered nor ended by it.
func TestServerInATurn(t *testing.T) {
	s := newScene(t)
	s.do(engine.Register{Base: "codex"})
	env := map[string]string{engine.EnvAgent: "codex", turn.EnvMark: "t1"}
	c := s.connect("codex-mcp-client", usual2025, s.engine(env, process(7, "codex")), Options{})
	before := s.state().Head()
	c.call("publish_update", args{"note": "x"}, nil)
	if me := c.whoIs(); me != "codex" {
		t.Errorf("it is %s", me)
	}
	c.leave()
	if now := s.state(); now.Head() != before+1 {
		t.Errorf("%d events", now.Head()-before)
	}
}

// While the kill switch is on nobody is introduced, and tools that read answer all the same.
func TestReadsWhileHalted(t *testing.T) {
	s := newScene(t)
	s.do(engine.Publish{Agent: "gemini", Name: "api", Body: "GET /things"})
	if _, err := s.engine(nil).Kill(t.Context(), "user", "enough"); err != nil {
		t.Fatal(err)
	}
	c := s.connect("codex", usual2025, s.engine(nil), Options{})
	var snap struct{ Agent string }
	c.call("snapshot", nil, &snap)
	if snap.Agent != "codex" {
		t.Errorf("read as %q", snap.Agent)
	}
	c.refused("kill_switch_active", "publish_update", args{"note": "x"}, "enough")
}

// A name is not followed to another session: the server stays with its process.
func TestServerStaysWithItsProcess(t *testing.T) {
	s := newScene(t)
	host, other := process(7, "claude"), process(9, "claude")
	in := func(p engine.Process, session string) engine.Register {
		return engine.Register{Base: "claude-code", Session: session, PID: p.PID, Start: p.Start, Boot: p.Boot, Host: "machine"}
	}
	s.do(in(host, "s1"))
	c := s.connect("claude-code", usual2025, s.engine(nil, host), Options{})
	s.do(in(host, "s2"))
	s.do(engine.EndAgent{Name: "claude-code"})
	s.do(in(other, "s1"))
	if me := c.whoIs(); me != "claude-code-2" {
		t.Errorf("it is %s", me)
	}
}

// A name that was given is kept from one session to the next, with what it holds; a live one of that name is not taken.
func TestNamedServer(t *testing.T) {
	s := newScene(t)
	claude := process(7, "claude")
	s.do(engine.Register{Base: "claude-code", PID: claude.PID, Start: claude.Start, Boot: claude.Boot, Host: "machine"})
	named := s.connect("claude-code", usual2025, s.engine(nil, claude), Options{Agent: "backend"})
	named.call("claim_task", args{"description": "x", "ownPaths": []string{"src"}}, nil)
	if me, err := s.engine(nil, claude).Identify(t.Context(), engine.Me, ""); err != nil || me != "claude-code" {
		t.Errorf("an explicit name made the host's session %s, %v", me, err)
	}

	late := s.connect("codex", usual2025, s.engine(map[string]string{engine.EnvAgent: "Backend"}), Options{})
	late.refused("identity_conflict", "claim_task", args{"description": "y"}, "backend is a live session of another process")
	if !strings.Contains(late.notes.String(), "not registered yet: backend is a live session") {
		t.Errorf("notes %q", late.notes)
	}
	acting := s.connect("codex", usual2025, s.engine(nil), Options{As: "backend"})
	if me := acting.whoIs(); me != "backend" {
		t.Errorf("with --as it is %s", me)
	}
	acting.leave()
	named.leave()
	// The one that was refused is let in now, and has what the name holds.
	late.call("release_ownership", args{"paths": []string{"src"}}, nil)
	if a, _ := s.state().Agent("backend"); !a.Registered {
		t.Errorf("agent %+v", a)
	}
}

// A session that is the server itself ends with it, and leaves a handover card if it holds something.
func TestServerHandsOver(t *testing.T) {
	s := newScene(t)
	c := s.connect("some-editor", usual2025, s.engine(nil), Options{})
	c.call("claim_task", args{"description": "the checkout", "ownPaths": []string{"src"}}, nil)
	c.leave()
	if a, _ := s.state().Agent("some-editor"); a.Registered {
		t.Error("it is still registered")
	}
	if log, err := os.ReadFile(filepath.Join(s.dir, ".handoff", "coordination.jsonl")); err != nil || !strings.Contains(string(log), "Handover card for some-editor") {
		t.Errorf("no handover: %v\n%s", err, log)
	}
}

// A person may rename or end a session while its server runs.
func TestRenamedAndEnded(t *testing.T) {
	s := newScene(t)
	c := s.connect("codex", usual2025, s.engine(nil), Options{})
	s.do(engine.RenameAgent{Old: "codex", New: "frontend"})
	if me := c.whoIs(); me != "frontend" {
		t.Errorf("renamed it is %s", me)
	}
	s.do(engine.EndAgent{Name: "frontend"})
	if me := c.whoIs(); me != "frontend" {
		t.Errorf("ended and back it is %s", me)
	}
	if a, _ := s.state().Agent("frontend"); !a.Registered {
		t.Errorf("agent %+v", a)
	}
	c.leave()
	if a, _ := s.state().Agent("frontend"); a.Registered {
		t.Error("it is still registered")
	}
}

// A project that nobody coordinates is left alone until a tool is called.
func TestNoTraceUntilUsed(t *testing.T) {
	s := newScene(t)
	if err := os.Remove(filepath.Join(s.dir, ".handoff")); err != nil {
		t.Fatal(err)
	}
	c := s.connect("codex", usual2025, s.engine(nil), Options{})
	if _, err := c.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, ".handoff")); err == nil {
		t.Error("connecting made a .handoff")
	}
	if me := c.whoIs(); me != "codex" {
		t.Errorf("it is %s", me)
	}
}

func TestBaseName(t *testing.T) {
	for client, want := range map[string]string{
		"codex-mcp-client": "codex-mcp-client", "Visual Studio Code": "Visual-Studio-Code", "": "agent", "user": "agent", "Me": "agent",
		"loadout": "agent", "--x\x1b[31m": "x--31m", "日本": "agent", strings.Repeat("a", 90): strings.Repeat("a", 40),
	} {
		if got := baseName(client); got != want {
			t.Errorf("%q makes %q, want %q", client, got, want)
		}
	}
}
