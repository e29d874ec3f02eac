package timeline

import (
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// Widths of a row from which it has more in it.
const (
	timeWidth    = 44 // the time
	columnsWidth = 52 // types in a column
	secondsWidth = 84 // the time to the second, and what made an event old news
)

// typeWidth is the widest of the known types: discussion.
const typeWidth = 10

// rows draws the pane's rows and its detail.
type rows Pane

// Empty says why there is no row.
func (p *rows) Empty() string {
	switch {
	case p.load.on:
		return "Reading the log."
	case p.win.match != nil:
		return "No event matches the filter."
	}
	return "No events yet. Whatever agents and people do through loadout shows here as it is stored."
}

// Row draws an event: its number, when, what kind, who to whom, and in words.
func (p *rows) Row(i, w int) (left, right theme.Spans) {
	e := &p.win.events[i]
	seq := fmt.Sprintf("#%d", e.Seq)
	widest := len(fmt.Sprintf("#%d", max(p.win.hi, p.win.events[p.end-1].Seq)))
	left = append(left, theme.S(text.Blank(widest-len(seq))+seq+" ", p.Dim))
	if w >= timeWidth {
		layout := "15:04"
		if w >= secondsWidth {
			layout = "15:04:05"
		}
		left = append(left, theme.S(e.Time().In(p.snap.Now.Location()).Format(layout)+" ", p.Dim))
	}
	kind := text.Truncate(text.Line(string(e.Type)), typeWidth, p.Ellipsis)
	if w >= columnsWidth {
		kind = text.Pad(kind, typeWidth)
	}
	left = append(left, theme.S(kind+" ", p.kind(e.Type)))
	left = append(left, p.parties(e, w)...)
	style := p.Text
	if e.Type == event.TypeAck || e.Type == event.TypeAgent || e.Type == event.TypeTurn {
		style = p.Dim
	}
	if by, old := p.old[e.Seq]; old {
		style = p.Dim
		right = append(right, theme.S(p.Gone, p.Warn))
		if w >= secondsWidth {
			right = append(right, theme.S(fmt.Sprintf(" old since #%d", by), p.Dim))
		}
	}
	return append(left, theme.S(headline(e), style)), right
}

// headline is what the event says, without the sender's name where the program begins the sentence with it: that stands beside it.
func headline(e *event.Event) string {
	said := text.Line(e.Description)
	if e.Type == event.TypeOwnership || e.Type == event.TypeAgent {
		return strings.TrimPrefix(said, text.Line(e.From)+" ")
	}
	return said
}

// parties is who speaks to whom. Long names lose their middle, so that those which differ in the end stay apart.
func (p *rows) parties(e *event.Event, w int) theme.Spans {
	room := min(p.from, max(w/4, 8))
	from := text.TruncateMiddle(text.Line(e.From), room, p.Ellipsis)
	if w >= columnsWidth {
		from = text.Pad(from, room)
	}
	spans := theme.Spans{theme.S(from+" ", p.Owners.Style(e.From))}
	if e.To != event.Broadcast {
		to := text.TruncateMiddle(text.Line(e.To), max(room, 8), p.Ellipsis)
		spans = append(spans, theme.S(p.Arrow+" "+to+" ", p.Owners.Style(e.To)))
	}
	return append(spans, theme.S(" ", theme.Style{}))
}

// kind is the style of a type's name: what stops work stands out, what is routine stays back.
func (p *rows) kind(t event.Type) theme.Style {
	switch t {
	case event.TypeError, event.TypeHalt:
		return p.Bad
	case event.TypeQuestion, event.TypeHandoff, event.TypeTask:
		return p.Warn
	case event.TypeDone:
		return p.Good
	case event.TypeContract, event.TypeDecision, event.TypeDiscussion, event.TypeGate, event.TypeWave:
		return p.Accent
	case event.TypeAck, event.TypeStatus, event.TypeAgent, event.TypeUpdate, event.TypeOwnership, event.TypeCancel, event.TypeTurn,
		event.TypeWork:
		return p.Dim
	}
	return p.Text
}

// Detail shows everything that the selected event holds.
func (p *rows) Detail(w int) []theme.Spans {
	e := (*Pane)(p).selected()
	if e == nil {
		return nil
	}
	d := pane.NewDetail(p.Look, w)
	d.Title(fmt.Sprintf("#%d %s", e.Seq, e.Type))
	if by, old := p.old[e.Seq]; old {
		d.Marked(p.Gone+" ", fmt.Sprintf("old news: #%d has superseded it", by), p.Warn)
	}
	d.Field("from", e.From, p.Owners.Style(e.From))
	d.Field("by", e.By, p.Text)
	to := e.To
	if to == event.Broadcast {
		to = "everybody"
	}
	d.Field("to", to, p.Owners.Style(e.To))
	d.Field("when", pane.Stamp(p.snap.Now, e.Time())+", "+words.Ago(p.snap.Now, e.Time()), p.Text)
	d.Field("id", e.ID, p.Dim)
	d.Field("resolves", e.Resolves, p.Text)
	d.Field("key", e.Key, p.Dim)
	d.Gap()
	d.Text(e.Description, p.Text)
	if e.Context != "" {
		d.Heading("context")
		d.Text(e.Context, p.Text)
	}
	p.payload(d, e)
	return d.Lines()
}
