package sim

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/turn"
)

// clock counts the time that turns wait, and passes none.
type clock struct{ waited time.Duration }

func (c *clock) wait(ctx context.Context, d time.Duration) error {
	c.waited += d
	return context.Cause(ctx)
}

func (c *clock) now() time.Time { return time.Unix(0, 0).Add(c.waited) }

func options(c *clock) Options {
	return Options{Wait: c.wait, Now: c.now, Session: func() string { return "sim-1" }}
}

func TestScriptedTurns(t *testing.T) {
	var c clock
	o := options(&c)
	o.Script = func(n int, t turn.Turn) Step {
		return Step{
			Delay: time.Second, Pace: 100 * time.Millisecond, Text: strings.Repeat("word ", n) + t.Prompt,
			Tools: []turn.Tool{{Name: "Read"}}, Usage: turn.Usage{Input: int64(n), Known: true}, Denied: []string{"Write"},
		}
	}
	p := New(o)
	var steps []turn.Progress
	first, err := p.Do(t.Context(), turn.Turn{Prompt: "one"}, func(s turn.Progress) { steps = append(steps, s) })
	if err != nil {
		t.Fatal(err)
	}
	want := turn.Reply{
		Session: "sim-1", Text: "[scripted] word one", Usage: turn.Usage{Input: 1, Known: true},
		Duration: 1200 * time.Millisecond, Denied: []string{"Write"},
	}
	if !reflect.DeepEqual(first, want) {
		t.Errorf("reply %+v, want %+v", first, want)
	}
	wantSteps := []turn.Progress{
		turn.Started{Session: "sim-1"},
		turn.Tool{Name: "Read"},
		turn.Text{Delta: "[scripted] "},
		turn.Text{Delta: "word "},
		turn.Text{Delta: "one"},
	}
	if !reflect.DeepEqual(steps, wantSteps) {
		t.Errorf("progress %v", steps)
	}
	second, err := p.Do(t.Context(), turn.Turn{Session: "sim-1", Prompt: "two"}, nil)
	if err != nil || second.Text != "[scripted] word word two" {
		t.Errorf("second turn %+v, %v", second, err)
	}
}

func TestFailures(t *testing.T) {
	hang := func(int, turn.Turn) Step { return Step{Hang: true} }
	acts := func(int, turn.Turn) Step { return Step{Tools: []turn.Tool{{Name: "Write"}}} }
	tests := []struct {
		name   string
		script func(int, turn.Turn) Step
		turn   turn.Turn
		kind   turn.Kind
		waited time.Duration
	}{
		{"empty prompt", nil, turn.Turn{}, turn.Rejected, 0},
		{"long prompt", nil, turn.Turn{Prompt: strings.Repeat("x", turn.MaxPrompt+1)}, turn.TooLong, 0},
		{"session of another program", nil, turn.Turn{Prompt: "x", Session: "abc"}, turn.UnknownSession, 0},
		{"unknown mode", nil, turn.Turn{Prompt: "x", Permissions: turn.Permissions{Mode: "plan"}}, turn.Rejected, 0},
		{"quota", nil, turn.Turn{Prompt: "x", Permissions: turn.Permissions{Mode: "quota"}}, turn.Quota, 0},
		{"hang", hang, turn.Turn{Prompt: "x"}, turn.Timeout, turn.DefaultDeadline},
		{"hang by its mode", nil, turn.Turn{Prompt: "x", Deadline: time.Minute, Permissions: turn.Permissions{Mode: "hang"}}, turn.Timeout, time.Minute},
		{"acts although forbidden", acts, turn.Turn{Prompt: "x", Permissions: turn.Permissions{Forbid: true}}, turn.Forbidden, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c clock
			o := options(&c)
			o.Name, o.Script = "stand-in", tt.script
			_, err := New(o).Do(t.Context(), tt.turn, nil)
			var failure *turn.Failure
			if !errors.As(err, &failure) || failure.Kind != tt.kind || failure.Provider != "stand-in" || len(failure.Hints) == 0 {
				t.Errorf("got %#v", err)
			}
			if c.waited != tt.waited {
				t.Errorf("waited %v", c.waited)
			}
		})
	}
}

func TestCancelEndsAWaitOnTheRealClock(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := New(Options{}).Do(ctx, turn.Turn{Prompt: "x", Permissions: turn.Permissions{Mode: modeHang}}, func(p turn.Progress) {
		if started, ok := p.(turn.Started); ok && strings.HasPrefix(started.Session, prefix) {
			cancel(turn.ErrKilled)
		}
	})
	var failure *turn.Failure
	if !errors.As(err, &failure) || failure.Kind != turn.Cancelled {
		t.Errorf("got %v", err)
	}
}

func TestEveryModeIsDescribedAndKnown(t *testing.T) {
	p := New(Options{})
	if !p.Scripted() {
		t.Error("it must be labelled")
	}
	for _, mode := range append(modes(), "") {
		if text, err := p.Describe(turn.Permissions{Mode: mode}); err != nil || !strings.Contains(text, "script") || !strings.HasSuffix(text, mode) {
			t.Errorf("%q: %q, %v", mode, text, err)
		}
	}
	if found, err := p.Detect(t.Context(), nil); err != nil || !found.SignedIn {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestAnswersToASchema(t *testing.T) {
	schema := `{"type":"object","properties":{"vote":{"enum":["yes","no"]},"why":{"type":"string"},"items":{"type":"array","items":{"type":"integer"}},"sure":{"type":"boolean"}}}`
	r, err := New(options(&clock{})).Do(t.Context(), turn.Turn{Prompt: "x", Schema: []byte(schema)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r.Data); !strings.Contains(got, `"vote":"yes"`) || !strings.Contains(got, `"items":[0]`) || !strings.Contains(got, `"why":"[scripted] `) {
		t.Errorf("answered %s", got)
	}
	if r, err = New(options(&clock{})).Do(t.Context(), turn.Turn{Prompt: "x", Schema: []byte("nonsense")}, nil); err != nil || r.Data != nil {
		t.Errorf("answered %s, %v", r.Data, err)
	}
}
