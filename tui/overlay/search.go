package overlay

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/tui/theme"
)

// search finds text in the lines of a dialog: / asks for it, n and N go to the next line and the one before.
type search struct {
	typing bool
	field  Field
	lines  []string // in lower case, as they were drawn last
	found  []int    // lines that have the text
	chosen int      // in found
	moved  bool     // by a key, since the last drawing
}

// look takes the lines that are drawn.
func (s *search) look(lines []theme.Spans) {
	if !s.typing && s.field.Value() == "" {
		return
	}
	s.lines = s.lines[:0]
	var b strings.Builder
	for _, spans := range lines {
		b.Reset()
		for _, span := range spans {
			b.WriteString(span.Text)
		}
		s.lines = append(s.lines, strings.ToLower(b.String()))
	}
	s.found = s.found[:0]
	want := strings.ToLower(s.field.Value())
	if want == "" {
		return
	}
	for i, line := range s.lines {
		if strings.Contains(line, want) {
			s.found = append(s.found, i)
		}
	}
	s.chosen = max(min(s.chosen, len(s.found)-1), 0)
}

// key handles a key that belongs to the search. It reports false for others.
func (s *search) key(k tea.KeyMsg) bool {
	if s.typing {
		switch {
		case !k.Paste && k.Type == tea.KeyEsc:
			*s = search{}
		case !k.Paste && k.Type == tea.KeyEnter:
			s.typing = false
		default:
			s.field.Key(k)
			s.chosen, s.moved = 0, true
		}
		return true
	}
	switch k.String() {
	case "/":
		*s = search{typing: true}
	case "n":
		s.step(1)
	case "N":
		s.step(-1)
	default:
		return false
	}
	return true
}

func (s *search) step(d int) {
	if n := len(s.found); n > 0 {
		s.chosen, s.moved = (s.chosen+d+n)%n, true
	}
}

// line is the line that the search is at.
func (s *search) line() (int, bool) {
	if len(s.found) == 0 {
		return 0, false
	}
	return s.found[s.chosen], true
}

func (s *search) at(line int) bool {
	l, ok := s.line()
	return ok && l == line
}

// spans is what the search says in w cells, nil when there is none.
func (s *search) spans(t *theme.Theme, w int) theme.Spans {
	if !s.typing && s.field.Value() == "" {
		return nil
	}
	count := "not found"
	if len(s.found) > 0 {
		count = fmt.Sprintf("%d of %d", s.chosen+1, len(s.found))
	}
	said := theme.Spans{theme.S("/", t.Accent)}
	said = append(said, s.field.Spans(t, max(w-len(count)-20, 4), s.typing, "")...)
	said = append(said, theme.S("  "+count, t.Dim))
	if !s.typing {
		said = append(said, theme.S("  n N", t.Strong), theme.S(" next, before", t.Dim))
	}
	return said
}
