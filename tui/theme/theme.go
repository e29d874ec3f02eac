// Package theme holds every colour and glyph of the cockpit. Meaning is always a symbol and a word as well as a colour, so that a
// terminal without colour loses nothing.
package theme

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Name chooses the colours.
type Name string

// The themes.
const (
	Auto  Name = "auto" // light or dark as COLORFGBG says, else dark; none where the terminal has no colour
	Dark  Name = "dark"
	Light Name = "light"
	None  Name = "none"
)

// Names lists the themes for messages and completion.
func Names() []Name { return []Name{Auto, Dark, Light, None} }

// Options choose a theme. Environment answers like os.Getenv.
type Options struct {
	Name        Name
	ASCII       bool
	NoColor     bool
	Colors      int // 0: as the environment says; else 16, 256 or 1<<24
	Environment func(string) string
}

// Theme is one set of styles and glyphs. It is not changed after New.
type Theme struct {
	Glyphs

	Text, Dim, Strong, Accent Style
	Good, Warn, Bad           Style
	Border, Focus             Style // the frame of a pane, and of the focused one
	Title                     Style // the title of the focused pane
	Selected                  Style // laid under the selected row of the focused pane
	Halt, Past                Style // the header while everything is halted, or while the past is shown
	Added, Removed, Hunk      Style // lines of a diff
	Cursor                    Style // the cell where typing goes

	owners []Style
}

// Style is a run of terminal attributes. The zero Style changes nothing.
type Style struct{ open string }

const reset = "\x1b[m"

// Paint gives s the style. s must hold no escape sequence.
func (s Style) Paint(text string) string {
	if s.open == "" || text == "" {
		return text
	}
	return s.open + text + reset
}

// Over is the style on top of another one, as a selected row needs for its parts.
func (s Style) Over(below Style) Style { return Style{below.open + s.open} }

// New makes the theme that the options and the environment ask for.
func New(o Options) (*Theme, error) {
	if o.Environment == nil {
		o.Environment = func(string) string { return "" }
	}
	if o.Name == "" {
		o.Name = Auto
	}
	if !slices.Contains(Names(), o.Name) {
		return nil, fmt.Errorf("theme %q is none of %s", o.Name, strings.Trim(fmt.Sprint(Names()), "[]"))
	}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(profile(o))
	r.SetHasDarkBackground(o.Name == Dark || o.Name == Auto && !lightBackground(o.Environment("COLORFGBG")))

	t := &Theme{Glyphs: unicodeGlyphs}
	if o.ASCII {
		t.Glyphs = asciiGlyphs
	}
	style := func(s lipgloss.Style) Style {
		open, _, _ := strings.Cut(s.Renderer(r).Render("x"), "x")
		return Style{open}
	}
	fg := func(c lipgloss.CompleteAdaptiveColor) lipgloss.Style { return r.NewStyle().Foreground(c) }

	t.Dim = style(fg(grey))
	t.Strong = style(r.NewStyle().Bold(true))
	t.Accent = style(fg(blue))
	t.Good = style(fg(green))
	t.Warn = style(fg(yellow))
	t.Bad = style(fg(red).Bold(true))
	t.Border = style(fg(line))
	t.Focus = t.Accent
	t.Title = style(fg(blue).Bold(true))
	t.Halt = style(r.NewStyle().Bold(true).Foreground(onRed).Background(red))
	t.Past = style(r.NewStyle().Bold(true).Foreground(onYellow).Background(yellow))
	t.Added = t.Good
	t.Removed = style(fg(red))
	t.Hunk = t.Accent
	t.Cursor = style(r.NewStyle().Reverse(true))
	t.Selected = style(r.NewStyle().Background(band))
	if r.ColorProfile() == termenv.ANSI { // sixteen colours have no quiet background
		t.Selected = t.Strong
	}
	if r.ColorProfile() == termenv.Ascii { // no colour does not mean no emphasis
		t.Strong, t.Title, t.Bad, t.Selected = Style{"\x1b[1m"}, Style{"\x1b[1m"}, Style{"\x1b[1m"}, Style{"\x1b[1m"}
		t.Cursor, t.Halt, t.Past = Style{"\x1b[7m"}, Style{"\x1b[1;7m"}, Style{"\x1b[7m"}
	}
	for _, c := range ownerColors {
		t.owners = append(t.owners, style(fg(c)))
	}
	return t, nil
}

// profile is how many colours the terminal has, by NO_COLOR, TERM and COLORTERM. It never asks the terminal.
func profile(o Options) termenv.Profile {
	switch {
	case o.NoColor || o.Name == None || o.Environment("NO_COLOR") != "":
		return termenv.Ascii
	case o.Colors >= 1<<24:
		return termenv.TrueColor
	case o.Colors >= 256:
		return termenv.ANSI256
	case o.Colors > 0:
		return termenv.ANSI
	}
	term := o.Environment("TERM")
	switch ct := strings.ToLower(o.Environment("COLORTERM")); {
	case term == "" || term == "dumb":
		return termenv.Ascii
	case ct == "truecolor" || ct == "24bit" || strings.HasSuffix(term, "-direct"):
		return termenv.TrueColor
	case strings.Contains(term, "256color") || ct != "":
		return termenv.ANSI256
	}
	for _, full := range []string{"alacritty", "contour", "foot", "ghostty", "kitty", "rio", "wezterm"} {
		if strings.Contains(term, full) {
			return termenv.TrueColor
		}
	}
	return termenv.ANSI
}

// lightBackground reads COLORFGBG, "foreground;background" in terminal colour numbers.
func lightBackground(colorfgbg string) bool {
	i := strings.LastIndexByte(colorfgbg, ';')
	n, err := strconv.Atoi(colorfgbg[i+1:])
	return err == nil && (n == 7 || n >= 9 && n <= 15)
}

// Owner is the style of an agent's name. The same slot always has the same colour; there are finitely many, so the name is always
// printed too.
func (t *Theme) Owner(slot int) Style { return t.owners[slot%len(t.owners)] }
