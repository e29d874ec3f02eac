// Package work is the pane that shows who works on what: the escalations that a person has to settle, the typed work items that are held,
// the open tasks, and what ended while nobody looked.
package work

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// Sizes of the columns, in cells, and how many items that ended are shown.
const (
	kindWidth  = 8
	agentWidth = 16
	wide       = 60 // of a row, from which columns are padded
	maxEnded   = 50
)

const nothing = "Nobody has work on record. Ask for some with T, or: loadout coord task AGENT TEXT"

// Pane is the work pane.
type Pane struct {
	*pane.Listing
	snap        pane.Snapshot
	escalations int
	held        int
}

// New makes the pane.
func New(look pane.Look) *Pane { return &Pane{Listing: pane.NewListing(look, "work", nothing)} }

// ID is the pane's name in commands.
func (p *Pane) ID() string { return "work" }

// Title is the pane's name in its frame.
func (p *Pane) Title() string { return "Work" }

// Scope is where the pane's keys are.
func (p *Pane) Scope() keymap.Scope { return keymap.Work }

// Status says first what waits for a person.
func (p *Pane) Status() string {
	if s := p.Filtered(); s != "" {
		return s
	}
	var parts []string
	if p.escalations > 0 {
		parts = append(parts, p.Warning+" "+words.Plural(p.escalations, "escalation"))
	}
	if p.held > 0 {
		parts = append(parts, fmt.Sprintf("%d held", p.held))
	}
	return strings.Join(parts, ", ")
}

// Apply takes a snapshot.
func (p *Pane) Apply(s pane.Snapshot, _ pane.Changes) pane.Action {
	p.snap = s
	escalations, held, ended := s.State.Escalations(), s.State.WorkItems(), s.State.EndedWork()
	p.escalations, p.held = len(escalations), len(held)
	var before, after []pane.Entry
	for _, x := range escalations {
		before = append(before, p.escalation(x))
	}
	for _, i := range held {
		before = append(before, p.item(i))
	}
	for i := len(ended) - 1; i >= max(0, len(ended)-maxEnded); i-- {
		after = append(after, p.ended(ended[i]))
	}
	find := func(r pane.TaskRef) state.Task {
		t, _ := s.State.Task(r.ID)
		return t
	}
	p.ShowAround(before, pane.Run{
		Tasks: s.Tasks,
		Words: func(r pane.TaskRef) []string { return taskWords(find(r)) },
		Entry: func(r pane.TaskRef) pane.Entry { return p.task(find(r)) },
	}, after)
	return nil
}

// row is a mark, a kind, what it is, who has it, and how it stands.
func (p *Pane) row(w int, mark string, style theme.Style, kind, what, agent, right string) (left, r theme.Spans) {
	left = theme.Spans{theme.S(mark+" ", style)}
	if w >= wide {
		left = append(left, theme.S(text.Pad(kind, kindWidth)+" ", p.Dim))
	}
	name := text.TruncateMiddle(text.Line(agent), agentWidth, p.Ellipsis)
	if w >= wide {
		name = text.Pad(name, agentWidth)
	}
	if name != "" {
		left = append(left, theme.S(name+" ", p.Owners.Style(agent)))
	}
	return append(left, theme.S(text.Line(what), p.Text)), theme.Spans{theme.S(right, style)}
}

func (p *Pane) age(t time.Time) string { return words.Age(p.snap.Now, t) }

// run names the agent of a run, or the run where that is not known.
func (p *Pane) run(id string) string {
	if agent, _ := p.snap.State.Worker(id); agent != "" {
		return agent
	}
	return id
}

func (p *Pane) escalation(x state.Escalation) pane.Entry {
	holder := p.run(x.Holder)
	return pane.Entry{
		Key:   "escalation " + x.ID,
		Words: []string{"escalation", x.Item, x.Type, x.From, x.Holder, holder},
		Row: func(w int) (left, right theme.Spans) {
			return p.row(w, p.Warning, p.Warn, "choose", fmt.Sprintf("wants %s of %s", x.Item, holder), x.From, p.age(x.At))
		},
		Detail: func(d *pane.Detail) {
			d.Title("Who shall have " + x.Item + "?")
			d.Field("wants it", x.From, p.Owners.Style(x.From))
			d.Field("run", x.Requester, p.Dim)
			d.Field("has it", holder, p.Owners.Style(holder))
			d.Field("run", x.Holder, p.Dim)
			d.Field("item", x.Type+" "+x.Item, p.Text)
			d.Field("asked", pane.Stamp(p.snap.Now, x.At)+", "+words.Ago(p.snap.Now, x.At), p.Warn)
			d.Field("event", fmt.Sprintf("#%d", x.Seq), p.Dim)
			d.Field("id", x.ID, p.Dim)
			d.Heading("A person chooses one of")
			d.Marked("  ", "wait_then_swap: the other one goes on after the holder's next checkpoint", p.Text)
			d.Marked("  ", "swap_now: the other one goes on at once", p.Text)
			d.Marked("  ", "sequence: the other one takes it when the holder has finished", p.Text)
			d.Marked("  ", "keep_both: both go on", p.Text)
		},
		Subject: pane.Subject{Agent: x.From, Seq: x.Seq, Text: x.ID},
	}
}

// stands says how a held item stands: its state and when its holder was last heard of.
func (p *Pane) stands(i state.WorkItem) (mark, word string, style theme.Style) {
	live := p.snap.Live[i.Agent]
	switch {
	case i.Paused:
		return p.Idle, "paused", p.Warn
	case live.Known && !live.Live:
		return p.Gone, "silent since " + p.age(live.LastBeat), p.Bad
	case live.Known:
		return p.Live, "beat " + p.age(live.LastBeat), p.Good
	}
	return p.Live, "held", p.Text
}

func (p *Pane) item(i state.WorkItem) pane.Entry {
	return pane.Entry{
		Key:   "item " + i.Type + " " + i.ID,
		Words: []string{"held", i.Type, i.ID, i.Agent, i.Human, i.Run, i.Reason},
		Row: func(w int) (left, right theme.Spans) {
			mark, word, style := p.stands(i)
			what := i.ID
			if i.Reason != "" {
				what += " " + p.Dot + " " + i.Reason
			}
			return p.row(w, mark, style, "held", what, i.Agent, word+" "+p.Dot+" "+p.age(i.Since))
		},
		Detail: func(d *pane.Detail) {
			_, word, style := p.stands(i)
			d.Title(i.Type + " " + i.ID)
			d.Field("state", word, style)
			p.holder(d, i)
		},
		Subject: pane.Subject{Agent: i.Agent, Seq: i.Seq, Text: i.ID},
	}
}

func (p *Pane) holder(d *pane.Detail, i state.WorkItem) {
	d.Field("agent", i.Agent, p.Owners.Style(i.Agent))
	d.Field("program", i.Harness, p.Text)
	d.Field("person", i.Human, p.Text)
	d.Field("run", i.Run, p.Dim)
	d.Field("since", pane.Stamp(p.snap.Now, i.Since)+", "+words.Ago(p.snap.Now, i.Since), p.Text)
	if live := p.snap.Live[i.Agent]; live.Known && i.Ended == nil {
		d.Field("heartbeat", words.Ago(p.snap.Now, live.LastBeat), p.Text)
	}
	d.Field("reason", i.Reason, p.Text)
	d.Field("event", fmt.Sprintf("#%d", i.Seq), p.Dim)
}

// taskWords is what a filter looks in.
func taskWords(t state.Task) []string {
	return []string{"task", t.ID, t.From, t.To, t.TakenBy, t.Description, string(t.Status)}
}

func (p *Pane) task(t state.Task) pane.Entry {
	return pane.Entry{
		Key:   "task " + t.ID,
		Words: taskWords(t),
		Row: func(w int) (left, right theme.Spans) {
			if t.Status == state.TaskTaken {
				since := t.At
				if t.TakenAt != nil {
					since = *t.TakenAt
				}
				return p.row(w, p.Live, p.Text, "task", t.Description, t.TakenBy, "taken "+p.Dot+" "+p.age(since))
			}
			to, word := t.To, "open"
			if to == event.Broadcast {
				to = "anybody"
			}
			if len(t.Waiting) > 0 {
				word = fmt.Sprintf("waits for %d", len(t.Waiting))
			}
			return p.row(w, p.Idle, p.Dim, "task", t.Description, to, word+" "+p.Dot+" "+p.age(t.At))
		},
		Detail: func(d *pane.Detail) {
			cut := d.Abridged(t.Description)
			d.Field("state", string(t.Status), p.Text)
			d.Field("from", t.From, p.Owners.Style(t.From))
			d.Field("to", strings.ReplaceAll(t.To, event.Broadcast, "anybody"), p.Owners.Style(t.To))
			d.Field("taken by", t.TakenBy, p.Owners.Style(t.TakenBy))
			d.Field("since", pane.Stamp(p.snap.Now, t.At)+", "+words.Ago(p.snap.Now, t.At), p.Text)
			d.Field("waits for", strings.Join(t.Waiting, ", "), p.Warn)
			d.Field("id", t.ID, p.Dim)
			if cut {
				d.Heading("in full")
				d.Text(t.Description, p.Text)
			}
			if t.Context != "" {
				d.Heading("context")
				d.Text(t.Context, p.Text)
			}
		},
		Subject: pane.Subject{Agent: t.TakenBy, Seq: t.Seq, Text: t.ID, Wait: &state.Waiting{
			Kind: state.WaitTask, Text: t.Description, Agent: t.From, Since: t.At, Seq: t.Seq, ID: t.ID,
		}},
	}
}

// outcome says how an item ended.
func (p *Pane) outcome(i state.WorkItem) (mark, word string, style theme.Style) {
	switch {
	case i.How == event.WorkReleased && i.Outcome == event.WorkCompleted:
		return p.Yes, "completed", p.Good
	case i.How == event.WorkReleased:
		return p.No, "abandoned", p.Warn
	case i.How == event.WorkLapsed:
		return p.Gone, "lapsed", p.Bad
	case i.How == event.WorkYielded && i.To != "":
		return p.Arrow, "yielded to " + text.Line(p.run(i.To)), p.Dim
	case i.How == event.WorkYielded:
		return p.Arrow, "yielded", p.Dim
	case i.How == event.WorkTaken:
		return p.Gone, "taken over", p.Warn
	}
	return p.Gone, "its run ended", p.Dim
}

func (p *Pane) ended(i state.WorkItem) pane.Entry {
	return pane.Entry{
		Key:   fmt.Sprintf("ended %s %s %d", i.Type, i.ID, i.Seq),
		Words: []string{"ended", i.Type, i.ID, i.Agent, string(i.How), string(i.Outcome)},
		Row: func(w int) (left, right theme.Spans) {
			mark, word, style := p.outcome(i)
			return p.row(w, mark, style, "ended", i.ID, i.Agent, word+" "+p.Dot+" "+p.age(*i.Ended))
		},
		Detail: func(d *pane.Detail) {
			_, word, style := p.outcome(i)
			d.Title(i.Type + " " + i.ID)
			d.Field("ended", word+", "+words.Ago(p.snap.Now, *i.Ended), style)
			if i.Beat != nil {
				d.Field("last beat", pane.Stamp(p.snap.Now, *i.Beat), p.Text)
			}
			p.holder(d, i)
		},
		Subject: pane.Subject{Agent: i.Agent, Seq: i.Seq, Text: i.ID},
	}
}
