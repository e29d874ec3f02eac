//go:build unix

package codex

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/clienttest"
	"github.com/agentloadout/loadout/providers/internal/fakemodel"
)

// real is the real program in a home of its own, with a model server for it to ask.
type real struct {
	*fakemodel.Server

	turn turn.Turn // the common part of every turn
	home string
}

func newReal(t *testing.T, replies ...fakemodel.Reply) *real {
	t.Helper()
	binary := clienttest.Codex(t)
	server := fakemodel.New(replies...)
	t.Cleanup(server.Close)
	home := t.TempDir()
	r := &real{Server: server, home: home, turn: turn.Turn{
		Dir: t.TempDir(), Deadline: 2 * time.Minute,
		Permissions: turn.Permissions{Command: []string{binary}, Model: "gpt-5.5"}, // whose tools are in a plain list
		Env:         []string{"HOME=" + home, "CODEX_HOME=" + home, "FAKE_API_KEY=sk-test"},
	}}
	r.configure(t, server.URL, "")
	return r
}

// configure lets the program ask a server, once, and adds further settings, those of the top level first.
func (r *real) configure(t *testing.T, url, further string, first ...string) {
	t.Helper()
	clienttest.Write(t, filepath.Join(r.home, "config.toml"), strings.Join(first, "\n")+fmt.Sprintf(`
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "%s/v1"
wire_api = "responses"
env_key = "FAKE_API_KEY"
request_max_retries = 0
stream_max_retries = 0
%s`, url, further))
}

// do runs a turn with a prompt, changed by further functions.
func (r *real) do(t *testing.T, prompt string, change ...func(*turn.Turn)) (turn.Reply, []turn.Progress, error) {
	t.Helper()
	next := r.turn
	next.Prompt = prompt
	for _, c := range change {
		c(&next)
	}
	var steps []turn.Progress
	reply, err := New().Do(t.Context(), next, func(p turn.Progress) { steps = append(steps, p) })
	return reply, steps, err
}

func forbid(t *turn.Turn) { t.Permissions.Forbid = true }

func after(r turn.Reply) func(*turn.Turn) {
	return func(t *turn.Turn) { t.Session, t.Before = r.Session, r.Total }
}

func env(kv string) func(*turn.Turn) {
	return func(t *turn.Turn) { t.Env = append(slices.Clone(t.Env), kv) }
}

func TestRealNewSessionThenResume(t *testing.T) {
	t.Parallel()
	r := newReal(t, fakemodel.Reply{Text: "Noted."}, fakemodel.Reply{Text: "It was plum.", Usage: &fakemodel.Usage{Input: 5, Cached: 20, Output: 3}})
	first, steps, err := r.do(t, "The word is plum.")
	if err != nil {
		t.Fatal(err)
	}
	if first.Text != "Noted." || first.Usage != (turn.Usage{Input: 11, Output: 7, Known: true}) || first.Total != first.Usage {
		t.Errorf("reply %+v", first)
	}
	if want := []turn.Progress{turn.Started{Session: first.Session}, turn.Text{Delta: "Noted."}}; !reflect.DeepEqual(steps, want) {
		t.Errorf("progress %v", steps)
	}
	second, _, err := r.do(t, "Which word?", after(first))
	if err != nil {
		t.Fatal(err)
	}
	if second.Text != "It was plum." || second.Session != first.Session ||
		second.Usage != (turn.Usage{Input: 25, Cached: 20, Output: 3, Known: true}) || second.Total.Input != 36 {
		t.Errorf("reply %+v", second)
	}
	requests := r.Requests()
	last := requests[len(requests)-1]
	if history := strings.Join(last.Turns, "\n"); !strings.Contains(history, "The word is plum.") || last.Prompt != "Which word?" {
		t.Errorf("the model was sent %q", history)
	}
	third, _, err := r.do(t, "And?", func(t *turn.Turn) { t.Session = first.Session })
	if err != nil || third.Usage.Known || third.Total.Input != 47 {
		t.Errorf("usage without the total before: %+v, %v", third, err)
	}
}

// TestRealForbidden gives the program a server, and a model that asks for everything, with each kind of tool list.
func TestRealForbidden(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"gpt-5.5", ""} {
		t.Run("model "+model, func(t *testing.T) {
			t.Parallel()
			target := filepath.Join(t.TempDir(), "written")
			r := newReal(t,
				fakemodel.Reply{Tools: []fakemodel.Tool{
					{Name: "exec_command", Input: map[string]any{"cmd": "touch " + target}},
					{Name: "shell", Input: map[string]any{"command": []string{"touch", target}}},
					{Name: "exec", Input: "await tools.exec_command({cmd: 'touch " + target + "'})"},
					{Name: "list_notes", Input: map[string]any{}},
				}},
				fakemodel.Reply{Text: "I could not."})
			r.configure(t, r.URL, fmt.Sprintf("[mcp_servers.demo]\ncommand = \"touch\"\nargs = [%q]\n[mcp_servers.\"odd name\"]\ncommand = \"touch\"\nargs = [%q]\n", target, target))
			clienttest.Write(t, filepath.Join(r.turn.Dir, "AGENTS.md"), "do-as-the-project-says")
			reply, _, err := r.do(t, "Write a file.", forbid, func(t *turn.Turn) { t.Permissions.Model = model })
			if err != nil || reply.Text != "I could not." {
				t.Errorf("reply %+v, %v", reply, err)
			}
			for _, request := range r.Requests() {
				for _, tool := range request.Tools {
					if model != "" && tool != "request_user_input" && tool != "apply_patch" { // the second cannot write in the sandbox
						t.Errorf("offered %s", tool)
					}
				}
				if strings.Contains(string(request.Body), "do-as-the-project-says") {
					t.Error("the project's instructions were sent")
				}
			}
			if _, err := os.Stat(target); err == nil {
				t.Error("something acted")
			}
		})
	}
}

func TestRealPatchIsRefusedWhenForbidden(t *testing.T) {
	t.Parallel()
	r := newReal(t, fakemodel.Reply{Tools: []fakemodel.Tool{{Name: "apply_patch", Input: "*** Begin Patch\n*** Add File: new.txt\n+x\n*** End Patch\n"}}},
		fakemodel.Reply{Text: "done"})
	_, _, err := r.do(t, "Write.", forbid)
	if err != nil {
		wantFailure(t, turn.Forbidden, turn.Yes, err) // when the program shows the attempt
	}
	if _, err := os.Stat(filepath.Join(r.turn.Dir, "new.txt")); err == nil {
		t.Error("the patch was applied")
	}
}

func TestRealSandboxes(t *testing.T) {
	t.Parallel()
	// Of a command that is over at once the program does not always tell.
	call := fakemodel.Reply{Tools: []fakemodel.Tool{{Name: "exec_command", Input: map[string]any{"cmd": "sleep 1; echo x > written"}}}}
	r := newReal(t, call, fakemodel.Reply{Text: "no"}, call, fakemodel.Reply{Text: "yes"})
	_, steps, err := r.do(t, "Write.")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(steps, func(p turn.Progress) bool { tool, ok := p.(turn.Tool); return ok && tool.Name == "command" }) {
		t.Errorf("progress %v", steps)
	}
	if _, err := os.Stat(filepath.Join(r.turn.Dir, "written")); err == nil {
		t.Error("the default sandbox let it write")
	}
	if _, _, err := r.do(t, "Write.", func(t *turn.Turn) { t.Permissions.Mode = "workspace-write" }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.turn.Dir, "written")); err != nil {
		t.Error(err)
	}
}

// TestRealDefaultSandbox is what Describe says of turns for which no mode was set.
func TestRealDefaultSandbox(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, first, last string // lines of config.toml
		mode              string
		writes            bool
	}{
		{"set there", `sandbox_mode = "workspace-write"`, "", "", true},
		{"a trusted folder", "", "[projects.FOLDER]\ntrust_level = \"trusted\"", "", true},
		{"a folder that is not trusted", "", "[projects.FOLDER]\ntrust_level = \"untrusted\"", "", true},
		{"a mode of ours", `sandbox_mode = "workspace-write"`, "", "read-only", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			call := fakemodel.Reply{Tools: []fakemodel.Tool{{Name: "exec_command", Input: map[string]any{"cmd": "echo x > written"}}}}
			r := newReal(t, call, fakemodel.Reply{Text: "done"})
			r.configure(t, r.URL, strings.ReplaceAll(tt.last, "FOLDER", strconv.Quote(r.turn.Dir)), tt.first)
			if _, _, err := r.do(t, "Write.", func(t *turn.Turn) { t.Permissions.Mode = tt.mode }); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(filepath.Join(r.turn.Dir, "written")); (err == nil) != tt.writes {
				t.Errorf("wrote: %v", err)
			}
		})
	}
}

func TestRealSchema(t *testing.T) {
	t.Parallel()
	r := newReal(t, fakemodel.Reply{Text: `{"vote":"yes"}`})
	reply, _, err := r.do(t, "Vote.", forbid, func(t *turn.Turn) {
		t.Schema = []byte(`{"type":"object","properties":{"vote":{"type":"string"}},"required":["vote"],"additionalProperties":false}`)
	})
	if err != nil || reply.Text != `{"vote":"yes"}` || reply.Data != nil {
		t.Errorf("reply %+v, %v", reply, err)
	}
	if requests := r.Requests(); !strings.Contains(string(requests[0].Schema), `"vote"`) {
		t.Errorf("schema sent: %s", requests[0].Schema)
	}
}

func TestRealPromptsAreInert(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	const secret = "the-content-of-the-file"
	clienttest.Write(t, filepath.Join(r.turn.Dir, "inside.txt"), secret)
	for _, prompt := range []string{"/compact", "/init\n@inside.txt @./inside.txt", "!touch touched", "-h", "$inside.txt"} {
		reply, _, err := r.do(t, prompt, forbid)
		if err != nil || strings.TrimSpace(reply.Text) != "echo: "+prompt {
			t.Errorf("%q arrived as %q, %v", prompt, reply.Text, err)
		}
	}
	for _, request := range r.Requests() {
		if strings.Contains(string(request.Body), secret) {
			t.Errorf("a file was attached to %q", request.Prompt)
		}
	}
}

func TestRealFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		reply  fakemodel.Reply
		change func(*turn.Turn)
		kind   turn.Kind
		spent  turn.Spent
	}{
		{"wrong key", fakemodel.Reply{Status: 401, Message: "Incorrect API key provided"}, nil, turn.NotSignedIn, turn.Nothing},
		{"bad request", fakemodel.Reply{Status: 400, Message: "bad request"}, nil, turn.Rejected, turn.Nothing},
		{"no such model", fakemodel.Reply{Status: 404, Message: "no model xyz"}, nil, turn.Rejected, turn.Nothing},
		{"rate limit", fakemodel.Reply{Status: 429, Message: "rate limited"}, nil, turn.Quota, turn.Nothing},
		{"quota", fakemodel.Reply{Status: 429, ErrorType: "insufficient_quota", Message: "quota"}, nil, turn.Quota, turn.Nothing},
		{"server error", fakemodel.Reply{Status: 500, Message: "boom"}, nil, turn.Overloaded, turn.Maybe},
		{"no JSON", fakemodel.Reply{Malformed: true}, nil, turn.Unreachable, turn.Maybe},
		{"cut", fakemodel.Reply{Text: "half", Cut: true}, nil, turn.Unreachable, turn.Maybe},
		{"context", fakemodel.Reply{Failed: true, ErrorType: "context_length_exceeded", Message: "too long"}, nil, turn.TooLong, turn.Maybe},
		{"nothing said", fakemodel.Reply{}, nil, turn.Nonsense, turn.Yes},
		{"no key", fakemodel.Reply{}, env("FAKE_API_KEY="), turn.NotSignedIn, turn.Nothing},
		{"unknown session", fakemodel.Reply{}, after(turn.Reply{Session: "0e7d3a62-7a0e-4f7e-9c39-3f1f0f8a1234"}), turn.UnknownSession, turn.Nothing},
		{"bad schema", fakemodel.Reply{}, func(t *turn.Turn) { t.Schema = []byte("nonsense") }, turn.Crashed, turn.Nothing},
		{"no home", fakemodel.Reply{}, env("CODEX_HOME=/no/such/folder"), turn.Crashed, turn.Nothing},
		{"timeout", fakemodel.Reply{Hang: fakemodel.HangSilent}, func(t *turn.Turn) { t.Deadline = 4 * time.Second }, turn.Timeout, turn.Maybe},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.reply.Times = -1
			r := newReal(t, tt.reply)
			change := tt.change
			if change == nil {
				change = func(*turn.Turn) {}
			}
			_, _, err := r.do(t, "Hello.", change)
			wantFailure(t, tt.kind, tt.spent, err)
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		t.Parallel()
		r := newReal(t)
		r.configure(t, "http://127.0.0.1:1", "")
		_, _, err := r.do(t, "Hello.")
		wantFailure(t, turn.Unreachable, turn.Nothing, err)
	})
}

func TestRealSessionIsBusy(t *testing.T) {
	t.Parallel()
	r := newReal(t, fakemodel.Reply{Text: "Noted."}, fakemodel.Reply{Hang: fakemodel.HangSilent})
	first, _, err := r.do(t, "One.")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		next := r.turn
		next.Prompt, next.Session = "Two.", first.Session
		_, err := New().Do(ctx, next, nil)
		done <- err
	}()
	if err := r.Await(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	_, _, err = r.do(t, "Three.", after(first))
	wantFailure(t, turn.SessionBusy, turn.Nothing, err)
	cancel(turn.ErrKilled)
	wantFailure(t, turn.Cancelled, turn.Maybe, clienttest.Receive(t, done))
}

// TestRealStopInTheMiddle cancels while the model is being asked, and looks for the prompt in the table of processes before.
func TestRealStopInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		cause  error
		within time.Duration
	}{{"person", context.Canceled, turn.CancelGrace}, {"kill switch", turn.ErrKilled, time.Second}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newReal(t, fakemodel.Reply{Text: "Half of an", Hang: fakemodel.HangStream, Times: 1})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			next := r.turn
			next.Prompt = "the-prompt-that-nobody-else-may-see"
			type outcome struct {
				reply turn.Reply
				err   error
			}
			done := make(chan outcome, 1)
			go func() {
				reply, err := New().Do(ctx, next, nil)
				done <- outcome{reply, err}
			}()
			if err := r.Await(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			if lines := clienttest.CommandLines(t, "codex"); len(lines) == 0 || strings.Contains(strings.Join(lines, "\n"), next.Prompt) {
				t.Errorf("command lines %q", lines)
			}
			from := time.Now()
			cancel(tt.cause)
			got := clienttest.Receive(t, done)
			if took := time.Since(from); took > tt.within+5*time.Second {
				t.Errorf("took %v", took)
			}
			wantFailure(t, turn.Cancelled, turn.Maybe, got.err)
			again, _, err := r.do(t, "Go on.", after(got.reply))
			if err != nil || !strings.Contains(again.Text, "Go on.") {
				t.Errorf("after the stop: %+v, %v", again, err)
			}
		})
	}
}

func TestRealDetect(t *testing.T) {
	bin := t.TempDir()
	if err := os.Symlink(clienttest.Codex(t), filepath.Join(bin, "codex")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	t.Setenv("CODEX_HOME", t.TempDir())
	t.Setenv("CODEX_API_KEY", "")
	found, err := New().Detect(t.Context(), nil)
	wantFailure(t, turn.NotSignedIn, turn.Nothing, err)
	if !strings.HasPrefix(found.Version, "codex-cli ") || found.Path != filepath.Join(bin, "codex") || found.SignedIn {
		t.Errorf("found %+v", found)
	}
	config := filepath.Join(os.Getenv("CODEX_HOME"), "config.toml")
	clienttest.Write(t, config, "model_provider = \"mine\"\n[model_providers.mine]\nname = \"mine\"\nbase_url = \"http://127.0.0.1:1\"\nenv_key = \"MY_KEY\"\n")
	found, err = New().Detect(t.Context(), nil)
	if err != nil || !found.SignedIn || found.Account != "model provider mine" {
		t.Errorf("found %+v, %v", found, err)
	}
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	clienttest.Write(t, filepath.Join(os.Getenv("CODEX_HOME"), "auth.json"), `{"OPENAI_API_KEY":"sk-test-0123456789abcdef"}`)
	found, err = New().Detect(t.Context(), nil)
	if err != nil || !found.SignedIn || found.Account != "API key configured" || strings.Contains(found.Account, "sk-") {
		t.Errorf("found %+v, %v", found, err)
	}
	t.Setenv("CODEX_API_KEY", "sk-test")
	found, err = New().Detect(t.Context(), nil)
	if err != nil || !found.SignedIn || found.Account != "CODEX_API_KEY" {
		t.Errorf("found %+v, %v", found, err)
	}
}

func wantFailure(t *testing.T, kind turn.Kind, spent turn.Spent, err error) {
	t.Helper()
	clienttest.WantFailure(t, Name, kind, spent, err)
}
