package contracts

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// minColumns is the width from which a difference is drawn side by side.
const minColumns = 80

// difference draws how two revisions differ.
func (p *rows) difference(d *pane.Detail, diff *engine.ContractDiff, w int) {
	from := fmt.Sprintf("r%d", diff.FromRevision)
	if diff.FromRevision == 0 {
		from = "nothing"
	}
	d.Heading(fmt.Sprintf("%s %s r%d: %s", from, p.Arrow, diff.ToRevision, diff.Summary))
	if p.narrow = w < minColumns; p.narrow && p.asked {
		d.Text(fmt.Sprintf("Side by side needs %d columns, and there are %d.", minColumns, w), p.Warn)
	}
	if len(diff.Hunks) == 0 {
		d.Text("The texts are the same.", p.Dim)
	}
	for i := range diff.Hunks {
		h := &diff.Hunks[i]
		d.Marked("", fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.FromLine, h.FromCount, h.ToLine, h.ToCount), p.Hunk)
		if w >= minColumns && !p.unified {
			p.sideBySide(d, h, w)
			continue
		}
		for _, l := range h.Lines {
			mark, style := p.kind(l.Kind)
			d.Quoted(mark+" ", l.Text, style)
		}
	}
}

// kind is how a line is marked.
func (p *rows) kind(k engine.DiffKind) (mark string, style theme.Style) {
	switch k {
	case engine.DiffAdded:
		return "+", p.Added
	case engine.DiffRemoved:
		return "-", p.Removed
	case engine.DiffSame:
	}
	return " ", p.Text
}

// sideBySide draws the older text on the left and the newer one on the right, with the numbers of their lines.
func (p *rows) sideBySide(d *pane.Detail, h *engine.Hunk, w int) {
	digits := len(strconv.Itoa(max(h.FromLine+h.FromCount, h.ToLine+h.ToCount)))
	half := (w - 1) / 2
	for _, row := range h.Rows() {
		left := p.side(row.From, false, digits, half)
		right := p.side(row.To, true, digits, half)
		for i := range max(len(left), len(right)) {
			line := pick(left, i, half)
			line = append(line, theme.S(p.Vertical, p.Border))
			d.Add(append(line, pick(right, i, half)...)...)
		}
	}
}

// side is one text's part of a row, in as many lines as it takes; nil where it has none.
func (p *rows) side(l *engine.DiffLine, newer bool, digits, w int) []theme.Spans {
	if l == nil {
		return nil
	}
	number := l.From
	if newer {
		number = l.To
	}
	mark, style := p.kind(l.Kind)
	var lines []theme.Spans
	for i, line := range text.Wrap(strings.Join(text.Lines(l.Text), " "), w-digits-3) {
		gutter := fmt.Sprintf("%*d %s ", digits, number, mark)
		if i > 0 {
			gutter = text.Blank(digits+1) + mark + " "
		}
		lines = append(lines, theme.Spans{theme.S(gutter, p.Dim), theme.S(text.Pad(line, w-text.Width(gutter)), style)})
	}
	return lines
}

// pick is line i of a side, blank below its end.
func pick(lines []theme.Spans, i, w int) theme.Spans {
	if i < len(lines) {
		return lines[i]
	}
	return theme.Spans{theme.S(text.Blank(w), theme.Style{})}
}
