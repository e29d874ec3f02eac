package contracts

import (
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// rows draws the pane's rows and its detail.
type rows Pane

// Empty says why there is no row.
func (p *rows) Empty() string {
	switch {
	case p.Filter() != "":
		return "No contract matches the filter."
	case p.snap.Past:
		return "There was no contract then."
	}
	return `No contracts yet. Agents publish them: loadout coord contract checkout-api --body "POST /api/checkout -> 201"`
}

// Row draws a contract with its readers.
func (p *rows) Row(i, w int) (left, right theme.Spans) {
	c := p.contracts[i]
	left = theme.Spans{
		theme.S(text.Fit(text.Line(c.Name), min(p.name, max(w/3, 12)), p.Ellipsis), p.Text),
		theme.S(text.Pad(fmt.Sprintf("  r%d", c.Revision), 7), p.Strong),
	}
	if w >= 60 {
		left = append(left, theme.S(text.Fit(text.Line(c.Publisher), p.publisher, p.Ellipsis)+"  ", p.Owners.Style(c.Publisher)))
		right = theme.Spans{theme.S(pane.Age(p.snap.Now, c.At), p.Dim)}
	}
	readers := p.readers(c)
	if left.Width()+readers.Width()+right.Width() >= w {
		readers = p.summary(c)
	}
	return append(left, readers...), right
}

// readers names who builds on the contract and the revision each has acknowledged.
func (p *rows) readers(c state.Contract) theme.Spans {
	var spans theme.Spans
	for _, r := range c.Readers {
		if len(spans) > 0 {
			spans = append(spans, theme.S("  ", p.Text))
		}
		spans = append(spans, theme.S(text.Line(r.Agent)+" ", p.Owners.Style(r.Agent)))
		spans = append(spans, p.mark(r)...)
	}
	if len(spans) == 0 {
		return theme.Spans{theme.S("no readers", p.Dim)}
	}
	return spans
}

// mark says how far a reader has read.
func (p *rows) mark(r state.Reader) theme.Spans {
	switch {
	case r.Behind == 0:
		return theme.Spans{theme.S(p.Yes, p.Good)}
	case r.Revision == 0:
		return theme.Spans{theme.S(p.No+" unread", p.Warn)}
	}
	return theme.Spans{theme.S(fmt.Sprintf("%s r%d", p.No, r.Revision), p.Warn)}
}

// summary is readers for a narrow pane.
func (p *rows) summary(c state.Contract) theme.Spans {
	yes, no := 0, 0
	for _, r := range c.Readers {
		if r.Behind == 0 {
			yes++
		} else {
			no++
		}
	}
	var spans theme.Spans
	if yes > 0 {
		spans = append(spans, theme.S(fmt.Sprintf("%s%d", p.Yes, yes), p.Good))
	}
	if no > 0 {
		if yes > 0 {
			spans = append(spans, theme.S(" ", p.Text))
		}
		spans = append(spans, theme.S(fmt.Sprintf("%s%d", p.No, no), p.Warn))
	}
	return spans
}

// Detail shows the selected contract.
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
	p.history(d, c, revision)
	r, ok := p.loaded[pp.key(c)]
	switch {
	case ok && r.err != nil:
		d.Heading("could not be read")
		d.Text(r.err.Error(), p.Bad)
	case !ok && (p.diff || revision != c.Revision):
		d.Gap()
		d.Text("reading"+p.Ellipsis, p.Dim)
	case p.diff:
		p.diffLines(d, r.diff)
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
	return d.Lines()
}

func (p *rows) about(d *pane.Detail, c *state.Contract, revision int64) {
	for _, h := range c.History {
		if h.Revision == revision {
			d.Field("by", h.Publisher, p.Owners.Style(h.Publisher))
			d.Field("when", pane.Stamp(p.snap.Now, h.At)+", "+pane.Ago(p.snap.Now, h.At), p.Text)
			d.Field("format", h.Format, p.Text)
			d.Field("event", fmt.Sprintf("#%d", h.Seq), p.Dim)
		}
	}
	for i, r := range c.Readers {
		label := "readers"
		if i > 0 {
			label = " "
		}
		said := "has acknowledged its events"
		if r.Declared {
			said = "builds on it"
		}
		state := p.Yes + " up to date"
		style := p.Good
		if r.Behind > 0 {
			style = p.Warn
			state = fmt.Sprintf("%s on r%d, %s behind", p.No, r.Revision, pane.Count(r.Behind, "revision"))
			if r.Revision == 0 {
				state = p.No + " has read no revision"
			}
		}
		d.Field(label, strings.Join([]string{r.Agent, state, said}, "  "), style)
	}
}

// history names the revisions around the one that is shown.
func (p *rows) history(d *pane.Detail, c *state.Contract, revision int64) {
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
	spans := theme.Spans{theme.S("history   ", p.Dim)}
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
	d.Add(spans...)
}

func (p *rows) diffLines(d *pane.Detail, diff engine.ContractDiff) {
	from := fmt.Sprintf("r%d", diff.FromRevision)
	if diff.FromRevision == 0 {
		from = "nothing"
	}
	d.Heading(fmt.Sprintf("%s %s r%d: %s", from, p.Arrow, diff.ToRevision, diff.Summary))
	for _, h := range diff.Hunks {
		d.Marked("", fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.FromLine, h.FromCount, h.ToLine, h.ToCount), p.Hunk)
		for _, l := range h.Lines {
			switch l.Kind {
			case engine.DiffAdded:
				d.Marked("+ ", l.Text, p.Added)
			case engine.DiffRemoved:
				d.Marked("- ", l.Text, p.Removed)
			case engine.DiffSame:
				d.Marked("  ", l.Text, p.Text)
			}
		}
	}
}
