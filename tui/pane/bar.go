package pane

import (
	"strings"

	"github.com/agentloadout/loadout/tui/theme"
)

// Bar shows in w cells how much of a whole there is. What is there at all has a cell, and only the whole fills the bar.
func Bar(look Look, w int, part, whole int64, style theme.Style) theme.Spans {
	n := 0
	if whole > 0 {
		n = int(float64(w) * float64(min(part, whole)) / float64(whole))
		if n == 0 && part > 0 {
			n = 1
		}
	}
	return theme.Spans{
		theme.S(strings.Repeat(look.Exclusive, n), style),
		theme.S(strings.Repeat(look.Dot, max(w-n, 0)), look.Dim),
	}
}
