package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui"
)

// writer makes a log whose numbers, ids and times are always the same.
type writer struct {
	lines []byte
	seq   int64
	now   time.Time
	err   error
}

func (w *writer) add(after time.Duration, from, to, description string, body event.Body) {
	e, err := event.New(from, to, description, body)
	if w.err != nil || err != nil {
		w.err = firstOf(w.err, err)
		return
	}
	w.now = w.now.Add(after)
	e.Seq, e.ID, e.Timestamp = w.seq, fmt.Sprintf("picture%04d", w.seq), w.now.Format(event.TimeFormat)
	w.lines = append(e.AppendLine(w.lines), '\n')
	w.seq++
}

func (w *writer) agent(name, human string) {
	w.add(time.Second, event.Loadout, event.Broadcast, name+" registered", event.Agent{Action: event.AgentRegistered, Name: name, Base: name, Human: human})
}

func (w *writer) own(agent, path, reason string, mode event.Mode, ttl time.Duration) {
	o := event.Ownership{Paths: []string{path}, Mode: mode, Reason: reason}
	if ttl > 0 {
		o.ExpiresAt = w.now.Add(ttl).Format(event.TimeFormat)
	}
	w.add(20*time.Second, agent, event.Broadcast, agent+" claims: "+path, o)
}

func (w *writer) contract(agent, name string, revision int64, body string) {
	w.add(40*time.Second, agent, event.Broadcast, fmt.Sprintf("Contract '%s' rev%d", name, revision),
		event.Contract{Name: name, Revision: revision, Body: body, Format: "http"})
}

// story writes the log of a morning in a shop's repository and opens it.
func story(dir string) (tui.Engine, time.Time, error) {
	w := &writer{now: time.Date(2026, 9, 3, 10, 20, 0, 0, time.UTC)}
	const claude, codex, gemini = "claude-code", "codex", "gemini"
	w.agent(claude, "dana")
	w.agent(codex, "dana")
	w.agent(gemini, "sam")
	w.own(claude, "src/api", "the checkout endpoint", event.Exclusive, 2*time.Hour)
	w.own(codex, "src/web", "cart and checkout pages", event.Exclusive, 0)
	w.own(claude, "src/shared", "", event.Shared, 0)
	w.own(codex, "src/shared", "", event.Shared, 0)
	w.own(gemini, "docs", "the API guide", event.Exclusive, 0)
	w.contract(claude, "checkout-api", 1, "POST /api/checkout -> 201 { id: string }\n")
	w.add(30*time.Second, codex, event.Broadcast, "builds on checkout-api", event.Update{Consumes: []string{"checkout-api"}})
	w.add(30*time.Second, codex, event.Broadcast, "Acknowledged through seq 8", event.Ack{EventSeq: 8})
	w.contract(codex, "user-schema", 1, "table users (id uuid, name text)\n")
	w.contract(claude, "checkout-api", 2, "POST /api/checkout -> 201 { id: string, total: number }\nGET /api/checkout/:id -> 200\n")
	w.add(time.Minute, claude, codex, "Build the cart page on checkout-api", event.Task{})
	w.add(time.Minute, codex, event.Broadcast, "Form validated, 12 tests pass", event.Update{Note: "Form validated, 12 tests pass", Files: []string{"src/web/form.tsx"}})
	w.add(time.Minute, claude, event.Broadcast, "Amounts are in cents", event.Decision{Title: "Amounts are in cents", Rationale: "No rounding."})
	w.add(2*time.Minute, gemini, claude, "Does the guide need the old endpoint?", event.Question{})
	w.add(time.Minute, codex, event.User, "May I delete the legacy cart?", event.Question{})
	if w.err != nil {
		return nil, w.now, w.err
	}
	handoff := filepath.Join(dir, ".handoff")
	if err := os.MkdirAll(handoff, 0o700); err != nil {
		return nil, w.now, err
	}
	if err := os.WriteFile(filepath.Join(handoff, "coordination.jsonl"), w.lines, 0o600); err != nil {
		return nil, w.now, err
	}
	now := w.now.Add(3 * time.Minute)
	e := engine.Open(engine.Project{Root: dir, Dir: handoff, Worktree: dir}, engine.Options{Clock: func() time.Time { return now }})
	return lively{e}, now, nil
}
