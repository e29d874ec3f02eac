package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/layout"
	"github.com/agentloadout/loadout/tui/pane"
)

// wheelRows is how far a notch of the wheel scrolls.
const wheelRows = 3

// clicker is a pane whose rows can be selected with the mouse. row counts from the top of the pane's own lines.
type clicker interface{ Click(row int) }

// toggleMouse listens to the mouse, or leaves it to the terminal.
func (m *model) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	m.screen.Mouse(m.mouse)
	if m.mouse {
		m.say(plainly, "the mouse selects rows here; M gives it back to the terminal")
	} else {
		m.say(plainly, "the mouse selects text, as the terminal has it")
	}
	return m.scheduleTick()
}

// mouseEvent focuses and selects what is clicked, and scrolls what is below the pointer.
func (m *model) mouseEvent(e tea.MouseMsg) tea.Cmd {
	if !m.mouse || e.Action != tea.MouseActionPress || m.tooSmall() || m.prompt != nil || m.overlays.Top() != nil {
		return nil
	}
	place, ok := m.placeAt(e.X, e.Y-1) // below the header
	if !ok {
		return nil
	}
	m.dirty = true
	p := m.panes[place.Pane]
	switch e.Button { //nolint:exhaustive // the other buttons mean nothing
	case tea.MouseButtonLeft:
		m.setFocus(place.Pane)
		if c, ok := p.(clicker); ok {
			c.Click(e.Y - 2 - place.Y)
		}
		return m.apply(pane.Changes{}) // the detail that is visible now may want to load
	case tea.MouseButtonWheelUp:
		return m.wheel(place.Pane, keymap.Up)
	case tea.MouseButtonWheelDown:
		return m.wheel(place.Pane, keymap.Down)
	}
	return nil
}

func (m *model) wheel(i int, to keymap.Intent) tea.Cmd {
	cmds := make([]tea.Cmd, 0, wheelRows)
	for range wheelRows {
		cmds = append(cmds, m.do(i, m.panes[i].Handle(to)))
	}
	return tea.Batch(cmds...)
}

// placeAt is the pane at a cell of the body.
func (m *model) placeAt(x, y int) (layout.Placed, bool) {
	for _, p := range m.places() {
		if x >= p.X && x < p.X+p.W && y >= p.Y && y < p.Y+p.H {
			return p, true
		}
	}
	return layout.Placed{}, false
}
