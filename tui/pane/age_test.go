package pane_test

import (
	"testing"
	"time"

	"github.com/agentloadout/loadout/tui/pane/panetest"
)

// What a wrong clock wrote is centuries old; its age stays apart from what stands before it.
func TestAge(t *testing.T) {
	look := panetest.Look(t, false)
	now := time.Date(2026, 9, 3, 12, 0, 0, 0, time.UTC)
	for want, at := range map[string]time.Time{
		"   3m": now.Add(-3 * time.Minute), "  now": now.Add(time.Hour), " 46296d": now.AddDate(0, 0, -46296), "     ": {},
	} {
		if got := look.Age(now, at).Text; got != want {
			t.Errorf("%v is %q old, want %q", at, got, want)
		}
	}
}
