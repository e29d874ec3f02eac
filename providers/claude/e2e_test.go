//go:build unix

package claude

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
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
	binary := clienttest.Claude(t)
	server := fakemodel.New(replies...)
	t.Cleanup(server.Close)
	home := t.TempDir()
	return &real{Server: server, home: home, turn: turn.Turn{
		Dir: t.TempDir(), Deadline: 2 * time.Minute, Permissions: turn.Permissions{Command: []string{binary}},
		Env: []string{
			"HOME=" + home, "CLAUDE_CONFIG_DIR=" + filepath.Join(home, "config"), "ANTHROPIC_BASE_URL=" + server.URL,
			"ANTHROPIC_API_KEY=sk-test", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=0",
		},
	}}
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

func resume(session string) func(*turn.Turn) { return func(t *turn.Turn) { t.Session = session } }

func TestRealNewSessionThenResume(t *testing.T) {
	t.Parallel()
	r := newReal(t, fakemodel.Reply{Text: "Noted."}, fakemodel.Reply{Text: "It was plum.", Usage: &fakemodel.Usage{Input: 5, Cached: 20, Output: 3}})
	first, steps, err := r.do(t, "The word is plum.")
	if err != nil {
		t.Fatal(err)
	}
	if first.Text != "Noted." || first.Session == "" || first.Usage.Tokens() != 18 || !first.Usage.Priced || first.Usage.Cost <= 0 || !first.Usage.Known {
		t.Errorf("reply %+v", first)
	}
	if want := []turn.Progress{turn.Started{Session: first.Session}, turn.Text{Delta: "Noted."}}; !slices.Equal(steps, want) {
		t.Errorf("progress %v", steps)
	}
	second, _, err := r.do(t, "Which word?", resume(first.Session))
	if err != nil {
		t.Fatal(err)
	}
	if second.Text != "It was plum." || second.Session != first.Session {
		t.Errorf("reply %+v", second)
	}
	if u := second.Usage; u.Input != 25 || u.Cached != 20 || u.Output != 3 {
		t.Errorf("usage %+v", u)
	}
	requests := r.Requests()
	history := strings.Join(requests[len(requests)-1].Turns, "\n")
	if !strings.Contains(history, "The word is plum.") || requests[len(requests)-1].Prompt != "Which word?" {
		t.Errorf("the model was sent %q", history)
	}
	if len(requests[0].Tools) == 0 {
		t.Error("an ordinary turn has no tools")
	}
}

// TestRealForbidden gives the program everything that could act: a server of its project, a hook, tools that the model asks for.
func TestRealForbidden(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "written")
	r := newReal(t,
		fakemodel.Reply{Tools: []fakemodel.Tool{
			{Name: "Write", Input: map[string]any{"file_path": target, "content": "x"}},
			{Name: "Bash", Input: map[string]any{"command": "touch " + target}},
		}},
		fakemodel.Reply{Text: "I could not."})
	clienttest.Write(t, filepath.Join(r.turn.Dir, ".mcp.json"), `{"mcpServers":{"demo":{"command":"touch","args":["`+target+`"]}}}`)
	clienttest.Write(t, filepath.Join(r.turn.Dir, ".claude", "settings.json"), `{"permissions":{"allow":["Write","Bash"]},"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch `+target+`"}]}]}}`)
	reply, _, err := r.do(t, "Write a file.", forbid)
	if err != nil || reply.Text != "I could not." {
		t.Fatalf("reply %+v, %v", reply, err)
	}
	for _, request := range r.Requests() {
		if len(request.Tools) > 0 {
			t.Errorf("offered %v", request.Tools)
		}
	}
	if _, err := os.Stat(target); err == nil {
		t.Error("something acted")
	}
}

func TestRealPermissions(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "written")
	call := fakemodel.Reply{Tools: []fakemodel.Tool{{Name: "Write", Input: map[string]any{"file_path": target, "content": "x"}}}}
	r := newReal(t, call, fakemodel.Reply{Text: "no"}, call, fakemodel.Reply{Text: "yes"}, fakemodel.Reply{Text: "none"})
	reply, steps, err := r.do(t, "Write.")
	if err != nil || len(reply.Denied) != 1 || reply.Denied[0] != "Write "+target {
		t.Errorf("default: %+v, %v", reply, err)
	}
	if !slices.Contains(steps, turn.Progress(turn.Tool{Name: "Write", Detail: target})) {
		t.Errorf("progress %v", steps)
	}
	reply, _, err = r.do(t, "Write.", func(t *turn.Turn) { t.Permissions.Allow = []string{"Write"} })
	if err != nil || len(reply.Denied) != 0 {
		t.Errorf("allowed: %+v, %v", reply, err)
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "x" {
		t.Errorf("wrote %q, %v", text, err)
	}
	if _, _, err = r.do(t, "Go.", func(t *turn.Turn) { t.Permissions.Deny = []string{"Write", "Bash"}; t.Permissions.Mode = "plan" }); err != nil {
		t.Fatal(err)
	}
	requests := r.Requests()
	if tools := requests[len(requests)-1].Tools; slices.Contains(tools, "Write") || slices.Contains(tools, "Bash") || !slices.Contains(tools, "Read") {
		t.Errorf("offered %v", tools)
	}
}

func TestRealSchema(t *testing.T) {
	t.Parallel()
	schema := []byte(`{"type":"object","properties":{"vote":{"type":"string"}},"required":["vote"],"additionalProperties":false}`)
	answer := fakemodel.Reply{Tools: []fakemodel.Tool{{Name: structuredOutput, Input: map[string]any{"vote": "yes"}}}}
	ask := func(t *turn.Turn) { t.Schema = schema; t.Permissions.Forbid = true }
	r := newReal(t, answer, fakemodel.Reply{Text: "done"})
	reply, _, err := r.do(t, "Vote.", ask)
	if err != nil || string(bytes.ReplaceAll(reply.Data, []byte(" "), nil)) != `{"vote":"yes"}` {
		t.Errorf("reply %+v %s, %v", reply, reply.Data, err)
	}
	for _, request := range r.Requests() {
		if len(request.Tools) != 1 || request.Tools[0] != structuredOutput {
			t.Errorf("offered %v", request.Tools)
		}
	}
	r = newReal(t, fakemodel.Reply{Text: "I vote yes.", Times: -1})
	wantFailure(t, turn.Nonsense, turn.Yes, third(r.do(t, "Vote.", ask)))
}

// TestRealPromptsAreInert sends what the program would expand, and looks at what the model received.
func TestRealPromptsAreInert(t *testing.T) {
	t.Parallel()
	const secret = "the-content-of-the-file"
	outside := filepath.Join(t.TempDir(), "outside.txt")
	clienttest.Write(t, outside, secret)
	// Those of which the beginning matters have a turn each, many others one together, which begins with a file too.
	prompts := []string{
		"/compact", "/foo bar", " /clear", "\n/help", "\u00a0/compact", "\u200b/compact", `@"` + outside + `"`, "!touch touched", "# remember",
	}
	var many []string
	for _, path := range []string{outside, "inside.txt", "./inside.txt", `"` + outside + `"`, `"inside.txt"`, outside + "#L1", outside + "#L1-2"} {
		many = append(many, "@"+path, "see @"+path, "see\n@"+path+" please", "\t@"+path, "\u00a0@"+path, "\u3000@"+path, "\u2028@"+path,
			"(@"+path+")", "`@"+path+"`", "[@"+path+"]", "{@"+path, "<@"+path+">", "'@"+path+"'", ":@"+path, ",@"+path, "—@"+path, "@@"+path, "x@"+path,
			"\u200b@"+path, "\ufeff@"+path, "/@"+path, "> @"+path, "- @"+path, "ü@"+path, `"@`+path+`"`, `see "@`+path+` @`+path+`"`)
	}
	many = append(many, "!touch touched", "# remember this", "! @"+outside)
	for _, p := range append(prompts, strings.Join(many, "\n")) {
		t.Run(fmt.Sprintf("%.12q", p), func(t *testing.T) {
			t.Parallel()
			r := newReal(t)
			clienttest.Write(t, filepath.Join(r.turn.Dir, "inside.txt"), secret)
			reply, _, err := r.do(t, p, forbid)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := strings.ReplaceAll(strings.TrimSpace(strings.TrimPrefix(reply.Text, "echo:")), "\u200b", ""),
				strings.ReplaceAll(strings.TrimSpace(p), "\u200b", ""); strings.Trim(got, "\ufeff\u00a0") != strings.Trim(want, "\ufeff\u00a0") {
				t.Errorf("arrived as %q", got)
			}
			requests := r.Requests()
			if len(requests) != 1 || bytes.Contains(requests[0].Body, []byte(secret)) {
				t.Errorf("%d requests, or a file was attached", len(requests))
			}
			if _, err := os.Stat(filepath.Join(r.turn.Dir, "touched")); err == nil {
				t.Error("a command ran")
			}
		})
	}
}

func TestRealFailures(t *testing.T) {
	t.Parallel()
	always := func(r fakemodel.Reply) fakemodel.Reply { r.Times = -1; return r }
	tests := []struct {
		name   string
		reply  fakemodel.Reply
		change func(*turn.Turn)
		kind   turn.Kind
		spent  turn.Spent
	}{
		{"wrong key", fakemodel.Reply{Status: 401, Message: "invalid x-api-key"}, nil, turn.NotSignedIn, turn.Nothing},
		{"bad request", fakemodel.Reply{Status: 400, Message: "bad request"}, nil, turn.Rejected, turn.Nothing},
		{"no such model", fakemodel.Reply{Status: 404, Message: "model: xyz"}, nil, turn.Rejected, turn.Nothing},
		{"too long", fakemodel.Reply{Status: 400, Message: "prompt is too long: 250000 tokens > 200000 maximum"}, nil, turn.TooLong, turn.Nothing},
		{"rate limit", fakemodel.Reply{Status: 429, Message: "rate limited"}, nil, turn.Quota, turn.Nothing},
		{"overloaded", fakemodel.Reply{Status: 529, Message: "Overloaded"}, nil, turn.Overloaded, turn.Nothing},
		{"server error", fakemodel.Reply{Status: 500, Message: "boom"}, nil, turn.Overloaded, turn.Maybe},
		{"no JSON", fakemodel.Reply{Malformed: true}, nil, turn.Nonsense, turn.Maybe},
		{"nothing said", fakemodel.Reply{}, nil, turn.Nonsense, turn.Yes},
		{"unreachable", fakemodel.Reply{}, env("ANTHROPIC_BASE_URL=http://127.0.0.1:1"), turn.Unreachable, turn.Nothing},
		{"no key", fakemodel.Reply{}, env("ANTHROPIC_API_KEY="), turn.NotSignedIn, turn.Nothing},
		{"unknown session", fakemodel.Reply{}, resume("0e7d3a62-7a0e-4f7e-9c39-3f1f0f8a1234"), turn.UnknownSession, turn.Nothing},
		{"bad schema", fakemodel.Reply{}, func(t *turn.Turn) { t.Schema = []byte("nonsense") }, turn.Crashed, turn.Nothing},
		{"timeout", fakemodel.Reply{Hang: fakemodel.HangSilent}, func(t *turn.Turn) { t.Deadline = 4 * time.Second }, turn.Timeout, turn.Maybe},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newReal(t, always(tt.reply))
			change := tt.change
			if change == nil {
				change = func(*turn.Turn) {}
			}
			_, _, err := r.do(t, "Hello.", change)
			wantFailure(t, tt.kind, tt.spent, err)
		})
	}
}

func TestRealRetriesAreShown(t *testing.T) {
	t.Parallel()
	r := newReal(t, fakemodel.Reply{Status: 500, Message: "boom", Header: http.Header{"Retry-After": {"1"}}}, fakemodel.Reply{Text: "At last."})
	reply, steps, err := r.do(t, "Hello.", env("CLAUDE_CODE_MAX_RETRIES=1"))
	if err != nil || reply.Text != "At last." {
		t.Fatalf("reply %+v, %v", reply, err)
	}
	if !slices.ContainsFunc(steps, func(p turn.Progress) bool { _, ok := p.(turn.Notice); return ok }) {
		t.Errorf("no notice in %v", steps)
	}
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
			streaming := make(chan struct{})
			go func() {
				reply, err := New().Do(ctx, next, func(p turn.Progress) {
					if text, ok := p.(turn.Text); ok && text.Delta == "Half of an" {
						close(streaming)
					}
				})
				done <- outcome{reply, err}
			}()
			select {
			case <-streaming:
			case got := <-done:
				t.Fatalf("ended too early: %+v", got)
			case <-time.After(clienttest.Patience):
				t.Fatal("waited in vain for the answer to begin")
			}
			if lines := clienttest.CommandLines(t, "claude"); len(lines) == 0 || strings.Contains(strings.Join(lines, "\n"), next.Prompt) {
				t.Errorf("command lines %q", lines)
			}
			from := time.Now()
			cancel(tt.cause)
			got := clienttest.Receive(t, done)
			if took := time.Since(from); took > tt.within+5*time.Second {
				t.Errorf("took %v", took)
			}
			wantFailure(t, turn.Cancelled, turn.Yes, got.err)
			again, _, err := r.do(t, "Go on.", resume(got.reply.Session))
			if err != nil || !strings.Contains(again.Text, "Go on.") {
				t.Errorf("after the stop: %+v, %v", again, err)
			}
		})
	}
}

func TestRealDetect(t *testing.T) {
	bin := t.TempDir()
	if err := os.Symlink(clienttest.Claude(t), filepath.Join(bin, "claude")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("CLAUDE_CONFIG_DIR", t.TempDir())
	t.Setenv("ANTHROPIC_API_KEY", "")
	found, err := New().Detect(t.Context(), nil)
	wantFailure(t, turn.NotSignedIn, turn.Nothing, err)
	if !strings.Contains(found.Version, "Claude Code") || found.Path != filepath.Join(bin, "claude") || found.SignedIn {
		t.Errorf("found %+v", found)
	}
	t.Setenv("ANTHROPIC_API_KEY", "sk-test")
	found, err = New().Detect(t.Context(), nil)
	if err != nil || !found.SignedIn || found.Account == "" || strings.Contains(found.Account, "sk-") {
		t.Errorf("found %+v, %v", found, err)
	}
}

func env(kv string) func(*turn.Turn) {
	return func(t *turn.Turn) { t.Env = append(slices.Clone(t.Env), kv) }
}

func third(_ turn.Reply, _ []turn.Progress, err error) error { return err }

func wantFailure(t *testing.T, kind turn.Kind, spent turn.Spent, err error) {
	t.Helper()
	clienttest.WantFailure(t, Name, kind, spent, err)
}
