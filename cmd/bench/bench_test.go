package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/store/jsonline"
)

// TestGeneratedLogFolds: numbers measured on a log that the fold refuses would mean nothing.
func TestGeneratedLogFolds(t *testing.T) {
	const n = 20_000
	project := t.TempDir()
	if err := os.Mkdir(filepath.Join(project, ".handoff"), 0o700); err != nil {
		t.Fatal(err)
	}
	path, err := generate(project, n)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := state.New()
	var object jsonline.Object
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if err := object.Parse(lines.Bytes()); err != nil {
			t.Fatalf("parse %s: %v", lines.Text(), err)
		}
		e, err := event.Decode(&object, lines.Bytes())
		if err != nil {
			t.Fatalf("decode %s: %v", lines.Text(), err)
		}
		if err := s.Apply(&e); err != nil {
			t.Fatalf("apply %s: %v", lines.Text(), err)
		}
	}
	if s.Head() != n-1 || s.Count() != n {
		t.Errorf("head %d and count %d of %d events", s.Head(), s.Count(), n)
	}
	if skips := s.Skips(); skips.Bad != 0 || skips.Duplicate != 0 || skips.OutOfOrder != 0 {
		t.Errorf("skips: %+v", skips)
	}
	if len(s.Contracts()) != contracts || len(s.Claims()) == 0 || len(s.Pending()) == 0 {
		t.Errorf("%d contracts, %d claims, %d open tasks", len(s.Contracts()), len(s.Claims()), len(s.Pending()))
	}
}

func TestPercentile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, c := range []struct {
		sorted []time.Duration
		p      float64
		want   time.Duration
	}{
		{hundred, 0.5, 51},
		{hundred, 0.99, 100},
		{hundred[:1], 0.99, 1},
		{hundred[:3], 0.5, 2},
		{hundred, 1, 100},
	} {
		if got := percentile(c.sorted, c.p); got != c.want {
			t.Errorf("percentile %v of %d values: %d, want %d", c.p, len(c.sorted), got, c.want)
		}
	}
}

func TestTableSaysWhatWasMet(t *testing.T) {
	got := table([]row{
		atMost("slow", "bare", 9*time.Millisecond, 2*time.Millisecond, 4),
		atMost("quick", "bare", 5*time.Millisecond, 2*time.Millisecond, 4),
		atLeast("rate", "bare", 900, 1000, "events/s", 0.8),
		below("wait", 2*time.Second, time.Second),
	})
	for _, line := range []string{
		"| slow | bare | 9ms | 2ms | 4.5× | ≤ 4× | no |",
		"| quick | bare | 5ms | 2ms | 2.5× | ≤ 4× | yes |",
		"| rate | bare | 900 events/s | 1000 events/s | 0.9× | ≥ 0.8× | yes |",
		"| wait | – | 2s | – | – | ≤ 1s | no |",
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
}
