package jsonline

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// scanValue returns the offset past the value that starts at b[i], which lies
// inside depth containers, or where and why it is refused.
func scanValue(b []byte, i, depth int) (end int, reason string) {
	if i == len(b) {
		return i, "unexpected end"
	}
	switch c := b[i]; {
	case c == '"':
		end, _, reason = scanString(b, i+1)
		return end, reason
	case c == '{' || c == '[':
		return scanContainer(b, i, depth+1)
	case c == '-' || '0' <= c && c <= '9':
		return scanNumber(b, i)
	case c == 't':
		return scanLiteral(b, i, "true")
	case c == 'f':
		return scanLiteral(b, i, "false")
	case c == 'n':
		return scanLiteral(b, i, "null")
	}
	return i, "expected a value"
}

// scanContainer scans the object or array that opens at b[i]. Its recursion is
// bounded by MaxDepth.
func scanContainer(b []byte, i, depth int) (end int, reason string) {
	if depth > MaxDepth {
		return i, "nested too deep"
	}
	object := b[i] == '{'
	closing := b[i] + 2 // '{' and '}', '[' and ']' lie two apart
	if i = skipSpace(b, i+1); i < len(b) && b[i] == closing {
		return i + 1, ""
	}
	for {
		if object {
			if i == len(b) || b[i] != '"' {
				return i, expected(b, i, "a key")
			}
			if i, _, reason = scanString(b, i+1); reason != "" {
				return i, reason
			}
			if i = skipSpace(b, i); i == len(b) || b[i] != ':' {
				return i, expected(b, i, "a colon")
			}
			i = skipSpace(b, i+1)
		}
		if i, reason = scanValue(b, i, depth); reason != "" {
			return i, reason
		}
		if i = skipSpace(b, i); i == len(b) {
			return i, "unexpected end"
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case closing:
			return i + 1, ""
		default:
			return i, "expected a comma or a closing bracket"
		}
	}
}

func scanLiteral(b []byte, i int, word string) (end int, reason string) {
	if len(b)-i >= len(word) && string(b[i:i+len(word)]) == word {
		return i + len(word), ""
	}
	return i, "expected a value"
}

func scanNumber(b []byte, i int) (end int, reason string) {
	if b[i] == '-' {
		i++
	}
	switch {
	case i == len(b):
		return i, "unexpected end"
	case b[i] == '0':
		i++
	case '1' <= b[i] && b[i] <= '9':
		i = skipDigits(b, i)
	default:
		return i, "invalid number"
	}
	if i < len(b) && b[i] == '.' {
		start := i + 1
		if i = skipDigits(b, start); i == start {
			return i, "invalid number"
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		start := i + 1
		if start < len(b) && (b[start] == '+' || b[start] == '-') {
			start++
		}
		if i = skipDigits(b, start); i == start {
			return i, "invalid number"
		}
	}
	return i, ""
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// scanString scans the string whose first byte after the quote is b[i] and
// returns the offset past its closing quote. It looks at eight bytes at a time:
// a byte is marked when it is a quote, a backslash, a control character or not
// ASCII. A borrow of the subtractions can mark bytes wrongly only above one that
// is marked rightly, so the lowest mark is always true.
func scanString(b []byte, i int) (end int, escaped bool, reason string) {
	for {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			marks := (w | (w - ones*0x20) | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones)) & highs
			if marks != 0 {
				i += bits.TrailingZeros64(marks) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			return len(b), escaped, "unexpected end in a string"
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped, ""
		case c == '\\':
			escaped = true
			if i, reason = scanEscape(b, i); reason != "" {
				return i, escaped, reason
			}
		case c < 0x20:
			return i, escaped, "control character in a string"
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return i, escaped, "invalid UTF-8"
			}
			i += n
		}
	}
}

// scanEscape returns the offset past the escape sequence at b[i].
func scanEscape(b []byte, i int) (end int, reason string) {
	if i+1 >= len(b) {
		return len(b), "unexpected end in a string"
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, ""
	case 'u':
		if i+6 > len(b) {
			return len(b), "unexpected end in a string"
		}
		if hex4(b[i+2:]) < 0 {
			return i, "invalid escape"
		}
		return i + 6, ""
	}
	return i, "invalid escape"
}

// hex4 returns the value of the four hexadecimal digits that b starts with, or -1.
func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return -1
		}
	}
	return r
}
