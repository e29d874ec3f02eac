package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/pane"
)

// brokenPane panics when it is drawn.
type brokenPane struct{ pane.Pane }

func (brokenPane) View() []string { panic("fault in a pane") }

func TestPanicInTheUpdateLoopIsCaught(t *testing.T) {
	d := drive(t, story(t))
	ended := false
	c := &crashes{dir: t.TempDir(), end: func() { ended = true }}
	p := &program{model: d.m, show: func([]string) {}, crashes: c}
	d.m.panes[0] = brokenPane{d.m.panes[0]}
	model, _ := p.Update(tea.KeyMsg{Type: tea.KeyTab})
	if model == nil || !ended {
		t.Fatalf("the model is %v, ended %v", model, ended)
	}
	var crash *CrashError
	if err := c.err(); !errors.As(err, &crash) || crash.Path == "" || !strings.Contains(err.Error(), "fault in a pane") {
		t.Fatalf("error is %v", err)
	}
	text, err := os.ReadFile(crash.Path)
	if err != nil || !bytes.Contains(text, []byte("brokenPane")) {
		t.Errorf("the crash file does not say where: %v\n%s", err, text)
	}
}

// However many messages come, frames are 8 ms apart, and the last change is drawn.
func TestFramesArePaced(t *testing.T) {
	f := story(t)
	synctest.Test(t, func(t *testing.T) {
		d := drive(t, f)
		frames := 0
		p := &program{model: d.m, show: func([]string) { frames++ }, crashes: &crashes{end: func() {}}, drawn: time.Now().Add(-time.Second)}
		var late tea.Cmd
		for range 1000 {
			_, cmd := p.Update(tea.KeyMsg{Type: tea.KeyTab})
			if cmd != nil && late == nil {
				late = cmd
			}
		}
		if frames != 1 {
			t.Errorf("%d frames at once, want 1", frames)
		}
		before := time.Now()
		msg := late()
		if batch, ok := msg.(tea.BatchMsg); ok {
			msg = batch[len(batch)-1]()
		}
		if took := time.Since(before); took > frameInterval {
			t.Errorf("the frame that was put off came after %v", took)
		}
		p.Update(msg)
		if frames != 2 || d.m.dirty {
			t.Errorf("%d frames, dirty %v", frames, d.m.dirty)
		}
	})
}

func TestPlain(t *testing.T) {
	f := story(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out bytes.Buffer
	w := writerFunc(func(b []byte) (int, error) {
		out.Write(b)
		if bytes.Contains(b, []byte("New events follow")) {
			f.add(t, "codex", event.User, "May I \x1b[2Jdeploy?", event.Question{})
		}
		if bytes.Contains(b, []byte("deploy")) {
			cancel()
		}
		return len(b), nil
	})
	if err := Plain(ctx, Options{Engine: f, Clock: f.clock, At: Now, Environment: noEnv}, w); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Project shop, 18 events, newest number 17.",
		"claude-code holds src/api, exclusive, taken 15m ago, because: the checkout endpoint.",
		"Contract checkout-api, revision 2, by claude-code, 6m ago. codex has read revision 1.",
		"Question for user from claude-code, 3m ago: Which currency do we start with?",
		"Event 18, question, from codex to user: May I deploy?",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("does not say %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("escape sequences got through")
	}
}

// TestPlainOfAnEmptyLog says so in words, and what is gone is no empty log.
func TestPlainOfAnEmptyLog(t *testing.T) {
	f := newFake()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var out bytes.Buffer
	w := writerFunc(func(b []byte) (int, error) {
		out.Write(b)
		if bytes.Contains(b, []byte("New events follow")) {
			cancel()
		}
		return len(b), nil
	})
	if err := Plain(ctx, Options{Engine: f, Clock: f.clock, At: Now, Environment: noEnv}, w); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), ", no events yet.\n") || strings.Contains(out.String(), "-1") {
		t.Errorf("it says\n%s", out.String())
	}
}

func TestPlainOfManyTasks(t *testing.T) {
	f := newFake()
	for i := range maxPlainTasks + 3 {
		f.add(t, "codex", event.User, fmt.Sprintf("task %03d", i), event.Task{})
	}
	var out bytes.Buffer
	if err := Plain(context.Background(), Options{Engine: f, Clock: f.clock, At: maxPlainTasks + 2, Environment: noEnv}, &out); err != nil {
		t.Fatal(err)
	}
	s := out.String()
	if strings.Count(s, "Task for user") != maxPlainTasks || strings.Contains(s, "task 002") || !strings.Contains(s, "task 003") ||
		!strings.Contains(s, "3 older tasks and questions are open too; loadout status --all lists them.") {
		t.Errorf("says:\n%s", s)
	}
}

func TestPlainOfThePast(t *testing.T) {
	f := story(t)
	var out bytes.Buffer
	if err := Plain(context.Background(), Options{Engine: f, Clock: f.clock, At: 3, Environment: noEnv}, &out); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); !strings.Contains(s, "As of event 3.") || strings.Contains(s, "api-tests") {
		t.Errorf("says:\n%s", s)
	}
	if err := Plain(context.Background(), Options{Engine: f, At: 999, Environment: noEnv}, &out); err == nil {
		t.Error("an event that does not exist")
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestStopMeansStopAlsoFromThePast(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.press("[", "K", "stop", "enter")
	if f.halted == nil {
		t.Fatal("not halted")
	}
	d.shows("HALTED", "as of #16") // the header is the banner, the panes say that they show the past
}

func TestRunNeedsATerminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	o := Options{Engine: newFake(), At: Now, In: null, Out: null, Environment: noEnv}
	if err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), "needs a terminal") {
		t.Errorf("error is %v", err)
	}
	o.Environment = func(string) string { return "dumb" }
	var usage *engine.UsageError
	if err := Run(context.Background(), o); !errors.As(err, &usage) {
		t.Errorf("error is %v", err)
	}
}
