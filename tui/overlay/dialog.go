package overlay

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/tui/list"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// Paragraph is a piece of a dialog. It is wrapped to the width; continuation lines are indented as Indent says.
type Paragraph struct {
	Head      string // stands before the first line
	HeadStyle theme.Style
	Text      string
	Style     theme.Style
	Indent    int // of all lines; the head stands within it
}

// Dialog shows text that may be longer than the window.
type Dialog struct {
	theme  *theme.Theme
	title  string
	hint   string
	body   []Paragraph
	scroll list.Scroll
	tail   bool // stay at the end as text is added
	alarm  bool
	wide   bool // as wide as its text
	search search
}

// NewDialog makes a dialog.
func NewDialog(t *theme.Theme, title string, body ...Paragraph) *Dialog {
	return &Dialog{theme: t, title: title, body: body, hint: "close"}
}

// Alarm marks the dialog as bad news.
func (d *Dialog) Alarm() *Dialog {
	d.alarm = true
	return d
}

// Wide lets the dialog be as wide as its text, for output that has columns.
func (d *Dialog) Wide() *Dialog {
	d.wide = true
	return d
}

// SetBody replaces what the dialog says. tail: it stays at the end while the person has not scrolled up.
func (d *Dialog) SetBody(body []Paragraph, tail bool) {
	_, below := d.scroll.Partial()
	d.body, d.tail = body, tail && !below
}

// SetTitle replaces the title and what closing means.
func (d *Dialog) SetTitle(title, hint string) { d.title, d.hint = title, hint }

// Key scrolls, searches or closes.
func (d *Dialog) Key(k tea.KeyMsg) Outcome {
	if d.search.key(k) {
		return Open
	}
	if k.Paste {
		return Open
	}
	switch k.String() {
	case "esc", "enter", "q", "?":
		return Closed
	case "up", "k":
		d.scroll.Move(-1)
	case "down", "j":
		d.scroll.Move(1)
	case "pgup", "b":
		d.scroll.Page(-1)
	case "pgdown", " ":
		d.scroll.Page(1)
	case "home", "g":
		d.scroll.Home()
	case "end", "G":
		d.scroll.End()
	}
	return Open
}

// View draws the dialog as small as its text allows.
func (d *Dialog) View(w, h int) []string {
	t := d.theme
	if !d.wide {
		w = min(w, dialogWidth)
	}
	var lines []theme.Spans
	widest := text.Width(d.title) + 4
	for _, p := range d.body {
		for _, line := range p.lines(w - 4) {
			widest = max(widest, line.Width())
			lines = append(lines, line)
		}
	}
	d.search.look(lines)
	w = min(w, max(widest, 30)+4)
	height := min(h, len(lines)+4)
	d.scroll.SetSize(len(lines), height-4)
	if d.tail {
		d.scroll.End()
	}
	d.scrollToFound()
	from, to := d.scroll.Visible()
	body := make([]string, 0, height)
	add := func(spans theme.Spans) {
		body = append(body, t.Row(w-2, theme.Style{}, append(theme.Spans{theme.S(" ", t.Text)}, spans...), nil))
	}
	for i, line := range lines[from:to] {
		if d.search.at(from + i) {
			line = append(theme.Spans{theme.S(t.Pointer, t.Focus)}, line...)
			body = append(body, t.Row(w-2, t.Selected, line, nil))
			continue
		}
		add(line)
	}
	add(nil)
	add(d.keys(w - 4))
	title := d.title
	if d.alarm {
		title = t.Warning + " " + title
	}
	return t.Box(w, height, theme.Label{Title: title, Focus: true}, body[max(len(body)-(height-2), 0):])
}

// scrollToFound shows the line that a key of the search went to.
func (d *Dialog) scrollToFound() {
	line, ok := d.search.line()
	if !ok || !d.search.moved {
		return
	}
	d.search.moved = false
	switch from, to := d.scroll.Visible(); {
	case line < from:
		d.scroll.Move(line - from)
	case line >= to:
		d.scroll.Move(line - to + 1)
	}
}

func (d *Dialog) keys(w int) theme.Spans {
	t := d.theme
	if said := d.search.spans(t, w); said != nil {
		return said
	}
	keys := theme.Spans{theme.S("esc", t.Strong), theme.S(" "+d.hint, t.Dim)}
	above, below := d.scroll.Partial()
	if above || below {
		keys = append(keys, theme.S("  "+t.Up+t.Down, t.Strong), theme.S(" scroll", t.Dim), theme.S("  /", t.Strong), theme.S(" search", t.Dim))
	}
	return keys
}

func (p Paragraph) lines(w int) []theme.Spans {
	indent := min(p.Indent, w/2)
	head := text.Pad(p.Head, indent)
	wrapped := text.Wrap(p.Text, max(w-max(indent, text.Width(head)), 1))
	lines := make([]theme.Spans, 0, len(wrapped))
	for i, line := range wrapped {
		if i > 0 {
			head = text.Blank(max(indent, text.Width(p.Head)))
		}
		lines = append(lines, theme.Spans{theme.S(head, p.HeadStyle), theme.S(line, p.Style)})
	}
	return lines
}
