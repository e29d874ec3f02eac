package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// prompt is a line that is typed in the footer: a filter, or a command.
type prompt struct {
	mark    string // "/" or ":"
	field   overlay.Field
	hint    string
	changed func(value string) tea.Cmd // after each edit
	entered func(value string) tea.Cmd
	left    func() tea.Cmd // after Esc
	special func(k tea.KeyMsg) (tea.Cmd, bool)
}

func (p *prompt) row(t *theme.Theme, w int) string {
	hint := theme.Spans{theme.S(text.Line(p.hint)+" ", t.Dim)}
	if hint.Width() > w/2 {
		hint = nil
	}
	mark := theme.S(" "+p.mark, t.Accent)
	left := append(theme.Spans{mark}, p.field.Spans(t, max(w-mark.Width()-hint.Width()-2, 1), true, "")...)
	return t.Row(w, theme.Style{}, left, hint)
}

func (m *model) promptKey(k tea.KeyMsg) tea.Cmd {
	p := m.prompt
	if p.special != nil && !k.Paste {
		if cmd, ok := p.special(k); ok {
			return cmd
		}
	}
	if !k.Paste {
		switch k.Type { //nolint:exhaustive // every other key edits
		case tea.KeyEsc:
			m.prompt = nil
			return p.left()
		case tea.KeyEnter:
			m.prompt = nil
			return p.entered(p.field.Value())
		case tea.KeyBackspace:
			if p.field.Value() == "" { // as in other programs with such lines
				m.prompt = nil
				return p.left()
			}
		}
	}
	if p.field.Key(k) && p.changed != nil {
		return p.changed(p.field.Value())
	}
	return nil
}

// openFilter filters the focused pane while it is typed. Esc takes the filter away again.
func (m *model) openFilter() {
	i := m.focus
	p := m.panes[i]
	set := func(value string) tea.Cmd {
		value = strings.TrimSpace(value)
		if value != "" {
			m.searched = value
		}
		return m.do(i, p.SetFilter(value))
	}
	m.prompt = &prompt{
		mark: "/", field: overlay.NewField(p.Filter()), hint: "enter keep  esc all rows, n N next",
		changed: set,
		entered: set,
		left:    func() tea.Cmd { return set("") },
	}
}
