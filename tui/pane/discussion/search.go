package discussion

import (
	"fmt"

	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/pane"
)

// Search goes to the next statement of the transcript that has every word, or to the next thread while those are chosen from, d rows on
// at the least, and begins anew behind the last one. It reports false when none has them.
func (p *Pane) Search(words string, d int) (pane.Action, bool) {
	if !p.inside {
		i := next(len(p.threads), p.list.Cursor(), d, func(i int) bool { return threadHas(&p.threads[i], words) })
		if i < 0 {
			return nil, false
		}
		p.list.Select(i)
		p.moved = true
		return p.choose(), true
	}
	i := next(len(p.shown), max(p.script.top, p.sought), d, func(i int) bool { return statementHas(&p.shown[i], words) })
	if i < 0 {
		return nil, false
	}
	p.sought = i
	p.script.top, p.script.skip, p.script.follow = i, 0, false
	return p.want(), true
}

// next is the first of n rows that matches, going d rows on at a time from row at and around the ends, at itself last; -1 when none does.
func next(n, at, d int, match func(i int) bool) int {
	for k := 1; k <= n; k++ {
		if i := ((at+d*k)%n + n) % n; match(i) {
			return i
		}
	}
	return -1
}

func threadHas(t *state.Thread, words string) bool {
	return pane.Matches(words, t.ID, t.Topic, t.Status, t.Decision, fmt.Sprint(t.Participants))
}

func statementHas(s *discuss.Statement, words string) bool {
	return pane.Matches(words, s.Content, s.From, string(s.Kind), s.Role)
}
