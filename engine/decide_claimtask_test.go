package engine

import (
	"testing"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

func TestClaimTask(t *testing.T) {
	d := newDesk(t)
	// The desk numbers its events, so what the new task will be called is known.
	events := d.do(ClaimTask{Agent: "codex", Text: "checkout form", NewID: "id000001", Paths: []string{"web", "./docs/"}})
	if len(events) != 3 || events[0].Type != event.TypeOwnership || events[1].ID != "id000001" || events[1].To != event.Broadcast ||
		events[2].Resolves != "id000001" || events[2].To != event.Broadcast {
		t.Fatalf("stored %+v", events)
	}
	if got := d.task("id000001"); got.Status != state.TaskTaken || got.TakenBy != "codex" || got.Description != "checkout form" {
		t.Errorf("task %+v", got)
	}

	asked := d.one(AddTask{From: "user", To: "*", Text: "tests"})
	events = d.do(ClaimTask{Agent: "claude", ID: asked.ID, Text: "begins with the API", Paths: []string{"tests"}})
	if len(events) != 2 || events[1].Resolves != asked.ID || events[1].Description != "begins with the API" || events[1].To != "user" {
		t.Errorf("stored %+v", events)
	}
	if e := d.one(ClaimTask{Agent: "gemini", Paths: []string{"bin"}}); e.Type != event.TypeOwnership {
		t.Errorf("claim alone: %+v", e)
	}
}

// Whatever is refused of it, nothing is stored.
func TestClaimTaskIsBothOrNeither(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "codex", Paths: []string{"web"}})
	task := d.one(AddTask{From: "user", To: "*", Text: "free"})
	d.conflict(ConflictOwnership, ClaimTask{Agent: "claude", ID: task.ID, Paths: []string{"web/form.tsx"}}, "held by codex")
	if got := d.task(task.ID); got.Status != state.TaskOpen {
		t.Errorf("task %+v", got)
	}
	d.do(ClaimTask{Agent: "codex", ID: task.ID})
	d.conflict(ConflictTask, ClaimTask{Agent: "claude", ID: task.ID, Paths: []string{"src"}}, "is codex's")
	d.missing("task", ClaimTask{Agent: "claude", ID: "nothing0", Paths: []string{"src"}})
	d.wrong("task", ClaimTask{Agent: "claude"})
	d.wrong("paths", ClaimTask{Agent: "claude", Text: "x", NewID: "new00001", Paths: []string{"../out"}})
	if claims := d.state.ClaimsOf("claude"); len(claims) != 0 {
		t.Errorf("claude holds %v", claims)
	}
}

func TestClaimTaskRetried(t *testing.T) {
	s := newScene(t)
	for _, c := range []ClaimTask{
		{Agent: "codex", Text: "one"},
		{Agent: "codex", Text: "two", Paths: []string{"src"}},
	} {
		r := Request{Command: c, Key: "key-" + c.Text}
		first, err := s.Do(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Do(t.Context(), r)
		if err != nil || !again.Duplicate || len(again.Events) != len(first.Events) || again.Seq() != first.Seq() {
			t.Errorf("%s: again %+v, %v; first %+v", c.Text, again, err, first)
		}
	}
}

// A session that ended goes on under its name when the same process, or a person who gives the name for good, registers it again.
func TestRegisterResumes(t *testing.T) {
	d := newDesk(t)
	first := Register{Base: "codex", PID: 7, Start: "s", Boot: "b", Host: "h"}
	d.do(first)
	d.do(Own{Agent: "codex", Paths: []string{"src"}})
	d.do(EndAgent{Name: "codex"})
	if e := d.one(first); e.From != "codex" {
		t.Errorf("the same process is %s", e.From)
	}
	d.do(EndAgent{Name: "codex"})
	second := first
	second.Start = "later"
	if e := d.one(second); e.From != "codex-2" {
		t.Errorf("a process that got the number later is %s", e.From)
	}
	d.conflict(ConflictName, Register{Name: "codex", PID: 9}, "another session left 1 claim")
	if e := d.one(Register{Name: "codex", PID: 9, Resume: true}); e.From != "codex" {
		t.Errorf("registered %s", e.From)
	}
	d.live["codex"] = Liveness{Known: true, Live: true}
	d.conflict(ConflictName, Register{Name: "codex", PID: 10, Resume: true}, "a live session has the name codex")
}
