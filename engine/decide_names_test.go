package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloadout/loadout/engine/event"
)

// Whoever is known keeps the spelling that the log has, wherever a command names an agent.
func TestKnownSpellingIsAdopted(t *testing.T) {
	for name, run := range map[string]func(d *desk) []event.Event{
		"own":      func(d *desk) []event.Event { return d.do(Own{Agent: "CODEX", Paths: []string{"a"}}) },
		"release":  func(d *desk) []event.Event { return d.do(ReleasePaths{Agent: "CODEX", Paths: []string{"held"}}) },
		"contract": func(d *desk) []event.Event { return d.do(Publish{Agent: "CODEX", Name: "n", Body: "b"}) },
		"consume":  func(d *desk) []event.Event { return d.do(Consume{Agent: "CODEX", Names: []string{"api"}}) },
		"decide":   func(d *desk) []event.Event { return d.do(Decide{Agent: "CODEX", Title: "t"}) },
		"update":   func(d *desk) []event.Event { return d.do(Report{Agent: "CODEX"}) },
		"task":     func(d *desk) []event.Event { return d.do(AddTask{From: "CODEX", To: "GEMINI", Text: "t"}) },
		"ask":      func(d *desk) []event.Event { return d.do(Ask{From: "CODEX", To: "GEMINI", Text: "t"}) },
		"answer":   func(d *desk) []event.Event { return d.do(Answer{From: "CODEX", ID: "#3", Text: "t"}) },
		"next":     func(d *desk) []event.Event { return d.do(Next{Agent: "CODEX"}) },
		"done":     func(d *desk) []event.Event { return d.do(Finish{From: "CODEX", ID: "#2"}) },
		"cancel":   func(d *desk) []event.Event { return d.do(Cancel{From: "CODEX", ID: "#4"}) },
		"ack":      func(d *desk) []event.Event { return d.do(Ack{Agent: "CODEX", Seq: 0}) },
		"end":      func(d *desk) []event.Event { return d.do(EndAgent{Name: "CODEX"}) },
		"emit": func(d *desk) []event.Event {
			return d.do(Emit{event.Event{Type: event.TypeDiscussion, From: "CODEX", To: "GEMINI", Description: "d", Payload: []byte(`{"threadId":"t","kind":"proposal","round":1,"role":"proposer","content":"c"}`)}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.do(Register{Base: "Codex"})
			d.do(Own{Agent: "Codex", Paths: []string{"held"}})
			d.do(AddTask{From: "Gemini", To: "Codex", Text: "work"})
			d.do(Ask{From: "Gemini", To: "Codex", Text: "why"})
			d.do(AddTask{From: "Codex", To: "Gemini", Text: "own"})
			d.do(Publish{Agent: "Gemini", Name: "api", Body: "b"})
			for _, ev := range run(d) {
				if ev.From != "Codex" || ev.To != event.Broadcast && ev.To != "Gemini" {
					t.Errorf("stored from %s to %s", ev.From, ev.To)
				}
			}
		})
	}
	d := newDesk(t)
	for typed, want := range map[string]string{"User": "user", "USER": "user", " new ": "new", "*": "*", "": ""} {
		if got := d.view().spelling(typed); got != want {
			t.Errorf("%q: spelled %q, want %q", typed, got, want)
		}
	}
}

// A session that registers says how its name is spelled, also for what the name stood for before.
func TestRegistrationSetsTheSpelling(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "CODEX", Paths: []string{"a"}})
	task := d.one(AddTask{From: "user", To: "CODEX", Text: "t"})
	d.conflict(ConflictName, Register{Name: "codex", Session: "s"}, "left 1 claim")
	d.do(ReleasePaths{Agent: "codex", Paths: []string{"a"}})
	d.do(Register{Name: "codex", Session: "s"})
	if to := d.task(task.ID).To; to != "codex" {
		t.Errorf("task for %s", to)
	}
	if a, _ := d.state.Agent("CODEX"); a.Name != "codex" || len(d.state.Agents()) != 2 {
		t.Errorf("agents %v", d.state.Agents())
	}
}

// A log may name one agent in two ways; releasing its paths is one event.
func TestReleaseOfTwoSpellings(t *testing.T) {
	d := newDesk(t)
	for i, from := range []string{"codex", "Codex"} {
		ev, err := event.New(from, event.Broadcast, "claims", event.Ownership{Paths: []string{[]string{"src/a", "src/b"}[i]}, Mode: event.Exclusive})
		if err != nil {
			t.Fatal(err)
		}
		ev.ID, ev.Seq, ev.Timestamp = event.NewID(), int64(i), event.FormatTime(d.now)
		if err := d.state.Apply(&ev); err != nil {
			t.Fatal(err)
		}
	}
	released := d.body(d.one(ReleasePaths{Agent: "cOdEx", Paths: []string{"src"}})).(event.Ownership)
	if diff := cmp.Diff(event.Ownership{Paths: []string{"src/a", "src/b"}, Mode: event.Release}, released); diff != "" {
		t.Errorf("release (-want +got):\n%s", diff)
	}
	d.holds()
}
