package redact

import "strings"

// This file finds where a value ends.

// quoted returns the extent of the string literal at i without its quotes. The
// quotes may be escaped, tripled, or have a prefix; all ends on one line.
func quoted(s string, i int) (span, bool) {
	if i+1 < len(s) && (letter.has(s[i]) || s[i] == '@' || s[i] == '$') && (s[i+1] == '"' || s[i+1] == '\'') {
		i++ // b"…", r'…', $"…"
	}
	escapes := 0
	for i < len(s) && s[i] == '\\' {
		i++
		escapes++
	}
	if i >= len(s) || !isQuote(s[i]) {
		return span{}, false
	}
	q := s[i]
	if triple := s[i:min(len(s), i+3)]; escapes == 0 && len(triple) == 3 && triple[1] == q && triple[2] == q {
		if n := strings.Index(s[i+3:], triple); n >= 0 && strings.IndexByte(s[i+3:i+3+n], '\n') < 0 {
			return span{i + 3, i + 3 + n}, true
		}
	}
	from := i + 1
	for i = from; i < len(s) && s[i] != '\n' && s[i] != '\r'; i++ {
		slashes := 0
		for i < len(s) && s[i] == '\\' {
			i++
			slashes++
		}
		switch {
		case i >= len(s):
			return span{}, false
		case s[i] != q:
			if slashes > 0 && s[i] == '\n' {
				return span{}, false
			}
		case escapes+slashes == 0 && i > from && i+1 < len(s) && s[i+1] == q:
			i++ // a doubled quote stands for one
		case slashes == escapes, escapes == 0 && slashes%2 == 0:
			return span{from, i - slashes*min(1, escapes)}, true
		case slashes < escapes:
			return span{}, false
		}
	}
	return span{}, false
}

// tripled judges the lines of a literal in triple quotes at p, which has more than
// one, and returns its end.
func (c *scan) tripled(n name, p int) int {
	const longest = 4096
	s := c.s
	if !strings.HasPrefix(s[p:], `"""`) && !strings.HasPrefix(s[p:], "'''") {
		return 0
	}
	from := p + 3
	size := strings.Index(s[from:min(len(s), from+longest)], s[p:from])
	if size < 0 || strings.IndexByte(s[from:from+size], '\n') < 0 {
		return 0
	}
	stop := from + size
	for i := from; i < stop; i++ {
		end := min(lineEnd(s, i), stop)
		if at := skip(s, i); at < end {
			c.text(holder{class: n.class, full: true}, at, end)
		}
		i = end
	}
	return stop
}

func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

// closes reports whether the quote at p ends a string that began before the
// name, as in "token: " + t, so that what follows is code.
func (c *scan) closes(p int, v span) bool {
	rest := strings.TrimLeft(c.s[v.from:v.to], " \t")
	if len(rest) > 2 && isQuote(rest[0]) {
		rest = strings.TrimLeft(rest[1:], " \t") // '" + t + "'
		return rest == "" || strings.IndexByte("+,", rest[0]) >= 0
	}
	if rest != "" && strings.IndexByte("+,;).%&|:?]}", rest[0]) < 0 {
		return false
	}
	if c.s[p] != '"' {
		blankBefore := len(rest) < v.to-v.from
		return rest != "" && (blankBefore || len(rest) > 1 && rest[1] == ' ')
	}
	return c.inString(p)
}

// quotes is the state of the double quotes on a line, as far as it was read.
type quotes struct {
	read int
	open bool
}

// inString reports whether an odd number of double quotes comes before p on its
// line. Calls come in the order of p.
func (c *scan) inString(p int) bool {
	for i := c.quotes.read; i < p; i++ {
		switch {
		case c.s[i] == '\n':
			c.quotes.open = false
		case c.s[i] == '"' && (i == 0 || c.s[i-1] != '\\'):
			c.quotes.open = !c.quotes.open
		}
	}
	c.quotes.read = max(c.quotes.read, p)
	return c.quotes.open
}

// bare returns the end of the unquoted value at i.
func bare(s string, i int) int {
	from := i
loop:
	for ; i < len(s) && !isBlank(s[i]); i++ {
		if wordy.has(s[i]) {
			continue
		}
		switch s[i] {
		case '"', '\'', '`':
			// A quote between letters belongs to the value: it's.
			if i == from || i+1 >= len(s) || s[i] == '`' || !alnum.has(s[i-1]) || !alnum.has(s[i+1]) {
				break loop
			}
		case '<':
			if i+1 < len(s) && s[i+1] == '/' {
				break loop
			}
		case '\\':
			if escapedBreak(s[i:]) > 0 || i+1 < len(s) && strings.IndexByte("\"'t", s[i+1]) >= 0 {
				break loop
			}
		case ',', ';', '&':
			if i > from && pairFollows(s, i+1) {
				break loop
			}
		}
	}
	return i - closing(s[from:i])
}

// closing returns how many characters at the end of an unquoted value belong to
// what surrounds it: brackets that it does not open, punctuation.
func closing(v string) int {
	if v == "" || strings.IndexByte(",;.:)]}", v[len(v)-1]) < 0 {
		return 0
	}
	var open [3]int
	for i := range len(v) {
		if k := strings.IndexByte("([{", v[i]); k >= 0 {
			open[k]++
		} else if k = strings.IndexByte(")]}", v[i]); k >= 0 {
			open[k]--
		}
	}
	n := 0
	for ; n < len(v); n++ {
		b := v[len(v)-1-n]
		if strings.IndexByte(",;.:", b) >= 0 {
			continue
		}
		k := strings.IndexByte(")]}", b)
		if k < 0 || open[k] >= 0 {
			break
		}
		open[k]++
	}
	return n
}

// pairFollows reports whether another name and value, or nothing, comes at i.
func pairFollows(s string, i int) bool {
	i = skip(s, i)
	if i >= len(s) || s[i] == '\n' || s[i] == '\r' {
		return true
	}
	const longest = 40
	end := (wordy | dot | blank | percent).run(s[:min(len(s), i+longest)], i)
	if i < len(s) && strings.IndexByte("\"'", s[i]) >= 0 {
		return true
	}
	return end > i && end < len(s) && (s[end] == '=' || s[end] == ':')
}

// isInPairs reports whether the name at i follows another pair of a connection
// string, in which values may have blanks.
func isInPairs(s string, i int) bool {
	for i > 0 && s[i-1] == ' ' {
		i--
	}
	return i > 0 && s[i-1] == ';'
}

// pairEnd returns the end of the value at i in a connection string.
func pairEnd(s string, i int) int {
	end := i
	for end < len(s) && (!isBlank(s[end]) || blank.has(s[end])) && strings.IndexByte(";\"'`<", s[end]) < 0 && escapedBreak(s[end:]) == 0 {
		end++
	}
	if end < len(s) && s[end] == ';' {
		return end
	}
	return bare(s, i)
}
