package program

import (
	"strings"
	"unicode/utf8"
)

// zeroWidthSpace separates an @ from what follows it, without being seen.
const zeroWidthSpace = "\u200b"

// Inert is the prompt in a form in which programs expand nothing, whatever their flags: a prompt that starts with a slash is
// a command to Claude Code, and an @ with a path attaches that file, from anywhere on the disk and with every tool taken away.
//
// A newline before the slash makes it text. An @ is left alone where it was measured to stay text: after a letter, a digit, a backtick, a
// double quote or an opening parenthesis; everywhere else a zero width space follows it.
func Inert(prompt string) string {
	prompt = strings.ToValidUTF8(prompt, "\uFFFD")
	var b strings.Builder
	b.Grow(len(prompt) + 64)
	if strings.HasPrefix(strings.TrimSpace(prompt), "/") {
		b.WriteByte('\n')
	}
	before := ' '
	for i, r := range prompt {
		b.WriteRune(r)
		if r == '@' && !staysText(before) && !strings.HasPrefix(prompt[i+utf8.RuneLen(r):], zeroWidthSpace) {
			b.WriteString(zeroWidthSpace)
		}
		before = r
	}
	return b.String()
}

// staysText reports whether an @ after r is text to the program.
func staysText(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '`' || r == '"' || r == '('
}
