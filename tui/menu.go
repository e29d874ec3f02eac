package tui

import (
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// menuRows is how many candidates are visible at once.
const menuRows = 8

// menu is what the last word of the command line could become.
type menu struct {
	line   string // that it completes
	start  int    // byte at which its last word begins
	words  []string
	chosen int // -1: none yet
	top    int
}

// newMenu makes the menu of a line. The line that it returns has all that the candidates have in common.
func newMenu(line string, candidates []string) (*menu, string) {
	_, _, start := words.Unfinished(line)
	m := &menu{line: line, start: start, words: candidates, chosen: -1}
	if len(candidates) == 1 {
		return nil, closeWord(line[:start] + candidates[0])
	}
	if word := commonPrefix(candidates); len(word) > len(line)-start {
		return m, line[:start] + word
	}
	return m, line
}

// closeWord puts a blank behind a word that is complete: not behind a folder, a flag that wants its value, or an open quote.
func closeWord(line string) string {
	if _, last, _ := words.Unfinished(line + " "); last != "" || strings.HasSuffix(line, "/") || strings.HasSuffix(line, "=") {
		return line
	}
	return line + " "
}

// move chooses the next candidate, or the one before, and returns the line with it.
func (m *menu) move(d int) string {
	n := len(m.words)
	if m.chosen < 0 && d < 0 {
		m.chosen = 0
	}
	m.chosen = (m.chosen + d + n) % n
	if m.chosen < m.top {
		m.top = m.chosen
	}
	m.top = max(m.top, m.chosen-menuRows+1)
	return m.line[:m.start] + m.words[m.chosen]
}

// draw lays the menu upon the lines above the command line.
func (m *menu) draw(t *theme.Theme, lines []string, w int) {
	rows := min(menuRows, len(m.words), len(lines)-4) // the header, two edges, the command line
	if rows < 1 {
		return
	}
	m.top = max(min(m.top, len(m.words)-rows), 0)
	if m.chosen >= 0 {
		m.top = max(m.top, m.chosen-rows+1)
	}
	counted := fmt.Sprintf("%d of %d", m.chosen+1, len(m.words))
	if m.chosen < 0 {
		counted = fmt.Sprintf("%d, tab chooses", len(m.words))
	}
	widest := text.Width(counted)
	for _, word := range m.words {
		widest = max(widest, text.Width(text.Line(word)))
	}
	inner := min(widest+2, w-2)
	body := make([]string, 0, rows)
	for i := m.top; i < m.top+rows; i++ {
		mark, style, base := " ", t.Text, theme.Style{}
		if i == m.chosen {
			mark, base = t.Pointer, t.Selected
		}
		body = append(body, t.Row(inner, base, theme.Spans{theme.S(mark, t.Focus), theme.S(text.Line(m.words[i]), style)}, nil))
	}
	label := theme.Label{Foot: counted}
	switch more := len(m.words) - rows - m.top; {
	case m.top > 0 && more > 0:
		label.Foot += " " + t.Up + t.Down
	case m.top > 0:
		label.Foot += " " + t.Up
	case more > 0:
		label.Foot += " " + t.Down
	}
	inner = max(inner, min(text.Width(label.Foot)+4, w-2))
	for i := range body {
		body[i] += text.Blank(inner - text.Width(body[i]))
	}
	box := t.Box(inner+2, rows+2, label, body)
	for i, line := range box {
		y := len(lines) - 1 - len(box) + i
		lines[y] = text.Splice(lines[y], line, 0, inner+2, w)
	}
}

// commonPrefix is what all words begin with, in whole characters.
func commonPrefix(words []string) string {
	if len(words) == 0 {
		return ""
	}
	prefix := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, prefix) {
			prefix = prefix[:text.PreviousBreak(prefix, len(prefix))]
		}
	}
	return prefix
}
