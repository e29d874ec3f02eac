package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// desk decides commands one after the other, without a disk: what a rule allows is numbered and folded as the write path does it.
type desk struct {
	t      *testing.T
	state  *state.State
	now    time.Time
	live   map[string]Liveness
	person bool
	fold   bool // the file system does not mind case
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	return &desk{t: t, state: state.New(), now: time.Date(2026, 9, 10, 8, 0, 0, 0, time.UTC), live: map[string]Liveness{}}
}

func (d *desk) view() View {
	return View{
		State: d.state, Now: d.now, FoldCase: d.fold, Person: d.person,
		Live: func(agent string) Liveness {
			if a, ok := d.state.Agent(agent); !ok || !a.Registered {
				return Liveness{}
			}
			return d.live[event.FoldName(agent)]
		},
	}
}

// do carries out a command that must be allowed.
func (d *desk) do(c Command) []event.Event {
	d.t.Helper()
	return d.request(Request{Command: c})
}

func (d *desk) request(r Request) []event.Event {
	d.t.Helper()
	events, err := decide(d.view(), r.Command)
	if err != nil {
		d.t.Fatalf("%T refused: %v", r.Command, err)
	}
	lapsed, err := expire(d.view())
	if err != nil {
		d.t.Fatal(err)
	}
	if len(events) == 0 {
		return nil
	}
	all := slices.Concat(lapsed, events)
	for i := range all {
		e := &all[i]
		e.Seq = d.state.Head() + 1
		e.ID, e.Timestamp = fmt.Sprintf("id%06d", e.Seq), event.FormatTime(d.now)
		if i >= len(lapsed) {
			e.Key = r.Key
		}
		if err := e.Normalize(); err != nil {
			d.t.Fatalf("normalize draft of %T: %v", r.Command, err)
		}
		if err := d.state.Apply(e); err != nil {
			d.t.Fatalf("fold draft of %T: %v", r.Command, err)
		}
	}
	d.now = d.now.Add(time.Minute)
	return all[len(lapsed):]
}

// one is do for a command that makes one event.
func (d *desk) one(c Command) event.Event {
	d.t.Helper()
	events := d.do(c)
	if len(events) != 1 {
		d.t.Fatalf("%T made %d events, want 1", c, len(events))
	}
	return events[0]
}

// nothing is do for a command that needs no event.
func (d *desk) nothing(c Command) {
	d.t.Helper()
	if events := d.do(c); len(events) != 0 {
		d.t.Fatalf("%T made %d events, want none", c, len(events))
	}
}

// conflict decides a command that a rule must refuse, with these words in the refusal or its hints.
func (d *desk) conflict(kind ConflictKind, c Command, words ...string) *ConflictError {
	d.t.Helper()
	_, err := decide(d.view(), c)
	var conflict *ConflictError
	if !errors.As(err, &conflict) || conflict.Kind != kind {
		d.t.Fatalf("%T: got %v, want a conflict of kind %s", c, err, kind)
	}
	mustSay(d.t, err, words...)
	return conflict
}

// missing decides a command that must be refused because a name stands for nothing.
func (d *desk) missing(kind string, c Command, words ...string) *NotFoundError {
	d.t.Helper()
	_, err := decide(d.view(), c)
	var missing *NotFoundError
	if !errors.As(err, &missing) || missing.Kind != kind {
		d.t.Fatalf("%T: got %v, want no %s to be found", c, err, kind)
	}
	mustSay(d.t, err, words...)
	return missing
}

// wrong decides a command with a value that must be refused.
func (d *desk) wrong(field string, c Command) {
	d.t.Helper()
	_, err := decide(d.view(), c)
	var validation *ValidationError
	if !errors.As(err, &validation) || validation.Field != field {
		d.t.Fatalf("%T: got %v, want a validation error of %s", c, err, field)
	}
}

func mustSay(t *testing.T, err error, words ...string) {
	t.Helper()
	said := err.Error() + "\n" + strings.Join(Hints(err), "\n")
	for _, w := range words {
		if !strings.Contains(said, w) {
			t.Errorf("refusal does not say %q:\n%s", w, said)
		}
	}
}

// session registers an agent whose session lives.
func (d *desk) session(base string) string {
	d.t.Helper()
	e := d.one(Register{Base: base, Human: "ada", Session: fmt.Sprintf("s-%s%d", base, d.state.Head())})
	d.live[event.FoldName(e.From)] = Liveness{Known: true, Live: true, LastBeat: d.now}
	return e.From
}

// dies makes a session dead without a word.
func (d *desk) dies(agent string) {
	d.live[event.FoldName(agent)] = Liveness{Known: true, LastBeat: d.now}
}

// held lists all claims as "path agent mode fence".
func (d *desk) held() []string {
	list := []string{}
	for _, c := range d.state.Claims() {
		list = append(list, fmt.Sprintf("%s %s %s %d", c.Path, c.Agent, c.Mode, c.Fence))
	}
	return list
}

func (d *desk) holds(want ...string) {
	d.t.Helper()
	if diff := cmp.Diff(orEmpty(want), d.held()); diff != "" {
		d.t.Errorf("claims (-want +got):\n%s", diff)
	}
}

func (d *desk) body(e event.Event) event.Body {
	d.t.Helper()
	body, err := e.Body()
	if err != nil {
		d.t.Fatal(err)
	}
	return body
}

func number(n int64) *int64 { return &n }

// Every command refuses an agent that cannot be one.
func TestEveryCommandNeedsAnAgent(t *testing.T) {
	d := newDesk(t)
	task := d.one(AddTask{From: "user", To: "*", Text: "work"})
	question := d.one(Ask{From: "user", To: "*", Text: "why"})
	for _, bad := range []string{"", "*", "loadout", "LoadOut", "a\nb", "--", " -x", strings.Repeat("x", event.MaxName+1)} {
		for _, c := range []Command{
			Own{Agent: bad, Paths: []string{"a"}},
			ReleasePaths{Agent: bad, Paths: []string{"a"}},
			Publish{Agent: bad, Name: "n"},
			Consume{Agent: bad, Names: nil},
			Decide{Agent: bad, Title: "t"},
			Report{Agent: bad},
			AddTask{From: bad, To: "*", Text: "t"},
			AddTask{From: "a", To: strings.ReplaceAll(bad, "*", ""), Text: "t"},
			Ask{From: bad, To: "*", Text: "t"},
			Answer{From: bad, ID: question.ID, Text: "t"},
			Next{Agent: bad},
			Finish{From: bad, ID: task.ID},
			Cancel{From: bad, ID: task.ID},
			Ack{Agent: bad, Seq: 0},
			Register{Name: bad},
			EndAgent{Name: bad},
			ForgetAgent{Name: bad},
			RenameAgent{Old: bad, New: "x"},
			Emit{event.Event{Type: event.TypeStatus, From: bad, Description: "d"}},
		} {
			_, err := decide(d.view(), c)
			if code := ErrorCode(err); err == nil || code != "invalid_request" && code != "ownership_release_conflict" && code != "task_conflict" {
				t.Errorf("%T as %q: %v", c, bad, err)
			}
		}
	}
}

func TestErrorCodesAndDetails(t *testing.T) {
	at := time.Date(2026, 9, 10, 8, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		err  error
		code string
		keys []string
	}{
		{&UsageError{Message: "m", Hints: []string{"h"}}, "usage", []string{"hints"}},
		{&ValidationError{Field: "f", Reason: "r"}, "invalid_request", []string{"field"}},
		{&event.InvalidError{Field: "f", Reason: "r"}, "invalid_request", []string{"field"}},
		{&NotFoundError{Kind: "task", Name: "n"}, "not_found", []string{"kind", "name", "suggestions"}},
		{&ConflictError{Kind: ConflictOwnership}, "ownership_conflict", []string{"conflicts", "kind"}},
		{&ConflictError{Kind: ConflictRelease}, "ownership_release_conflict", []string{"conflicts", "kind"}},
		{&ConflictError{Kind: ConflictFence}, "fence_conflict", []string{"conflicts", "have", "kind", "want"}},
		{&ConflictError{Kind: ConflictRevision}, "contract_revision_conflict", []string{"have", "kind", "want"}},
		{&ConflictError{Kind: ConflictAck}, "acknowledgement_conflict", []string{"have", "kind", "want"}},
		{&ConflictError{Kind: ConflictTask}, "task_conflict", []string{"have", "kind", "want"}},
		{&ConflictError{Kind: ConflictDecision}, "decision_conflict", []string{"have", "kind", "want"}},
		{&ConflictError{Kind: ConflictKey}, "key_conflict", []string{"have", "kind", "want"}},
		{&ConflictError{Kind: ConflictIdentity}, "identity_conflict", []string{"kind"}},
		{&ConflictError{Kind: ConflictName}, "name_conflict", []string{"kind"}},
		{&HaltedError{By: "user", Reason: "r", At: at}, "kill_switch_active", []string{"activatedAt", "activatedBy", "damaged", "hints", "reason"}},
		{&LockedError{Path: "p"}, "locked", []string{"hints", "owner", "path", "waitedMs"}},
		{&ProviderError{Provider: "p", Err: errors.New("e")}, "provider_failed", nil},
		{errors.New("e"), "internal_error", nil},
	} {
		wrapped := fmt.Errorf("do it: %w", c.err)
		if got := ErrorCode(wrapped); got != c.code {
			t.Errorf("%T: code %q, want %q", c.err, got, c.code)
		}
		var keys []string
		for k := range Details(wrapped) {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		if diff := cmp.Diff(c.keys, keys); diff != "" {
			t.Errorf("%T %s: details (-want +got):\n%s", c.err, c.code, diff)
		}
	}
	if got := (&HaltedError{By: "user", Reason: "test", At: at}).Error(); got != "halted by user at 2026-09-10 08:00: test" {
		t.Errorf("halted says %q", got)
	}
	if got := (&NotFoundError{Kind: "task", Name: "x", Reason: "r", Suggestions: []string{"a", "b"}}).Error(); got != "no task x: r; did you mean a or b?" {
		t.Errorf("not found says %q", got)
	}
}

// What somebody pastes from a hint into a shell must do what it says, whatever the names are.
func TestHintsAreSafeToPaste(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "codex", Paths: []string{"$(reboot)"}, Reason: "see\n  nobody holds it\x1b[2J"})
	refusal := d.conflict(ConflictOwnership, Own{Agent: "gemini", Paths: []string{"$(reboot)"}}, `'$(reboot)'`, "because: see   nobody holds it")
	if strings.Contains(refusal.Error(), "\x1b") {
		t.Errorf("refusal has an escape sequence: %q", refusal.Error())
	}
}
