//go:build unix

package claude

import (
	"context"
	"errors"
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

const known = "0e7d3a62-7a0e-4f7e-9c39-3f1f0f8a1234"

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
		flags       []string // nil: refused
		says        string
	}{
		{turn.Permissions{}, []string{}, "reads files and runs commands that only read"},
		{turn.Permissions{Forbid: true}, []string{"--tools", "", "--strict-mcp-config", "--setting-sources", ""}, "no tools"},
		{turn.Permissions{Forbid: true, Model: "opus"}, []string{"--model", "opus", "--tools", "", "--strict-mcp-config", "--setting-sources", ""}, "no tools"},
		{turn.Permissions{Forbid: true, Mode: "plan"}, nil, ""},
		{turn.Permissions{Forbid: true, Allow: []string{"Bash"}}, nil, ""},
		{turn.Permissions{Mode: "acceptEdits"}, []string{"--permission-mode", "acceptEdits"}, "acceptEdits: edits files"},
		{turn.Permissions{Mode: "read-only"}, nil, ""},
		{
			turn.Permissions{Allow: []string{"Edit", "Bash(git *)"}, Deny: []string{"WebFetch"}},
			[]string{"--allowedTools", "Edit", "Bash(git *)", "--disallowedTools", "WebFetch"},
			"allowed: Edit, Bash(git *); taken away: WebFetch",
		},
		{turn.Permissions{Allow: []string{"--dangerously-skip-permissions"}}, nil, ""},
		{turn.Permissions{Deny: []string{""}}, nil, ""},
		{turn.Permissions{Model: "-p"}, nil, ""},
	}
	for _, tt := range tests {
		flags, err := permissionFlags(tt.permissions)
		says, describeErr := New().Describe(tt.permissions)
		if tt.flags == nil {
			wantFailure(t, turn.Rejected, turn.Nothing, err)
			wantFailure(t, turn.Rejected, turn.Nothing, describeErr)
			continue
		}
		if err != nil || describeErr != nil || !slices.Equal(flags, tt.flags) || !strings.Contains(says, tt.says) {
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
		{"relative folder", func(t *turn.Turn) { t.Dir = "somewhere" }, turn.Rejected},
		{"no folder", func(t *turn.Turn) { t.Dir = filepath.Join(t.Dir, "none") }, turn.Rejected},
		{"session that is a flag", resume("--continue"), turn.UnknownSession},
		{"session that is a name", resume("refactoring"), turn.UnknownSession},
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
		if given, err := os.ReadFile(args); err != nil || !strings.Contains(string(given), "stream-json\n") || strings.Contains(string(given), next.Prompt) {
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
		{misbehave.Silent, 0, turn.Nonsense, turn.Maybe, "no result"},
		{misbehave.NeverReads, 0, turn.Nonsense, turn.Maybe, "no result"},
		{misbehave.PipeHolder, 0, turn.Nonsense, turn.Maybe, "no result"},
		{misbehave.Daemon, 0, turn.Nonsense, turn.Maybe, "no result"},
		{misbehave.HalfLine, 0, turn.Nonsense, turn.Maybe, "lines that were no JSON: 1"},
		{misbehave.Unreadable, 0, turn.Nonsense, turn.Maybe, "lines that were no JSON: 4"},
		{misbehave.Flood, 0, turn.Nonsense, turn.Maybe, "more than 64 MiB"},
		{misbehave.LongLine, 0, turn.Nonsense, turn.Maybe, "more than 64 MiB"},
		{misbehave.Signal, 0, turn.Crashed, turn.Maybe, "ended by a signal: killed"},
		{misbehave.SlowStderr, 0, turn.Crashed, turn.Nothing, "still talking"},
		{misbehave.ExitMessage, 0, turn.Crashed, turn.Nothing, "Error: the reason"},
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
	initLine   = `{"type":"system","subtype":"init","session_id":"SESSION","tools":["Bash"],"mcp_servers":[]}` + "\n"
	resultLine = `{"type":"result","subtype":"success","is_error":false,"api_error_status":null,"num_turns":1,"result":"Hi.",` +
		`"session_id":"SESSION","total_cost_usd":0.5,"usage":{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":8}}` + "\n"
)

// TestWhatItSays gives lines that the program could write, and some that it must not.
func TestWhatItSays(t *testing.T) {
	t.Parallel()
	const other = "11111111-2222-4333-8444-555555555555"
	started := `{"type":"stream_event","event":{"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1}}}}` + "\n"
	failed := func(status, text string) string {
		return initLine + `{"type":"result","subtype":"success","is_error":true,"api_error_status":` + status + `,"num_turns":1,"result":"` + text +
			`","session_id":"SESSION","usage":{}}` + "\n"
	}
	tests := []struct {
		name   string
		text   string
		exit   int
		change func(*turn.Turn)
		kind   turn.Kind // empty: an answer
		spent  turn.Spent
	}{
		{"answer", initLine + resultLine, 0, nil, "", ""},
		{"unknown types", `{"type":"novel"}` + "\n" + `{"type":"system","subtype":"novel"}` + "\n" + initLine + resultLine, 0, nil, "", ""},
		{"resumed", initLine + resultLine, 0, resume(known), "", ""},
		{"success, exit 1", initLine + resultLine, 1, nil, turn.Crashed, turn.Yes},
		{"other session at the start", strings.ReplaceAll(initLine, "SESSION", other) + resultLine, 0, resume(known), turn.UnknownSession, turn.Maybe},
		{"other session in the end", initLine + strings.ReplaceAll(resultLine, "SESSION", other), 0, resume(known), turn.UnknownSession, turn.Yes},
		{"no result", initLine + started, 0, nil, turn.Nonsense, turn.Yes},
		{"empty result", initLine + strings.Replace(resultLine, "Hi.", " ", 1), 0, nil, turn.Nonsense, turn.Yes},
		{"taken for a command", initLine + strings.NewReplacer(`"num_turns":1`, `"num_turns":0`, `"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":8`, "").Replace(resultLine), 0, nil, turn.Rejected, turn.Nothing},
		{"interrupted by somebody", initLine + `{"type":"result","subtype":"error_during_execution","is_error":true,"session_id":"SESSION"}`, 0, nil, turn.Crashed, turn.Maybe},
		{"limit of the plan", failed("429", "Claude AI usage limit reached|4102444800"), 1, nil, turn.Quota, turn.Nothing},
		{"credit", failed("400", "Credit balance is too low"), 1, nil, turn.Quota, turn.Nothing},
		{"overloaded after some work", initLine + started + failed("529", "Overloaded"), 1, nil, turn.Overloaded, turn.Yes},
		{"wrong key, tried again", initLine + `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":9,"retry_delay_ms":5,"error_status":401,"error":"authentication_failed"}`, 1, nil, turn.NotSignedIn, turn.Nothing},
		{"tools although forbidden", initLine + resultLine, 0, forbid, turn.Forbidden, turn.Maybe},
		{"server although forbidden", strings.NewReplacer(`["Bash"]`, "[]", `"mcp_servers":[]`, `"mcp_servers":[{"name":"demo","status":"connected"}]`).Replace(initLine) + resultLine, 0, forbid, turn.Forbidden, turn.Maybe},
		{"ran a tool although forbidden", strings.Replace(initLine, `["Bash"]`, "[]", 1) + `{"type":"user","message":{"content":[{"type":"tool_result","content":"done"}]}}` + "\n" + resultLine, 0, forbid, turn.Forbidden, turn.Yes},
		{"refused a tool", strings.Replace(initLine, `["Bash"]`, "[]", 1) + `{"type":"user","message":{"content":[{"type":"tool_result","is_error":true}]}}` + "\n" + resultLine, 0, forbid, "", ""},
		{"no data for the schema", initLine + resultLine, 0, func(t *turn.Turn) { t.Schema = []byte("{}") }, turn.Nonsense, turn.Yes},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			next := standIn(t, misbehave.EnvHow+"="+misbehave.Say, misbehave.EnvText+"="+tt.text, fmt.Sprintf("%s=%d", misbehave.EnvExit, tt.exit))
			if tt.change != nil {
				tt.change(&next)
			}
			reply, err := New().Do(t.Context(), next, nil)
			if tt.kind != "" {
				wantFailure(t, tt.kind, tt.spent, err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := (turn.Usage{Input: 7, Cached: 4, Output: 8, Cost: 0.5, Priced: true, Known: true}); reply.Text != "Hi." || reply.Usage != want {
				t.Errorf("reply %+v", reply)
			}
		})
	}
}

func TestRetryAfterAndProgress(t *testing.T) {
	t.Parallel()
	text := initLine +
		`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":2,"retry_delay_ms":1500,"error_status":429,"error":"rate_limit"}` + "\n" +
		`{"type":"stream_event","event":{"type":"message_start","message":{"usage":{"input_tokens":5,"output_tokens":1}}}}` + "\n" +
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"Let me "}}}` + "\n" +
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"see."}}}` + "\n" +
		`{"type":"assistant","message":{"content":[{"type":"text","text":"Let me see."},{"type":"tool_use","name":"Bash","input":{"command":"ls\n-l"}}]}}` + "\n" +
		`{"type":"stream_event","parent_tool_use_id":"x","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"of a sub-agent"}}}` + "\n" +
		`{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":9}}}` + "\n" +
		`{"type":"stream_event","event":{"type":"message_start","message":{"usage":{"input_tokens":6,"output_tokens":1}}}}` + "\n" +
		`{"type":"assistant","message":{"content":[{"type":"text","text":"Well."}]}}` + "\n" +
		`{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"num_turns":2,"result":"API Error: 429","session_id":"SESSION"}` + "\n"
	next := standIn(t, misbehave.EnvHow+"="+misbehave.Say, misbehave.EnvText+"="+text, misbehave.EnvExit+"=1")
	next.Session = known
	var steps []turn.Progress
	reply, err := New().Do(t.Context(), next, func(p turn.Progress) { steps = append(steps, p) })
	wantFailure(t, turn.Quota, turn.Yes, err)
	if failure := (*turn.Failure)(nil); !errors.As(err, &failure) || failure.RetryAfter != 1500*time.Millisecond {
		t.Errorf("retry after %v", failure.RetryAfter)
	}
	want := []turn.Progress{
		turn.Started{Session: known},
		turn.Notice{Text: "request failed (rate_limit), try 1 of 2 in 1.5s"},
		turn.Text{Delta: "Let me "},
		turn.Text{Delta: "see."},
		turn.Tool{Name: "Bash", Detail: "ls -l"},
		turn.Text{Delta: "\n\nWell."},
	}
	if !reflect.DeepEqual(steps, want) {
		t.Errorf("progress\n%q, want\n%q", steps, want)
	}
	if u := reply.Usage; u.Input != 11 || u.Output != 10 || !u.Known {
		t.Errorf("usage of a turn without one in its result: %+v", u)
	}
}

func TestEndedContextStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := New().Do(ctx, standIn(t, misbehave.EnvHow+"="+misbehave.Silent), nil)
	wantFailure(t, turn.Cancelled, turn.Nothing, err)
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
