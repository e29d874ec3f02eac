package contracts

import (
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/theme"
)

// Detail shows the selected contract: who published it and who reads it, its body or a difference, and its history.
func (p *rows) Detail(w int) []theme.Spans {
	pp := (*Pane)(p)
	c := pp.selected()
	if c == nil {
		return nil
	}
	revision := pp.shown(c)
	d := pane.NewDetail(p.Look, w)
	d.Title(fmt.Sprintf("%s r%d", c.Name, revision))
	p.about(d, c, revision)
	p.choice(d, c, revision)
	if !p.diff { // whoever asks for the difference wants to see it
		p.readersOf(d, c)
	}
	r, ok := p.loaded[pp.key(c)]
	switch {
	case ok && r.err != nil:
		d.Heading("could not be read")
		d.Text(r.err.Error(), p.Bad)
	case !ok && (p.diff || revision != c.Revision):
		d.Gap()
		d.Text("reading"+p.Ellipsis, p.Dim)
	case p.diff:
		p.difference(d, &r.diff, w)
	default:
		body := c.Body
		if revision != c.Revision {
			body = r.body.Body
		}
		d.Heading("body")
		if body == "" {
			d.Text("(empty)", p.Dim)
		}
		d.Text(body, p.Text)
	}
	if p.diff {
		p.readersOf(d, c)
	}
	p.history(d, c)
	return d.Lines()
}

func (p *rows) about(d *pane.Detail, c *state.Contract, revision int64) {
	for _, h := range c.History {
		if h.Revision == revision {
			d.Field("by", h.Publisher, p.Owners.Style(h.Publisher))
			d.Field("when", pane.Stamp(p.snap.Now, h.At)+", "+words.Ago(p.snap.Now, h.At), p.Text)
			d.Field("format", h.Format, p.Text)
			d.Field("event", fmt.Sprintf("#%d", h.Seq), p.Dim)
		}
	}
}

// readersOf says who reads the contract: those who build on an old revision first.
func (p *rows) readersOf(d *pane.Detail, c *state.Contract) {
	if len(c.Readers) == 0 {
		return
	}
	d.Heading("readers")
	for _, late := range []bool{true, false} {
		for _, r := range c.Readers {
			if (r.Behind > 0) != late {
				continue
			}
			said, style := p.Yes+" up to date", p.Good
			if late {
				style = p.Warn
				said = fmt.Sprintf("%s on r%d, %s behind", p.No, r.Revision, words.Plural(r.Behind, "revision"))
				if r.Revision == 0 {
					said = p.No + " has read no revision"
				}
			}
			if r.Declared {
				said += ", builds on it"
			}
			d.Field(r.Agent, said, style)
		}
	}
}

// choice names the revisions around the one that is shown, and which one it is compared with.
func (p *rows) choice(d *pane.Detail, c *state.Contract, revision int64) {
	if len(c.History) < 2 {
		return
	}
	at := 0
	for i, h := range c.History {
		if h.Revision == revision {
			at = i
		}
	}
	from := max(min(at-2, len(c.History)-5), 0)
	spans := theme.Spans{theme.S("revisions ", p.Dim)}
	if from > 0 {
		spans = append(spans, theme.S(p.Ellipsis+" ", p.Dim))
	}
	for _, h := range c.History[from:min(from+5, len(c.History))] {
		style, label := p.Dim, fmt.Sprintf("r%d ", h.Revision)
		if h.Revision == revision {
			style, label = p.Accent, fmt.Sprintf("[r%d] ", h.Revision)
		}
		spans = append(spans, theme.S(label, style))
	}
	if from+5 < len(c.History) {
		spans = append(spans, theme.S(p.Ellipsis+" ", p.Dim))
	}
	if base := (*Pane)(p).from(c); p.diff && base > 0 {
		spans = append(spans, theme.S(fmt.Sprintf("against r%d", base), p.Accent))
	}
	d.Add(spans...)
}

// history lists every revision that is remembered, the newest first, with who has read no further.
func (p *rows) history(d *pane.Detail, c *state.Contract) {
	if len(c.History) < 2 {
		return
	}
	d.Heading("history")
	for i := len(c.History) - 1; i >= 0; i-- {
		h := &c.History[i]
		said := fmt.Sprintf("%-4s  %s  #%d", words.Age(p.snap.Now, h.At), h.Publisher, h.Seq)
		style := p.Text
		if i < len(c.History)-1 {
			style = p.Dim
			if readers := readUpTo(c, h.Revision); len(readers) > 0 {
				said += "  " + p.Warning + " still read by " + strings.Join(readers, ", ")
				style = p.Warn
			}
		}
		d.Field(fmt.Sprintf("r%d", h.Revision), said, style)
	}
	if c.Older > 0 {
		d.Text(fmt.Sprintf("and %d older", c.Older), p.Dim)
	}
}

// readUpTo names the readers whose newest revision is this one.
func readUpTo(c *state.Contract, revision int64) []string {
	var names []string
	for _, r := range c.Readers {
		if r.Revision == revision {
			names = append(names, r.Agent)
		}
	}
	return names
}
