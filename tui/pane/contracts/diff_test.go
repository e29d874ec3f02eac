package contracts

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/panetest"
)

// compared is the heading of the difference that is shown.
func compared(t *testing.T, p *Pane) string {
	t.Helper()
	for line := range strings.SplitSeq(panetest.Screen(t, p, 160, true), "\n") {
		if _, after, ok := strings.Cut(line, "│ "); ok && strings.Contains(after, " → ") {
			return after
		}
	}
	return ""
}

func TestAnyTwoRevisionsAreCompared(t *testing.T) {
	p := open(t, 160)
	p.SetSize(160, 24, true)
	load(t, p, p.Handle(keymap.Diff), source{})
	if got := compared(t, p); got != "r2 → r3: 1 changed" {
		t.Errorf("at first %q", got)
	}
	load(t, p, p.Handle(keymap.OlderBase), source{})
	if got := compared(t, p); got != "r1 → r3: 1 changed" {
		t.Errorf("with an older one %q", got)
	}
	p.Handle(keymap.OlderBase)
	if got := compared(t, p); got != "r1 → r3: 1 changed" {
		t.Errorf("before the first %q", got)
	}
	load(t, p, p.Handle(keymap.OlderRevision), source{})
	if got := compared(t, p); got != "r1 → r2: 1 changed" {
		t.Errorf("of an older one %q", got)
	}
	load(t, p, p.Handle(keymap.NewerBase), source{}) // over the one shown
	if got := compared(t, p); got != "r3 → r2: 1 changed" {
		t.Errorf("with a newer one %q", got)
	}
}

func TestBothSides(t *testing.T) {
	p := open(t, 160)
	p.SetSize(160, 24, true)
	load(t, p, p.Handle(keymap.Diff), source{})
	if s := panetest.Screen(t, p, 160, true); !strings.Contains(s, "- old ") || !strings.Contains(s, "│0 + new") {
		t.Errorf("side by side:\n%s", s)
	}
	p.Handle(keymap.Columns)
	if s := panetest.Screen(t, p, 160, true); !strings.Contains(s, "│ - old\n") {
		t.Errorf("one below the other:\n%s", s)
	}
	p.Handle(keymap.Columns)
	if s := panetest.Screen(t, p, 110, true); !strings.Contains(s, "│ - old\n") {
		t.Errorf("where there is no room:\n%s", s)
	}
}

func TestLateReadersAreNamedWhereThereIsRoom(t *testing.T) {
	p := open(t, 100)
	for w, want := range map[int]string{48: "✗ r2  gemini ✓", 30: "✓1  codex ✗ r2", 24: "✓1 ✗1"} {
		if s := panetest.Screen(t, p, w, false); !strings.Contains(s, want) {
			t.Errorf("in %d cells not %q:\n%s", w, want, s)
		}
	}
	if s := panetest.Screen(t, p, 120, true); !strings.Contains(s, "codex     ✗ on r2, 1 revision behind, builds on it") || !strings.Contains(s, "! still read by codex") {
		t.Errorf("detail:\n%s", s)
	}
}

// Without the room for both sides the key for them says so.
func TestSideBySideNeedsRoom(t *testing.T) {
	p := open(t, 100)
	p.SetSize(100, 20, true)
	panetest.Do(t, p, source{}, p.Handle(keymap.Diff))
	for _, want := range []bool{false, true, false} {
		if s := panetest.Screen(t, p, 100, true); !strings.Contains(s, "@@") || strings.Contains(s, "Side by side needs 80 columns") != want {
			t.Errorf("says so %v, want %v:\n%s", !want, want, s)
		}
		p.Handle(keymap.Columns)
	}
}

func TestFilterAndOrder(t *testing.T) {
	p := open(t, 100)
	p.Apply(pane.Snapshot{State: fold(t,
		made(t, "a", event.Contract{Name: "api", Revision: 1, Body: "POST /pay"}), made(t, "b", event.Contract{Name: "schema", Revision: 1, Body: "cents"}),
		made(t, "c", event.Update{Consumes: []string{"schema"}})), Now: now}, pane.Changes{})
	for filter, want := range map[string]string{"cents": "schema", "unread": "schema", "c unread": "schema", "pay": "api"} {
		p.SetFilter(filter)
		if len(p.contracts) != 1 || p.contracts[0].Name != want {
			t.Errorf("%q finds %v", filter, p.contracts)
		}
	}
	p.SetFilter("")
	p.Handle(keymap.Sort)
	p.Handle(keymap.Sort)
	if p.contracts[0].Name != "schema" || p.Status() != "1 not read by all, by unread" {
		t.Errorf("first %s, %s", p.contracts[0].Name, p.Status())
	}
}

// scripts gives bodies in scripts of every kind.
type scripts struct{ source }

func (scripts) Diff(_ context.Context, name string, from, to int64) (engine.ContractDiff, error) {
	lines := []engine.DiffLine{{Kind: engine.DiffSame, From: 9, To: 9, Text: "POST /注文 -> 201"}}
	for i, l := range []string{"価格: 円", "שלום עולם", "cafe\u0301\tmenu", "👩‍💻 reviews", strings.Repeat("a very long line ", 12)} {
		lines = append(lines, engine.DiffLine{Kind: engine.DiffRemoved, From: 10 + i, Text: l}, engine.DiffLine{Kind: engine.DiffAdded, To: 10 + i, Text: l + "!"})
	}
	return engine.ContractDiff{
		Name: name, FromRevision: from, ToRevision: to, Summary: "5 changed", Hunks: []engine.Hunk{{FromLine: 9, FromCount: 6, ToLine: 9, ToCount: 6, Lines: lines}},
	}, nil
}

func TestGolden(t *testing.T) {
	var events []event.Event
	for i, name := range []string{"checkout-api-of-the-shop-v1", "checkout-api-of-the-shop-v2", "注文書", "emoji👩‍💻", "שלום", "cafe\u0301"} {
		for r := range i + 1 {
			events = append(events, made(t, "claude-code", event.Contract{Name: name, Revision: int64(r + 1), Body: fmt.Sprintf("本文 %d\nשלום\n👍🏽 cafe\u0301\n", r)}))
		}
		events = append(events, made(t, "日本語のエージェント", event.Update{Consumes: []string{name}}), made(t, "codex", event.Update{Consumes: []string{name}}))
	}
	events = append(events, made(t, "codex", event.Ack{EventSeq: int64(len(events)) - 3}))
	p := New(panetest.Look(t, false))
	p.SetFocus(true)
	p.Apply(pane.Snapshot{State: fold(t, events...), Now: now}, pane.Changes{})
	p.Handle(keymap.Down)
	panetest.Golden(t, "frames", p)
	p.SetSize(200, 60, true)
	l, ok := p.Handle(keymap.Diff).(pane.Load)
	if !ok {
		t.Fatal("a difference is not asked for")
	}
	value, err := l.Run(context.Background(), scripts{})
	p.Loaded(l.Key, value, err)
	panetest.Golden(t, "diff", p)
}
