package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
)

// searcher is a pane whose rows can be searched. It selects the next row that has every word, d rows on at the least, and begins anew
// behind the last one; it reports false when no row has them.
type searcher interface {
	Search(words string, d int) (pane.Action, bool)
}

// search goes to the next row, or the one before, that has what was typed behind the last /. All rows stay visible.
func (m *model) search(d int) tea.Cmd {
	if m.searched == "" {
		m.say(bad, "type what to look for behind /; esc there keeps all rows, n and N go through those that have it")
		return m.scheduleTick()
	}
	if s, ok := m.panes[m.focus].(searcher); ok {
		if action, found := s.Search(m.searched, d); found {
			return tea.Batch(m.do(m.focus, action), m.apply(pane.Changes{})) // the detail that is visible now may want to load
		}
	}
	m.say(bad, "no row has "+text.Line(m.searched))
	return m.scheduleTick()
}
