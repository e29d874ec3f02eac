package engine

import (
	"testing"
	"time"
)

// Whoever reads a refusal reads the times of their own zone, and the date with those that are not of today.
func TestRefusalTellsTimesOfTheReader(t *testing.T) {
	d := newDesk(t)
	d.do(Own{Agent: "codex", Paths: []string{"src"}, TTL: 48 * time.Hour})
	d.now = d.now.In(time.FixedZone("", -10*3600)) // 22:01 of the day before
	d.conflict(ConflictOwnership, Own{Agent: "gemini", Paths: []string{"src"}}, "since 22:00 (1m ago)", "lapses at 2026-09-11 22:00 (47h left)")
	d.now = d.now.Add(3 * time.Hour)
	d.conflict(ConflictOwnership, Own{Agent: "gemini", Paths: []string{"src"}}, "since 2026-09-09 22:00 (3h ago)")
}
