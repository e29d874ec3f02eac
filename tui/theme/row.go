package theme

import (
	"strings"

	"github.com/agentloadout/loadout/tui/text"
)

// Span is a piece of a row. Its text must be safe plain text.
type Span struct {
	Text  string
	Style Style
}

// S is short for a Span.
func S(s string, style Style) Span { return Span{Text: s, Style: style} }

// Width is the cells that the span takes.
func (s Span) Width() int { return text.Width(s.Text) }

// Spans is a styled line, not yet fitted to a width.
type Spans []Span

// Width is the cells that the spans take.
func (s Spans) Width() int {
	w := 0
	for _, span := range s {
		w += span.Width()
	}
	return w
}

// Row paints a row of exactly w cells: left from the left edge, right against the right edge. Where both do not fit, left is shortened.
func (t *Theme) Row(w int, base Style, left, right Spans) string {
	if w <= 0 {
		return ""
	}
	var b strings.Builder
	b.Grow(4 * w)
	room := w
	if len(right) > 0 {
		room = max(w-right.Width()-1, 0)
	}
	used := t.paint(&b, base, left, room)
	gap := text.Blank(w - used - min(right.Width(), w-used))
	b.WriteString(base.Paint(gap))
	used += len(gap)
	used += t.paint(&b, base, right, w-used)
	b.WriteString(base.Paint(text.Blank(w - used))) // where half of a wide character had no room
	return b.String()
}

// paint writes the spans, shortened to room cells, and returns the cells used.
func (t *Theme) paint(b *strings.Builder, base Style, spans Spans, room int) int {
	total := spans.Width()
	used := 0
	for i, span := range spans {
		if used >= room {
			break
		}
		s := span.Text
		w := text.Width(s)
		left := room - used
		switch {
		case total <= room:
		case w > left:
			s = text.Truncate(s, left, t.Ellipsis)
			w = text.Width(s)
		case w == left && i < len(spans)-1: // it fits, but what follows does not
			s = text.Truncate(s+"x", left, t.Ellipsis)
			w = text.Width(s)
		}
		b.WriteString(span.Style.Over(base).Paint(s))
		used += w
	}
	return used
}

// Label is what a box says in its top edge.
type Label struct {
	Title string
	Badge Span     // behind the title
	Notes []string // dim, behind the badge
	Right Spans    // at the right end
	Foot  string   // dim, in the bottom edge
	Focus bool
}

// Box frames body. The result is exactly h lines of w cells; so must body's lines be of w-2 cells. Missing lines are blank.
func (t *Theme) Box(w, h int, l Label, body []string) []string {
	lines := make([]string, 0, max(h, 0))
	if w < 2 || h < 2 {
		for range h {
			lines = append(lines, text.Blank(w))
		}
		return lines
	}
	edge, title, mark := t.Border, t.Text, " "
	if l.Focus {
		edge, title, mark = t.Focus, t.Title, t.Pointer
	}
	inner := w - 2

	var top strings.Builder
	top.WriteString(edge.Paint(t.TopLeft))
	right := l.Right
	if rw := right.Width(); rw == 0 || rw+text.Width(l.Title)+8 > inner {
		right = nil
	}
	label := Spans{S(mark, t.Focus), S(l.Title, title), l.Badge}
	for _, note := range l.Notes {
		label = append(label, S(" "+t.Dot+" "+note, t.Dim))
	}
	room := inner
	if right != nil {
		room -= right.Width() + 4
	}
	used := 0
	if l.Title != "" {
		used = t.paint(&top, Style{}, label, max(room-1, 0))
		if used < inner {
			top.WriteByte(' ')
			used++
		}
	}
	if right != nil {
		top.WriteString(edge.Paint(strings.Repeat(t.Horizontal, inner-used-right.Width()-3)) + " ")
		t.paint(&top, Style{}, right, right.Width())
		top.WriteString(" " + edge.Paint(t.Horizontal))
	} else {
		top.WriteString(edge.Paint(strings.Repeat(t.Horizontal, inner-used)))
	}
	top.WriteString(edge.Paint(t.TopRight))
	lines = append(lines, top.String())

	side := edge.Paint(t.Vertical)
	for i := range h - 2 {
		row := text.Blank(inner)
		if i < len(body) {
			row = body[i]
		}
		lines = append(lines, side+row+side)
	}
	foot := l.Foot
	if fw := text.Width(foot); foot == "" || fw+4 > inner {
		return append(lines, edge.Paint(t.BottomLeft+strings.Repeat(t.Horizontal, inner)+t.BottomRight))
	}
	rest := strings.Repeat(t.Horizontal, inner-text.Width(foot)-3)
	return append(lines, edge.Paint(t.BottomLeft+t.Horizontal)+" "+t.Dim.Paint(foot)+" "+edge.Paint(rest+t.BottomRight))
}
