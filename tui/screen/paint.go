package screen

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// paint writes the sequences that turn the lines that are on the screen into the new ones; old is nil when the screen must be cleared.
// It repaints whole lines, and only those that changed, between the marks that let a terminal show them at once.
func paint(b *strings.Builder, old, lines []string) {
	start := b.Len()
	b.WriteString(ansi.SetModeSynchronizedOutput)
	if old == nil {
		b.WriteString(ansi.EraseEntireScreen)
	}
	changed := old == nil
	for y, line := range lines {
		if y < len(old) && old[y] == line {
			continue
		}
		moveTo(b, y)
		writeLine(b, line)
		b.WriteString(ansi.ResetStyle)
		changed = true
	}
	if !changed {
		kept := b.String()[:start]
		b.Reset()
		b.WriteString(kept)
		return
	}
	b.WriteString(ansi.ResetModeSynchronizedOutput)
}

func moveTo(b *strings.Builder, y int) {
	b.WriteString("\x1b[")
	b.WriteString(strconv.Itoa(y + 1))
	b.WriteString(";1H")
}

// writeLine writes a line. Terminals disagree about the width of many characters, so after every run of text beyond ASCII the cursor is
// put where the next character belongs: what is wrong stays inside of the run and no border moves.
func writeLine(b *strings.Builder, line string) {
	col, drift := 0, false
	for i := 0; i < len(line); {
		c := line[i]
		switch {
		case c == '\x1b':
			_, _, n, _ := ansi.DecodeSequence(line[i:], 0, nil)
			b.WriteString(line[i : i+n])
			i += n
			continue
		case c < utf8.RuneSelf && (i+1 == len(line) || line[i+1] < utf8.RuneSelf):
			if drift {
				column(b, col)
				drift = false
			}
			b.WriteByte(c)
			i++
			col++
			continue
		}
		unit, w := ansi.FirstGraphemeCluster(line[i:], ansi.GraphemeWidth)
		own := isOwn(unit)
		if drift && own {
			column(b, col)
		}
		drift = !own
		b.WriteString(unit)
		i += len(unit)
		col += w
	}
}

func column(b *strings.Builder, col int) {
	b.WriteString("\x1b[")
	b.WriteString(strconv.Itoa(col + 1))
	b.WriteByte('G')
}

// isOwn reports whether a character is one that the cockpit draws with and that is one cell wide everywhere: lines, arrows, shapes.
func isOwn(unit string) bool {
	r, n := utf8.DecodeRuneInString(unit)
	return n == len(unit) && (r < utf8.RuneSelf || r >= 0x2500 && r <= 0x25ff || r == '…' || r == '·' || r >= 0x2190 && r <= 0x2193)
}
