package timeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
)

// payload tells in words what the event's payload says. What this build does not know, and what breaks the rules of its type, is shown as
// it is stored.
func (p *rows) payload(d *pane.Detail, e *event.Event) {
	body, err := e.Body()
	if err != nil {
		d.Heading("payload")
		d.Text("It is left out of the state: "+err.Error(), p.Bad)
		p.stored(d, e.Payload)
		return
	}
	d.Gap()
	switch b := body.(type) {
	case event.Task:
		p.list(d, "needs", b.Needs)
		p.flag(d, b.Handoff, "handed over with a message")
		p.others(d, e.Payload, "needs", "handoff")
	case event.Done:
		p.block(d, "evidence", b.Evidence)
		p.others(d, e.Payload, "evidence")
	case event.Status:
		if b.CompactedCount > 0 {
			p.compaction(d, b)
			p.others(d, e.Payload, "compactedCount", "compactedRange", "agents", "typeCounts", "compactedAt", "carried")
			return
		}
		p.others(d, e.Payload)
	case event.Handoff, event.Question, event.Error, event.Cancel:
		p.others(d, e.Payload)
	case event.Contract:
		d.Field("contract", fmt.Sprintf("%s revision %d", b.Name, b.Revision), p.Strong)
		d.Field("format", b.Format, p.Text)
		p.block(d, "body", b.Body)
	case event.Ownership:
		p.ownership(d, b)
	case event.Decision:
		d.Field("decision", b.Title, p.Strong)
		p.block(d, "why", b.Rationale)
		d.Field("replaces", b.Supersedes, p.Text)
		d.Field("thread", b.DiscussionID, p.Text)
	case event.Update:
		p.update(d, b)
	case event.Ack:
		d.Field("read", fmt.Sprintf("everything up to #%d", b.EventSeq), p.Text)
		p.block(d, "note", b.Note)
	case event.Discussion:
		p.statement(d, b)
	case event.Agent:
		p.agent(d, b)
	case event.Halt:
		d.Field("kill switch", string(b.Action), p.Strong)
		d.Field("reason", b.Reason, p.Text)
	case event.Turn:
		p.turn(d, b)
	case event.Work:
		p.work(d, b)
	case event.Gate:
		p.gate(d, b)
	case event.Wave:
		p.wave(d, b)
	case event.Unknown:
		if len(b.Raw) > 0 {
			d.Heading("payload")
			p.stored(d, b.Raw)
		}
	}
}

func (p *rows) ownership(d *pane.Detail, b event.Ownership) {
	d.Field("mode", string(b.Mode), p.Strong)
	p.list(d, "paths", b.Paths)
	d.Field("reason", b.Reason, p.Text)
	if b.ExpiresAt != "" {
		t, _ := event.ParseTime(b.ExpiresAt)
		d.Field("until", pane.Stamp(p.snap.Now, t), p.Text)
	}
	switch b.Cause {
	case event.CauseExpired:
		d.Field("why", "its time limit had passed", p.Text)
	case event.CauseForced:
		d.Field("why", "a person used force", p.Warn)
	case event.CauseTakeover:
		d.Field("why", "the session of its holder had ended", p.Warn)
	}
	d.Field("holder", b.Holder, p.Owners.Style(b.Holder))
	if len(b.Displaced) > 0 {
		d.Heading("It ended " + words.Plural(len(b.Displaced), "claim"))
		for _, x := range b.Displaced {
			d.Marked("  ", fmt.Sprintf("%s held %s, %s, fence %d", x.Agent, x.Path, x.Mode, x.Fence), p.Warn)
		}
	}
}

func (p *rows) compaction(d *pane.Detail, b event.Status) {
	d.Field("compacted", words.Plural(b.CompactedCount, "event")+" taken out of the log and archived", p.Strong)
	if r := b.CompactedRange; r != nil {
		d.Field("range", fmt.Sprintf("#%d to #%d", r.From, r.To), p.Text)
	}
	p.list(d, "agents", b.Agents)
	if len(b.TypeCounts) > 0 {
		d.Heading("by type")
		for _, t := range slices.Sorted(maps.Keys(b.TypeCounts)) {
			d.Field(string(t), strconv.FormatInt(b.TypeCounts[t], 10), p.Text)
		}
	}
	if n := len(b.Carried); n > 0 {
		d.Gap()
		d.Text(fmt.Sprintf("It carries %d bytes of what the removed events had built: sessions, claims, open tasks, readers of contracts.", n), p.Dim)
	}
}

func (p *rows) update(d *pane.Detail, b event.Update) {
	p.block(d, "note", b.Note)
	p.list(d, "files", b.Files)
	for _, c := range b.Commands {
		word, style := "not told how it ended", p.Dim
		if c.ExitCode != nil {
			word, style = fmt.Sprintf("exit %d", *c.ExitCode), p.Good
			if *c.ExitCode != 0 {
				style = p.Bad
			}
		}
		d.Field("ran", c.Command, p.Text)
		d.Field(" ", word, style)
		d.Field(" ", c.Summary, p.Dim)
	}
	for _, blocker := range b.Blockers {
		d.Field("blocked by", blocker, p.Warn)
	}
	d.Field("next", b.Next, p.Text)
	p.list(d, "builds on", b.Consumes)
}

func (p *rows) statement(d *pane.Detail, b event.Discussion) {
	d.Field("thread", b.ThreadID, p.Strong)
	d.Field("kind", fmt.Sprintf("%s of the %s, round %d", b.Kind, b.Role, b.Round), p.Text)
	p.list(d, "between", b.Participants)
	d.Field("answers", b.ReplyTo, p.Dim)
	d.Field("outcome", b.Outcome, p.Strong)
	p.block(d, "says", b.Content)
	p.list(d, "rejected", b.Alternatives)
	p.list(d, "unresolved", b.Unresolved)
}

func (p *rows) agent(d *pane.Detail, b event.Agent) {
	d.Field("session", fmt.Sprintf("%s %s", b.Name, b.Action), p.Strong)
	d.Field("was", b.Previous, p.Text)
	d.Field("program", b.Base, p.Text)
	d.Field("person", b.Human, p.Text)
	d.Field("host id", b.Session, p.Dim)
	if b.PID > 0 {
		d.Field("process", fmt.Sprintf("%d on %s", b.PID, cmp.Or(b.Host, "an unnamed machine")), p.Dim)
	}
	d.Field("reason", b.Reason, p.Text)
}

func (p *rows) flag(d *pane.Detail, on bool, words string) {
	if on {
		d.Text(words, p.Text)
	}
}

func (p *rows) list(d *pane.Detail, label string, items []string) {
	for _, item := range items {
		d.Field(label, item, p.Text)
		label = " "
	}
}

// block is a field of one line, or a part of its own for more.
func (p *rows) block(d *pane.Detail, label, s string) {
	if !strings.Contains(strings.TrimSpace(s), "\n") {
		d.Field(label, s, p.Text)
		return
	}
	d.Heading(label)
	d.Text(s, p.Text)
}

// others shows the fields of an open payload that other programs put there.
func (p *rows) others(d *pane.Detail, raw json.RawMessage, known ...string) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return
	}
	for _, key := range known {
		delete(fields, key)
	}
	if len(fields) == 0 {
		return
	}
	d.Heading("further fields")
	if rest, err := json.Marshal(fields); err == nil {
		p.stored(d, rest)
	}
}

// stored shows JSON with an indent.
func (p *rows) stored(d *pane.Detail, raw json.RawMessage) {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		b.Reset()
		b.Write(raw)
	}
	for _, line := range text.Lines(b.String()) {
		d.Marked("", line, p.Text)
	}
}
