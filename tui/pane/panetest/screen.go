package panetest

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/tui/pane"
)

// Draw gives the pane a size, checks the shape of what it draws, and returns its lines without the blanks at their ends.
func Draw(t *testing.T, p pane.Pane, w, h int, zoomed bool) []string {
	t.Helper()
	p.SetSize(w, h, zoomed)
	Check(t, p, w, h)
	lines := p.View()
	for i, line := range lines {
		lines[i] = strings.TrimRight(ansi.Strip(line), " ")
	}
	return lines
}

// Screen is a pane of 20 lines without the empty ones.
func Screen(t *testing.T, p pane.Pane, w int, zoomed bool) string {
	t.Helper()
	var lines []string
	for _, line := range Draw(t, p, w, 20, zoomed) {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
