package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hosts are stand-ins for agent programs: shells under their names, so that processes below them have the ancestors that they would have.
type hosts struct {
	t        *testing.T
	bin, dir string
	env      []string
}

func newHosts(t *testing.T) *hosts {
	t.Helper()
	h := &hosts{t: t, bin: t.TempDir(), dir: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"loadout": self, "claude": "/bin/sh", "codex": "/bin/sh"} {
		if target, err = filepath.EvalSymlinks(target); err != nil {
			t.Skipf("skipped: there is no /bin/sh: %v", err)
		}
		if err := os.Symlink(target, filepath.Join(h.bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(h.dir, ".handoff"), 0o700); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	h.env = []string{"PATH=" + h.bin + ":" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + home}
	return h
}

// host is one running stand-in, which does what it is told line by line.
type host struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
}

func (h *hosts) start(program string, env ...string) *host {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(h.bin, program))
	cmd.Dir, cmd.Env = h.dir, append(h.env, env...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	p := &host{h.t, cmd, stdin, bufio.NewReader(stdout)}
	h.t.Cleanup(p.stop)
	return p
}

// stop ends the program, as often as it is called.
func (p *host) stop() {
	p.stdin.Close()
	_ = p.cmd.Wait() // its exit code is that of its last command
}

// run has the program run a line of shell, which ends with a mark of ours, and returns what it printed.
func (p *host) run(format string, args ...any) string {
	p.t.Helper()
	const mark = "-- done --\n"
	if _, err := fmt.Fprintf(p.stdin, "{ "+format+"; } 2>&1 </dev/null; echo; printf '%%s\\n' '-- done --'\n", args...); err != nil {
		p.t.Fatal(err)
	}
	defer time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() }).Stop() // it then ends without the mark
	var said strings.Builder
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			p.t.Fatalf("it ended: %v\n%s", err, said.String())
		}
		if line == mark {
			return said.String()
		}
		said.WriteString(line)
	}
}

// hook runs a hook of the program as it would.
func (p *host) hook(event, session, more string) string {
	p.t.Helper()
	return p.run(`printf '%%s' '{"session_id":"%s"%s}' | loadout hook %s`, session, more, event)
}

// is checks who the session is for its hooks, its server and its shell.
func (p *host) is(name string) {
	p.t.Helper()
	if said := p.run(`sh -c 'loadout coord update me --note hi --json; :'`); !strings.Contains(said, `"from": "`+name+`"`) {
		p.t.Errorf("the shell is not %s: %s", name, said)
	}
	call := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"publish_update","arguments":{"note":"served"}}}`
	said := p.run(`{ printf '%%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}' '{"jsonrpc":"2.0","method":"notifications/initialized"}' '%s'; } | loadout serve`, call)
	if !strings.Contains(said, `the agent \"`+name+`\"`) {
		p.t.Errorf("the server is not %s: %s", name, said)
	}
}

// Hooks, server and shell of a session are one agent, and two sessions of one program are two.
func TestOneIdentityForASession(t *testing.T) {
	h := newHosts(t)
	first, second, third := h.start("claude", "CLAUDE_CODE_SESSION_ID=s1"), h.start("claude"), h.start("codex")
	for _, s := range []struct {
		host          *host
		session, name string
	}{{first, "s1", "claude-code"}, {second, "s2", "claude-code-2"}, {third, "t1", "codex"}} {
		if said := s.host.hook("SessionStart", s.session, `,"source":"startup"`); !strings.Contains(said, "You are "+s.name+" here") {
			t.Fatalf("not introduced as %s: %s", s.name, said)
		}
	}
	first.is("claude-code")
	second.is("claude-code-2")
	third.is("codex")

	// What a subagent edits, its parent edits; what others own, nobody else.
	first.run("loadout coord own me src")
	if said := first.hook("PreToolUse", "s1", `,"agent_id":"sub","tool_name":"Write","tool_input":{"file_path":"src/a"}`); strings.TrimSpace(said) != "" {
		t.Errorf("a subagent is not its parent: %s", said)
	}
	if said := second.hook("PreToolUse", "s2", `,"tool_name":"Write","tool_input":{"file_path":"src/a"}`); !strings.Contains(said, `"deny"`) {
		t.Errorf("not denied: %s", said)
	}

	// A program that goes on with another session stays the same agent, also for what still has the old session in its environment.
	first.hook("SessionEnd", "s1", `,"reason":"clear"`)
	first.hook("SessionStart", "s3", `,"source":"clear"`)
	first.is("claude-code")

	// A program in the shell of another one is not that one.
	if said := first.run(`codex -c 'loadout coord update me --note hi; :'`); !strings.Contains(said, "not known which agent calls") {
		t.Errorf("a program inside took the name of the one around it: %s", said)
	}
	if said := first.run(`codex -c 'echo "{\"session_id\":\"t2\"}" | loadout hook SessionStart; :'`); !strings.Contains(said, "You are codex-2 here") {
		t.Errorf("not introduced: %s", said)
	}

	// A session that is resumed by another process is the agent that it was.
	first.hook("SessionEnd", "s3", `,"reason":"prompt_input_exit"`)
	first.stop()
	again := h.start("claude", "CLAUDE_CODE_SESSION_ID=s3")
	if said := again.hook("SessionStart", "s3", `,"source":"resume"`); !strings.Contains(said, "You are claude-code here") || !strings.Contains(said, "src, exclusive") {
		t.Errorf("not resumed: %s", said)
	}
	again.is("claude-code")

	// A program that resumes an older session becomes that one.
	again.hook("SessionEnd", "s3", `,"reason":"resume"`)
	second.hook("SessionEnd", "s2", `,"reason":"resume"`)
	second.hook("SessionStart", "s3", `,"source":"resume"`)
	second.is("claude-code")
}

// A process that is not there is no news of files of the system.
func TestRegisterForNoProcess(t *testing.T) {
	a, _, stderr := testApp(t)
	a.host = nil
	if code := run(t.Context(), []string{"agent", "register", "--pid", "2147483647"}, a); code != exitUsage || stderr.String() != "loadout: no process 2147483647\n" {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
