package redact

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFalsePositives runs over text without secrets, see testdata/README.md.
func TestFalsePositives(t *testing.T) {
	const (
		most   = 0.01
		fewest = 1000
	)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	total, changed := 0, 0
	for _, file := range files {
		raw, err := os.ReadFile(file) //nolint:gosec // of the glob above
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.Split(strings.TrimSpace(string(raw)), "\n")
		after := strings.Split(Text(strings.TrimSpace(string(raw))), "\n")
		if len(after) != len(whole) {
			t.Errorf("%s: %d lines of %d are left", file, len(after), len(whole))
			continue
		}
		for i, line := range whole {
			total++
			switch alone := Text(line); {
			case alone != line:
				changed++
				t.Logf("%s:%d: %q becomes %q", file, i+1, line, alone)
			case after[i] != line:
				changed++
				t.Logf("%s:%d: %q becomes %q beside its neighbours", file, i+1, line, after[i])
			}
		}
	}
	rate := float64(changed) / float64(total)
	t.Logf("false positives %.2f %%: %d of %d lines", 100*rate, changed, total)
	if rate > most || total < fewest {
		t.Errorf("%d of %d lines changed, want at most %.0f %% of at least %d", changed, total, 100*most, fewest)
	}
}
