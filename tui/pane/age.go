package pane

import (
	"time"

	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// AgeWidth is the width of ages in a column, with the blank before them.
const AgeWidth = 5

// Age is how old something is, against the right edge of its column; nothing where that is not known. Years of a log that a wrong clock
// wrote are wider than the column, and keep their blank.
func (l Look) Age(now, t time.Time) theme.Span {
	age := ""
	if !t.IsZero() {
		age = words.Age(now, t)
	}
	return theme.S(text.Blank(max(AgeWidth-text.Width(age), 1))+age, l.Dim)
}
