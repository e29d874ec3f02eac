package tui

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/text"
)

var updateGolden = flag.Bool("update", false, "write the golden frames anew")

// golden compares a frame with testdata/NAME.golden. Escape sequences are written as \e there, so that the file is safe to print.
func golden(t *testing.T, name, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, "\x1b", `\e`)
	path := filepath.Join("testdata", name+".golden")
	if *updateGolden {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; go test ./tui -run Golden -update writes it", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; go test ./tui -run Golden -update, and look at the difference\n%s", path, got)
	}
}

// frame draws a frame and fails unless each line has exactly the width.
func frame(t *testing.T, o Options, w, h int, styled bool) string {
	t.Helper()
	f := worldly(t)
	o.Engine, o.Clock, o.At, o.Environment, o.fold = f, f.clock, Now, noEnv, foldFake
	got, err := Frame(t.Context(), o, w, h, styled)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != h {
		t.Errorf("%d lines, want %d", len(lines), h)
	}
	for i, line := range lines {
		if width := text.Width(line); width != w {
			t.Errorf("line %d has %d cells, want %d: %q", i, width, w, line)
		}
	}
	return got
}

func TestGoldenSizes(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {120, 40}, {80, 24}, {60, 15}, {40, 12}, {40, 10}} {
		for variant, o := range map[string]Options{
			"":             {},
			"-ascii":       {ASCII: true},
			"-color":       {Theme: "dark", Colors: 256},
			"-ascii-color": {Theme: "dark", Colors: 256, ASCII: true},
		} {
			name := fmt.Sprintf("%dx%d%s", size[0], size[1], variant)
			t.Run(name, func(t *testing.T) {
				golden(t, name, frame(t, o, size[0], size[1], o.Colors > 0))
			})
		}
	}
}

func TestGoldenPanes(t *testing.T) {
	for _, pane := range Panes() {
		t.Run(pane, func(t *testing.T) {
			golden(t, "60x15-"+pane, frame(t, Options{Pane: pane}, 60, 15, false))
		})
	}
}

func TestGoldenThemes(t *testing.T) {
	for name, o := range map[string]Options{
		"dark-16":        {Theme: "dark", Colors: 16},
		"light-256":      {Theme: "light", Colors: 256},
		"dark-truecolor": {Theme: "dark", Colors: 1 << 24},
		"none":           {Theme: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, "80x24-"+name, frame(t, o, 80, 24, true))
		})
	}
}

func TestGoldenStates(t *testing.T) {
	tests := []struct {
		name string
		w, h int
		keys []string
	}{
		{"too-small", 39, 10, nil},
		{"too-small-tiny", 12, 3, nil},
		{"contract-detail", 120, 24, []string{"2", "enter"}},
		{"contract-wide-text", 80, 24, []string{"2", "end", "enter"}},
		{"contract-diff", 80, 24, []string{"2", "enter", "d"}},
		{"event-detail", 100, 24, []string{"7", "up", "up", "enter"}},
		{"agent-detail", 80, 24, []string{"8", "down", "enter"}},
		{"claim-form", 80, 24, []string{"c", "tab", "right", "tab", "because"}},
		{"kill-form-narrow", 40, 12, []string{"K"}},
		{"halted", 80, 24, []string{"K", "tests fail", "enter"}},
		{"past", 80, 24, []string{"[", "[", "["}},
		{"help", 80, 24, []string{"?"}},
		{"filter", 80, 24, []string{"7", "/", "codex"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := drive(t, worldly(t))
			d.resize(tt.w, tt.h)
			d.press(tt.keys...)
			golden(t, "state-"+tt.name, d.screen()+"\n")
		})
	}
}

func TestPanesAreListed(t *testing.T) {
	d := drive(t, newFake())
	var ids []string
	for _, p := range d.m.panes {
		ids = append(ids, p.ID())
	}
	if !slices.Equal(ids, Panes()) {
		t.Errorf("Panes lists %v, the cockpit has %v", Panes(), ids)
	}
}

func noEnv(string) string { return "" }

func TestFrameOfThePast(t *testing.T) {
	f := story(t)
	o := Options{Engine: f, Clock: f.clock, At: 4, Environment: noEnv}
	frame, err := Frame(context.Background(), o, 120, 40, false)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(frame, "as of #4 of #17") || strings.Contains(frame, "api-tests") {
		t.Errorf("not the past:\n%s", frame)
	}
	o.At = 99
	if _, err := Frame(context.Background(), o, 120, 40, false); err == nil {
		t.Error("a frame of an event that does not exist")
	}
}

func TestFrameRefusals(t *testing.T) {
	f := newFake()
	ok := Options{Engine: f, At: Now, Environment: noEnv}
	for name, try := range map[string]func() error{
		"too small": func() error { _, err := Frame(context.Background(), ok, 39, 24, false); return err },
		"too large": func() error { _, err := Frame(context.Background(), ok, 100_000, 24, false); return err },
		"unknown pane": func() error {
			o := ok
			o.Pane = "cellar"
			_, err := Frame(context.Background(), o, 80, 24, false)
			return err
		},
		"theme": func() error {
			o := ok
			o.Theme = "neon"
			_, err := Frame(context.Background(), o, 80, 24, false)
			return err
		},
		"at": func() error { o := ok; o.At = -7; _, err := Frame(context.Background(), o, 80, 24, false); return err },
	} {
		var usage *engine.UsageError
		if err := try(); !errors.As(err, &usage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What a pane has loaded may be the first that it has to show, and gives it more room.
func TestFrameFillsThePaneThatHasLoaded(t *testing.T) {
	f := newFake()
	for range 20 {
		f.add(t, "codex", event.Broadcast, "works", event.Update{})
	}
	f.add(t, event.Loadout, event.Broadcast, "queued", event.Turn{ // the pane below has something to show from the start
		Action: event.TurnQueued, Turn: "t1", Agent: "codex", Provider: "codex", Why: event.WhyDiscussion,
	})
	got, err := Frame(context.Background(), Options{Engine: f, At: Now, Environment: noEnv}, 120, 40, false)
	if err != nil || !strings.Contains(got, " #0 ") {
		t.Errorf("%v\n%s", err, got)
	}
}

// Every line of every frame has the window's width, whatever the size, the state and the text.
func TestFramesAreExact(t *testing.T) {
	f := story(t)
	keys := []string{"1", "2", "3", "4", "5", "6", "7", "8", "z", "enter", "esc", "c", "r", "K", "?", "/", "x", "[", "]", "d", "left", "right", "down", "up", "end", "f", "tab", ":", "A", "space"}
	d := drive(t, f, func(o *Options) { o.Runner = &fakeRunner{} })
	seed := uint32(1)
	next := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>8) % n
	}
	for range 600 {
		switch next(4) {
		case 0:
			d.resize(next(220), next(70))
		default:
			d.press(keys[next(len(keys))])
		}
		d.lines()
		for _, p := range d.m.places() {
			body := d.m.panes[p.Pane].View()
			if !d.m.tooSmall() && len(body) != max(p.H-2, 0) {
				t.Fatalf("pane %d draws %d lines in %d", p.Pane, len(body), p.H-2)
			}
			for _, line := range body {
				if !d.m.tooSmall() && text.Width(line) != p.W-2 {
					t.Fatalf("pane %d draws %d cells in %d: %q", p.Pane, text.Width(line), p.W-2, line)
				}
			}
		}
	}
}
