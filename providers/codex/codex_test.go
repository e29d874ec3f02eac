//go:build unix

package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/misbehave"
)

func TestMain(m *testing.M) {
	misbehave.As()
	goleak.VerifyTestMain(m)
}

const (
	known = "0e7d3a62-7a0e-4f7e-9c39-3f1f0f8a1234"
	other = "11111111-2222-4333-8444-555555555555"
)

// standIn is a turn of a stand-in for the program.
func standIn(t *testing.T, env ...string) turn.Turn {
	t.Helper()
	return turn.Turn{
		Dir: t.TempDir(), Prompt: "Hello.", Deadline: time.Minute,
		Permissions: turn.Permissions{Command: []string{os.Args[0]}}, Env: env,
	}
}

func TestPermissions(t *testing.T) {
	tests := []struct {
		permissions turn.Permissions
		flags       []string // the first; nil: refused
		says        string
	}{
		{turn.Permissions{}, []string{}, "its own default: sandbox read-only, unless its config.toml"},
		{turn.Permissions{Mode: "workspace-write", Model: "gpt-5.5"}, []string{"--model", "gpt-5.5", "--sandbox", "workspace-write"}, "edits files in its folder; no network; model gpt-5.5"},
		{turn.Permissions{Mode: "plan"}, nil, ""},
		{turn.Permissions{Allow: []string{"shell"}}, nil, ""},
		{turn.Permissions{Deny: []string{"shell"}}, nil, ""},
		{turn.Permissions{Model: "--oss"}, nil, ""},
		{turn.Permissions{Forbid: true, Mode: "workspace-write"}, nil, ""},
		{turn.Permissions{Forbid: true}, []string{"--sandbox", "read-only", "-c", `web_search="disabled"`}, "tools switched off"},
	}
	for _, tt := range tests {
		flags, err := permissionFlags(tt.permissions)
		says, describeErr := New().Describe(tt.permissions)
		if tt.flags == nil {
			wantFailure(t, turn.Rejected, turn.Nothing, err)
			wantFailure(t, turn.Rejected, turn.Nothing, describeErr)
			continue
		}
		if err != nil || describeErr != nil || !slices.Equal(flags[:len(tt.flags)], tt.flags) || !strings.Contains(says, tt.says) {
			t.Errorf("%+v: %q %q, %v %v", tt.permissions, flags, says, err, describeErr)
		}
	}
}

// TestRefusedBeforeStart gives turns that must not start anything: the stand-in would note itself.
func TestRefusedBeforeStart(t *testing.T) {
	tests := []struct {
		name   string
		change func(*turn.Turn)
		kind   turn.Kind
	}{
		{"no prompt", func(t *turn.Turn) { t.Prompt = " \n" }, turn.Rejected},
		{"long prompt", func(t *turn.Turn) { t.Prompt = strings.Repeat("x", turn.MaxPrompt+1) }, turn.TooLong},
		{"no folder", func(t *turn.Turn) { t.Dir = filepath.Join(t.Dir, "none") }, turn.Rejected},
		{"session that is a flag", func(t *turn.Turn) { t.Session = "--last" }, turn.UnknownSession},
		{"permissions", func(t *turn.Turn) { t.Permissions.Mode = "x" }, turn.Rejected},
		{"no program", func(t *turn.Turn) { t.Permissions.Command = []string{"no-such-program-anywhere"} }, turn.NotInstalled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			note := filepath.Join(t.TempDir(), "note")
			next := standIn(t, misbehave.EnvHow+"="+misbehave.Silent, misbehave.EnvNote+"="+note)
			tt.change(&next)
			_, err := New().Do(t.Context(), next, nil)
			wantFailure(t, tt.kind, turn.Nothing, err)
			if _, err := os.Stat(note); err == nil {
				t.Error("something was started")
			}
		})
	}
}

// TestPromptIsNoArgument gives prompts that a command line would take for flags, and that nobody else may read.
func TestPromptIsNoArgument(t *testing.T) {
	t.Parallel()
	for _, prompt := range []string{"--help", "-p", "the-prompt-that-nobody-else-may-see"} {
		args := filepath.Join(t.TempDir(), "args")
		next := standIn(t, misbehave.EnvHow+"="+misbehave.Silent, misbehave.EnvArgs+"="+args)
		next.Prompt = prompt + " " + prompt
		_, err := New().Do(t.Context(), next, nil)
		wantFailure(t, turn.Nonsense, turn.Maybe, err)
		if given, err := os.ReadFile(args); err != nil || !strings.Contains(string(given), "--json\n") || strings.Contains(string(given), next.Prompt) {
			t.Errorf("%v, arguments:\n%s", err, given)
		}
	}
}

func TestMisbehaviour(t *testing.T) {
	t.Parallel()
	tests := []struct {
		how      string
		deadline time.Duration // that a hanging program reaches
		kind     turn.Kind
		spent    turn.Spent
		says     string
	}{
		{misbehave.Silent, 0, turn.Nonsense, turn.Maybe, "no completed turn"},
		{misbehave.NeverReads, 0, turn.Nonsense, turn.Maybe, "no completed turn"},
		{misbehave.PipeHolder, 0, turn.Nonsense, turn.Maybe, "no completed turn"},
		{misbehave.Daemon, 0, turn.Nonsense, turn.Maybe, "no completed turn"},
		{misbehave.HalfLine, 0, turn.Nonsense, turn.Maybe, "lines that were no JSON: 1"},
		{misbehave.Unreadable, 0, turn.Nonsense, turn.Maybe, "lines that were no JSON: 4"},
		{misbehave.Flood, 0, turn.Nonsense, turn.Maybe, "more than 64 MiB"},
		{misbehave.LongLine, 0, turn.Nonsense, turn.Maybe, "more than 64 MiB"},
		{misbehave.Signal, 0, turn.Crashed, turn.Maybe, "ended by a signal: killed"},
		{misbehave.SlowStderr, 0, turn.Crashed, turn.Nothing, "still talking"},
		{misbehave.ExitMessage, 0, turn.Crashed, turn.Nothing, "the reason"},
		{misbehave.FullStderr, 0, turn.Crashed, turn.Nothing, "eee"},
		{misbehave.Hang, time.Second, turn.Timeout, turn.Maybe, "stopped after"},
		{misbehave.Deaf, time.Second, turn.Timeout, turn.Maybe, "stopped after"},
		{misbehave.OwnSession, time.Second, turn.Timeout, turn.Maybe, "stopped after"},
	}
	for _, tt := range tests {
		t.Run(tt.how, func(t *testing.T) {
			t.Parallel()
			next := standIn(t, misbehave.EnvHow+"="+tt.how)
			next.Deadline = tt.deadline
			reply, err := New().Do(t.Context(), next, nil)
			wantFailure(t, tt.kind, tt.spent, err)
			if !strings.Contains(err.Error(), tt.says) || reply.Text != "" || reply.Duration <= 0 {
				t.Errorf("reply %+v, %v", reply, err)
			}
		})
	}
}

const (
	startLine   = `{"type":"thread.started","thread_id":"SESSION"}` + "\n"
	messageLine = `{"type":"item.completed","item":{"type":"agent_message","text":"Hi."}}` + "\n"
	endLine     = `{"type":"turn.completed","usage":{"input_tokens":30,"cached_input_tokens":10,"output_tokens":8}}` + "\n"
)

func failed(message string) string {
	return startLine + fmt.Sprintf(`{"type":"turn.failed","error":{"message":%q}}`, message) + "\n"
}

// TestWhatItSays gives lines that the program could write, and some that it must not, in a session that is resumed.
func TestWhatItSays(t *testing.T) {
	t.Parallel()
	before := turn.Usage{Input: 20, Cached: 10, Output: 3, Known: true}
	command := `{"type":"item.started","item":{"type":"command_execution","command":"ls"}}` + "\n"
	tests := []struct {
		name   string
		text   string
		exit   int
		forbid bool
		kind   turn.Kind // empty: an answer
		spent  turn.Spent
	}{
		{"answer", startLine + messageLine + endLine, 0, false, "", ""},
		{"unknown types", `{"type":"novel"}` + "\n" + startLine + `{"type":"item.completed","item":{"type":"novel"}}` + "\n" + messageLine + endLine, 0, false, "", ""},
		{"the last message counts", startLine + strings.Replace(messageLine, "Hi.", "Let me see.", 1) + messageLine + endLine, 0, false, "", ""},
		{"warnings", startLine + `{"type":"item.completed","item":{"type":"error","message":"odd"}}` + "\n" + `{"type":"error","message":"Reconnecting... 1/5"}` + "\n" + messageLine + endLine, 0, false, "", ""},
		{"exit 1", startLine + messageLine + endLine, 1, false, turn.Crashed, turn.Yes},
		{"other session", strings.Replace(startLine, "SESSION", other, 1) + messageLine + endLine, 0, false, turn.UnknownSession, turn.Maybe},
		{"no session", messageLine + endLine, 0, false, turn.Nonsense, turn.Yes},
		{"not completed", startLine + messageLine, 0, false, turn.Nonsense, turn.Yes},
		{"no message", startLine + endLine, 0, false, turn.Nonsense, turn.Yes},
		{"blocked prompt", startLine + `{"type":"turn.completed","usage":{"input_tokens":20,"cached_input_tokens":10,"output_tokens":3}}`, 0, false, turn.Rejected, turn.Nothing},
		{"command although forbidden", startLine + command + messageLine + endLine, 0, true, turn.Forbidden, turn.Yes},
		{"tool that is not known although forbidden", startLine + `{"type":"item.started","item":{"type":"novel"}}` + "\n", 0, true, turn.Forbidden, turn.Yes},
		{"thinking is no act", startLine + `{"type":"item.completed","item":{"type":"reasoning","text":"hm"}}` + "\n" + messageLine + endLine, 0, true, "", ""},
		{"limit of the plan", failed("You've hit your usage limit. Try again at 3 PM."), 1, false, turn.Quota, turn.Nothing},
		{"quota after some work", startLine + command + strings.TrimPrefix(failed("Quota exceeded. Check your plan."), startLine), 1, false, turn.Quota, turn.Yes},
		{"too long by its code", failed(`{"error":{"message":"too long","code":"context_length_exceeded"}}`), 1, false, turn.TooLong, turn.Nothing},
		{"anything else", failed("the model declined"), 1, false, turn.Rejected, turn.Maybe},
		{"failed without a word", startLine + `{"type":"turn.failed"}`, 1, false, turn.Rejected, turn.Maybe},
		{"bad usage", "", 2, false, turn.Rejected, turn.Nothing},
		{"last notice", startLine + `{"type":"error","message":"Connection failed: error sending request"}`, 1, false, turn.Unreachable, turn.Nothing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			next := standIn(t, misbehave.EnvHow+"="+misbehave.Say, misbehave.EnvText+"="+tt.text, fmt.Sprintf("%s=%d", misbehave.EnvExit, tt.exit))
			next.Session, next.Before, next.Permissions.Forbid = known, before, tt.forbid
			reply, err := New().Do(t.Context(), next, nil)
			if tt.kind != "" {
				wantFailure(t, tt.kind, tt.spent, err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := (turn.Usage{Input: 10, Output: 5, Known: true}); reply.Text != "Hi." || reply.Usage != want || reply.Total.Input != 30 {
				t.Errorf("reply %+v", reply)
			}
		})
	}
}

// TestOddSession starts a session that could not be gone on with.
func TestOddSession(t *testing.T) {
	for _, id := range []string{``, `one`, `one\u001b[31m`} {
		s := newStream(turn.Turn{}, nil)
		wantFailure(t, turn.Nonsense, turn.Maybe, s.line([]byte(`{"type":"thread.started","thread_id":"`+id+`"}`)))
	}
}

func TestUsage(t *testing.T) {
	total := &usage{Input: 30, Cached: 10, Output: 8}
	all := turn.Usage{Input: 30, Cached: 10, Output: 8, Known: true}
	before := turn.Usage{Input: 20, Cached: 10, Output: 3, Known: true}
	tests := []struct {
		name        string
		session     string
		before      turn.Usage
		total       *usage
		this, after turn.Usage
	}{
		{"new session", "", turn.Usage{}, total, all, all},
		{"resumed", known, before, total, turn.Usage{Input: 10, Output: 5, Known: true}, all},
		{"resumed, total before not known", known, turn.Usage{}, total, turn.Usage{}, all},
		{"counted anew", known, turn.Usage{Input: 100, Output: 9, Known: true}, total, all, all},
		{"not reported", known, before, nil, turn.Usage{}, before},
	}
	for _, tt := range tests {
		s := stream{turn: turn.Turn{Session: tt.session, Before: tt.before}, total: tt.total}
		if this, after := s.usage(); this != tt.this || after != tt.after {
			t.Errorf("%s: %+v of %+v", tt.name, this, after)
		}
	}
}

func TestProgress(t *testing.T) {
	var steps []turn.Progress
	s := newStream(turn.Turn{}, func(p turn.Progress) { steps = append(steps, p) })
	for _, line := range []string{
		`{"type":"thread.started","thread_id":"` + known + `"}`,
		`{"type":"item.completed","item":{"type":"error","message":"Codex is ignoring 1 unrecognized configuration setting."}}`,
		`{"type":"item.completed","item":{"type":"error","message":"Model metadata not found."}}`,
		`{"type":"error","message":"Reconnecting... 1/5"}`,
		`{"type":"item.completed","item":{"type":"agent_message","text":"Let me see."}}`,
		`{"type":"item.started","item":{"type":"command_execution","command":"bash -lc 'ls\n-l'"}}`,
		`{"type":"item.completed","item":{"type":"command_execution","command":"bash -lc 'ls\n-l'"}}`,
		`{"type":"item.started","item":{"type":"mcp_tool_call","server":"demo","tool":"list"}}`,
		`{"type":"item.completed","item":{"type":"file_change","changes":[{"path":"/a"},{"path":"/b"}]}}`,
		`{"type":"item.completed","item":{"type":"web_search","query":"q"}}`,
		`{"type":"item.completed","item":{"type":"agent_message","text":"Done."}}`,
	} {
		if err := s.line([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	want := []turn.Progress{
		turn.Started{Session: known},
		turn.Notice{Text: "Model metadata not found."},
		turn.Notice{Text: "Reconnecting... 1/5"},
		turn.Text{Delta: "Let me see."},
		turn.Tool{Name: "command", Detail: "bash -lc 'ls -l'"},
		turn.Tool{Name: "demo.list"},
		turn.Tool{Name: "edit", Detail: "/a /b"},
		turn.Tool{Name: "web_search", Detail: "q"},
		turn.Text{Delta: "\n\nDone."},
	}
	if !reflect.DeepEqual(steps, want) {
		t.Errorf("progress %v", steps)
	}
}

func TestOwnModelProvider(t *testing.T) {
	for config, want := range map[string]string{
		"": "", "model = \"x\"": "", "model_provider = \"openai\"": "", "model_provider = \"oss\"": "oss", "model_provider = ": "",
		"model_provider = \"mine\"\n[model_providers.mine]\nenv_key = \"MY_KEY\"":                                        "mine",
		"model_provider = \"proxy\"\n[model_providers.proxy]\nbase_url = \"x\"\nrequires_openai_auth = true":             "",
		"model_provider = \"mine\"\n[model_providers.other]\nrequires_openai_auth = true\n[model_providers.mine]\nx = 1": "mine",
	} {
		home := t.TempDir()
		t.Setenv("HOME", home)
		for _, dir := range []string{filepath.Join(home, ".codex"), filepath.Join(home, "elsewhere")} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := ownModelProvider(); got != want {
				t.Errorf("%q is %q, want %q", config, got, want)
			}
			if err := os.Remove(filepath.Join(dir, "config.toml")); err != nil {
				t.Fatal(err)
			}
			t.Setenv("CODEX_HOME", filepath.Join(home, "elsewhere"))
			if got := ownModelProvider(); got != "" {
				t.Errorf("without a configuration it is %q", got)
			}
		}
		t.Setenv("CODEX_HOME", "")
	}
}

func TestDetectWithoutTheProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := New().Detect(t.Context(), nil)
	wantFailure(t, turn.NotInstalled, turn.Nothing, err)
	_, err = New().Detect(t.Context(), []string{"no-such-wrapper", "x"})
	wantFailure(t, turn.NotInstalled, turn.Nothing, err)
	// A wrapper is not started: to one that takes no questions every start is a turn.
	self := os.Args[0]
	if found, err := New().Detect(t.Context(), []string{self, "-test.run", "Nothing"}); err != nil || found.Path != self || found.Account == "" {
		t.Errorf("%+v, %v", found, err)
	}
}
