package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloadout/loadout/engine/state"
)

// agentsAt is who takes part in a project, by name.
func agentsAt(t *testing.T, dir string) map[string]state.Agent {
	t.Helper()
	out, err := program(t.Context(), t, dir, "agent", "list", "--all", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Agents []state.Agent }
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	agents := map[string]state.Agent{}
	for _, a := range list.Agents {
		agents[a.Name] = a
	}
	return agents
}

// TestServeProcesses has several clients at once, each with the program as a process of its own, in one project.
func TestServeProcesses(t *testing.T) {
	dir := t.TempDir()
	inProcess(t, dir, "coord", "own", "user", "docs")
	const crowd = 8
	var wg, called sync.WaitGroup
	called.Add(crowd)
	for range crowd {
		wg.Go(func() {
			asked := sync.OnceFunc(called.Done)
			defer asked()
			cmd := program(t.Context(), t, dir, "serve")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			client := sdk.NewClient(&sdk.Implementation{Name: "crowd", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
			if err != nil {
				t.Errorf("%v\n%s", err, stderr.String())
				return
			}
			for _, call := range []struct {
				tool      string
				arguments map[string]any
				refused   bool
			}{
				{"publish_contract", map[string]any{"name": "api", "body": "x"}, false},
				{"claim_task", map[string]any{"description": "x", "ownPaths": []string{"docs/guide.md"}}, true},
				{"snapshot", map[string]any{}, false},
			} {
				r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: call.tool, Arguments: call.arguments})
				if err != nil || r.IsError != call.refused {
					t.Errorf("%s: %+v, %v", call.tool, r, err)
				}
			}
			asked()
			called.Wait()                           // a name that is free again would be given to the next
			if err := session.Close(); err != nil { // it waits for the process
				t.Errorf("%v\n%s", err, stderr.String())
			}
		})
	}
	wg.Wait()
	agents := agentsAt(t, dir)
	for _, name := range []string{"crowd", "crowd-2", "crowd-8"} {
		if a := agents[name]; a.Registered || a.Ended == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

const (
	serveHello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"codex","version":"1"}}}` + "\n"
	serveCall  = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"publish_update","arguments":{"note":"x"}}}` + "\n"
)

// TestServePrintsProtocolOnly sends a server good and bad lines; whatever it prints on stdout is a message.
func TestServePrintsProtocolOnly(t *testing.T) {
	dir := t.TempDir()
	inProcess(t, dir, "coord", "own", "user", "docs")
	cmd := program(t.Context(), t, dir, "serve")
	var stdout, stderr bytes.Buffer
	cmd.Stdin = strings.NewReader(serveHello + "not a message\n" + serveCall)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	wantMessages(t, &stdout, 3)
	if !strings.Contains(stderr.String(), "loadout serve: refused a line: the line is not valid JSON") {
		t.Errorf("stderr %q", stderr.String())
	}
}

// wantMessages checks that a text is nothing but messages, at least so many.
func wantMessages(t *testing.T, text io.Reader, least int) {
	t.Helper()
	n := 0
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<20)
	for ; lines.Scan(); n++ {
		var m struct{ JSONRPC string }
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil || m.JSONRPC != "2.0" {
			t.Errorf("no message: %q", lines.Text())
		}
	}
	if n < least || lines.Err() != nil {
		t.Errorf("%d messages, %v", n, lines.Err())
	}
}

// TestServeEndsWithASignal: SIGTERM ends the server and its agent's session, though the client is still there.
func TestServeEndsWithASignal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: no SIGTERM on Windows")
	}
	dir := t.TempDir()
	inProcess(t, dir, "coord", "own", "user", "docs")
	cmd := program(t.Context(), t, dir, "serve")
	in, out := pipes(t, cmd)
	if _, err := io.WriteString(in, serveHello); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, `you are the agent \"codex\"`) {
		t.Fatalf("answer %q, %v", line, err)
	}
	if a := agentsAt(t, dir)["codex"]; !a.Registered || a.PID != cmd.Process.Pid {
		t.Errorf("connected: %+v", a)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := codeOf(t, cmd.Wait()); code != exitDone {
		t.Errorf("exit %d", code)
	}
	if a := agentsAt(t, dir)["codex"]; a.Registered || a.Ended == nil {
		t.Errorf("ended: %+v", a)
	}
}

// TestServeOutlivesItsReader: a client that dies without a word, its end of both pipes gone, still has its session ended.
func TestServeOutlivesItsReader(t *testing.T) {
	dir := t.TempDir()
	inProcess(t, dir, "coord", "own", "user", "docs")
	cmd := program(t.Context(), t, dir, "serve")
	in, out := pipes(t, cmd)
	if _, err := io.WriteString(in, serveHello); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	_ = out.Close()
	if _, err := io.WriteString(in, serveCall); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	if code := codeOf(t, cmd.Wait()); code != exitDone {
		t.Errorf("exit %d", code)
	}
	if a := agentsAt(t, dir)["codex"]; a.Registered || a.Ended == nil {
		t.Errorf("ended: %+v", a)
	}
}

// pipes starts a process and returns this side of its standard streams.
func pipes(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = io.Discard
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Signal(os.Kill) })
	return in, out
}
