package main

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sizes of a cell, and the colours where a frame names none.
const (
	cellW, cellH = 8.4, 17.0
	fontSize     = 14
	margin       = 10.0
	textColour   = "#d0d0d0"
	background   = "#14161a"
)

// style is what the sequences of a frame have set.
type style struct {
	fg, bg        string // colours, empty for the terminal's own
	bold, reverse bool
}

// piece is text of one style.
type piece struct {
	style
	col  int
	text string
}

// svg turns a frame, each of whose characters is one cell, into a picture.
func svg(frame string, p picture) string {
	var b strings.Builder
	w, h := 2*margin+cellW*float64(p.w), 2*margin+cellH*float64(p.h)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">`+"\n", w, h, html.EscapeString(p.alt))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	fmt.Fprintf(&b, `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%d" xml:space="preserve">`+"\n", fontSize)
	for row, line := range strings.Split(strings.TrimSuffix(frame, "\n"), "\n") {
		y := margin + cellH*float64(row)
		for _, r := range pieces(line) {
			r.draw(&b, y)
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

func (r piece) draw(b *strings.Builder, y float64) {
	fg, bg := r.fg, r.bg
	if fg == "" {
		fg = textColour
	}
	if r.reverse {
		if bg == "" {
			bg = background
		}
		fg, bg = bg, fg
	}
	cells := utf8.RuneCountInString(r.text)
	x, width := margin+cellW*float64(r.col), cellW*float64(cells)
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, width, cellH, bg)
	}
	if strings.TrimSpace(r.text) == "" {
		return
	}
	weight := ""
	if r.bold {
		weight = ` font-weight="bold"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
		x, y+cellH-4.5, width, fg, weight, html.EscapeString(r.text))
}

// pieces cuts a line where its style changes.
func pieces(line string) []piece {
	var list []piece
	now, col := style{}, 0
	for line != "" {
		if rest, ok := strings.CutPrefix(line, "\x1b["); ok {
			codes, after, _ := strings.Cut(rest, "m")
			now, line = now.with(strings.Split(codes, ";")), after
			continue
		}
		text, _, _ := strings.Cut(line, "\x1b[")
		list = append(list, piece{now, col, text})
		col += utf8.RuneCountInString(text)
		line = line[len(text):]
	}
	return list
}

// with is the style after the codes of a sequence: those that the cockpit uses with 16 million colours.
func (s style) with(codes []string) style {
	for i := 0; i < len(codes); i++ {
		switch codes[i] {
		case "", "0":
			s = style{}
		case "1":
			s.bold = true
		case "7":
			s.reverse = true
		case "38", "48":
			if i+4 >= len(codes) || codes[i+1] != "2" {
				return s
			}
			colour := "#"
			for _, c := range codes[i+2 : i+5] {
				n, err := strconv.ParseUint(c, 10, 8)
				if err != nil {
					return s
				}
				colour += fmt.Sprintf("%02x", n)
			}
			if codes[i] == "38" {
				s.fg = colour
			} else {
				s.bg = colour
			}
			i += 4
		}
	}
	return s
}
