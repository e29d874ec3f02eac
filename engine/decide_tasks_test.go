package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

func (d *desk) task(id string) state.Task {
	d.t.Helper()
	t, ok := d.state.Task(id)
	if !ok {
		d.t.Fatalf("no task %s", id)
	}
	return t
}

// taken is the id of the task that the agent got, empty for none.
func (d *desk) taken(agent string) string {
	d.t.Helper()
	events := d.do(Next{Agent: agent})
	if len(events) == 0 {
		return ""
	}
	return events[0].Resolves
}

func TestNextTakesTheOldestThatIsReady(t *testing.T) {
	d := newDesk(t)
	d.nothing(Next{Agent: "codex"})
	other := d.one(AddTask{From: "user", To: "gemini", Text: "for gemini"})
	first := d.one(AddTask{From: "user", To: "*", Text: "first", Context: "c"})
	waits := d.one(AddTask{From: "user", To: "codex", Text: "waits", Needs: []string{first.ID, "#1", first.ID}})
	mine := d.one(AddTask{From: "gemini", To: "Codex", Text: "mine", Handoff: true})
	d.one(Ask{From: "user", To: "codex", Text: "a question is not handed out"})
	if got := d.task(waits.ID); !cmp.Equal(got.Needs, []string{first.ID}) || !cmp.Equal(got.Waiting, []string{first.ID}) {
		t.Errorf("needs %v, waits for %v", got.Needs, got.Waiting)
	}

	e := d.one(Next{Agent: "codex"})
	if said, _ := tell(&e); said != "Took task "+first.ID+": first" {
		t.Errorf("told as %q", said)
	}
	if e.Resolves != first.ID || e.To != "user" || e.Description != "Takes: first" || e.Type != event.TypeTask {
		t.Errorf("took %+v, want %s", e, first.ID)
	}
	if got := d.task(first.ID); got.Status != state.TaskTaken || got.TakenBy != "codex" {
		t.Errorf("task %+v", got)
	}
	if got := d.taken("codex"); got != mine.ID {
		t.Errorf("then took %q, want %s", got, mine.ID)
	}
	if got := d.taken("codex"); got != "" {
		t.Errorf("took %q that is not ready", got)
	}
	d.do(Finish{From: "codex", ID: first.ID})
	if got := d.taken("codex"); got != waits.ID {
		t.Errorf("took %q, want %s, for which the way is free", got, waits.ID)
	}
	if got := d.taken("gemini"); got != other.ID {
		t.Errorf("gemini took %q, want %s", got, other.ID)
	}
}

// One task is handed out once, whatever the order of who asks.
func TestNextNeverHandsOutTwice(t *testing.T) {
	d := newDesk(t)
	for i := range 6 {
		d.do(AddTask{From: "user", To: "*", Text: fmt.Sprintf("task %d", i)})
	}
	seen := map[string]bool{}
	for _, agent := range []string{"a", "b", "a", "c", "b", "a"} {
		id := d.taken(agent)
		if id == "" || seen[id] {
			t.Fatalf("%s got %q", agent, id)
		}
		seen[id] = true
	}
}

func TestNeedsMustExist(t *testing.T) {
	d := newDesk(t)
	a := d.one(AddTask{From: "user", To: "*", Text: "a"})
	q := d.one(Ask{From: "user", To: "*", Text: "q"})
	missing := d.missing("task", AddTask{From: "user", To: "*", Text: "b", Needs: []string{a.ID, "id00000x"}}, "did you mean "+a.ID)
	if missing.Name != "id00000x" {
		t.Errorf("names %q", missing.Name)
	}
	d.missing("task", AddTask{From: "user", To: "*", Text: "b", Needs: []string{q.ID}})
	d.missing("task", AddTask{From: "user", To: "*", Text: "b", Needs: []string{"id"}}, "needs 4 characters")
	d.do(Cancel{From: "user", ID: a.ID})
	d.conflict(ConflictTask, AddTask{From: "user", To: "*", Text: "b", Needs: []string{a.ID}}, "can never be done: cancelled by user")
	b := d.one(AddTask{From: "user", To: "*", Text: "b"})
	d.do(Finish{From: "codex", ID: b.ID, Failed: true})
	d.conflict(ConflictTask, AddTask{From: "user", To: "*", Text: "c", Needs: []string{b.ID}}, "failed by codex")
}

// A task is named by its id, by the beginning of it, or by #SEQ.
func TestWhatNamesATask(t *testing.T) {
	d := newDesk(t)
	d.do(Report{Agent: "user", Update: event.Update{}})
	for _, word := range []func(event.Event) string{
		func(e event.Event) string { return e.ID },
		func(e event.Event) string { return " " + e.ID + " " },
		func(e event.Event) string { return e.ID[:7] },
		func(e event.Event) string { return fmt.Sprintf("#%d", e.Seq) },
	} {
		task := d.one(AddTask{From: "user", To: "codex", Text: "work"})
		if e := d.one(Finish{From: "codex", ID: word(task)}); e.Resolves != task.ID {
			t.Errorf("%q settles %q, want %q", word(task), e.Resolves, task.ID)
		}
		d.state = state.New() // so that the beginning of an id stays unique
		d.do(Report{Agent: "user", Update: event.Update{}})
	}
	d.do(AddTask{From: "user", To: "codex", Text: "one"})
	d.do(AddTask{From: "user", To: "codex", Text: "two"})
	d.wrong("task", Finish{From: "codex", ID: "id0000"})
	d.missing("task", Finish{From: "codex", ID: "nothing"}, "loadout coord status")
	d.missing("task", Finish{From: "codex", ID: "#0"})
	d.missing("task", Finish{From: "codex", ID: ""})
	d.missing("task", Finish{From: "codex", ID: "1"}, "a number a # before it")
}

func TestFinish(t *testing.T) {
	d := newDesk(t)
	task := d.one(AddTask{From: "user", To: "codex", Text: "build"})
	e := d.one(Finish{From: "codex", ID: task.ID, Evidence: "tests pass"})
	if e.Type != event.TypeDone || e.To != "user" || e.Description != "Completed: build" || e.Resolves != task.ID || d.body(e).(event.Done).Evidence != "tests pass" {
		t.Errorf("event %+v", e)
	}
	if headline, _ := tell(&e); headline != "Completed: build" {
		t.Errorf("told as %q", headline)
	}
	got := d.task(task.ID)
	if got.Status != state.TaskDone || got.SettledBy != "codex" || got.Evidence != "tests pass" {
		t.Errorf("task %+v", got)
	}
	refusal := d.conflict(ConflictTask, Finish{From: "codex", ID: task.ID}, "task "+task.ID+" is settled: done by codex at 08:01")
	if refusal.Want != 0 || refusal.Have != 1 {
		t.Errorf("want %d, have %d", refusal.Want, refusal.Have)
	}
	d.conflict(ConflictTask, Cancel{From: "user", ID: task.ID}, "done by codex")

	task = d.one(AddTask{From: "codex", To: "*", Text: "own"})
	e = d.one(Finish{From: "codex", ID: task.ID, Failed: true, Evidence: "no network"})
	if e.Type != event.TypeError || e.To != event.Broadcast || e.Description != "Failed: no network" {
		t.Errorf("event %+v", e)
	}
	if got := d.task(task.ID).Status; got != state.TaskFailed {
		t.Errorf("status %s", got)
	}
	task = d.one(AddTask{From: "user", To: "*", Text: strings.Repeat("x", event.MaxDescription)})
	d.one(Finish{From: "codex", ID: task.ID})
}

// Whose task it is decides who may settle it.
func TestWhoMaySettle(t *testing.T) {
	for _, c := range []struct {
		to, takenBy string
		by          string
		person      bool
		words       []string // of the refusal; none: allowed
	}{
		{to: "*", by: "codex"},
		{to: "codex", by: "codex"},
		{to: "codex", by: "giver"},
		{to: "codex", by: "user"},
		{to: "codex", by: "gemini", words: []string{"is for codex, from giver at 08:00", "loadout coord ask codex"}},
		{to: "codex", by: "gemini", person: true},
		{to: "*", takenBy: "codex", by: "Codex"},
		{to: "*", takenBy: "codex", by: "giver"},
		{to: "*", takenBy: "codex", by: "gemini", words: []string{"is codex's, who took it at 08:01"}},
		{to: "codex", takenBy: "codex", by: "gemini", words: []string{"is codex's"}},
	} {
		for _, failed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%+v %v", c, failed), func(t *testing.T) {
				d := newDesk(t)
				task := d.one(AddTask{From: "giver", To: c.to, Text: "work"})
				if c.takenBy != "" {
					d.do(Next{Agent: c.takenBy})
				}
				d.person = c.person
				finish := Finish{From: c.by, ID: task.ID, Failed: failed}
				if c.words != nil {
					d.conflict(ConflictTask, finish, c.words...)
					return
				}
				d.do(finish)
			})
		}
	}
}

func TestCancel(t *testing.T) {
	d := newDesk(t)
	task := d.one(AddTask{From: "claude-code", To: "codex", Text: "work"})
	d.conflict(ConflictTask, Cancel{From: "codex", ID: task.ID}, "is withdrawn by claude-code, who asked, or by a person", "--failed")
	e := d.one(Cancel{From: "claude-code", ID: task.ID, Reason: "not needed"})
	if e.To != "codex" || e.Description != "Cancelled: not needed" || e.Type != event.TypeCancel {
		t.Errorf("event %+v", e)
	}
	if got := d.task(task.ID).Status; got != state.TaskCancelled {
		t.Errorf("status %s", got)
	}
	task = d.one(AddTask{From: "claude-code", To: "*", Text: "work"})
	d.do(Next{Agent: "codex"})
	if e := d.one(Cancel{From: "user", ID: task.ID}); e.To != "codex" || e.Description != "Cancelled: work" {
		t.Errorf("event %+v", e)
	}
	question := d.one(Ask{From: "claude-code", To: "codex", Text: "why"})
	d.do(Cancel{From: "claude-code", ID: question.ID})
	d.conflict(ConflictTask, Answer{From: "codex", ID: question.ID, Text: "because"}, "question "+question.ID+" is settled: cancelled by claude-code")
	d.missing("task", Cancel{From: "user", ID: "nothing"})
}

func TestQuestions(t *testing.T) {
	d := newDesk(t)
	q := d.one(Ask{From: "claude-code", To: "codex", Text: "cents?", Context: "invoice"})
	task := d.one(AddTask{From: "user", To: "codex", Text: "work"})
	if got := d.task(q.ID); !got.Question || got.Context != "invoice" {
		t.Errorf("question %+v", got)
	}
	d.missing("question", Answer{From: "codex", ID: task.ID, Text: "x"})
	d.missing("question", Answer{From: "codex", ID: "nothing", Text: "x"}, "loadout coord status")
	d.wrong("task", Finish{From: "codex", ID: q.ID})
	d.conflict(ConflictTask, Answer{From: "gemini", ID: q.ID, Text: "x"}, "is for codex, from claude-code")
	d.conflict(ConflictTask, Answer{From: "claude-code", ID: q.ID, Text: "x"}, "is for codex to answer", "loadout coord cancel")
	e := d.one(Answer{From: "codex", ID: q.ID, Text: "cents"})
	if e.Type != event.TypeDone || e.To != "claude-code" || e.Description != "cents" || e.Resolves != q.ID {
		t.Errorf("event %+v", e)
	}
	if got := d.task(q.ID); got.Answer != "cents" || got.SettledBy != "codex" {
		t.Errorf("question %+v", got)
	}
	d.conflict(ConflictTask, Answer{From: "codex", ID: q.ID, Text: "again"}, "done by codex")
	all := d.one(Ask{From: "claude-code", To: "*", Text: "anybody?"})
	d.do(Answer{From: "gemini", ID: all.ID, Text: "me"})
}

// What an ended session had taken is open again, in its old place.
func TestEndedSessionGivesTasksBack(t *testing.T) {
	d := newDesk(t)
	codex := d.session("codex")
	first := d.one(AddTask{From: "user", To: "*", Text: "first"})
	d.one(AddTask{From: "user", To: "*", Text: "second"})
	if got := d.taken(codex); got != first.ID {
		t.Fatalf("took %q", got)
	}
	d.do(EndAgent{Name: codex})
	if got := d.taken("gemini"); got != first.ID {
		t.Errorf("gemini took %q, want %s", got, first.ID)
	}
}
