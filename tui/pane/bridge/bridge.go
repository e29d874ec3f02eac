// Package bridge is the pane that shows the turns that Loadout starts by itself: the sessions with their queues and caps, and each turn
// with what triggered it, how it stands, how long it took and what it cost.
package bridge

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// Sizes in cells.
const (
	nameWidth = 16
	barWidth  = 10
	wide      = 60 // of a row, from which it has a bar and columns
)

const nothing = "No session takes part in a bridge, and no turn was started. This pane shows both; loadout agents bridge, which starts " +
	"turns by itself, may not be in this build yet: loadout --help lists what is."

// Pane is the bridge pane.
type Pane struct {
	*pane.Listing
	snap    pane.Snapshot
	running int
	waiting int
}

// New makes the pane.
func New(look pane.Look) *Pane {
	return &Pane{Listing: pane.NewListing(look, "session or turn", nothing)}
}

// ID is the pane's name in commands.
func (p *Pane) ID() string { return "bridge" }

// Title is the pane's name in its frame.
func (p *Pane) Title() string { return "Bridge" }

// Scope is where the pane's keys are.
func (p *Pane) Scope() keymap.Scope { return keymap.Bridge }

// Status says first what waits for a person, then what runs.
func (p *Pane) Status() string {
	if s := p.Filtered(); s != "" {
		return s
	}
	var parts []string
	if p.waiting > 0 {
		parts = append(parts, fmt.Sprintf("%s %d for you", p.Warning, p.waiting))
	}
	if p.running > 0 {
		parts = append(parts, fmt.Sprintf("%d running", p.running))
	}
	return strings.Join(parts, ", ")
}

// Apply takes a snapshot.
func (p *Pane) Apply(s pane.Snapshot, _ pane.Changes) pane.Action {
	p.snap, p.running, p.waiting = s, 0, 0
	turns := s.State.Turns()
	queued := map[string]int{}
	for i := range turns {
		t := &turns[i]
		switch {
		case t.Status == state.TurnRunning:
			p.running++
		case t.Status == state.TurnQueued:
			queued[event.FoldName(t.Agent)]++
		case t.Waits():
			p.waiting++
		}
	}
	var entries []pane.Entry
	add := func(list []state.Turn, wanted func(*state.Turn) bool) {
		for i := len(list) - 1; i >= 0; i-- {
			if wanted(&list[i]) {
				entries = append(entries, p.turn(list[i]))
			}
		}
	}
	add(turns, (*state.Turn).Waits)
	for _, x := range s.State.Sessions() {
		entries = append(entries, p.session(x, queued[event.FoldName(x.Agent)]))
	}
	for _, c := range s.State.Caps() {
		if c.Agent == "" && c.Limit > 0 {
			entries = append(entries, p.bound(c))
		}
	}
	add(turns, func(t *state.Turn) bool { return !t.Waits() })
	p.Show(entries)
	return nil
}

// row is a mark, whose it is, words, and what is at the right edge.
func (p *Pane) row(w int, mark string, style theme.Style, agent string, middle theme.Spans, right string) (left, r theme.Spans) {
	name := text.TruncateMiddle(text.Line(agent), nameWidth, p.Ellipsis)
	if w >= wide {
		name = text.Pad(name, nameWidth)
	}
	left = theme.Spans{theme.S(mark+" ", style), theme.S(name+" ", p.Owners.Style(agent))}
	return append(left, middle...), theme.Spans{theme.S(right, p.Dim)}
}

// bar is a bar with its numbers; without a limit the number alone.
func (p *Pane) bar(w int, used, limit int64, write func(int64) string) theme.Spans {
	if limit == 0 {
		return theme.Spans{theme.S(write(used)+" ", p.Text)}
	}
	style := p.Good
	switch {
	case used >= limit:
		style = p.Bad
	case used*5 >= limit*4:
		style = p.Warn
	}
	numbers := theme.S(" "+write(used)+"/"+write(limit)+" ", style)
	if w < wide {
		return theme.Spans{numbers}
	}
	return append(pane.Bar(p.Look, barWidth, used, limit, style), numbers)
}

func plain(n int64) string { return strconv.FormatInt(n, 10) }

func dollars(micros int64) string { return fmt.Sprintf("$%.2f", float64(micros)/1e6) }

// cost is what was used, in tokens and money where they are known.
func cost(u state.Usage) string {
	var parts []string
	if u.Known {
		parts = append(parts, fmt.Sprintf("%d tokens", u.Tokens()))
	}
	if u.Priced {
		parts = append(parts, dollars(u.CostMicros))
	}
	return strings.Join(parts, ", ")
}

func (p *Pane) session(x state.Session, queued int) pane.Entry {
	mark, word, style := p.Idle, "idle", p.Text
	switch {
	case x.Running != "":
		mark, word, style = p.Live, "running", p.Accent
	case x.Stopped != "":
		mark, word, style = p.Stop, "stopped by the cap on "+x.Stopped, p.Bad
	case x.Paused:
		mark, word, style = p.Warning, "waits for you", p.Warn
	}
	return pane.Entry{
		Key:   "session " + x.Agent,
		Words: []string{"session", x.Agent, x.Provider, x.ID, word},
		Row: func(w int) (left, right theme.Spans) {
			middle := append(theme.Spans{theme.S(text.Line(word)+"  ", style)}, p.bar(w, x.Turns, x.MaxTurns, plain)...)
			middle = append(middle, theme.S("turns", p.Dim))
			return p.row(w, mark, style, x.Agent, middle, fmt.Sprintf("queue %d", queued))
		},
		Detail: func(d *pane.Detail) {
			d.Title(x.Agent)
			d.Field("state", word, style)
			d.Field("program", x.Provider, p.Text)
			if x.Scripted {
				d.Field("answers", "from a script, no model", p.Warn)
			}
			d.Field("session", x.ID, p.Dim)
			d.Field("since", pane.Stamp(p.snap.Now, x.Attached)+", "+pane.Ago(p.snap.Now, x.Attached), p.Text)
			d.Field("queue", pane.Count(queued, "turn"), p.Text)
			d.Field("turns", fmt.Sprintf("%d of %s", x.Turns, limit(x.MaxTurns)), p.Text)
			d.Field("used", cost(x.Usage), p.Text)
			d.Field("in total", cost(x.Total), p.Text)
			d.Field("dealt with", fmt.Sprintf("everything up to #%d", x.Cursor), p.Text)
			m := p.snap.State.Meter(x.Agent)
			d.Field("delivered", fmt.Sprintf("%d events, %d woke nobody, %d repeated another", m.Delivered, m.Passive, m.Duplicate), p.Text)
			d.Field("failed", pane.Count(m.Failed, "turn"), p.Text)
		},
		Subject: pane.Subject{Agent: x.Agent, Seq: x.Seq, Text: x.ID},
	}
}

func limit(n int64) string {
	if n == 0 {
		return "any number"
	}
	return plain(n)
}

func (p *Pane) bound(c state.Cap) pane.Entry {
	write := plain
	if c.Kind == event.CapCost {
		write = dollars
	}
	name := map[event.TurnCap]string{event.CapTotalTurns: "all turns", event.CapTokens: "tokens", event.CapCost: "cost", event.CapTurns: "turns"}[c.Kind]
	mark, style := p.Dot, p.Dim
	if c.Stopped {
		mark, style = p.Stop, p.Bad
	}
	return pane.Entry{
		Key:   "cap " + string(c.Kind),
		Words: []string{"cap", name},
		Row: func(w int) (left, right theme.Spans) {
			return p.row(w, mark, style, "cap: "+name, p.bar(w, c.Used, c.Limit, write), "")
		},
		Detail: func(d *pane.Detail) {
			d.Title("cap on " + name)
			d.Field("used", write(c.Used)+" of "+write(c.Limit), p.Text)
			if c.Stopped {
				d.Text("It keeps the next turn from being started.", p.Bad)
			}
		},
		Subject: pane.Subject{Seq: -1, Text: name},
	}
}

// stands is how a turn stands, as a mark and a word.
func (p *Pane) stands(t state.Turn) (mark, word string, style theme.Style) {
	switch t.Status {
	case state.TurnQueued:
		return p.Idle, "queued", p.Dim
	case state.TurnHeld:
		return p.Warning, "held until you let it go on", p.Warn
	case state.TurnRunning:
		return p.Live, "running", p.Accent
	case state.TurnFinished:
		return p.Yes, "finished", p.Good
	case state.TurnFailed:
		return p.No, "failed", p.Bad
	case state.TurnCancelled:
		return p.Gone, "cancelled", p.Warn
	case state.TurnUncertain:
		return p.Warning, "nobody knows what came of it", p.Warn
	case state.TurnSkipped:
		return p.Gone, "skipped", p.Dim
	}
	return p.Dot, string(t.Status), p.Text
}

// took is how long the turn took, or runs.
func (p *Pane) took(t state.Turn) string {
	d := t.Duration
	if t.Status == state.TurnRunning && t.Started != nil {
		d = p.snap.Now.Sub(*t.Started)
	}
	if d <= 0 {
		return ""
	}
	return d.Round(time.Second).String()
}

func (p *Pane) turn(t state.Turn) pane.Entry {
	mark, word, style := p.stands(t)
	trigger := string(t.Why)
	if t.Why == event.WhyDelivery {
		trigger = pane.Count(t.Events, "event")
	}
	return pane.Entry{
		Key:   "turn " + t.ID,
		Words: []string{"turn", t.ID, t.Agent, t.Provider, string(t.Why), string(t.Status), t.Cause},
		Row: func(w int) (left, right theme.Spans) {
			said := word
			if t.Cause != "" {
				said += ": " + t.Cause
			}
			middle := theme.Spans{theme.S(text.Line(said), style), theme.S(" "+p.Dot+" "+text.Line(trigger), p.Dim)}
			parts := []string{p.took(t), cost(t.Usage), pane.Age(p.snap.Now, t.Queued)}
			if w < wide {
				parts = parts[2:]
			}
			return p.row(w, mark, style, t.Agent, middle, strings.Join(filled(parts), " "+p.Dot+" "))
		},
		Detail: func(d *pane.Detail) {
			d.Title("turn " + t.ID)
			d.Field("state", word, style)
			d.Field("cause", t.Cause, p.Warn)
			d.Field("agent", t.Agent, p.Owners.Style(t.Agent))
			d.Field("program", t.Provider, p.Text)
			d.Field("session", t.Session, p.Dim)
			d.Field("for", trigger, p.Text)
			for _, seq := range t.Seqs {
				d.Field(" ", fmt.Sprintf("#%d", seq), p.Text)
			}
			d.Field("queued", pane.Stamp(p.snap.Now, t.Queued)+", "+pane.Ago(p.snap.Now, t.Queued), p.Text)
			d.Field("took", p.took(t), p.Text)
			d.Field("used", cost(t.Usage), p.Text)
			d.Field("paid for", t.Spent, p.Text)
			if t.Attempt > 1 {
				d.Field("attempt", plain(t.Attempt), p.Text)
			}
			if t.Depth > 0 {
				d.Field("caused by", pane.Count(t.Depth, "bridged turn")+" before it", p.Dim)
			}
		},
		Subject: pane.Subject{Agent: t.Agent, Seq: t.Seq, Text: t.ID},
	}
}

// filled leaves out what is empty.
func filled(parts []string) []string {
	var kept []string
	for _, s := range parts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return kept
}
