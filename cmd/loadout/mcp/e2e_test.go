package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloadout/loadout/engine"
)

// script is a program of the end-to-end tests that runs on Node, which `make e2e` installs. Without it the test is skipped, or, with
// LOADOUT_E2E set, fails.
func script(t *testing.T, path string) []string {
	t.Helper()
	missing := func() {
		t.Helper()
		const text = "the real program is not installed, or in another version: run make e2e"
		if os.Getenv("LOADOUT_E2E") != "" {
			t.Fatal(text)
		}
		t.Skip("skipped: " + text)
	}
	if testing.Short() {
		t.Skip("skipped: drives a real program")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	clients := filepath.Join(cache, "loadout", "clients")
	want, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "clients", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(clients, "package-lock.json"))
	if err != nil || !bytes.Equal(have, want) {
		missing()
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing()
	}
	return []string{node, filepath.Join(clients, "node_modules", filepath.FromSlash(path))}
}

// run runs a program to its end, at home in a folder of the test, and returns its stdout.
func run(t *testing.T, dir string, words ...string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), engine.EnvAgent+"=", engine.EnvClaudeSession+"=")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		t.Logf("%s\n%s", stdout.String(), stderr.String())
	}
	return stdout.Bytes(), err
}

// TestRealInspector has the inspector of the protocol's authors start the program and use it over stdio.
func TestRealInspector(t *testing.T) {
	inspector := script(t, "@modelcontextprotocol/inspector/cli/build/cli.js")
	program := filepath.Join(t.TempDir(), "loadout")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "..").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := newScene(t)
	s.do(engine.Publish{Agent: "ada", Name: "api", Body: "the body"})
	for _, tt := range []struct {
		arguments []string
		words     []string
	}{
		{[]string{"--method", "tools/list"}, []string{`"name": "claim_task"`, `"readOnlyHint": true`, `"maxLength": 8192`}},
		{
			[]string{"--method", "tools/call", "--tool-name", "claim_task", "--tool-arg", "description=the form", `ownPaths=["web"]`},
			[]string{`Claimed ownership: web\nTask `, `"structuredContent"`, `"fence"`},
		},
		{[]string{"--method", "tools/call", "--tool-name", "ack", "--tool-arg", "eventSeq=9999"}, []string{`"isError": true`, "acknowledgement_conflict"}},
		{[]string{"--method", "tools/call", "--tool-name", "subscribe", "--tool-arg", "cursor=-1"}, []string{`"highSeq"`, untrusted}},
		{[]string{"--method", "resources/list"}, []string{"loadout://snapshot/me", "loadout://contract/api"}},
		{[]string{"--method", "resources/templates/list"}, []string{"loadout://event/{seq}"}},
		{[]string{"--method", "resources/read", "--uri", "loadout://contract/api"}, []string{"the body"}},
		{[]string{"--method", "prompts/list"}, []string{`"name": "coordinate"`}},
		{[]string{"--method", "prompts/get", "--prompt-name", "coordinate", "--prompt-args", "task=the form"}, []string{"You are the agent"}},
	} {
		words := append(append([]string{}, inspector...), "--cli", program, "serve")
		out, err := run(t, s.dir, append(words, tt.arguments...)...)
		var isError struct{ IsError bool }
		_ = json.Unmarshal(out, &isError) // not every answer has it
		if err != nil && !isError.IsError {
			t.Errorf("%v: %v", tt.arguments, err)
		}
		for _, w := range tt.words {
			if !strings.Contains(string(out), w) {
				t.Errorf("%v does not answer %s:\n%.2000s", tt.arguments, w, out)
			}
		}
	}
}

// TestRealConformance runs what applies of the protocol's conformance suite, which speaks HTTP only, against the same server behind a
// handler of the SDK. The rest of the suite wants a server with tools, prompts and resources of its own making.
func TestRealConformance(t *testing.T) {
	suite := script(t, "@modelcontextprotocol/conformance/dist/index.js")
	s := newScene(t)
	s.do(engine.Publish{Agent: "ada", Name: "api", Body: "the body"})
	server, err := New(s.engine(nil), Options{Dir: s.dir, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.start(t.Context())()
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server.protocol }, nil))
	defer func() {
		web.Close()
		for session := range server.protocol.Sessions() {
			_ = session.Close() // the suite leaves some open
		}
	}()
	for _, scenario := range []string{
		"server-initialize", "ping", "completion-complete", "tools-list", "resources-list", "prompts-list", "server-sse-multiple-streams",
		"dns-rebinding-protection",
	} {
		t.Run(scenario, func(t *testing.T) {
			out, err := run(t, t.TempDir(), append(append([]string{}, suite...), "server", "--url", web.URL, "--scenario", scenario)...)
			if err != nil || !strings.Contains(string(out), "0 failed") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
