package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// typeWidth is the widest of the known types: discussion.
const typeWidth = 10

// rows draws the pane's rows and its detail.
type rows Pane

// Empty says why there is no row.
func (p *rows) Empty() string {
	switch {
	case p.win.loading:
		return "Reading the log."
	case p.Filter() != "":
		return "No event matches the filter."
	}
	return "No events yet. Whatever agents and people do through loadout shows here as it is stored."
}

// Row draws an event.
func (p *rows) Row(i, w int) (left, right theme.Spans) {
	e := &p.win.events[(*Pane)(p).at(i)]
	layout := "15:04:05"
	if w < 72 {
		layout = "15:04"
	}
	if w >= 72 {
		seq := fmt.Sprintf("#%d", e.Seq)
		left = append(left, theme.S(text.Blank(len(fmt.Sprintf("#%d", p.win.last()))-len(seq))+seq+"  ", p.Dim))
	}
	if w >= 48 {
		left = append(left, theme.S(e.Time().In(p.snap.Now.Location()).Format(layout)+"  ", p.Dim))
	}
	from := min(p.from, max(w/5, 6))
	left = append(left,
		theme.S(text.Fit(text.Line(e.From), from, p.Ellipsis)+"  ", p.Owners.Style(e.From)),
		theme.S(text.Fit(text.Line(string(e.Type)), typeWidth, p.Ellipsis)+"  ", p.kind(e.Type)),
	)
	if e.To != event.Broadcast {
		left = append(left, theme.S(p.Arrow+" "+text.Line(e.To)+"  ", p.Owners.Style(e.To)))
	}
	style := p.Text
	if e.Type == event.TypeAck || e.Type == event.TypeAgent {
		style = p.Dim
	}
	return append(left, theme.S(text.Line(e.Description), style)), nil
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
	case event.TypeContract, event.TypeDecision, event.TypeDiscussion:
		return p.Accent
	case event.TypeAck, event.TypeStatus, event.TypeAgent, event.TypeUpdate, event.TypeOwnership, event.TypeCancel:
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
	d.Field("from", e.From, p.Owners.Style(e.From))
	d.Field("by", e.By, p.Text)
	to := e.To
	if to == event.Broadcast {
		to = "everybody"
	}
	d.Field("to", to, p.Owners.Style(e.To))
	d.Field("when", pane.Stamp(p.snap.Now, e.Time())+", "+pane.Ago(p.snap.Now, e.Time()), p.Text)
	d.Field("id", e.ID, p.Dim)
	d.Field("resolves", e.Resolves, p.Text)
	d.Field("key", e.Key, p.Dim)
	d.Gap()
	d.Text(e.Description, p.Text)
	if e.Context != "" {
		d.Heading("context")
		d.Text(e.Context, p.Text)
	}
	p.payload(d, e.Payload)
	return d.Lines()
}

// payload shows the payload's fields in the order in which they are stored, whatever the type.
func (p *rows) payload(d *pane.Detail, raw json.RawMessage) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return
	}
	d.Heading("payload")
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return
		}
		name, _ := key.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return
		}
		p.field(d, name, value)
	}
}

func (p *rows) field(d *pane.Detail, name string, value json.RawMessage) {
	var s string
	var list []string
	switch {
	case json.Unmarshal(value, &s) == nil:
		if lines := text.Lines(s); len(lines) > 1 {
			d.Field(name, fmt.Sprintf("%d lines", len(lines)), p.Dim)
			for _, line := range lines {
				d.Marked("  ", line, p.Text)
			}
			return
		}
		d.Field(name, s, p.Text)
	case json.Unmarshal(value, &list) == nil:
		for i, item := range list {
			if i > 0 {
				name = " "
			}
			d.Field(name, item, p.Text)
		}
	default:
		d.Field(name, string(value), p.Text)
	}
}
