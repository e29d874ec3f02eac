package timeline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/panetest"
)

// everything has an event of each kind.
func everything(t *testing.T) *panetest.Log {
	t.Helper()
	l := panetest.NewLog()
	add := func(from, to, words string, body event.Body) { l.Add(t, from, to, words, body) }
	exit := int64(1)
	through := int64(7)
	add("claude-code", event.Broadcast, "claude-code claims: src/api", event.Ownership{Paths: []string{"src/api"}, Mode: event.Exclusive, Reason: "the endpoint"})
	add("claude-code-2", event.Broadcast, "claude-code-2 claims: src/api", event.Ownership{
		Paths: []string{"src/api"}, Mode: event.Exclusive, Cause: event.CauseTakeover, ExpiresAt: "2026-09-03T14:00:00.000Z",
		Displaced: []event.Displaced{{Agent: "claude-code", Path: "src/api", Mode: event.Exclusive, Fence: 0}},
	})
	add("codex", event.Broadcast, panetest.Hostile, event.Contract{Name: "checkout-api", Revision: 1, Body: "POST /checkout\n201", Format: "http"})
	add("codex", event.Broadcast, "Contract 'checkout-api' rev2", event.Contract{Name: "checkout-api", Revision: 2, Body: "POST /checkout", Format: "http"})
	add("claude-code", "claude-code-2", "Build the cart", event.Task{Needs: []string{"id2"}, Handoff: true})
	add("codex", event.User, "Cents or decimals?", event.Question{})
	add("codex", event.Broadcast, "Half way", event.Update{
		Note: "Half way", Files: []string{"a.go", "b.go"}, Blockers: []string{"no key"}, Next: "tests", Consumes: []string{"checkout-api"},
		Commands: []event.CommandRun{{Command: "go test ./...", ExitCode: &exit, Summary: "2 fail"}},
	})
	add("codex", event.Broadcast, "Acknowledged through seq 5", event.Ack{EventSeq: 5, Note: "fine"})
	add("codex", event.Broadcast, "Use cents", event.Decision{Title: "Use cents", Rationale: "No rounding.\nThe bank wants them.", DiscussionID: "cents"})
	add("codex", "claude-code", "Start with REST", event.Discussion{
		ThreadID: "rest", Kind: event.KindProposal, Round: 1, Role: "proposer", Content: "Start with REST.", Alternatives: []string{"GraphQL"},
	})
	add(event.Loadout, event.Broadcast, "codex registered", event.Agent{Action: event.AgentRegistered, Name: "codex", Base: "codex", PID: 7, Host: "box"})
	add(event.User, event.Broadcast, "halted", event.Halt{Action: event.HaltSet, Reason: "wrong branch"})
	add(event.Loadout, event.Broadcast, "Compacted 120 events", event.Status{
		CompactedCount: 120, CompactedRange: &event.SeqRange{From: 3, To: 150}, Agents: []string{"codex"},
		TypeCounts: map[event.Type]int64{event.TypeAck: 100, event.TypeUpdate: 20},
	})
	add(event.Loadout, event.Broadcast, "codex: a turn has failed", event.Turn{
		Action: event.TurnFailed, Turn: "t1", Agent: "codex", Provider: "codex", Why: event.WhyDelivery, Seqs: []int64{4, 5}, Through: &through,
		Cause: "quota", Spent: "maybe", Duration: 12_340, Usage: &event.TurnUsage{Input: 1200, Cached: 800, Output: 90, CostMicros: 31_000, Priced: true, Known: true},
	})
	add("codex", event.Broadcast, "codex asks for spc-7.2", event.Work{
		Action: event.WorkEscalated, Agent: "run-b", Holder: "run-a", Escalation: "e1", Item: &event.WorkItem{Type: "spec_task", ID: "spc-7.2"},
	})
	add("codex", event.Broadcast, "leaf-api: 1 of 2 gates met", event.Gate{
		Scope: "checkout", Ledger: "leaf-api", Met: 1, Unmet: 1,
		Gates: []event.GateLine{{ID: "G1", Title: "answers 201", State: event.GateMet}, {ID: "G2", Title: "typed refusals", State: event.GateStale}},
	})
	add("codex", event.Broadcast, "wave w1 sealed", event.Wave{Wave: "w1", State: event.WaveSealed, Leaves: []event.WaveLeaf{
		{Leaf: "leaf-api", Handle: "task-1", Started: "2026-09-03T12:00:00.000Z"},
	}})
	unknown := event.Event{
		ID: "u", Seq: int64(len(l.Stored)), Type: "skill", From: "codex", To: event.Broadcast, Description: "a type of the future",
		Timestamp: "2026-09-03T13:00:00.000Z", Payload: json.RawMessage(`{"name":"x","nested":{"list":[1,2]}}`),
	}
	if err := l.State.Apply(&unknown); err != nil {
		t.Fatal(err)
	}
	l.Stored = append(l.Stored, unknown)
	return l
}

func show(t *testing.T, l *panetest.Log, ascii bool) *Pane {
	t.Helper()
	p := New(panetest.Look(t, ascii))
	p.SetFocus(true)
	p.SetSize(96, 14, false)
	panetest.Do(t, p, l, p.Apply(l.Snapshot(), pane.Changes{}))
	return p
}

func TestGolden(t *testing.T) {
	panetest.Golden(t, "everything", show(t, everything(t), false))
	panetest.Golden(t, "everything-ascii", show(t, everything(t), true))
	panetest.Golden(t, "empty", show(t, panetest.NewLog(), false))
}

// The detail tells every payload in words: no JSON but of a type that this build does not know.
func TestDetailsInWords(t *testing.T) {
	l := everything(t)
	p := show(t, l, false)
	p.SetSize(280, 60, true)
	var all strings.Builder
	for range l.Stored {
		all.WriteString(ansi.Strip(strings.Join(p.View(), "\n")))
		p.Handle(keymap.Up)
	}
	for _, want := range []string{
		"It ended 1 claim", "claude-code held src/api, exclusive, fence 0", "the session of its holder had ended", "until     2026-09-03 14:00:00",
		"old news: #1 has superseded it", "old news: #3 has superseded it",
		"120 events taken out of the log", "#3 to #150", "exit 1", "blocked by", "everything up to #5", "1200 tokens read, 800 of them cached, 90 written, $0.03",
		"a person is asked to choose", "1 met, 1 unmet, 0 abandoned", "stale-unmet: typed refusals", "w1 sealed", `"nested": {`,
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("no detail says %q", want)
		}
	}
	if strings.Contains(all.String(), `"displaced"`) || strings.Contains(all.String(), `"compactedRange"`) {
		t.Error("a detail shows JSON of a known type")
	}
}
