// Package panetest helps to test panes: it draws them as the cockpit would, compares frames with golden files, and has text that nobody
// should be able to harm a terminal with.
package panetest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// Hostile is wide, combining, joined and reordering text, and escape sequences that would take over a terminal.
const Hostile = "日本語の説明 👩‍👩‍👧 ⚠️ e\u0301\u0301 שלום \u202e\x1b[31mred\x1b[0m \x1b]0;owned\x07\x1b[2J done"

// Sizes are the cells inside a pane's frame that golden frames are made for.
var Sizes = []struct {
	W, H   int
	Zoomed bool
}{{36, 8, false}, {58, 12, false}, {96, 14, false}, {118, 30, true}, {78, 20, true}, {38, 8, true}}

// Look is how panes draw without colour.
func Look(tb testing.TB, ascii bool) pane.Look {
	tb.Helper()
	th, err := theme.New(theme.Options{Name: theme.None, ASCII: ascii})
	if err != nil {
		tb.Fatal(err)
	}
	return pane.Look{Theme: th, Owners: th.NewOwners()}
}

// Frame is the pane as text, its edges marked.
func Frame(p pane.Pane) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", p.Title(), p.Status())
	for _, line := range p.View() {
		b.WriteString("|" + ansi.Strip(line) + "|\n")
	}
	return b.String()
}

// Check fails when a line of the pane is not exactly w cells wide or not one of h lines, or could move the cursor.
func Check(t *testing.T, p pane.Pane, w, h int) {
	t.Helper()
	lines := p.View()
	if len(lines) != h {
		t.Errorf("%d lines, want %d", len(lines), h)
	}
	for i, line := range lines {
		plain := ansi.Strip(line)
		if text.Width(plain) != w {
			t.Errorf("line %d has %d cells, want %d: %q", i, text.Width(plain), w, plain)
		}
		if strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e }) {
			t.Errorf("line %d has a control character: %q", i, plain)
		}
	}
}

// Golden compares the pane at every size with testdata/NAME.golden.
func Golden(t *testing.T, name string, p pane.Pane) {
	t.Helper()
	var b strings.Builder
	for _, s := range Sizes {
		p.SetSize(s.W, s.H, s.Zoomed)
		Check(t, p, s.W, s.H)
		fmt.Fprintf(&b, "%dx%d zoomed=%v %s\n", s.W, s.H, s.Zoomed, Frame(p))
	}
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path) //nolint:gosec // in the test's own folder
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if b.String() != string(want) {
		t.Errorf("%s differs; -update writes it, and look at the difference\n%s", path, b.String())
	}
}

// Log is a log in memory, read as the engine would.
type Log struct {
	State  *state.State
	Start  time.Time
	Stored []event.Event
}

// NewLog is an empty log.
func NewLog() *Log {
	return &Log{State: state.New(), Start: time.Date(2026, 9, 3, 12, 0, 0, 0, time.UTC)}
}

// Add stores an event a minute after the one before.
func (l *Log) Add(tb testing.TB, from, to, description string, body event.Body) *event.Event {
	tb.Helper()
	e, err := event.New(from, to, description, body)
	if err != nil {
		tb.Fatal(err)
	}
	e.Seq = int64(len(l.Stored))
	e.ID, e.Timestamp = fmt.Sprintf("id%d", e.Seq), event.FormatTime(l.Start.Add(time.Duration(e.Seq)*time.Minute))
	if err := l.State.Apply(&e); err != nil {
		tb.Fatal(err)
	}
	l.Stored = append(l.Stored, e)
	return &l.Stored[e.Seq]
}

// Snapshot is the log as panes get it, a minute after its last event.
func (l *Log) Snapshot() pane.Snapshot {
	s := pane.Snapshot{
		State: l.State, Now: l.Start.Add(time.Duration(len(l.Stored)) * time.Minute), Actor: event.User,
		Live: map[string]engine.Liveness{},
	}
	s.Tasks, s.Waiting = pane.OpenTasks(s.State), s.FindWaiting()
	return s
}

// Events reads the log.
func (l *Log) Events(ctx context.Context, q engine.Query) (engine.EventsResult, error) {
	r := engine.EventsResult{AsOf: int64(len(l.Stored)) - 1}
	for _, e := range l.Stored {
		if e.Seq <= q.After || q.Before > 0 && e.Seq >= q.Before || len(q.Types) > 0 && q.Types[0] != e.Type {
			continue
		}
		if q.Max > 0 && len(r.Events) == q.Max {
			r.Omitted = -1
			break
		}
		r.Events = append(r.Events, e)
	}
	return r, ctx.Err()
}

// ContractBody has nothing.
func (*Log) ContractBody(context.Context, string, int64) (engine.ContractText, error) {
	return engine.ContractText{}, nil
}

// Diff has nothing.
func (*Log) Diff(context.Context, string, int64, int64) (engine.ContractDiff, error) {
	return engine.ContractDiff{}, nil
}

// Do carries out what a pane asks for, until it asks for nothing more.
func Do(tb testing.TB, p pane.Pane, source pane.Source, a pane.Action) {
	tb.Helper()
	for {
		load, ok := a.(pane.Load)
		if !ok {
			return
		}
		value, err := load.Run(tb.Context(), source)
		a = p.Loaded(load.Key, value, err)
	}
}
