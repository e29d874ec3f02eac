// Package words says numbers, times and arguments the way people read them, alike on every surface. Its functions are pure: whoever
// calls them says what time it is, and the zone of that time is the reader's.
package words

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/agentloadout/loadout/engine/safetext"
)

// Plural is a number with its noun: "1 path", "3 paths". The plural of the noun must be regular.
func Plural[N int | int64](n N, noun string) string {
	s := strconv.FormatInt(int64(n), 10) + " " + noun
	if n != 1 {
		s += "s"
	}
	return s
}

// ShellWord is an untrusted argument of a command that somebody may paste into a shell: one line without control characters, in
// single quotes unless it is harmless.
func ShellWord(s string) string {
	s = safetext.Line(s)
	harmful := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./@:=+,%", r)
	}
	if s != "" && !strings.ContainsFunc(s, harmful) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
