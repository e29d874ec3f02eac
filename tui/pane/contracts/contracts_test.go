package contracts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/panetest"
)

var now = time.Date(2026, 9, 3, 12, 0, 0, 0, time.UTC)

func fold(t *testing.T, events ...event.Event) *state.State {
	t.Helper()
	s := state.New()
	for i, e := range events {
		e.Seq, e.ID, e.Timestamp = int64(i), fmt.Sprint(i), now.Add(-time.Hour).Format(event.TimeFormat)
		if err := s.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func made(t *testing.T, from string, body event.Body) event.Event {
	t.Helper()
	e, err := event.New(from, event.Broadcast, "x", body)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func threeRevisions(t *testing.T) *state.State {
	t.Helper()
	var events []event.Event
	for r := range 3 {
		events = append(events, made(t, "claude-code", event.Contract{Name: "api", Revision: int64(r + 1), Body: fmt.Sprintf("body of %d\n", r+1)}))
	}
	return fold(t, append(events,
		made(t, "codex", event.Update{Consumes: []string{"api"}}),
		made(t, "gemini", event.Update{Consumes: []string{"api"}}),
		made(t, "codex", event.Ack{EventSeq: 1}),
		made(t, "gemini", event.Ack{EventSeq: 4}),
	)...)
}

type source struct {
	pane.Source
	err error
}

func (s source) ContractBody(_ context.Context, name string, revision int64) (engine.ContractText, error) {
	return engine.ContractText{Name: name, Revision: revision, Body: fmt.Sprintf("body of %d\n", revision)}, s.err
}

func (s source) Diff(_ context.Context, name string, from, to int64) (engine.ContractDiff, error) {
	return engine.ContractDiff{Name: name, FromRevision: from, ToRevision: to, Summary: "1 changed", Hunks: []engine.Hunk{{
		Lines: []engine.DiffLine{{Kind: engine.DiffRemoved, Text: "old"}, {Kind: engine.DiffAdded, Text: "new"}, {Kind: engine.DiffSame, Text: "same"}},
	}}}, s.err
}

func open(t *testing.T, w int) *Pane {
	t.Helper()
	p := New(panetest.Look(t, false))
	p.SetSize(w, 24, false)
	p.SetFocus(true)
	if a := p.Apply(pane.Snapshot{State: threeRevisions(t), Now: now}, pane.Changes{}); a != nil {
		t.Fatal("a list loads nothing")
	}
	return p
}

func screen(p *Pane) string { return ansi.Strip(strings.Join(p.View(), "\n")) }

// load runs what an action asks for.
func load(t *testing.T, p *Pane, a pane.Action, s source) {
	t.Helper()
	l, ok := a.(pane.Load)
	if !ok {
		t.Fatalf("asked for %T, want a load", a)
	}
	value, err := l.Run(context.Background(), s)
	p.Loaded(l.Key, value, err)
}

func TestReadersAreShownWithTheirRevision(t *testing.T) {
	if s := screen(open(t, 100)); !strings.Contains(s, "api  r3   claude-code  codex ✗ r2  gemini ✓") {
		t.Errorf("wide:\n%s", s)
	}
	if s := screen(open(t, 26)); !strings.Contains(s, "r3   ✓1 ✗1") {
		t.Errorf("narrow:\n%s", s)
	}
}

func TestRevisionsAndDiff(t *testing.T) {
	p := open(t, 120)
	p.SetSize(120, 24, true)
	if s := screen(p); !strings.Contains(s, "body of 3") || !strings.Contains(s, "r1 r2 [r3]") {
		t.Errorf("latest:\n%s", s)
	}
	a := p.Handle(keymap.OlderRevision)
	if s := screen(p); !strings.Contains(s, "reading") {
		t.Errorf("before it is read:\n%s", s)
	}
	load(t, p, a, source{})
	if s := screen(p); !strings.Contains(s, "body of 2") || !strings.Contains(s, "[r2]") {
		t.Errorf("older:\n%s", s)
	}
	load(t, p, p.Handle(keymap.Diff), source{})
	if s := screen(p); !strings.Contains(s, "r1 → r2: 1 changed") || !strings.Contains(s, "- old") || !strings.Contains(s, "+ new") {
		t.Errorf("diff:\n%s", s)
	}
	if p.Handle(keymap.Diff) != nil {
		t.Error("what was read is read again")
	}
	load(t, p, p.Handle(keymap.OlderRevision), source{err: errors.New("the archive is gone")})
	if s := screen(p); !strings.Contains(s, "the archive is gone") {
		t.Errorf("unreadable:\n%s", s)
	}
}

func TestResultsThatAreNotWantedAreDropped(t *testing.T) {
	p := open(t, 120)
	p.SetSize(120, 24, true)
	late, ok := p.Handle(keymap.OlderRevision).(pane.Load)
	if !ok {
		t.Fatal("nothing was asked for")
	}
	p.Apply(pane.Snapshot{State: threeRevisions(t), Now: now}, pane.Changes{Reset: true})
	next := p.Handle(keymap.OlderRevision)
	value, err := late.Run(context.Background(), source{})
	p.Loaded(late.Key, value, err)
	if s := screen(p); strings.Contains(s, "body of 2") {
		t.Errorf("a stale body is shown:\n%s", s)
	}
	load(t, p, next, source{})
	if s := screen(p); !strings.Contains(s, "body of 1") {
		t.Errorf("the wanted one is not:\n%s", s)
	}
}

// Hundreds of readers are counted; naming each to find out that they have no room would hold up the keys.
func TestManyReadersAreCounted(t *testing.T) {
	events := []event.Event{made(t, "claude-code", event.Contract{Name: "api", Revision: 1, Body: "x"})}
	for i := range 300 {
		events = append(events, made(t, fmt.Sprintf("reader-%03d", i), event.Update{Consumes: []string{"api"}}))
	}
	events = append(events, made(t, "reader-007", event.Ack{EventSeq: 0}))
	p := New(panetest.Look(t, false))
	p.Apply(pane.Snapshot{State: fold(t, events...), Now: now}, pane.Changes{})
	if got := panetest.Screen(t, p, 70, false); !strings.Contains(got, "✓1 ✗299") {
		t.Errorf("it says\n%s", got)
	}
	c := &p.all[0]
	if p.Apply(p.snap, pane.Changes{}); &p.all[0] != c {
		t.Error("the readers of a state that is shown already were collected again")
	}
	if n := testing.AllocsPerRun(10, func() { (*rows)(p).Row(0, 70) }); n > 100 {
		t.Errorf("a row of %d readers makes %v allocations", len(c.Readers), n)
	}
}
