package contracts

import (
	"fmt"

	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

const (
	maxLate       = 12 // cells of the name of a late reader where not all have room
	withAge       = 36 // cells of a row from which on it has an age
	withPublisher = 60 // and who published; below, where that leaves room for the readers of every contract
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
		theme.S(text.FitMiddle(text.Line(c.Name), min(p.name, max(w/3, 12)), p.Ellipsis), p.Text),
		theme.S(text.Pad(fmt.Sprintf("  r%d", c.Revision), 7), p.Strong),
	}
	if w >= withAge {
		right = theme.Spans{theme.S(words.Age(p.snap.Now, c.At), p.Dim)}
	}
	room := w - left.Width() - right.Width() - 1
	if w >= withPublisher || p.readersWidth+p.publisher+2 <= room {
		left = append(left, theme.S(text.FitMiddle(text.Line(c.Publisher), p.publisher, p.Ellipsis)+"  ", p.Owners.Style(c.Publisher)))
		room -= p.publisher + 2
	}
	readers := p.summary(&c)
	for _, all := range []bool{true, false} {
		n := behind(&c)
		if all {
			n = len(c.Readers)
		}
		if 4*n > room+2 { // there is no room for so many, however short their names are
			continue
		}
		if named := p.readers(&c, all); named.Width() <= room {
			readers = named
			break
		}
	}
	return append(left, readers...), right
}

// readers names who builds on the contract and the revision that each has acknowledged; without all, those who have acknowledged the
// latest are only counted.
func (p *rows) readers(c *state.Contract, all bool) theme.Spans {
	if len(c.Readers) == 0 {
		return theme.Spans{theme.S("no readers", p.Dim)}
	}
	var spans theme.Spans
	add := func(more ...theme.Span) {
		if len(spans) > 0 {
			spans = append(spans, theme.S("  ", p.Text))
		}
		spans = append(spans, more...)
	}
	if read := len(c.Readers) - behind(c); read > 0 && !all {
		add(theme.S(fmt.Sprintf("%s%d", p.Yes, read), p.Good))
	}
	for _, r := range c.Readers {
		name := text.Line(r.Agent)
		if !all {
			name = text.TruncateMiddle(name, maxLate, p.Ellipsis)
		}
		if all || r.Behind > 0 {
			add(theme.S(name+" ", p.Owners.Style(r.Agent)), p.mark(r))
		}
	}
	return spans
}

// mark says how far a reader has read.
func (p *rows) mark(r state.Reader) theme.Span {
	switch {
	case r.Behind == 0:
		return theme.S(p.Yes, p.Good)
	case r.Revision == 0:
		return theme.S(p.No+" unread", p.Warn)
	}
	return theme.S(fmt.Sprintf("%s r%d", p.No, r.Revision), p.Warn)
}

// summary counts the readers, for a narrow pane.
func (p *rows) summary(c *state.Contract) theme.Spans {
	no := behind(c)
	yes := len(c.Readers) - no
	var spans theme.Spans
	if yes > 0 {
		spans = append(spans, theme.S(fmt.Sprintf("%s%d ", p.Yes, yes), p.Good))
	}
	if no > 0 {
		spans = append(spans, theme.S(fmt.Sprintf("%s%d", p.No, no), p.Warn))
	}
	return spans
}
