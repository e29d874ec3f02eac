package text

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// next cuts the first unit off s: an escape sequence of no width, or a grapheme cluster. Package ansi measures a string by clusters but
// takes ASCII letters one by one when it cuts, so that a mark behind a letter counts differently; here both go the same way.
func next(s string) (unit string, width int) {
	if c := s[0]; c == '\x1b' {
		_, _, n, _ := ansi.DecodeSequence(s, 0, nil)
		return s[:n], 0
	} else if c >= ' ' && c < 0x7f && (len(s) == 1 || s[1] < 0x80) {
		return s[:1], 1
	}
	return ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
}

// Width is the number of cells that s takes. Escape sequences take none.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return slowWidth(s)
		}
	}
	return len(s)
}

func slowWidth(s string) int {
	w := 0
	for s != "" {
		unit, n := next(s)
		w += n
		s = s[len(unit):]
	}
	return w
}

// Truncate shortens plain text to at most w cells; tail shows that something is missing.
func Truncate(s string, w int, tail string) string {
	if w <= 0 {
		return ""
	}
	if Width(s) <= w {
		return s
	}
	tw := Width(tail)
	if tw > w {
		tail, tw = "", 0
	}
	n, used := 0, 0
	for n < len(s) {
		unit, uw := next(s[n:])
		if used+uw > w-tw {
			break
		}
		n += len(unit)
		used += uw
	}
	return s[:n] + tail
}

// TruncateLeft shortens plain text to at most w cells and keeps its end, as paths want; head shows that something is missing.
func TruncateLeft(s string, w int, head string) string {
	if w <= 0 {
		return ""
	}
	over := Width(s) - w
	if over <= 0 {
		return s
	}
	hw := Width(head)
	if hw > w {
		head, hw = "", 0
	}
	for cut := over + hw; cut > 0 && s != ""; {
		unit, uw := next(s)
		s = s[len(unit):]
		cut -= uw
	}
	return head + s
}

// Pad adds blanks up to w cells.
func Pad(s string, w int) string {
	if n := w - Width(s); n > 0 {
		return s + Blank(n)
	}
	return s
}

// Fit makes plain text exactly w cells wide.
func Fit(s string, w int, tail string) string { return Pad(Truncate(s, w, tail), w) }

// Blank is n blanks.
func Blank(n int) string {
	const blanks = "                                                                                "
	if n <= 0 {
		return ""
	}
	if n <= len(blanks) {
		return blanks[:n]
	}
	return strings.Repeat(" ", n)
}

// Wrap breaks plain text of one line into lines of at most w cells, after blanks where it can. It makes at least one line.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return []string{""}
	}
	if Width(s) <= w {
		return []string{s}
	}
	var lines []string
	start, used := 0, 0        // the line that is being filled
	blank, afterBlank := -1, 0 // where it may break, and the cells behind that
	for i := 0; i < len(s); {
		unit, uw := next(s[i:])
		if uw > w { // a wide character in a column of one cell
			s = s[:i] + s[i+len(unit):]
			continue
		}
		if used+uw > w {
			if unit == " " {
				lines = append(lines, s[start:i])
				start, used = i+1, 0
			} else if blank > start {
				lines = append(lines, strings.TrimRight(s[start:blank], " "))
				start, used = blank, afterBlank
				blank = -1
				continue
			} else {
				lines = append(lines, s[start:i])
				start, used = i, 0
			}
			blank = -1
			if unit == " " {
				i++
				continue
			}
		}
		i += len(unit)
		used += uw
		afterBlank += uw
		if unit == " " {
			blank, afterBlank = i, 0
		}
	}
	return append(lines, s[start:])
}

// Splice lays over, which is w cells wide, upon a styled line of total cells, from column x on.
func Splice(line, over string, x, w, total int) string {
	left, _ := cut(line, x)
	_, right := cut(line, x+w)
	return Pad(left, x) + reset + over + reset + Blank(total-x-w-Width(right)) + right
}

const reset = "\x1b[m"

// cut parts a styled line at column x. A wide character across the edge goes; the sequences before the edge go to both halves.
func cut(s string, x int) (left, right string) {
	var sequences strings.Builder
	n, used := 0, 0
	for n < len(s) {
		unit, uw := next(s[n:])
		if uw == 0 && unit[0] == '\x1b' {
			sequences.WriteString(unit)
		} else if used+uw > x {
			if used < x {
				return s[:n], sequences.String() + s[n+len(unit):]
			}
			break
		}
		n += len(unit)
		used += uw
	}
	return s[:n], sequences.String() + s[n:]
}

// NextBreak is where the character of s that starts at i ends.
func NextBreak(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	unit, _ := next(s[i:])
	return i + len(unit)
}

// PreviousBreak is where the character of s that ends at i starts.
func PreviousBreak(s string, i int) int {
	start := 0
	for at := 0; at < i; at = NextBreak(s, at) {
		start = at
	}
	return start
}
