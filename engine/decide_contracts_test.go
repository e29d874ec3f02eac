package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloadout/loadout/engine/event"
)

func TestPublish(t *testing.T) {
	d := newDesk(t)
	revision := func(c Publish) int64 {
		t.Helper()
		e := d.one(c)
		b := d.body(e).(event.Contract)
		return b.Revision
	}
	e := d.one(Publish{Agent: "codex", Name: " api ", Body: " b ", Format: " openapi "})
	if diff := cmp.Diff(event.Body(event.Contract{Name: "api", Revision: 1, Body: " b ", Format: "openapi"}), d.body(e)); diff != "" {
		t.Error(diff)
	}
	if e.Description != "Contract 'api' rev1" || e.To != event.Broadcast {
		t.Errorf("event %+v", e)
	}
	if got := revision(Publish{Agent: "gemini", Name: "api", Body: "b2"}); got != 2 {
		t.Errorf("next revision %d", got)
	}
	if got := revision(Publish{Agent: "gemini", Name: "api", Body: "b3", Base: number(2)}); got != 3 {
		t.Errorf("revision on base 2: %d", got)
	}
	if got := revision(Publish{Agent: "gemini", Name: "api", Revision: number(10)}); got != 10 {
		t.Errorf("explicit revision: %d", got)
	}
	if got := revision(Publish{Agent: "gemini", Name: "other", Base: number(0)}); got != 1 {
		t.Errorf("first revision: %d", got)
	}

	for _, c := range []struct {
		command    Publish
		want, have int64
		words      []string
	}{
		{Publish{Agent: "codex", Name: "api", Revision: number(10)}, 10, 10, []string{"the latest revision of api is 10, by gemini since 08:03", "revision 10 is not above it", "loadout coord diff api"}},
		{Publish{Agent: "codex", Name: "api", Revision: number(4)}, 4, 10, nil},
		{Publish{Agent: "codex", Name: "api", Base: number(3)}, 3, 10, []string{"it was to follow revision 3", "--base 10"}},
		{Publish{Agent: "codex", Name: "api", Base: number(0)}, 0, 10, nil},
		{Publish{Agent: "codex", Name: "api", Base: number(3), Revision: number(11)}, 3, 10, nil},
		{Publish{Agent: "codex", Name: "new", Base: number(1)}, 1, 0, []string{"there is no contract new yet", "--base 0"}},
	} {
		refusal := d.conflict(ConflictRevision, c.command, c.words...)
		if refusal.Want != c.want || refusal.Have != c.have {
			t.Errorf("%+v: want %d, have %d", c.command, refusal.Want, refusal.Have)
		}
	}
	d.wrong("revision", Publish{Agent: "codex", Name: "api", Revision: number(0)})
	d.wrong("base", Publish{Agent: "codex", Name: "api", Base: number(-1)})
}

func TestConsume(t *testing.T) {
	d := newDesk(t)
	d.missing("contract", Consume{Agent: "codex", Names: []string{"chekout-api"}})
	d.do(Publish{Agent: "claude-code", Name: "checkout-api"})
	missing := d.missing("contract", Consume{Agent: "codex", Names: []string{"chekout-api"}}, "did you mean checkout-api?", "loadout coord contract")
	if diff := cmp.Diff([]string{"checkout-api"}, missing.Suggestions); diff != "" {
		t.Error(diff)
	}
	d.wrong("names", Consume{Agent: "codex"})
	e := d.one(Consume{Agent: "codex", Names: []string{"checkout-api"}})
	if e.Type != event.TypeUpdate || e.Description != "builds on checkout-api" {
		t.Errorf("event %+v", e)
	}
	if c, _ := d.state.Contract("checkout-api"); len(c.Readers) != 1 || c.Readers[0].Agent != "codex" || !c.Readers[0].Declared {
		t.Errorf("readers %+v", c.Readers)
	}
}

func TestReport(t *testing.T) {
	d := newDesk(t)
	d.do(Publish{Agent: "claude-code", Name: "api"})
	for _, c := range []struct {
		update event.Update
		want   string
	}{
		{event.Update{Note: " Form done ", Files: []string{"a"}}, "Form done"},
		{event.Update{Files: []string{"a", "b"}}, "2 files"},
		{event.Update{Note: "n", Blockers: []string{"x"}, Consumes: []string{"api"}}, "n; 1 blocker; builds on api"},
		{event.Update{Next: "later"}, "Progress update"},
		{event.Update{}, "Progress update"},
	} {
		if got := d.one(Report{Agent: "codex", Update: c.update}).Description; got != c.want {
			t.Errorf("%+v: description %q, want %q", c.update, got, c.want)
		}
	}
	if got := d.one(Report{Agent: "codex", Update: event.Update{Note: strings.Repeat("x", event.MaxUpdateNote)}}); len(got.Description) != event.MaxUpdateNote {
		t.Errorf("description of %d characters", len(got.Description))
	}
	d.missing("contract", Report{Agent: "codex", Update: event.Update{Consumes: []string{"nothing"}}})
}

func TestDecisions(t *testing.T) {
	d := newDesk(t)
	first := d.one(Decide{Agent: "codex", Title: "Use cents", Rationale: "no rounding"})
	if b := d.body(first).(event.Decision); b.Title != "Use cents" || b.Rationale != "no rounding" || first.Description != "Use cents" {
		t.Errorf("event %+v", first)
	}
	d.missing("decision", Decide{Agent: "codex", Title: "t", Supersedes: "Use cent"}, "did you mean Use cents?")
	d.missing("decision", Decide{Agent: "codex", Title: "t", Supersedes: "#77"})
	second := d.one(Decide{Agent: "gemini", Title: "Use decimals", Supersedes: "#0"})
	if b := d.body(second).(event.Decision); b.Supersedes != first.ID {
		t.Errorf("supersedes %q, want %q", b.Supersedes, first.ID)
	}
	d.conflict(ConflictDecision, Decide{Agent: "codex", Title: "t", Supersedes: first.ID}, `"Use cents" is superseded already, by "Use decimals" of gemini`, "--supersedes "+second.ID)
	third := d.one(Decide{Agent: "codex", Title: "Use minor units", Supersedes: "Use decimals"})
	old, _ := d.state.Decision(second.ID)
	if old.SupersededBy != third.ID {
		t.Errorf("superseded by %q, want %q", old.SupersededBy, third.ID)
	}
	d.wrong("decision", Decide{Agent: "codex", Title: "t", Supersedes: "id0000"})
}

func TestAck(t *testing.T) {
	d := newDesk(t)
	d.conflict(ConflictAck, Ack{Agent: "codex", Seq: 0}, "the log is empty")
	d.do(Report{Agent: "claude-code", Update: event.Update{Note: "one"}})
	d.do(Report{Agent: "claude-code", Update: event.Update{Note: "two"}})
	refusal := d.conflict(ConflictAck, Ack{Agent: "codex", Seq: 99}, "nothing is stored yet with number 99: the newest event is 1", "loadout coord ack codex 1")
	if refusal.Want != 99 || refusal.Have != 1 {
		t.Errorf("want %d, have %d", refusal.Want, refusal.Have)
	}
	d.wrong("seq", Ack{Agent: "codex", Seq: -1})
	e := d.one(Ack{Agent: "codex", Seq: 1, Note: "read"})
	if diff := cmp.Diff(event.Body(event.Ack{EventSeq: 1, Note: "read"}), d.body(e)); diff != "" || e.Description != "Acknowledged through seq 1" {
		t.Errorf("%q\n%s", e.Description, diff)
	}
	d.nothing(Ack{Agent: "codex", Seq: 1})
	d.nothing(Ack{Agent: "Codex", Seq: 0})
	d.do(Ack{Agent: "codex", Seq: 2}) // its own acknowledgement
}
