package pane

import (
	"strings"
	"time"

	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// labelWidth is the width of the labels of a detail, maxAbridged the most lines of a title that is Abridged.
const (
	labelWidth  = 9
	maxAbridged = 3
)

// Detail builds the lines of a detail in w cells. Everything that it is given may be untrusted.
type Detail struct {
	look  Look
	w     int
	lines []theme.Spans
}

// NewDetail starts a detail.
func NewDetail(look Look, w int) *Detail { return &Detail{look: look, w: max(w, 1)} }

// Lines is what was built.
func (d *Detail) Lines() []theme.Spans { return d.lines }

// Add adds a line as it is; its text must be safe.
func (d *Detail) Add(spans ...theme.Span) { d.lines = append(d.lines, spans) }

// Gap adds an empty line, but not at the start and not two.
func (d *Detail) Gap() {
	if n := len(d.lines); n > 0 && len(d.lines[n-1]) > 0 {
		d.lines = append(d.lines, nil)
	}
}

// Title is the first line, or as many as it takes.
func (d *Detail) Title(s string) { d.title(text.Wrap(text.Line(s), d.w)) }

// Abridged is a title of a few lines at the most, so that what follows stays in sight. It reports whether it left out anything.
func (d *Detail) Abridged(s string) (cut bool) {
	lines := text.Wrap(text.Line(s), d.w)
	if cut = len(lines) > maxAbridged; cut {
		lines = lines[:maxAbridged]
		lines[maxAbridged-1] = text.Truncate(lines[maxAbridged-1], d.w-text.Width(d.look.Ellipsis), "") + d.look.Ellipsis
	}
	d.title(lines)
	return cut
}

func (d *Detail) title(lines []string) {
	for _, line := range lines {
		d.Add(theme.S(line, d.look.Strong))
	}
}

// Heading starts a part.
func (d *Detail) Heading(s string) {
	d.Gap()
	d.Add(theme.S(text.Line(s), d.look.Accent))
}

// Field is a label with its value; an empty value adds nothing.
func (d *Detail) Field(label, value string, style theme.Style) {
	value = text.Line(value)
	if value == "" {
		return
	}
	label = text.FitMiddle(text.Line(label), max(labelWidth, min(text.Width(label), 16)), d.look.Ellipsis) + " "
	for i, line := range text.Wrap(value, d.w-text.Width(label)) {
		if i > 0 {
			label = text.Blank(text.Width(label))
		}
		d.Add(theme.S(label, d.look.Dim), theme.S(line, style))
	}
}

// Text adds a paragraph or more.
func (d *Detail) Text(s string, style theme.Style) {
	for _, paragraph := range text.Lines(s) {
		for _, line := range text.Wrap(paragraph, d.w) {
			d.Add(theme.S(line, style))
		}
	}
}

// Marked adds an item behind a mark; its further lines are indented below the first.
func (d *Detail) Marked(mark, s string, style theme.Style) {
	d.behind(mark, text.Blank(text.Width(mark)), s, style)
}

// Quoted adds lines that each have the mark, also where one is wrapped.
func (d *Detail) Quoted(mark, s string, style theme.Style) { d.behind(mark, mark, s, style) }

func (d *Detail) behind(first, next, s string, style theme.Style) {
	for _, line := range text.Lines(s) {
		for _, part := range text.Wrap(line, d.w-text.Width(first)) {
			d.Add(theme.S(first+part, style))
			first = next
		}
	}
}

// Stamp writes a moment in the time zone of now.
func Stamp(now, t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.In(now.Location()).Format("2006-01-02 15:04:05")
}

// Matches reports whether every word of filter is in one of the texts, whatever its case.
func Matches(filter string, texts ...string) bool {
	for word := range strings.FieldsSeq(filter) {
		found := false
		for _, s := range texts {
			if contains(s, word) {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// contains is a strings.Contains that takes no notice of case and makes no copy of plain text.
func contains(s, word string) bool {
	for i := range len(word) {
		if word[i] >= 0x80 {
			return strings.Contains(strings.ToLower(s), strings.ToLower(word))
		}
	}
	n := len(word)
	for i := 0; i+n <= len(s); i++ {
		k := 0
		for k < n && lower(s[i+k]) == lower(word[k]) {
			k++
		}
		if k == n {
			return true
		}
	}
	return false
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
