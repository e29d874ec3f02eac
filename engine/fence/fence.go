// Package fence puts text that nobody vouches for into prompts, so that it stays data: behind a bar on each line, between two lines with
// a mark that whoever wrote it could not know, without secrets, control characters, or names of files that a program would read.
package fence

import (
	"crypto/rand"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/safetext"
)

// Mark makes a mark that what was written before cannot have in it.
func Mark() string { return rand.Text() }

// WideAt is the full-width at sign. It is not the one that programs look for, and anybody sees that it is another one.
const WideAt = "\uff20"

// Around puts data, which is in bars already, between the two lines with the mark.
func Around(mark, data string) string {
	return fmt.Sprintf("---- data %[1]s begins ----\n%[2]s---- data %[1]s ends ----\n", mark, data)
}

// Bar makes text data of a prompt: no secrets, no control characters, no at sign that names a file, a bar before each line.
func Bar(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(safetext.Block(engine.Redact(text)), "\n"), "\n") {
		b.WriteString("| " + Inert(line) + "\n")
	}
	return b.String()
}

// Inert replaces at signs that a program could take for the name of a file to read. One within a word, as in an address, is none.
func Inert(text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	var b strings.Builder
	before := ' '
	for i, r := range text {
		after, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		if r == '@' && (!isWord(before) || !isWord(after)) {
			b.WriteString(WideAt)
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

func isWord(r rune) bool {
	return r != utf8.RuneError && r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
