package markdown

import (
	"strings"

	"github.com/agentloadout/loadout/tui/theme"
)

// maxSpan is how many bytes a link or a stretch of emphasis or code may have, so that marks without an end cost little.
const maxSpan = 2000

// inline is text in its styles. A newline is a hard line break.
func (r *renderer) inline(s string, style theme.Style) theme.Spans {
	var spans theme.Spans
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			spans = append(spans, theme.S(plain.String(), style))
			plain.Reset()
		}
	}
	for i := 0; i < len(s); {
		marked, n := r.marked(s, i)
		switch {
		case n > 0:
			flush()
			spans = append(spans, marked...)
			i += n
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\\`*_{}[]()#+-.!<>~|", s[i+1]) >= 0:
			plain.WriteByte(s[i+1])
			i += 2
		default: // a run of marks that mark nothing is text as a whole
			n := 1
			for (s[i] == '*' || s[i] == '_' || s[i] == '`') && i+n < len(s) && s[i+n] == s[i] {
				n++
			}
			plain.WriteString(s[i : i+n])
			i += n
		}
	}
	flush()
	return spans
}

// marked reads what a mark at s[i] begins, and returns how many bytes that has, 0 when it begins nothing.
func (r *renderer) marked(s string, i int) (spans theme.Spans, n int) {
	rest := s[i:min(len(s), i+maxSpan)]
	switch rest[0] {
	case '`':
		ticks := run(rest)
		if end := closing(rest[len(ticks):], ticks); end >= 0 {
			code := rest[len(ticks) : len(ticks)+end]
			return theme.Spans{theme.S(code, r.theme.Accent)}, len(code) + 2*len(ticks)
		}
	case '*', '_':
		marks := run(rest)
		inWord := marks[0] == '_' && i > 0 && isWord(s[i-1])
		if len(marks) > 3 || inWord || len(rest) == len(marks) || rest[len(marks)] == ' ' {
			return nil, 0
		}
		if end := closing(rest[len(marks):], marks); end > 0 && rest[len(marks)+end-1] != ' ' {
			return r.inline(rest[len(marks):len(marks)+end], r.theme.Strong), end + 2*len(marks)
		}
	case '[':
		label, to, ok := strings.Cut(rest, "](")
		url, _, closed := strings.Cut(to, ")")
		if !ok || !closed || strings.ContainsAny(label[1:], "[]\n") || strings.ContainsAny(url, " \n") {
			return nil, 0
		}
		spans = r.inline(label[1:], r.theme.Accent)
		if url != label[1:] {
			spans = append(spans, theme.S(" ("+url+")", r.theme.Dim))
		}
		return spans, len(label) + len(url) + 3
	case '<':
		url, _, closed := strings.Cut(rest[1:], ">")
		if closed && strings.Contains(url, "://") && !strings.ContainsAny(url, " \n<") {
			return theme.Spans{theme.S(url, r.theme.Accent)}, len(url) + 2
		}
	}
	return nil, 0
}

// run is the run of equal marks at the start of s.
func run(s string) string {
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return s[:n]
}

// closing is where the next run that equals marks starts, -1 for nowhere.
func closing(s, marks string) int {
	for i := 0; i < len(s); {
		if s[i] != marks[0] {
			i++
			continue
		}
		found := run(s[i:])
		if found == marks {
			return i
		}
		i += len(found)
	}
	return -1
}

func isWord(c byte) bool {
	return c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
