// Package panetest draws panes for tests: it checks the shape of what they draw and compares it with golden frames.
package panetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

var update = flag.Bool("update", false, "write the golden frames anew")

// Sizes are those of the frames that every pane must fit, alone in the window: width, height.
var Sizes = [][2]int{{200, 60}, {80, 24}, {60, 15}, {40, 12}}

// Look draws without colour.
func Look(tb testing.TB, ascii bool) pane.Look {
	tb.Helper()
	th, err := theme.New(theme.Options{Name: theme.None, ASCII: ascii})
	if err != nil {
		tb.Fatal(err)
	}
	return pane.Look{Theme: th, Owners: th.NewOwners()}
}

// Draw gives the pane a size and draws it. Every line must have exactly that width.
func Draw(tb testing.TB, p pane.Pane, w, h int, zoomed bool) []string {
	tb.Helper()
	p.SetSize(w, h, zoomed)
	lines := p.View()
	if len(lines) != h {
		tb.Fatalf("%d lines in a pane of %d", len(lines), h)
	}
	plain := make([]string, len(lines))
	for i, line := range lines {
		if got := text.Width(line); got != w {
			tb.Fatalf("line %d has %d cells in a pane of %d: %q", i, got, w, line)
		}
		plain[i] = strings.TrimRight(ansi.Strip(line), " ")
	}
	return plain
}

// Screen is a pane of 20 lines, zoomed or not, without the blanks at the ends of lines and without empty lines.
func Screen(tb testing.TB, p pane.Pane, w int, zoomed bool) string {
	tb.Helper()
	var lines []string
	for _, line := range Draw(tb, p, w, 20, zoomed) {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Golden compares the pane at every size with testdata/NAME-WxH.golden, which go test -update writes.
func Golden(t *testing.T, p pane.Pane, name string, zoomed bool) {
	t.Helper()
	for _, size := range Sizes {
		w, h := size[0], size[1]
		path := filepath.Join("testdata", fmt.Sprintf("%s-%dx%d.golden", name, w, h))
		got := strings.Join(Draw(t, p, w-2, h-4, zoomed), "\n") + "\n"
		if *update {
			if err := os.MkdirAll("testdata", 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path) //nolint:gosec // a file of this test
		if err != nil {
			t.Fatalf("%v; go test -update writes it", err)
		}
		if got != string(want) {
			t.Errorf("%s differs; go test -update, and look at the difference\n%s", path, got)
		}
	}
}
