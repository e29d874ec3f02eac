package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// long is a project whose log has n events of the kinds that fill a snapshot.
func long(b *testing.B, n int) *scene {
	b.Helper()
	s := newScene(b)
	var lines []byte
	for i := range n {
		from, to := fmt.Sprintf("agent-%d", i%5), event.Broadcast
		var body event.Body = event.Update{Note: "Wired the handler to the store and covered the refusal with a test", Files: []string{"web/form.tsx"}, Next: "review"}
		switch i % 100 {
		case 0:
			body = event.Ownership{Paths: []string{fmt.Sprintf("src/module%02d/api", i/100%60)}, Mode: event.Shared, Reason: "backend"}
		case 25:
			body = event.Contract{Name: fmt.Sprintf("invoice-api-%d", i/100%40), Revision: int64(i/4000 + 1), Body: "POST /api/invoices -> 201 { id: string, cents: number }"}
		case 50:
			body = event.Decision{Title: "Use cents", Rationale: "No rounding, no locale."}
		case 75:
			if n-i < 6000 {
				from, body = event.User, event.Task{}
			}
		}
		ev, err := event.New(from, to, "Build the invoice endpoint and its tests", body)
		if err != nil {
			b.Fatal(err)
		}
		ev.Seq, ev.ID = int64(i), fmt.Sprintf("%012x", i)
		ev.Timestamp = event.FormatTime(time.Date(2026, 1, 5, 8, 0, i, 0, time.UTC))
		lines = append(ev.AppendLine(lines), '\n')
	}
	if err := os.WriteFile(filepath.Join(s.dir, ".handoff", "coordination.jsonl"), lines, 0o600); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkSnapshot is a call of the tool snapshot on a long log: what the engine finds, what the tool answers, and all of it between a
// client and a server.
func BenchmarkSnapshot(b *testing.B) {
	s := long(b, 100_000)
	c := s.connect("claude-code", usual2025, s.engine(nil), Options{})
	b.Run("engine", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.server.engine.Snapshot(b.Context(), "codex"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("tool", func(b *testing.B) {
		for b.Loop() {
			if _, err := snapshot().call(b.Context(), c.server, json.RawMessage(`{}`)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c.call("snapshot", nil, nil)
		}
	})
}
