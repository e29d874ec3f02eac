package event

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// fits reports whether s has at most limit UTF-16 code units. UTF-8 never needs fewer bytes than that, so short strings are not
// counted.
func fits(s string, limit int) bool { return len(s) <= limit || units(s) <= limit }

// units counts UTF-16 code units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r >= 0x10000 {
			n++
		}
	}
	return n
}

// Clip shortens s to at most limit UTF-16 code units, the last of them an ellipsis when something was cut.
func Clip(s string, limit int) string {
	if fits(s, limit) {
		return s
	}
	n := 0
	for i, r := range s {
		size := 1
		if r >= 0x10000 {
			size = 2
		}
		if n+size > limit-1 {
			return s[:i] + "…"
		}
		n += size
	}
	return s
}

// trim removes blanks at both ends: those of ECMAScript's String.prototype.trim, U+FEFF included and U+0085 not, because that is
// what the other writers of the format trim.
func trim(s string) string {
	if s == "" || plain(s[0]) && plain(s[len(s)-1]) {
		return s
	}
	return strings.TrimFunc(s, isBlank)
}

// plain reports whether a byte is ASCII and certainly no blank.
func plain(c byte) bool { return ' ' < c && c < utf8.RuneSelf }

func isBlank(r rune) bool {
	switch {
	case '\t' <= r && r <= '\r', r == ' ', r == 0xa0, r == 0x1680, 0x2000 <= r && r <= 0x200a,
		r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000, r == 0xfeff:
		return true
	}
	return false
}

// checkText refuses what is empty or too long.
func checkText(field, s string, limit int) error {
	if s == "" {
		return invalid(field, "is empty")
	}
	if !fits(s, limit) {
		return tooLong(field, limit)
	}
	return nil
}

func tooLong(field string, limit int) *InvalidError {
	return invalid(field, "is longer than "+strconv.Itoa(limit)+" characters")
}
