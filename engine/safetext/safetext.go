// Package safetext makes untrusted text safe to print on a terminal.
//
// Whatever comes from the log, a ledger or a provider may hold escape sequences that move the cursor or write the clipboard,
// characters that reverse the reading order, or invisible ones that hide text from the reader. Line and Block remove them.
// Printable text is never hidden: apart from the parameters of a CSI sequence only characters that show nothing are removed.
//
// Both return valid UTF-8, leave safe text alone without allocating, and are idempotent.
package safetext

import (
	"strings"
	"unicode/utf8"
)

// Line makes s safe and one line: every run of line breaks and every tab becomes one space.
func Line(s string) string { return clean(s, false) }

// Block makes s safe and keeps its lines: line breaks of any kind become "\n", tabs stay.
func Block(s string) string { return clean(s, true) }

func clean(s string, block bool) string {
	i := safePrefix(s, block)
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:i])
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\x1b':
			size = escapeLen(s[i:])
		case r == '\t' && !block:
			b.WriteByte(' ')
		case r == '\t':
			b.WriteByte('\t')
		case isBreak(r) && block:
			if r == '\r' && strings.HasPrefix(s[i:], "\r\n") {
				size = 2
			}
			b.WriteByte('\n')
		case isBreak(r):
			for i+size < len(s) { // one space for the whole run
				next, n := utf8.DecodeRuneInString(s[i+size:])
				if !isBreak(next) {
					break
				}
				size += n
			}
			b.WriteByte(' ')
		case !Unsafe(r):
			b.WriteRune(r) // an invalid byte decodes to the replacement character
		}
		i += size
	}
	return b.String()
}

// safePrefix is the length of the longest prefix of s that needs no change.
func safePrefix(s string, block bool) int {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if (c < ' ' || c == 0x7f) && (!block || c != '\n' && c != '\t') {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || isBreak(r) || Unsafe(r) {
			return i
		}
		i += size
	}
	return len(s)
}

// escapeLen is how much to drop at an escape character: a complete CSI sequence (ECMA-48: parameters, intermediates, final
// byte), else the escape character alone, so that an unfinished sequence cannot swallow the text behind it.
func escapeLen(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	i := 2
	for i < len(s) && s[i] >= 0x30 && s[i] <= 0x3f {
		i++
	}
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
		return i + 1
	}
	return 1
}

// isBreak reports whether r starts a new line on some terminal or in some reader.
func isBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', 0x85, 0x2028, 0x2029:
		return true
	}
	return false
}

// Unsafe reports whether r controls the terminal, changes the reading order, or is invisible. The joiners U+200C and U+200D
// stay: scripts and emoji need them.
func Unsafe(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		return true
	case r == 0xad, r == 0x61c, r == 0x180e: // soft hyphen, Arabic letter mark, Mongolian vowel separator
		return true
	case r == 0x200b, r == 0x200e, r == 0x200f: // zero-width space, direction marks
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f: // embeddings and overrides; word joiner, isolates, deprecated
		return true
	case r == 0xfeff, r >= 0xfff9 && r <= 0xfffb: // byte order mark, interlinear annotation
		return true
	case r >= 0xe0000 && r <= 0xe007f: // tags: text that nobody sees
		return true
	}
	return false
}
