package ownership

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/panetest"
)

var now = time.Date(2026, 9, 3, 12, 0, 0, 0, time.UTC)

// claims folds "agent mode path" lines.
func claims(t testing.TB, lines ...string) *state.State {
	t.Helper()
	s := state.New()
	for i, line := range lines {
		f := strings.Fields(line)
		o := event.Ownership{Paths: []string{f[2]}, Mode: event.Mode(f[1])}
		if reason, ok := strings.CutPrefix(f[len(f)-1], "because="); ok {
			o.Reason = strings.ReplaceAll(reason, "_", " ")
		} else if len(f) > 3 {
			o.ExpiresAt = now.Add(time.Minute).Format(event.TimeFormat)
		}
		e, err := event.New(f[0], event.Broadcast, line, o)
		if err != nil {
			t.Fatal(err)
		}
		e.Seq, e.ID, e.Timestamp = int64(i), line, now.Add(-time.Hour).Format(event.TimeFormat)
		if err := s.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func show(t testing.TB, s *state.State, w int) *Pane {
	t.Helper()
	p := New(panetest.Look(t, false))
	p.SetSize(w, 20, false)
	p.SetFocus(true)
	p.Apply(snapshot(s), pane.Changes{})
	return p
}

// snapshot is an hour after the claims; gone's session is over, and live's is not.
func snapshot(s *state.State) pane.Snapshot {
	return pane.Snapshot{State: s, Now: now, Live: map[string]engine.Liveness{"gone": {Known: true}, "live": {Known: true, Live: true, LastBeat: now}}}
}

// screen is the pane without blanks at the ends of lines.
func screen(p *Pane) string {
	var lines []string
	for _, line := range p.View() {
		if line = strings.TrimRight(ansi.Strip(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func TestTree(t *testing.T) {
	p := show(t, claims(t, "a exclusive src/api", "b exclusive src/api2/deep/down", "a exclusive src/api/v2", "b shared docs", "c shared docs", "c exclusive x/y/z.go"), 60)
	want := `
▌docs                                    b □ shared      1h
 docs                                    c □ shared      1h
 src/
 ├ api/                                  a ■ exclusive   1h
 │ └ v2                                  a ■ exclusive   1h
 └ api2/deep/down                        b ■ exclusive   1h
 x/y/z.go                                c ■ exclusive   1h`
	if got := screen(p); got != strings.TrimPrefix(want, "\n") {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
}

func TestEverythingIsClaimed(t *testing.T) {
	p := show(t, claims(t, "a exclusive .", "b shared src"), 60)
	if got := screen(p); !strings.HasPrefix(got, "▌.  ") || p.Subject().Path != "." {
		t.Errorf("subject %+v\n%s", p.Subject(), got)
	}
}

func TestFolding(t *testing.T) {
	p := show(t, claims(t, "a exclusive src/api", "b exclusive src/web"), 60)
	p.Handle(keymap.Down)
	p.Handle(keymap.Collapse) // from src/api up to src
	if p.Subject().Path != "src" {
		t.Fatalf("left leads to %q", p.Subject().Path)
	}
	p.Handle(keymap.Collapse)
	if got := screen(p); !strings.Contains(got, "2 below") || strings.Contains(got, "api") {
		t.Errorf("folded:\n%s", got)
	}
	p.Handle(keymap.Expand)
	if got := screen(p); !strings.Contains(got, "api") {
		t.Errorf("unfolded:\n%s", got)
	}
}

func TestMarks(t *testing.T) {
	p := show(t, claims(t, "gone exclusive src", "b exclusive web ttl"), 90)
	if got := screen(p); !strings.Contains(got, "! stale") || !strings.Contains(got, "◷ 1m left") {
		t.Errorf("no marks:\n%s", got)
	}
	if p.NextChange() != time.Second {
		t.Errorf("a countdown changes in %v", p.NextChange())
	}
	p = show(t, claims(t, "gone exclusive src", "b exclusive web ttl"), 40)
	if got := screen(p); !strings.Contains(got, "!") || !strings.Contains(got, "◷") {
		t.Errorf("no marks in a narrow pane:\n%s", got)
	}
}

func TestSelectionStaysOnItsClaim(t *testing.T) {
	p := show(t, claims(t, "a exclusive m", "b exclusive z"), 60)
	p.Handle(keymap.Down)
	p.Apply(pane.Snapshot{State: claims(t, "a exclusive a", "a exclusive b", "a exclusive m", "b exclusive z"), Now: now}, pane.Changes{})
	if p.Subject().Path != "z" || p.Subject().Claim.Agent != "b" {
		t.Errorf("the selection went to %+v", p.Subject())
	}
	p.SetFilter("exclusive M")
	if p.Subject().Path != "m" || p.Status() != "1 of 4 claims" {
		t.Errorf("filtered to %+v, %s", p.Subject(), p.Status())
	}
}
