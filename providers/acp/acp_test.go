//go:build unix

package acp

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/clienttest"
	"github.com/agentloadout/loadout/providers/internal/misbehave"
)

const name = "stand-in"

func standIn(t *testing.T, how string) turn.Turn {
	t.Helper()
	return turn.Turn{Dir: t.TempDir(), Prompt: "Hello.", Deadline: time.Minute, Env: []string{envAgent + "=" + how}}
}

// do runs a turn of a stand-in that is named in the settings.
func do(t *testing.T, next turn.Turn) (turn.Reply, []turn.Progress, error) {
	t.Helper()
	var steps []turn.Progress
	reply, err := New(name, []string{os.Args[0]}).Do(t.Context(), next, func(p turn.Progress) { steps = append(steps, p) })
	return reply, steps, err
}

func TestTurn(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"plain", "chatty", "stays"} {
		next := standIn(t, how)
		next.Prompt = "/help @file"
		next.Permissions.Mode = "ask"
		reply, steps, err := do(t, next)
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		const text = "You said: \n/help @\u200bfile"
		if reply.Text != text || reply.Session != "session-1" || reply.Usage != (turn.Usage{Input: 25, Cached: 20, Output: 7, Known: true}) {
			t.Errorf("%s: reply %+v", how, reply)
		}
		want := []turn.Progress{turn.Started{Session: "session-1"}, turn.Text{Delta: "You said: "}, turn.Text{Delta: "\n/help @\u200bfile"}}
		if !reflect.DeepEqual(steps, want) {
			t.Errorf("%s: progress %q", how, steps)
		}
	}
}

// TestResume goes on in a session, of which 5,000 updates are replayed where the agent cannot do without.
func TestResume(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"plain", "resumes"} {
		next := standIn(t, how)
		next.Session = "session-1"
		reply, steps, err := do(t, next)
		if err != nil || reply.Text != "You said: Hello." || len(steps) != 3 {
			t.Errorf("%s: reply %+v, %d steps, %v", how, reply, len(steps), err)
		}
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		permissions turn.Permissions
		text        string
		denied      []string
	}{
		{"default", turn.Permissions{}, "Let me see.\n\nread no\n\nedit no", []string{"read x.go", "edit x.go"}},
		{"allowed", turn.Permissions{Allow: []string{"read", "edit"}, Deny: []string{"edit"}}, "Let me see.\n\nread yes\n\nedit no", []string{"edit x.go"}},
		{"forbidden", turn.Permissions{Forbid: true}, "Let me see.\n\nread no\n\nedit no", []string{"read x.go", "edit x.go"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			next := standIn(t, "asks")
			next.Permissions = tt.permissions
			reply, _, err := do(t, next)
			if err != nil || reply.Text != tt.text || !reflect.DeepEqual(reply.Denied, tt.denied) {
				t.Errorf("reply %+v, %v", reply, err)
			}
		})
	}
	reply, _, err := do(t, standIn(t, "curious"))
	if err != nil || reply.Text != "read true, run true" {
		t.Errorf("files and terminals: %+v, %v", reply, err)
	}
}

func TestDescribe(t *testing.T) {
	p := New(name, nil)
	for _, permissions := range []turn.Permissions{
		{Allow: []string{"Bash"}}, {Deny: []string{""}}, {Model: "opus"}, {Forbid: true, Mode: "ask"}, {Forbid: true, Allow: []string{"read"}},
	} {
		_, err := p.Describe(permissions)
		clienttest.WantFailure(t, name, turn.Rejected, turn.Nothing, err)
	}
	text, err := p.Describe(turn.Permissions{Mode: "ask", Allow: []string{"read", "search"}})
	if err != nil || !strings.HasSuffix(text, "but for: read, search; mode ask") {
		t.Errorf("%q, %v", text, err)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		how    string
		change func(*turn.Turn)
		kind   turn.Kind
		spent  turn.Spent
		says   string
	}{
		{"old", nil, turn.Rejected, turn.Nothing, "version"},
		{"signed-out", nil, turn.NotSignedIn, turn.Nothing, "log in first"},
		{"nameless", nil, turn.Nonsense, turn.Nothing, "without an id"},
		{"odd-name", nil, turn.Nonsense, turn.Nothing, "without an id"},
		{"plain", func(t *turn.Turn) { t.Session = "another" }, turn.UnknownSession, turn.Nothing, "Resource not found: another"},
		{"forgetful", func(t *turn.Turn) { t.Session = "session-1" }, turn.UnknownSession, turn.Nothing, "cannot go on"},
		{"plain", func(t *turn.Turn) { t.Permissions.Mode = "yolo" }, turn.Rejected, turn.Nothing, "no such mode"},
		{"plain", func(t *turn.Turn) { t.Permissions.Model = "opus" }, turn.Rejected, turn.Nothing, "model"},
		{"plain", func(t *turn.Turn) { t.Prompt = "" }, turn.Rejected, turn.Nothing, "empty"},
		{"plain", func(t *turn.Turn) { t.Permissions.Command = []string{"no-such-program-anywhere"} }, turn.NotInstalled, turn.Nothing, "not found"},
		{"silent", nil, turn.Nonsense, turn.Yes, "empty"},
		{"refusing", nil, turn.Rejected, turn.Yes, "refusal"},
		{"odd", nil, turn.Nonsense, turn.Yes, "novel"},
		{"failing", nil, turn.Rejected, turn.Maybe, "boom"},
		{"dies", nil, turn.Crashed, turn.Maybe, "out of memory"},
		{"leaves", nil, turn.Nonsense, turn.Maybe, "ended in the middle"},
		{"floods", nil, turn.Nonsense, turn.Maybe, "more than 64 MiB"},
		{"long-line", nil, turn.Nonsense, turn.Maybe, "too long"},
		{"acts", func(t *turn.Turn) { t.Permissions.Forbid = true }, turn.Forbidden, turn.Yes, "tool"},
		{"deaf", func(t *turn.Turn) { t.Deadline = 2 * time.Second }, turn.Timeout, turn.Yes, "2s"},
	}
	for _, tt := range tests {
		t.Run(tt.how, func(t *testing.T) {
			t.Parallel()
			next := standIn(t, tt.how)
			if tt.change != nil {
				tt.change(&next)
			}
			_, _, err := do(t, next)
			clienttest.WantFailure(t, name, tt.kind, tt.spent, err)
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("says %v", err)
			}
		})
	}
}

func TestMisbehaviour(t *testing.T) {
	t.Parallel()
	for how, kind := range map[string]turn.Kind{
		misbehave.Silent: turn.Nonsense, misbehave.HalfLine: turn.Nonsense, misbehave.Unreadable: turn.Nonsense, misbehave.Signal: turn.Crashed,
		misbehave.ExitMessage: turn.Crashed, misbehave.SlowStderr: turn.Crashed, misbehave.Deaf: turn.Timeout, misbehave.OwnSession: turn.Timeout,
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			note := filepath.Join(t.TempDir(), "note")
			next := standIn(t, "")
			next.Env = []string{misbehave.EnvHow + "=" + how, misbehave.EnvNote + "=" + note, misbehave.EnvOpen + "=1"}
			if kind == turn.Timeout {
				next.Deadline = time.Second
			}
			_, _, err := do(t, next)
			clienttest.WantFailure(t, name, kind, turn.Nothing, err)
		})
	}
}

func TestCutOffAnswerIsMarked(t *testing.T) {
	t.Parallel()
	reply, _, err := do(t, standIn(t, "cut-off"))
	if err != nil || !reply.Truncated || reply.Text == "" {
		t.Errorf("reply %+v, %v", reply, err)
	}
}

// TestCancel stops an agent that listens by the protocol, and one that does not by force.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		how    string
		cause  error
		within time.Duration
	}{{"polite", context.Canceled, turn.CancelGrace}, {"polite", turn.ErrKilled, turn.KillGrace}, {"deaf", turn.ErrKilled, 2 * turn.KillGrace}} {
		t.Run(tt.how, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var from time.Time
			_, err := New(name, []string{os.Args[0]}).Do(ctx, standIn(t, tt.how), func(p turn.Progress) {
				if _, ok := p.(turn.Text); ok {
					from = time.Now()
					cancel(tt.cause)
				}
			})
			clienttest.WantFailure(t, name, turn.Cancelled, turn.Yes, err)
			if took := time.Since(from); took > tt.within+5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestKillSwitchGivesHalfASecond in all, to an agent that heeds neither the protocol nor the interrupt. A busy machine takes longer, and
// not every time.
func TestKillSwitchGivesHalfASecond(t *testing.T) {
	t.Parallel()
	fastest := time.Hour
	for try := 0; try < 10 && fastest > turn.KillGrace+turn.KillGrace/4; try++ {
		ctx, cancel := context.WithCancelCause(t.Context())
		var from time.Time
		_, err := New(name, []string{os.Args[0]}).Do(ctx, standIn(t, "stubborn"), func(p turn.Progress) {
			if _, ok := p.(turn.Text); ok {
				from = time.Now()
				cancel(turn.ErrKilled)
			}
		})
		cancel(nil)
		clienttest.WantFailure(t, name, turn.Cancelled, turn.Yes, err)
		took := time.Since(from)
		if took < turn.KillGrace {
			t.Fatalf("killed after %v", took)
		}
		fastest = min(fastest, took)
	}
	if fastest > turn.KillGrace+turn.KillGrace/4 {
		t.Errorf("took %v at best", fastest)
	}
}

func TestDetect(t *testing.T) {
	t.Setenv(envAgent, "plain")
	found, err := New(name, []string{os.Args[0]}).Detect(t.Context(), nil)
	if err != nil || found.Version != "stand-in 1.2" || !filepath.IsAbs(found.Path) {
		t.Errorf("found %+v, %v", found, err)
	}
	_, err = New(name, []string{"no-such-program-anywhere"}).Detect(t.Context(), nil)
	clienttest.WantFailure(t, name, turn.NotInstalled, turn.Nothing, err)
}
