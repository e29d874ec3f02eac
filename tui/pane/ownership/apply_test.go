package ownership

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/tui/pane"
)

// BenchmarkApply brings a pane of 5,000 claims up to date when none of them changed.
func BenchmarkApply(b *testing.B) {
	var lines []string
	for i := range 5000 {
		lines = append(lines, fmt.Sprintf("agent%d exclusive src/m%02d/p%02d/f%04d.go", i%5, i%40, i%17, i))
	}
	p := show(b, claims(b, lines...), 100)
	s := p.snap
	for b.Loop() {
		p.Apply(s, pane.Changes{})
		p.View()
	}
}

// The tree is built anew for what it shows, and not for other news.
func TestTheTreeIsBuiltForItsOwnNews(t *testing.T) {
	s := claims(t, "a exclusive src/api", "b shared docs because=guide")
	p := show(t, s, 76)
	before := &p.rows[0]
	apply := func(edit func(*pane.Snapshot)) (anew bool) {
		snap := p.snap
		edit(&snap)
		p.Apply(snap, pane.Changes{})
		anew, before = &p.rows[0] != before, &p.rows[0]
		return anew
	}
	if apply(func(s *pane.Snapshot) { s.State, s.Now = s.State.Clone(), s.Now.Add(time.Hour) }) {
		t.Error("nothing has changed but the time")
	}
	if got := screen(p); !strings.Contains(got, "2h") {
		t.Errorf("ages stand still:\n%s", got)
	}
	if apply(func(s *pane.Snapshot) { s.Live = map[string]engine.Liveness{"a": {Known: true}} }) || !strings.Contains(screen(p), "stale") {
		t.Errorf("a session that is over shows without a new tree:\n%s", screen(p))
	}
	for _, lines := range [][]string{
		{"a exclusive src/api", "b shared docs"},                                       // no reason
		{"a exclusive src/api 1m", "b shared docs"},                                    // a limit
		{"a exclusive src/api", "c shared docs"},                                       // another holder
		{"a exclusive src/api", "c shared docs", "d shared docs"},                      // one more
		{"a exclusive src/api", "c shared docs", "d shared docs", "a release src/api"}, // one less
	} {
		if !apply(func(s *pane.Snapshot) { s.State = claims(t, lines...) }) {
			t.Errorf("%q is not shown", lines)
		}
	}
	if !apply(func(s *pane.Snapshot) { s.Drift = &engine.DriftReport{Git: true} }) {
		t.Error("a report of git is not looked at")
	}
}
