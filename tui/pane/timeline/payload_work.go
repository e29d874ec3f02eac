package timeline

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/theme"
)

// turn tells about a step of the automatic work of a session.
func (p *rows) turn(d *pane.Detail, b event.Turn) {
	d.Field("turn", strings.TrimSpace(string(b.Action)+" "+b.Turn), p.Strong)
	d.Field("session", strings.TrimSpace(fmt.Sprintf("%s %s %s", b.Agent, b.Provider, b.Session)), p.Owners.Style(b.Agent))
	p.list(d, "sessions", b.Agents)
	d.Field("for", string(b.Why), p.Text)
	if len(b.Seqs) > 0 {
		var seqs []string
		for _, seq := range b.Seqs {
			seqs = append(seqs, fmt.Sprintf("#%d", seq))
		}
		d.Field("made of", strings.Join(seqs, " "), p.Text)
	}
	if b.Through != nil {
		d.Field("dealt with", fmt.Sprintf("everything up to #%d", *b.Through), p.Text)
	}
	if b.Passive > 0 || b.Duplicate > 0 {
		d.Field("left out", fmt.Sprintf("%d that wake nobody, %d that repeat another", b.Passive, b.Duplicate), p.Dim)
	}
	if b.Depth > 0 {
		d.Field("caused by", words.Plural(b.Depth, "bridged turn")+" before it", p.Dim)
	}
	d.Field("cause", b.Cause, p.Warn)
	d.Field("paid for", b.Spent, p.Text)
	if b.Duration > 0 {
		d.Field("took", (time.Duration(b.Duration) * time.Millisecond).Round(100*time.Millisecond).String(), p.Text)
	}
	p.usage(d, "used", b.Usage)
	p.usage(d, "in total", b.Total)
	if b.Caps != nil {
		d.Heading("caps")
		for _, c := range []struct {
			label string
			limit *int64
		}{{"turns", b.Caps.Turns}, {"all turns", b.Caps.TotalTurns}, {"tokens", b.Caps.Tokens}} {
			if c.limit != nil {
				d.Field(c.label, limit(strconv.FormatInt(*c.limit, 10)), p.Text)
			}
		}
		if c := b.Caps.CostMicros; c != nil {
			d.Field("cost", limit(dollars(*c)), p.Text)
		}
	}
}

// limit is a cap in words; zero lifts it.
func limit(s string) string {
	if strings.Trim(s, "$0.") == "" {
		return "none"
	}
	return s
}

func dollars(micros int64) string { return fmt.Sprintf("$%.2f", float64(micros)/1e6) }

func (p *rows) usage(d *pane.Detail, label string, u *event.TurnUsage) {
	if u == nil || !u.Known && !u.Priced {
		return
	}
	s := fmt.Sprintf("%d tokens read, %d of them cached, %d written", u.Input, u.Cached, u.Output)
	if u.Priced {
		s += ", " + dollars(u.CostMicros)
	}
	d.Field(label, s, p.Text)
}

// work tells about a typed work item, or about a run of an agent that takes such items.
func (p *rows) work(d *pane.Detail, b event.Work) {
	words := map[event.WorkAction]string{
		event.WorkRegistered: "a run started", event.WorkUnregistered: "a run ended", event.WorkTaken: "taken", event.WorkReleased: "released",
		event.WorkLapsed: "lapsed: its holder was silent for too long", event.WorkYielded: "yielded", event.WorkPaused: "paused",
		event.WorkResumed: "resumed", event.WorkEscalated: "a person is asked to choose", event.WorkResolved: "a person has chosen",
	}
	if b.Item != nil {
		d.Field("item", b.Item.Type+" "+b.Item.ID, p.Strong)
	}
	d.Field("what", words[b.Action], p.Strong)
	d.Field("run", b.Agent, p.Text)
	d.Field("program", b.Harness, p.Text)
	d.Field("person", b.Human, p.Text)
	p.moment(d, "started", b.Started)
	p.moment(d, "last beat", b.Beat)
	d.Field("outcome", string(b.Outcome), p.Text)
	d.Field("for", b.To, p.Text)
	d.Field("holder", b.Holder, p.Text)
	d.Field("choice", strings.ReplaceAll(string(b.Choice), "_", " "), p.Strong)
	d.Field("escalation", b.Escalation, p.Dim)
	d.Field("reason", b.Reason, p.Text)
}

func (p *rows) moment(d *pane.Detail, label, s string) {
	if t, ok := event.ParseTime(s); ok {
		d.Field(label, pane.Stamp(p.snap.Now, t), p.Text)
	}
}

// gate tells about a ledger.
func (p *rows) gate(d *pane.Detail, b event.Gate) {
	d.Field("ledger", strings.TrimPrefix(b.Scope+"/"+b.Ledger, "/"), p.Strong)
	d.Field("gates", fmt.Sprintf("%d met, %d unmet, %d abandoned", b.Met, b.Unmet, b.Abandoned), p.Text)
	d.Field("unreadable", b.Invalid, p.Bad)
	d.Gap()
	for _, g := range b.Gates {
		style := p.Warn
		switch g.State {
		case event.GateMet:
			style = p.Good
		case event.GateAbandoned:
			style = p.Dim
		case event.GateUnmet, event.GateStale, event.GateNoEvidence:
		}
		d.Field(g.ID, fmt.Sprintf("%s: %s", g.State, g.Title), style)
		d.Field(" ", g.Reason, p.Dim)
	}
}

// wave tells about a launch wave.
func (p *rows) wave(d *pane.Detail, b event.Wave) {
	d.Field("wave", strings.TrimPrefix(b.Scope+"/"+b.Wave, "/")+" "+string(b.State), p.Strong)
	d.Field("reason", b.Reason, p.Text)
	d.Gap()
	for _, leaf := range b.Leaves {
		word, style := "waits", p.Dim
		switch {
		case leaf.Returned != "":
			word, style = "returned", p.Good
		case leaf.Started != "":
			word, style = "started", theme.Style{}
		}
		d.Field(leaf.Leaf, strings.TrimSpace(word+" "+leaf.Handle), style)
	}
}
