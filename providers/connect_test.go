//go:build unix

package providers

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/providers/internal/clienttest"
	"github.com/agentloadout/loadout/providers/internal/fakemodel"
)

// newConnected makes a product whose program is called by its name.
func newConnected(t *testing.T, server *fakemodel.Server) *product {
	t.Helper()
	p := newProduct(t, server)
	p.env[0] = "PATH=" + filepath.Dir(p.binary) + string(os.PathListSeparator) + os.Getenv("PATH")
	p.env = append(p.env, "MCP_CONNECTION_NONBLOCKING=0", "XDG_STATE_HOME="+filepath.Join(filepath.Dir(p.binary), "state"))
	return p
}

// conversation is a running session of Claude Code that is told one prompt after the other.
type conversation struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
	init  string
}

func (p *product) converse(args ...string) *conversation {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), clienttest.Claude(p.t), append([]string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
	}, args...)...)
	cmd.Dir, cmd.Env = p.dir, p.env
	stdin, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	c := &conversation{t: p.t, cmd: cmd, stdin: stdin, lines: bufio.NewScanner(stdout)}
	c.lines.Buffer(nil, 16<<20)
	return c
}

// end ends the session as a person who leaves.
func (c *conversation) end() {
	c.t.Helper()
	c.stdin.Close()
	for c.lines.Scan() { // to its end
	}
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("claude: %v", err)
	}
}

// say tells a prompt and waits for the end of the turn, whose lines it returns.
func (c *conversation) say(prompt string) string {
	c.t.Helper()
	line, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": prompt}})
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.stdin.Write(append(line, '\n')); err != nil {
		c.t.Fatal(err)
	}
	var said strings.Builder
	for c.lines.Scan() {
		said.WriteString(c.lines.Text() + "\n")
		if strings.Contains(c.lines.Text(), `"subtype":"init"`) {
			c.init = c.lines.Text()
		}
		if strings.HasPrefix(c.lines.Text(), `{"type":"result"`) {
			return said.String()
		}
	}
	c.t.Fatalf("it ended: %v\n%s", c.lines.Err(), said.String())
	return ""
}

// Claude Code, connected, has the tools, claims with them, is kept from what another agent owns, and is told what is new.
func TestRealConnectedClaude(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	theirs, mine := filepath.Join(dir, "theirs", "a.txt"), filepath.Join(dir, "mine", "a.txt")
	write := func(path string) fakemodel.Tool {
		return fakemodel.Tool{Name: "Write", Input: map[string]any{"file_path": path, "content": "x"}}
	}
	server := fakemodel.New(
		fakemodel.Reply{Tools: []fakemodel.Tool{{Name: "mcp__loadout__claim_task", Input: map[string]any{"description": "a file", "ownPaths": []string{"mine"}}}}},
		fakemodel.Reply{Tools: []fakemodel.Tool{write(theirs)}},
		fakemodel.Reply{Tools: []fakemodel.Tool{write(mine)}},
		fakemodel.Reply{Text: "done"},
		fakemodel.Reply{Text: "noted"},
	)
	t.Cleanup(server.Close)
	p := newConnected(t, server)
	p.dir = dir
	clienttest.Write(t, filepath.Join(dir, "CLAUDE.md"), "Be kind.\n")
	p.run("connect", "claude-code", "--yes")
	p.run("coord", "own", "codex", "theirs", "--reason", "the checkout", "--as", "codex")
	c := p.converse("--permission-mode", "acceptEdits", "--allowedTools", "mcp__loadout")
	out := c.say("Write two files.")
	first := server.Requests()[0]
	if !strings.Contains(strings.Join(first.Tools, " "), "mcp__loadout__claim_task") {
		t.Fatalf("tools %v\n%s", first.Tools, c.init)
	}
	if body := string(first.Body); !strings.Contains(body, "You are claude-code here") || !strings.Contains(body, "codex holds theirs, exclusive, because: the checkout") {
		t.Errorf("the session was not told what holds: %s", body)
	}
	if !strings.Contains(out, "theirs/a.txt is not to be edited by claude-code") || !strings.Contains(out, "the checkout") || !strings.Contains(out, "loadout coord ask codex") {
		t.Errorf("not denied with our words: %s", out)
	}
	if _, err := os.Stat(theirs); err == nil {
		t.Error("what another agent owns was written")
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "x" {
		t.Errorf("its own file: %q, %v", text, err)
	}
	if status := p.run("coord", "status"); strings.Count(status, "claude-code-2") != 0 || !strings.Contains(status, "mine") {
		t.Errorf("not one agent: %s", status)
	}
	p.run("coord", "contract", "api", "--body", "GET /things", "--as", "gemini")
	c.say("Go on.")
	requests := server.Requests()
	if body := string(requests[len(requests)-1].Body); !strings.Contains(body, "contract: api, revision 1") || !strings.Contains(body, "GET /things") {
		t.Errorf("not told of the contract: %s", body)
	}
	c.end()
	var list struct {
		Agents []struct {
			Name    string
			Ended   string
			Session string
		}
	}
	if err := json.Unmarshal([]byte(p.run("agent", "list", "--all", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	for _, a := range list.Agents {
		if a.Name == "claude-code" && (a.Ended == "" || a.Session == "") {
			t.Errorf("its session has not ended: %+v", a)
		}
	}
	if log, err := os.ReadFile(filepath.Join(dir, ".handoff", "coordination.jsonl")); err != nil || !strings.Contains(string(log), "Handover card for claude-code") {
		t.Errorf("no handover: %v", err)
	}
	p.run("disconnect", "claude-code", "--yes")
	if text, err := os.ReadFile(filepath.Join(p.dir, "CLAUDE.md")); err != nil || string(text) != "Be kind.\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// Codex, connected, has the tools, and its hook keeps it from what another agent owns.
func TestRealConnectedCodex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	patch := "*** Begin Patch\n*** Add File: theirs/a.txt\n+x\n*** End Patch\n"
	bin := t.TempDir() // its shell has the usual PATH
	server := fakemodel.New(
		fakemodel.Reply{Tools: []fakemodel.Tool{{Name: "exec_command", Input: map[string]any{"cmd": bin + "/loadout coord own me mine"}}}},
		fakemodel.Reply{Tools: []fakemodel.Tool{{Name: "apply_patch", Input: patch}}},
		fakemodel.Reply{Tools: []fakemodel.Tool{{Name: "exec_command", Input: map[string]any{"cmd": "apply_patch <<'EOF'\n" + patch + "EOF\n"}}}},
		fakemodel.Reply{Text: "done"},
		fakemodel.Reply{Text: "noted"},
	)
	t.Cleanup(server.Close)
	p := newConnected(t, server)
	p.dir = dir
	if err := os.Symlink(p.binary, filepath.Join(bin, "loadout")); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(filepath.Dir(p.binary), "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	p.run("connect", "codex", "--scope", "user", "--yes")
	p.run("connect", "codex", "--yes")
	p.run("coord", "own", "gemini", "theirs", "--reason", "the checkout", "--as", "gemini")
	cmd := exec.CommandContext(t.Context(), clienttest.Codex(t), "exec", "--json", "--skip-git-repo-check", "--sandbox", "workspace-write",
		"--dangerously-bypass-hook-trust", "-m", "gpt-5.5", "-")
	cmd.Dir, cmd.Env, cmd.Stdin = dir, p.env, strings.NewReader("Write a file.")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("codex: %v\n%s", err, out)
	}
	requests := server.Requests()
	if body := string(requests[0].Body); !strings.Contains(body, "You are codex here") || !strings.Contains(body, "gemini holds theirs") {
		t.Errorf("the session was not told what holds: %s", body)
	}
	if body := string(requests[len(requests)-1].Body); strings.Count(body, "theirs/a.txt is not to be edited by codex") != 2 {
		t.Errorf("not denied with our words: %s\n%s", out, body)
	}
	if _, err := os.Stat(filepath.Join(dir, "theirs", "a.txt")); err == nil {
		t.Error("what another agent owns was written")
	}
	if status := p.run("coord", "status"); !strings.Contains(status, "mine") || strings.Contains(status, "codex-2") {
		t.Errorf("its shell is not the same agent: %s", status)
	}
	_, rest, _ := strings.Cut(string(out), `"thread_id":"`)
	thread, _, _ := strings.Cut(rest, `"`)
	p.run("coord", "contract", "api", "--body", "GET /things", "--as", "gemini")
	again := exec.CommandContext(t.Context(), clienttest.Codex(t), "exec", "resume", "--json", "--skip-git-repo-check",
		"--dangerously-bypass-hook-trust", "-m", "gpt-5.5", thread, "-")
	again.Dir, again.Env, again.Stdin = dir, p.env, strings.NewReader("Go on.")
	if out, err := again.CombinedOutput(); err != nil {
		t.Fatalf("codex: %v\n%s", err, out)
	}
	requests = server.Requests()
	if body := string(requests[len(requests)-1].Body); !strings.Contains(body, "api revision 1 by gemini") {
		t.Errorf("not told of the contract: %s", body)
	}
	p.run("disconnect", "codex", "--scope", "user", "--yes")
	if after, err := os.ReadFile(filepath.Join(filepath.Dir(p.binary), "config.toml")); err != nil || string(after) != string(before) {
		t.Errorf("%s, %v", after, err)
	}
}

// A turn that the bridge makes in a connected program is its agent's: neither a hook nor a server makes another agent, or ends that one.
func TestRealConnectedTurns(t *testing.T) {
	t.Parallel()
	server := fakemodel.New(
		fakemodel.Reply{When: "codex begins", Tools: []fakemodel.Tool{{Namespace: "mcp__loadout", Name: "snapshot", Input: map[string]any{}}}},
		fakemodel.Reply{Text: "the-answer", Times: -1},
	)
	t.Cleanup(server.Close)
	p := newConnected(t, server)
	p.dir = t.TempDir()
	p.run("connect", "claude-code", "--yes")
	p.run("connect", "codex", "--scope", "user", "--yes")
	for _, program := range []string{"claude-code", "codex"} {
		p.run("coord", "agents", "start", program, program+" begins")
		p.run("coord", "own", program, program+"-part", "--as", program)
	}
	p.run("coord", "contract", "api", "--body", "GET /things", "--as", "gemini")
	if out := p.run("coord", "agents", "bridge", "claude-code", "codex", "--once", "--json"); strings.Count(out, `"kind":"finished"`) != 2 {
		t.Errorf("turns: %s", out)
	}
	connected := map[string]bool{} // the server answered: Claude Code lists its tools, Codex was made to call one
	for _, r := range server.Requests() {
		if slices.Contains(r.Tools, "mcp__loadout__snapshot") || strings.Contains(string(r.Body), `{\"agent\":\"codex\",\"asOf\"`) {
			connected[r.API] = true
		}
	}
	if len(connected) != 2 {
		t.Errorf("only %v had the server", connected)
	}
	log, err := os.ReadFile(filepath.Join(p.dir, ".handoff", "coordination.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"claude-code-2", "codex-2", `"action":"ended"`, "Handover card"} {
		if strings.Contains(string(log), word) {
			t.Errorf("the log has %s:\n%s", word, log)
		}
	}
}
