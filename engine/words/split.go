package words

import (
	"errors"
	"fmt"
	"strings"
)

// Split cuts a typed line into words as a shell does: blanks separate them, quotes of both kinds and the backslash keep them
// together. A line that ends within a quote or behind a backslash is refused.
func Split(line string) ([]string, error) {
	s := splitter{line: line}
	words, last, begun := s.run()
	switch {
	case s.quote != 0:
		return nil, fmt.Errorf("the quote %c is not closed", s.quote)
	case s.escape:
		return nil, errors.New("nothing follows the last backslash")
	case begun:
		words = append(words, last)
	}
	return words, nil
}

// Unfinished cuts a line that is still being typed. before are its complete words, last is what the word at its end says so far, ""
// behind a blank, and start is the byte of line at which that word begins: a completion replaces line[start:].
func Unfinished(line string) (before []string, last string, start int) {
	s := splitter{line: line}
	before, last, begun := s.run()
	if !begun {
		return before, "", len(line)
	}
	return before, last, s.start
}

// Complete is what a completion puts in place of an unfinished word: one word for Split, in quotes where it needs them. A quote
// stays open around what goes on, as a folder does that ends in a slash.
func Complete(word string, goesOn bool) string {
	quoted := ShellWord(word)
	if goesOn && strings.HasSuffix(quoted, "'") && word != quoted {
		return strings.TrimSuffix(quoted, "'")
	}
	return quoted
}

// splitter is a cut through a line, and where it ended.
type splitter struct {
	line   string
	start  int  // of the last word
	quote  rune // that is open at the end, 0 for none
	escape bool // a backslash is the last character
}

// run cuts the line. begun says whether its last word goes up to the end.
func (s *splitter) run() (words []string, last string, begun bool) {
	var word strings.Builder
	for i, r := range s.line {
		blank := s.quote == 0 && !s.escape && (r == ' ' || r == '\t' || r == '\n')
		if !blank && !begun {
			s.start, begun = i, true
		}
		switch {
		case s.escape:
			word.WriteRune(r)
			s.escape = false
		case r == '\\' && s.quote != '\'':
			s.escape = true
		case s.quote != 0 && r == s.quote:
			s.quote = 0
		case s.quote == 0 && (r == '\'' || r == '"'):
			s.quote = r
		case blank && begun:
			words = append(words, word.String())
			word.Reset()
			begun = false
		case !blank:
			word.WriteRune(r)
		}
	}
	return words, word.String(), begun
}
