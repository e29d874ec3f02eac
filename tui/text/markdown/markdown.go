// Package markdown draws the part of CommonMark that agents write to each other in a column of terminal cells: paragraphs, headings,
// lists, quotes, code, emphasis and links. Everything else stays as it was written. It is its own parser, because those that know all
// of CommonMark spend milliseconds in package initialisation, which every headless verb would pay.
package markdown

import (
	"strings"

	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

const (
	minText  = 12 // cells that nesting leaves to a text, whatever its depth
	maxDepth = 8  // of quotes and lists; what is deeper is text
)

// Render draws markdown that may be untrusted in lines. They are of at most w cells but where nesting leaves too little room. It may take
// milliseconds for a long text.
func Render(t *theme.Theme, markdown string, w int) []theme.Spans {
	r := renderer{theme: t, w: max(w, 1)}
	r.blocks(text.Lines(markdown), nil, nil, 0)
	return r.lines
}

type renderer struct {
	theme *theme.Theme
	w     int
	lines []theme.Spans
}

// blocks draws lines. first leads the first line that they make, rest every other.
func (r *renderer) blocks(lines []string, first, rest theme.Spans, depth int) {
	gap := false
	for len(lines) > 0 {
		if blank(lines[0]) {
			gap = true
			lines = lines[1:]
			continue
		}
		if made := len(r.lines); gap && made > 0 && !isBlankLine(r.lines[made-1], rest) {
			r.lines = append(r.lines, rest)
		}
		gap = false
		n := r.block(lines, first, rest, depth)
		lines, first = lines[n:], rest
	}
}

func isBlankLine(line, rest theme.Spans) bool { return len(line) == len(rest) }

// block draws the block that starts with the first line and returns how many lines it has.
func (r *renderer) block(lines []string, first, rest theme.Spans, depth int) int {
	t := r.theme
	line := strings.TrimLeft(lines[0], " ")
	indent := len(lines[0]) - len(line)
	switch level := heading(line); {
	case indent >= 4:
		n := 1
		for n < len(lines) && (strings.HasPrefix(lines[n], "    ") || blank(lines[n])) {
			n++
		}
		for blank(lines[n-1]) {
			n--
		}
		r.verbatim(cutIndent(lines[:n], 4), first, rest)
		return n
	case fence(line) != "":
		return r.fenced(lines, fence(line), indent, first, rest)
	case level > 0:
		title := strings.TrimSpace(line[level:])
		if open := strings.TrimRight(title, "#"); open == "" || strings.HasSuffix(open, " ") { // marks that close it
			title = strings.TrimSpace(open)
		}
		r.wrap(r.inline(title, t.Strong), first, rest)
		return 1
	case rule(line):
		r.lines = append(r.lines, add(first, theme.S(strings.Repeat(t.Horizontal, r.room(first)), t.Dim)))
		return 1
	case line[0] == '>' && depth < maxDepth:
		n := 0
		var quoted []string
		for ; n < len(lines); n++ {
			inner, ok := strings.CutPrefix(strings.TrimLeft(lines[n], " "), ">")
			if !ok {
				break
			}
			quoted = append(quoted, strings.TrimPrefix(inner, " "))
		}
		edge := theme.S(t.Vertical+" ", t.Dim)
		r.blocks(quoted, add(first, edge), add(rest, edge), depth+1)
		return n
	}
	if mark := item(line); mark != "" && depth < maxDepth {
		return r.item(lines, indent, mark, first, rest, depth)
	}
	return r.paragraph(lines, first, rest)
}

func (r *renderer) paragraph(lines []string, first, rest theme.Spans) int {
	n := 1
	for n < len(lines) && !blank(lines[n]) && !starts(strings.TrimLeft(lines[n], " ")) {
		n++
	}
	var b strings.Builder
	for i, line := range lines[:n] {
		hard := strings.HasSuffix(line, "  ") || strings.HasSuffix(line, "\\")
		b.WriteString(strings.TrimSpace(strings.TrimSuffix(line, "\\")))
		switch {
		case i == n-1:
		case hard:
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
	}
	r.wrap(r.inline(b.String(), r.theme.Text), first, rest)
	return n
}

// item draws an item of a list with everything that is indented below it.
func (r *renderer) item(lines []string, indent int, mark string, first, rest theme.Spans, depth int) int {
	inside := indent + len(mark)
	n := 1
	for n < len(lines) {
		line := strings.TrimLeft(lines[n], " ")
		deeper := len(lines[n])-len(line) > indent
		if line != "" && !deeper && (blank(lines[n-1]) || starts(line)) {
			break
		}
		n++
	}
	for blank(lines[n-1]) && n > 1 {
		n--
	}
	body := append([]string{strings.TrimLeft(lines[0], " ")[len(mark):]}, cutIndent(lines[1:n], inside)...)
	shown := r.theme.Dot + " "
	if mark[0] >= '0' && mark[0] <= '9' {
		shown = mark
	}
	r.blocks(body, add(first, theme.S(shown, r.theme.Accent)), add(rest, theme.S(text.Blank(text.Width(shown)), r.theme.Text)), depth+1)
	if blank(body[0]) && len(body) == 1 {
		r.lines = append(r.lines, add(first, theme.S(shown, r.theme.Accent)))
	}
	return n
}

// fenced draws a block of code up to its closing fence, or to the end.
func (r *renderer) fenced(lines []string, mark string, indent int, first, rest theme.Spans) int {
	n := 1
	for n < len(lines) {
		if line := strings.TrimSpace(lines[n]); strings.HasPrefix(line, mark) && strings.Trim(line, mark[:1]) == "" {
			break
		}
		n++
	}
	r.verbatim(cutIndent(lines[1:n], indent), first, rest)
	return min(n+1, len(lines))
}

// verbatim draws lines as they are; those that are too long go on below.
func (r *renderer) verbatim(lines []string, first, rest theme.Spans) {
	margin := theme.S("  ", r.theme.Text)
	first, rest = add(first, margin), add(rest, margin)
	for _, line := range lines {
		for _, part := range text.Wrap(line, r.room(rest)) {
			r.lines = append(r.lines, add(first, theme.S(part, r.theme.Accent)))
			first = rest
		}
	}
}

func blank(line string) bool { return strings.Trim(line, " ") == "" }

// starts reports whether a line ends the paragraph before it.
func starts(line string) bool {
	return line == "" || line[0] == '>' || heading(line) > 0 || fence(line) != "" || rule(line) || item(line) != ""
}

// heading is the level of a heading, 0 for none.
func heading(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n > 6 || n < len(line) && line[n] != ' ' {
		return 0
	}
	return n
}

// fence is the run of marks that opens a block of code, empty for none.
func fence(line string) string {
	for _, c := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= 3 && (c == "~" || !strings.Contains(line[n:], c)) {
			return line[:n]
		}
	}
	return ""
}

// rule reports whether a line is a horizontal rule.
func rule(line string) bool {
	marks := strings.ReplaceAll(line, " ", "")
	return len(marks) >= 3 && strings.Contains("-*_", marks[:1]) && strings.Trim(marks, marks[:1]) == ""
}

// item is the mark of a list's item with the blank behind it, empty for none.
func item(line string) string {
	digits := 0
	for digits < len(line) && digits < 9 && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	n := digits
	if n >= len(line) {
		return ""
	}
	switch c := line[n]; {
	case digits > 0 && (c == '.' || c == ')'), digits == 0 && (c == '-' || c == '*' || c == '+'):
		n++
	default:
		return ""
	}
	if n == len(line) || line[n] != ' ' {
		return ""
	}
	return line[:n+1]
}

// cutIndent takes up to n blanks off the start of each line.
func cutIndent(lines []string, n int) []string {
	cut := make([]string, len(lines))
	for i, line := range lines {
		have := len(line) - len(strings.TrimLeft(line, " "))
		cut[i] = line[min(have, n):]
	}
	return cut
}

// wrap breaks styled text after blanks, or within words that are too long.
func (r *renderer) wrap(spans, first, rest theme.Spans) {
	line, used, lead := theme.Spans(nil), 0, first
	flush := func() {
		r.lines = append(r.lines, append(add(lead), line...))
		line, used, lead = nil, 0, rest
	}
	for _, word := range words(spans) {
		room := r.room(lead)
		if word.newline {
			flush()
			continue
		}
		if gap := min(used, 1); used > 0 && used+gap+word.width > room {
			flush()
			room = r.room(lead)
		}
		if used > 0 {
			line = append(line, theme.S(" ", line[len(line)-1].Style))
			used++
		}
		for _, span := range word.spans {
			for i, part := range text.Wrap(span.Text, room) {
				if i > 0 || used+text.Width(part) > room && used > 0 {
					flush()
				}
				line = append(line, theme.S(part, span.Style))
				used += text.Width(part)
			}
		}
	}
	if line != nil || lead == nil && first == nil && len(spans) == 0 {
		flush()
	}
}

// word is text without a blank, in one or more styles.
type word struct {
	spans   theme.Spans
	width   int
	newline bool
}

func words(spans theme.Spans) []word {
	var list []word
	var at word
	end := func() {
		if at.spans != nil {
			list = append(list, at)
			at = word{}
		}
	}
	for _, span := range spans {
		for s := span.Text; s != ""; {
			i := strings.IndexAny(s, " \n")
			if i < 0 {
				i = len(s)
			}
			if i > 0 {
				at.spans = append(at.spans, theme.S(s[:i], span.Style))
				at.width += text.Width(s[:i])
			}
			if i < len(s) {
				end()
				if s[i] == '\n' {
					list = append(list, word{newline: true})
				}
				i++
			}
			s = s[i:]
		}
	}
	end()
	return list
}

// room is the cells that lead leaves to a text.
func (r *renderer) room(lead theme.Spans) int { return max(r.w-lead.Width(), min(minText, r.w)) }

// add is a copy of spans with more behind it.
func add(spans theme.Spans, more ...theme.Span) theme.Spans {
	return append(spans[:len(spans):len(spans)], more...)
}

func plain(spans theme.Spans) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}
