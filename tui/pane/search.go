package pane

import (
	"strings"

	"github.com/agentloadout/loadout/tui/theme"
)

// Bounds of a search: rows that are looked at, and cells to which they are drawn for it.
const (
	maxSearched = 20_000
	searchWidth = 400
)

// Search selects the next row that has every word, going d rows on at a time and beginning anew behind the last. It reports false when
// none of the nearest maxSearched rows has them.
func (b *Browser) Search(words string, d int) (Action, bool) {
	n := b.List.Len()
	for k := 1; k <= min(n, maxSearched); k++ {
		i := ((b.List.Cursor()+d*k)%n + n) % n
		left, right := b.rows.Row(i, searchWidth)
		if Matches(words, plain(left), plain(right)) {
			b.selected(i)
			return nil, true
		}
	}
	return nil, false
}

// Click selects the row at a line of the list.
func (b *Browser) Click(line int) {
	from, to := b.List.Visible()
	if i := from + line; line >= 0 && i < to && !b.inside {
		b.selected(i)
	}
}

func (b *Browser) selected(i int) {
	b.List.Select(i)
	b.stale = true
	b.scroll.Home()
}

func plain(spans theme.Spans) string {
	var s strings.Builder
	for _, span := range spans {
		s.WriteString(span.Text)
	}
	return s.String()
}
