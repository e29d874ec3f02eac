// Package words says numbers, times and arguments the way people read them, alike on every surface. Its functions are pure: whoever
// calls them says what time it is, and the zone of that time is the reader's.
package words

import (
	"fmt"
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

// Bytes is a size: "912 B", "1.5 KB".
func Bytes(n int64) string {
	units := []string{"KB", "MB", "GB"}
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	size := float64(n) / (1 << 10)
	for size >= 1<<10 && len(units) > 1 {
		size, units = size/(1<<10), units[1:]
	}
	return fmt.Sprintf("%.1f %s", size, units[0])
}

// Seq is a sequence number that may be that of nothing: "seq 7", "nothing".
func Seq(seq int64) string {
	if seq < 0 {
		return "nothing"
	}
	return fmt.Sprintf("seq %d", seq)
}

// AsOf says up to where the log was read for an answer.
func AsOf(seq int64) string {
	if seq < 0 {
		return "the log is empty"
	}
	return fmt.Sprintf("as of seq %d", seq)
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
