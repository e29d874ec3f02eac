package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

func emit(t *testing.T, from, to, description string, body event.Body) Emit {
	t.Helper()
	e, err := event.New(from, to, description, body)
	if err != nil {
		t.Fatal(err)
	}
	return Emit{e}
}

func (c Emit) resolving(id string) Emit {
	c.Resolves = id
	return c
}

// An event that comes whole gets around no rule.
func TestEmitFollowsTheRules(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "codex", Paths: []string{"src"}})
	d.do(Publish{Agent: "codex", Name: "api", Body: "b"})
	task := d.one(AddTask{From: "user", To: "codex", Text: "work"})

	d.conflict(ConflictOwnership, emit(t, "gemini", "*", "x", event.Ownership{Paths: []string{"src/a"}, Mode: event.Exclusive}))
	d.conflict(ConflictRelease, emit(t, "gemini", "*", "x", event.Ownership{Paths: []string{"src"}, Mode: event.Release}))
	d.wrong("payload", emit(t, "gemini", "*", "x", event.Ownership{Paths: []string{"src"}, Mode: event.Release, Holder: "codex"}))
	d.wrong("payload", emit(t, "gemini", "*", "x", event.Ownership{Paths: []string{"src"}, Mode: event.Exclusive, Cause: event.CauseForced}))
	d.wrong("payload.expiresAt", emit(t, "gemini", "*", "x", event.Ownership{Paths: []string{"web"}, Mode: event.Shared, ExpiresAt: "2020-01-01T00:00:00Z"}))
	d.conflict(ConflictRevision, emit(t, "gemini", "*", "x", event.Contract{Name: "api", Revision: 1}))
	d.conflict(ConflictAck, emit(t, "gemini", "*", "x", event.Ack{EventSeq: 99}))
	d.missing("decision", emit(t, "gemini", "*", "x", event.Decision{Title: "t", Supersedes: "nothing"}))
	d.missing("contract", emit(t, "gemini", "*", "x", event.Update{Consumes: []string{"nothing"}}))
	d.missing("task", emit(t, "gemini", "*", "x", event.Task{Needs: []string{"nothing"}}))
	d.missing("task", emit(t, "gemini", "*", "x", event.Done{}).resolving("nothing"))
	d.missing("task", emit(t, "gemini", "*", "x", event.Error{}).resolving("nothing"))
	d.missing("task", emit(t, "gemini", "*", "x", event.Cancel{}))
	d.conflict(ConflictTask, emit(t, "gemini", "*", "x", event.Done{}).resolving(task.ID), "is for codex")
	d.conflict(ConflictTask, emit(t, "gemini", "*", "x", event.Cancel{}).resolving(task.ID), "is withdrawn by user")
	d.conflict(ConflictTask, emit(t, "gemini", "*", "x", event.Task{}).resolving(task.ID), "was given to codex")
	d.wrong("type", emit(t, "gemini", "*", "x", event.Agent{Action: event.AgentEnded, Name: "codex"}))
	d.wrong("type", emit(t, "gemini", "*", "x", event.Halt{Action: event.HaltLifted}))
	d.wrong("type", Emit{event.Event{Type: "skill", From: "gemini", Description: "x"}})
	d.wrong("payload", Emit{event.Event{Type: event.TypeContract, From: "gemini", Description: "x"}})
	d.wrong("payload.mode", Emit{event.Event{Type: event.TypeOwnership, From: "gemini", Description: "x", Payload: json.RawMessage(`{"paths":["a"]}`)}})
	d.holds("src codex exclusive 0")
}

func TestEmitStores(t *testing.T) {
	d := newDesk(t)
	e := d.one(emit(t, "codex", "gemini", "claims it", event.Ownership{Paths: []string{"src"}, Mode: event.Shared, ExpiresAt: "2026-09-10T09:00:00Z"}))
	if e.To != event.Broadcast || e.Description != "codex claims: src" {
		t.Errorf("claim %+v", e)
	}
	if c := d.state.Claims()[0]; c.Mode != event.Shared || c.ExpiresAt == nil || c.ExpiresAt.Hour() != 9 {
		t.Errorf("claim %+v", c)
	}
	d.one(emit(t, "codex", "", "c", event.Contract{Name: "api", Revision: 4, Body: "b"}))
	if c, _ := d.state.Contract("api"); c.Revision != 4 {
		t.Errorf("contract %+v", c)
	}
	task := d.one(emit(t, "codex", "", "work", event.Task{}))
	if task.To != event.Broadcast {
		t.Errorf("to %q", task.To)
	}
	d.one(emit(t, "gemini", "codex", "mine", event.Task{}).resolving("#2"))
	if got := d.task(task.ID); got.TakenBy != "gemini" {
		t.Errorf("task %+v", got)
	}
	d.conflict(ConflictTask, emit(t, "claude-code", "*", "mine", event.Task{}).resolving(task.ID), "is gemini's, who took it")
	blocked := d.one(AddTask{From: "user", To: "*", Text: "later", Needs: []string{task.ID}})
	d.conflict(ConflictTask, emit(t, "claude-code", "*", "mine", event.Task{}).resolving(blocked.ID), "waits for "+task.ID)
	done := d.one(emit(t, "gemini", "codex", "it is done", event.Done{Evidence: "e"}).resolving(task.ID[:7] + task.ID[7:]))
	if done.Description != "it is done" || d.task(task.ID).Status != state.TaskDone {
		t.Errorf("done %+v", done)
	}
	d.conflict(ConflictTask, emit(t, "gemini", "*", "x", event.Task{}).resolving(task.ID), "is settled")
	news := d.one(emit(t, "gemini", "*", "something is done", event.Done{}))
	if news.Resolves != "" {
		t.Errorf("resolves %q", news.Resolves)
	}
	summary := d.one(emit(t, "gemini", "*", "half way", event.Status{CompactedCount: 3, Carried: json.RawMessage(`{"v":1}`)}))
	if len(summary.Payload) != 0 {
		t.Errorf("a remark kept %s", summary.Payload)
	}
	for _, body := range []event.Body{event.Handoff{}, event.Question{}, event.Error{}, event.Update{Note: "n"}} {
		if e := d.one(emit(t, "gemini", "codex", "words", body)); e.Description != "words" || e.To != "codex" {
			t.Errorf("%T: %+v", body, e)
		}
	}
}

// A retry with the same key finds what it stored, also when the rule would refuse it now; another request with that key does not.
func TestRetry(t *testing.T) {
	long := strings.Repeat("long ", 1200)
	for name, c := range map[string]struct {
		before       []Command
		first, other Command
		elsewhere    Command // something that makes the rule refuse, or answer otherwise
	}{
		"own":     {first: Own{Agent: "codex", Paths: []string{"src/"}, Reason: "r"}, other: Own{Agent: "codex", Paths: []string{"web"}, Reason: "r"}, elsewhere: ReleasePaths{Agent: "codex", Paths: []string{"src"}}},
		"release": {before: []Command{Own{Agent: "codex", Paths: []string{"src/a", "src/b"}}}, first: ReleasePaths{Agent: "codex", Paths: []string{"src"}}, other: ReleasePaths{Agent: "codex", Paths: []string{"src/a"}}},
		"publish": {first: Publish{Agent: "codex", Name: "api", Body: "b"}, other: Publish{Agent: "codex", Name: "api", Body: "b2"}, elsewhere: Publish{Agent: "gemini", Name: "api"}},
		"consume": {before: []Command{Publish{Agent: "a", Name: "api"}}, first: Consume{Agent: "codex", Names: []string{"api"}}, other: Report{Agent: "codex"}},
		"decide": {
			before: []Command{Decide{Agent: "a", Title: "old"}},
			first:  Decide{Agent: "codex", Title: "t", Supersedes: "old"}, other: Decide{Agent: "codex", Title: "u"},
		},
		"report": {first: Report{Agent: "codex", Update: event.Update{Note: "n"}}, other: Report{Agent: "codex", Update: event.Update{Note: "n", Next: "x"}}},
		"task":   {first: AddTask{From: "codex", To: "*", Text: "t"}, other: AddTask{From: "codex", To: "gemini", Text: "t"}},
		"ask":    {first: Ask{From: "codex", To: "*", Text: "t"}, other: AddTask{From: "codex", To: "*", Text: "t"}},
		"answer": {before: []Command{Ask{From: "a", To: "*", Text: "q"}}, first: Answer{From: "codex", ID: "#0", Text: "yes"}, other: Answer{From: "codex", ID: "#0", Text: "no"}},
		"next":   {before: []Command{AddTask{From: "a", To: "*", Text: "t"}}, first: Next{Agent: "codex"}, other: Ask{From: "codex", To: "*", Text: "t"}},
		"finish": {
			before: []Command{AddTask{From: "a", To: "*", Text: long}}, first: Finish{From: "codex", ID: "id000000", Evidence: "e"},
			other: Finish{From: "codex", ID: "id000000", Evidence: "f"},
		},
		"fail": {before: []Command{AddTask{From: "a", To: "*", Text: long}}, first: Finish{From: "codex", ID: "#0", Failed: true}, other: Finish{From: "codex", ID: "#0"}},
		"cancel": {
			before: []Command{AddTask{From: "codex", To: "*", Text: long}, Next{Agent: "gemini"}},
			first:  Cancel{From: "codex", ID: "#0"}, other: Cancel{From: "codex", ID: "#0", Reason: "r"},
		},
		"ack":      {before: []Command{Report{Agent: "a"}}, first: Ack{Agent: "codex", Seq: 0}, other: Ack{Agent: "codex", Seq: 1}},
		"register": {first: Register{Base: "codex", Human: "ada"}, other: Register{Base: "codex", Human: "bob"}},
		"name":     {first: Register{Name: "codex"}, other: EndAgent{Name: "codex"}},
		"end":      {before: []Command{Register{Name: "codex"}}, first: EndAgent{Name: "codex", Reason: "r"}, other: Report{Agent: "codex"}},
		"forget":   {before: []Command{Report{Agent: "a"}, Report{Agent: "b"}}, first: ForgetAgent{Name: "a"}, other: ForgetAgent{Name: "b"}},
		"rename":   {before: []Command{Report{Agent: "a"}}, first: RenameAgent{Old: "A", New: "b"}, other: RenameAgent{Old: "a", New: "c"}},
		"emit a contract": {
			first: Emit{event.Event{Type: event.TypeContract, From: "codex", To: "x", Description: "d", Payload: json.RawMessage(`{"name":"n","revision":1,"body":"b"}`)}},
			other: Publish{Agent: "codex", Name: "m", Body: "b"},
		},
		"emit done": {
			before: []Command{AddTask{From: "a", To: "*", Text: "t"}},
			first:  Emit{event.Event{Type: event.TypeDone, From: "codex", Description: "d", Resolves: "#0"}},
			other:  Emit{event.Event{Type: event.TypeDone, From: "codex", Description: "e", Resolves: "#0"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			for _, b := range c.before {
				d.do(b)
			}
			redact := func(e *event.Event) { e.Description = strings.ReplaceAll(e.Description, "t", "T") }
			find := func(c Command) (int64, bool, error) {
				return retried(d.view(), Request{Command: c, Key: "k"}, redact)
			}
			if _, found, err := find(c.first); found || err != nil {
				t.Fatalf("found before it was stored: %v, %v", found, err)
			}
			stored := d.redacted(Request{Command: c.first, Key: "k"}, redact)
			if c.elsewhere != nil {
				d.do(c.elsewhere)
			}
			if seq, found, err := find(c.first); !found || err != nil || seq != stored {
				t.Errorf("retry: event %d, found %v, %v; want event %d", seq, found, err, stored)
			}
			_, _, err := find(c.other)
			var conflict *ConflictError
			if !errors.As(err, &conflict) || conflict.Kind != ConflictKey || conflict.Have != stored {
				t.Errorf("another request with the key: %v", err)
			}
			mustSay(t, err, fmt.Sprintf("stored as event %d", stored), `"k"`)
		})
	}
}

// redacted is request with what the write path does to drafts, and returns the first number that it stored.
func (d *desk) redacted(r Request, redact func(*event.Event)) int64 {
	d.t.Helper()
	events, err := decide(d.view(), r.Command)
	if err != nil || len(events) == 0 {
		d.t.Fatalf("%T: %d events, %v", r.Command, len(events), err)
	}
	first := d.state.Head() + 1
	for i := range events {
		e := &events[i]
		redact(e)
		e.Seq, e.Key, e.Timestamp = d.state.Head()+1, r.Key, event.FormatTime(d.now)
		e.ID = fmt.Sprintf("id%06d", e.Seq)
		if err := e.Normalize(); err != nil {
			d.t.Fatal(err)
		}
		if err := d.state.Apply(e); err != nil {
			d.t.Fatal(err)
		}
	}
	return first
}

func TestRetryKeysAreTheSenders(t *testing.T) {
	d := newDesk(t)
	d.request(Request{Command: Report{Agent: "codex"}, Key: "k"})
	for _, r := range []Request{
		{Command: Report{Agent: "gemini"}, Key: "k"},
		{Command: Report{Agent: "codex"}, Key: "other"},
		{Command: Own{Agent: "codex"}, Key: "k"}, // no request that could be stored: the rule says why
	} {
		if _, found, err := retried(d.view(), r, func(*event.Event) {}); found || err != nil {
			t.Errorf("%+v: found %v, %v", r, found, err)
		}
	}
	if _, found, err := retried(d.view(), Request{Command: Report{Agent: "CODEX"}, Key: "k"}, func(*event.Event) {}); !found || err != nil {
		t.Errorf("same agent in other letters: found %v, %v", found, err)
	}
	if diff := cmp.Diff(int64(1), d.state.Count()); diff != "" {
		t.Error(diff)
	}
}
