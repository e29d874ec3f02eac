package screen

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// show feeds sequences, none of them a query, to a terminal of w×h cells and returns what it shows.
func show(t *testing.T, w, h int, sequences ...string) []string {
	t.Helper()
	term := vt.NewEmulator(w, h)
	for _, s := range sequences {
		if _, err := term.WriteString(s); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Split(ansi.Strip(term.Render()), "\n")
}

func TestPaintOnlyWhatChanged(t *testing.T) {
	var b strings.Builder
	paint(&b, []string{"one", "two", "three"}, []string{"one", "TWO", "three"})
	got := b.String()
	if !strings.Contains(got, "TWO") || strings.Contains(got, "one") || strings.Contains(got, "three") {
		t.Errorf("wrote %q", got)
	}
	if !strings.HasPrefix(got, ansi.SetModeSynchronizedOutput) || !strings.HasSuffix(got, ansi.ResetModeSynchronizedOutput) {
		t.Errorf("not shown at once: %q", got)
	}
	b.Reset()
	paint(&b, []string{"one"}, []string{"one"})
	if b.Len() != 0 {
		t.Errorf("nothing changed, wrote %q", b.String())
	}
}

func TestPaintedFramesArrive(t *testing.T) {
	first := []string{"╭───────╮", "│ \x1b[31mred\x1b[m   │", "╰───────╯"}
	second := []string{"╭───────╮", "│ 日本 x│", "╰───────╯"}
	var a, b strings.Builder
	paint(&a, nil, first)
	paint(&b, first, second)
	got := show(t, 9, 3, a.String(), b.String())
	for i, line := range second {
		if got[i] != line {
			t.Errorf("line %d is %q, want %q", i, got[i], line)
		}
	}
}

// On a terminal that draws a character wider or narrower than we think, what follows must stand where it belongs.
func TestLinesAreAnchoredBehindUncertainText(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain │ text", "plain │ text"}, // our own line characters are certain
		{"a क्षि b│", "a क्षि\x1b[4G b│"},
		{"日本│x", "日本\x1b[5G│x"},
		{"é…│", "é\x1b[2G…│"},
	}
	for _, tt := range tests {
		var b strings.Builder
		writeLine(&b, tt.in)
		if b.String() != tt.want {
			t.Errorf("%q is written as %q, want %q", tt.in, b.String(), tt.want)
		}
	}
}

func TestModesAreTakenBack(t *testing.T) {
	for _, pair := range [][2]string{
		{ansi.SetModeAltScreenSaveCursor, ansi.ResetModeAltScreenSaveCursor},
		{ansi.HideCursor, ansi.ShowCursor},
		{ansi.SetModeBracketedPaste, ansi.ResetModeBracketedPaste},
		{ansi.ResetModeAutoWrap, ansi.SetModeAutoWrap},
		{ansi.ResetModeBiDirectionalSupport, ansi.SetModeBiDirectionalSupport},
	} {
		if !strings.Contains(open+modes, pair[0]) || !strings.Contains(leave, pair[1]) {
			t.Errorf("%q is not taken back by %q", pair[0], pair[1])
		}
	}
}

func BenchmarkPaint(b *testing.B) {
	var frames [2][]string
	for y := range 60 {
		line := strings.Repeat("\x1b[38;5;75mword │ \x1b[m", 25)
		frames[0] = append(frames[0], line)
		frames[1] = append(frames[1], line+strings.Repeat("x", y%2))
	}
	for i := 0; b.Loop(); i++ {
		var w strings.Builder
		paint(&w, frames[i%2], frames[1-i%2])
	}
}
