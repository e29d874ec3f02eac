// Package text makes untrusted text fit a rectangle of terminal cells.
//
// Everything from the log passes through Line or Lines before it is styled: they remove what could move the cursor, change colours or
// reorder text, and they simplify characters whose width terminals disagree about. Widths are cells as package ansi counts them; nothing
// else in the cockpit measures text.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentloadout/loadout/engine/safetext"
)

const (
	maxLineBytes  = 4096      // more never fits a row; the detail views use Lines
	maxBlockBytes = 256 << 10 // above the largest payload of the protocol
	maxMarks      = 4         // combining marks a character may carry before it paints over its neighbours
	tabWidth      = 4
)

// Line makes s one safe line.
func Line(s string) string {
	return steady(safetext.Line(capBytes(s, maxLineBytes)))
}

// Lines makes s safe lines, with tabs expanded. A final line break adds no empty line.
func Lines(s string) []string {
	s = steady(safetext.Block(capBytes(s, maxBlockBytes)))
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = expandTabs(line)
	}
	return lines
}

func capBytes(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

func expandTabs(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	col := 0
	for part := range strings.SplitAfterSeq(s, "\t") {
		word, tab := strings.CutSuffix(part, "\t")
		b.WriteString(word)
		col += Width(word)
		if tab {
			n := tabWidth - col%tabWidth
			b.WriteString("    "[:n])
			col += n
		}
	}
	return b.String()
}

// steady replaces what has different widths on different terminals, or a width that depends on its neighbours: emoji sequences fall
// apart into their parts, flags into their letters, piles of combining marks are cut, and a mark without a letter gets a dotted circle.
func steady(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	last := '\n'
	marks := 0
	for i, r := range s {
		switch {
		case r == 0xfe0e || r == 0xfe0f || r == 0x20e3: // text and emoji presentation, keycap
			continue
		case r >= 0x1f3fb && r <= 0x1f3ff: // skin tone
			continue
		case r == 0x200d && (isEmoji(last) || isEmoji(following(s[i:]))): // joiner of emoji; scripts keep theirs
			continue
		case r >= 0x1f1e6 && r <= 0x1f1ff: // half a flag
			r = 'A' + r - 0x1f1e6
		case isPrepend(r):
			r = utf8.RuneError
		}
		if isMark(r) {
			if marks++; marks > maxMarks {
				continue
			}
			if last == '\n' {
				b.WriteRune('◌')
			}
		} else {
			marks = 0
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// isMark reports whether r belongs to the character before it.
func isMark(r rune) bool {
	return unicode.Is(unicode.M, r) || r == 0x200c || r == 0x200d || r == 0xff9e || r == 0xff9f
}

// isPrepend reports whether r belongs to the character behind it: the numeric signs and prefixed letters of a few scripts.
func isPrepend(r rune) bool {
	switch {
	case r >= 0x600 && r <= 0x605, r == 0x6dd, r == 0x70f, r == 0x890, r == 0x891, r == 0x8e2, r == 0xd4e:
		return true
	case r == 0x110bd, r == 0x110cd, r == 0x111c2, r == 0x111c3, r == 0x113d1, r == 0x1193f, r == 0x11941:
		return true
	case r == 0x11a3a, r >= 0x11a84 && r <= 0x11a89, r == 0x11d46, r == 0x11f02:
		return true
	}
	return false
}

// following is the second rune of s.
func following(s string) rune {
	_, n := utf8.DecodeRuneInString(s)
	r, _ := utf8.DecodeRuneInString(s[n:])
	return r
}

func isEmoji(r rune) bool { return r >= 0x1f000 && r <= 0x1faff || r >= 0x2600 && r <= 0x27bf }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
