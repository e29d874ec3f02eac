package theme

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/agentloadout/loadout/tui/text"
)

func env(pairs ...string) func(string) string {
	return func(key string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == key {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestProfileFollowsTheEnvironment(t *testing.T) {
	tests := []struct {
		name string
		o    Options
		want string // how an accent opens
	}{
		{"dumb", Options{Environment: env("TERM", "dumb")}, ""},
		{"no terminal", Options{Environment: env()}, ""},
		{"sixteen", Options{Environment: env("TERM", "xterm")}, "\x1b[94m"},
		{"sixteen, light", Options{Name: Light, Environment: env("TERM", "xterm")}, "\x1b[34m"},
		{"256", Options{Environment: env("TERM", "screen-256color")}, "\x1b[38;5;75m"},
		{"true colour", Options{Environment: env("TERM", "xterm-256color", "COLORTERM", "truecolor")}, "\x1b[38;2;108;182;255m"},
		{"true colour by name", Options{Environment: env("TERM", "xterm-kitty")}, "\x1b[38;2;108;182;255m"},
		{"light by COLORFGBG", Options{Colors: 256, Environment: env("COLORFGBG", "0;15")}, "\x1b[38;5;26m"},
		{"dark by COLORFGBG", Options{Colors: 256, Environment: env("COLORFGBG", "15;default;0")}, "\x1b[38;5;75m"},
		{"NO_COLOR", Options{Environment: env("TERM", "xterm-kitty", "NO_COLOR", "1")}, ""},
		{"asked for none", Options{Name: None, Environment: env("TERM", "xterm-kitty")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			th, err := New(tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if th.Accent.open != tt.want {
				t.Errorf("accent opens with %q, want %q", th.Accent.open, tt.want)
			}
		})
	}
}

func TestUnknownThemeIsRefused(t *testing.T) {
	if _, err := New(Options{Name: "neon"}); err == nil || !strings.Contains(err.Error(), "auto dark light none") {
		t.Errorf("error is %v", err)
	}
}

// A glyph of more than one cell, or of a width that depends on the terminal, would break every border.
func TestGlyphsAreNarrow(t *testing.T) {
	for name, g := range map[string]Glyphs{"unicode": unicodeGlyphs, "ascii": asciiGlyphs} {
		one := []string{
			g.TopLeft, g.TopRight, g.BottomLeft, g.BottomRight, g.Horizontal, g.Vertical, g.Open, g.Closed, g.Pointer, g.Exclusive,
			g.Shared, g.Yes, g.No, g.Live, g.Idle, g.Gone, g.Warning, g.Stop, g.Time, g.Ellipsis, g.Dot, g.Arrow, g.GitBranch, g.Up, g.Down,
		}
		for _, s := range one {
			if text.Width(s) != 1 {
				t.Errorf("%s: %q is %d cells", name, s, text.Width(s))
			}
		}
		for _, s := range []string{g.Branch, g.LastBranch, g.Trunk} {
			if text.Width(s) != 2 {
				t.Errorf("%s: %q is %d cells", name, s, text.Width(s))
			}
		}
		if name == "ascii" && ansi.Strip(strings.Join(one, "")) != strings.Map(func(r rune) rune {
			if r > '~' {
				return -1
			}
			return r
		}, strings.Join(one, "")) {
			t.Errorf("the ASCII set is not ASCII: %q", one)
		}
	}
}

func TestRow(t *testing.T) {
	th, err := New(Options{Name: None})
	if err != nil {
		t.Fatal(err)
	}
	left := Spans{S("src/", Style{}), S("checkout", Style{})}
	right := Spans{S("codex", Style{}), S(" 3m", Style{})}
	tests := []struct {
		w           int
		left, right Spans
		want        string
	}{
		{24, left, right, "src/checkout    codex 3m"},
		{16, left, right, "src/ch… codex 3m"},
		{13, left, right, "src… codex 3m"},
		{8, left, right, "codex 3m"},
		{5, left, right, "code…"},
		{14, left, nil, "src/checkout  "},
		{6, left, nil, "src/c…"},
		{4, left, nil, "src…"},
	}
	for _, tt := range tests {
		if got := th.Row(tt.w, Style{}, tt.left, tt.right); got != tt.want {
			t.Errorf("%d cells: %q, want %q", tt.w, got, tt.want)
		}
	}
}

func TestRowAndBoxAreExact(t *testing.T) {
	th, err := New(Options{Name: Dark, Colors: 256})
	if err != nil {
		t.Fatal(err)
	}
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"src", "日本語", "a", "", "é", "long words here", "x "}), 0, 5)
	rapid.Check(t, func(r *rapid.T) {
		spans := func(name string) (s Spans) {
			for _, word := range words.Draw(r, name) {
				s = append(s, S(word, th.Accent))
			}
			return s
		}
		w := rapid.IntRange(0, 60).Draw(r, "w")
		h := rapid.IntRange(0, 12).Draw(r, "h")
		row := th.Row(max(w-2, 0), th.Selected, spans("left"), spans("right"))
		if text.Width(row) != max(w-2, 0) {
			r.Fatalf("row of %d cells, want %d: %q", text.Width(row), w-2, row)
		}
		box := th.Box(w, h, Label{Title: strings.Join(words.Draw(r, "title"), ""), Notes: []string{"note"}, Right: spans("note"), Focus: h%2 == 0}, []string{row})
		if len(box) != h {
			r.Fatalf("box of %d lines, want %d", len(box), h)
		}
		for _, line := range box {
			if text.Width(line) != w {
				r.Fatalf("box line of %d cells, want %d: %q", text.Width(line), w, line)
			}
		}
	})
}
