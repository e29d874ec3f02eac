package tui

import (
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
)

func TestDriftPace(t *testing.T) {
	var p driftPace
	tests := []struct {
		name            string
		took            time.Duration
		changed         bool
		soonest, latest time.Duration
	}{
		{"at first", 10 * time.Millisecond, true, 2 * time.Second, 3 * time.Second},
		{"nothing new", 10 * time.Millisecond, false, 2 * time.Second, 6 * time.Second},
		{"still nothing", 10 * time.Millisecond, false, 2 * time.Second, 12 * time.Second},
		{"nor now", 10 * time.Millisecond, false, 2 * time.Second, 24 * time.Second},
		{"idle", 10 * time.Millisecond, false, 2 * time.Second, 30 * time.Second},
		{"a large repository", 2 * time.Second, false, 100 * time.Second, 100 * time.Second},
		{"it moves again", 10 * time.Millisecond, true, 2 * time.Second, 3 * time.Second},
	}
	for _, tt := range tests {
		if soonest, latest := p.next(tt.took, tt.changed); soonest != tt.soonest || latest != tt.latest {
			t.Errorf("%s: %v, %v; want %v, %v", tt.name, soonest, latest, tt.soonest, tt.latest)
		}
	}
}

func TestSameDriftDoesNotWakeThePanes(t *testing.T) {
	a := engine.DriftReport{AsOf: 1, Items: []engine.Drift{{Path: "a", Kind: engine.DriftForeign}}}
	b := engine.DriftReport{AsOf: 9, Items: []engine.Drift{{Path: "a", Kind: engine.DriftForeign}}}
	if !sameDrift(&a, &b) {
		t.Error("another number of the log makes another report")
	}
	b.Items[0].Path = "b"
	if sameDrift(&a, &b) {
		t.Error("another path makes no other report")
	}
}
