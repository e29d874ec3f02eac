package redact

import "strings"

// operator is what stands between a name and its value.
type operator uint8

const (
	opNone    operator = iota
	opAssign           // =, ?=, +=, .=, ||=
	opColon            // :
	opDefine           // :=, ::=, :::=
	opCompare          // ==, ===, !=
	opArrow            // =>
	opComma            // ,
	opBlank            // nothing but blanks
	opBar              // | as in a table
)

// name is a name in the text that may have a value.
type name struct {
	text   string
	from   int  // of text
	end    int  // past text and what closes it: quotes, brackets, a question mark
	dashed bool // a flag: --password
	quoted bool // closed by a quote
	class  class
}

// isUpper reports whether the name is in the style of environment variables.
func (n *name) isUpper() bool {
	return (upNum | under).all(n.text) && !digit.all(n.text)
}

// named finds the value of the name that the rule's word is in.
func named(c *scan, at int, _ *rule) int {
	n, ok := nameAt(c.s, at)
	if !ok {
		return at
	}
	if n.from >= 2 && c.s[n.from-2:n.from] == "::" {
		return at // AWS::IAM::AccessKey is a type
	}
	if n.class = classify(n.text); n.class == plain && (equalFold(n.text, "key") || equalFold(n.text, "keys")) {
		// "API key: …": two words are the name.
		if end := n.from - 1; end > 0 && c.s[end] == ' ' {
			from := word.back(c.s, end, maxName)
			if n.class = classify(c.s[from:end] + "_key"); n.class != plain {
				n.from, n.text = from, c.s[from:n.from+len(n.text)]
			}
		}
	}
	if n.class == hint && (equalFold(n.text, "sig") || equalFold(n.text, "signature")) && n.from > 0 &&
		strings.IndexByte("?&;", c.s[n.from-1]) >= 0 {
		n.class = secret // of a signed URL
	}
	if n.class == plain && !isEnvKey(n.text) {
		return at
	}
	return max(at, c.assignment(n))
}

// vendored is named for the name of a provider.
func vendored(c *scan, at int, r *rule) int {
	n, ok := nameAt(c.s, at)
	if !ok || at > n.from && letter.has(c.s[at-1]) && (classes[c.s[at-1]]&upper != 0 || classes[c.s[at]]&lower != 0) {
		return at
	}
	if n.class = classify(n.text); n.class >= secret {
		return at // found by its own word
	}
	p := split(n.text)
	if last := string(p.at(p.n - 1)); isAttribute(last) && last != "id" && last != "client" {
		return at
	}
	if end := at + len(r.prefix); end < len(c.s) && classes[c.s[end]]&lower != 0 {
		return at // linearGradient is fine, linearly is another word
	}
	n.class = vendor
	return max(at, c.assignment(n))
}

// nameAt returns the name around a place: letters, digits and the signs that
// join them.
func nameAt(s string, at int) (name, bool) {
	joint := wordy | dot
	from := joint.back(s, at, maxName)
	if from > 0 && s[from-1] == '\\' && strings.IndexByte("nrt", s[from]) >= 0 && from < at {
		from++ // the letter belongs to an escape
	}
	to := joint.run(s[:min(len(s), at+maxName)], at)
	n := name{end: to}
	for from < at && !alnum.has(s[from]) {
		n.dashed = n.dashed || s[from] == '-'
		from++
	}
	for to > from && !alnum.has(s[to-1]) {
		to--
	}
	n.text, n.from, n.end = s[from:to], from, to
	if len(n.text) < 3 || len(n.text) > maxName {
		return n, false
	}
	i := to
	for i < len(s) && s[i] == '\\' {
		i++
	}
	if i < len(s) && strings.IndexByte("\"'`", s[i]) >= 0 {
		n.end, n.quoted = i+1, true
	}
	for n.end < len(s) && strings.IndexByte("]?!", s[n.end]) >= 0 {
		n.end++
	}
	return n, true
}

// operatorAt reads the operator at i; next is where it ends.
func operatorAt(s string, i int) (op operator, next int) {
	rest := s[i:]
	switch {
	case rest == "":
		return opNone, i
	case strings.HasPrefix(rest, "==="), strings.HasPrefix(rest, "!=="):
		return opCompare, i + 3
	case strings.HasPrefix(rest, "=="), strings.HasPrefix(rest, "!="):
		return opCompare, i + 2
	case strings.HasPrefix(rest, "=>"):
		return opArrow, i + 2
	case strings.HasPrefix(rest, "=~"):
		return opNone, i
	case rest[0] == '=':
		return opAssign, i + 1
	case rest[0] == ':':
		n := colon.run(rest, 0)
		switch {
		case n < len(rest) && rest[n] == '=':
			return opDefine, i + n + 1
		case n == 1:
			return opColon, i + 1
		}
		return opNone, i
	case rest[0] == ',':
		return opComma, i + 1
	}
	for _, sign := range [...]string{"??=", "||=", "?=", "+=", ".="} {
		if strings.HasPrefix(rest, sign) {
			return opAssign, i + len(sign)
		}
	}
	if hasPrefixFold(rest, "%3d") || hasPrefixFold(rest, "%3a") {
		return opAssign, i + 3
	}
	if rest[0] == '|' {
		return opBar, i + 1
	}
	return opNone, i
}

// assignment finds the value of n in the notation at hand, and returns its end,
// or 0 when there is none.
func (c *scan) assignment(n name) int {
	s := c.s
	i := skip(s, n.end)
	op, p := operatorAt(s, i)
	if op == opNone && i > n.end && i < len(s) {
		op, p = opBlank, i
	}
	if end := c.whole(n, op, p); end > 0 {
		return end
	}
	if n.class == plain {
		return 0
	}
	if n.class >= secret {
		if end := c.markup(n); end > 0 {
			return end
		}
		if end := c.sibling(n); end > 0 {
			return end
		}
	}
	switch op {
	case opNone:
		return 0
	case opBlank:
		return c.unassigned(n, p)
	}
	v := value{key: n, op: op, tight: i == n.end && p < len(s) && !isBlank(s[p])}
	p = skip(s, p)
	if p >= len(s) || s[p] == '\n' || s[p] == '\r' {
		return c.below(v, p)
	}
	if n.class >= secret && (op == opColon || op == opAssign || op == opComma) {
		if end := c.authorization(p, len(s)); end > p {
			return end
		}
		if q, ok := quoted(s, p); ok {
			if end := c.authorization(q.from, q.to); end > q.from {
				return end
			}
		}
	}
	if end := c.json(v, p); end > 0 {
		return end
	}
	return c.valueAt(v, p)
}

// valueAt judges the value that starts at p. If that is a type, the value comes
// after it: password: string = "…".
func (c *scan) valueAt(v value, p int) int {
	s := c.s
	if at, ok := quoted(s, p); ok && !c.closes(p, at) {
		v.span, v.quoted = at, true
	} else {
		if ok || strings.IndexByte("\"'`", s[p]) >= 0 || s[p] == '\\' && p+1 < len(s) && s[p+1] == '"' {
			at = span{p + 1, len(s)}
			if ok || lineEnd(s, p) < len(s) || c.closes(p, at) || c.inString(p) {
				return 0
			}
			// The text ends before the closing quote.
			v.span, v.quoted = at, true
		} else {
			text := s
			if v.key.class < secret {
				text = s[:min(len(s), p+longestHint)]
			}
			v.span = span{p, bare(text, p)}
			if v.op == opAssign && isInPairs(s, v.key.from) {
				v.to = pairEnd(s, p)
			}
		}
	}
	if v.op == opColon && blockStart(s, p) {
		return c.block(v.key, lineEnd(s, p))
	}
	v.text = s[v.from:v.to]
	if v.isSecret(s) {
		c.add(v.from, v.to)
		return v.to
	}
	if !v.quoted && v.op == opColon {
		return c.typed(v.key, p)
	}
	return 0
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
	for end < len(s) && (s[end] >= ' ' || s[end] == '\t') && strings.IndexByte(";\"'`<", s[end]) < 0 && escapedBreak(s[end:]) == 0 {
		end++
	}
	if end < len(s) && s[end] == ';' {
		return end
	}
	return bare(s, i)
}

// whole finds the lines NAME_KEY = anything, which go whole.
func (c *scan) whole(n name, op operator, p int) int {
	if op != opAssign || !isEnvKey(n.text) || !lineStart(c.s, n.from) {
		return 0
	}
	from := skip(c.s, p)
	end := from
	for end < len(c.s) && c.s[end] != '\n' && c.s[end] != '\r' && escapedBreak(c.s[end:]) == 0 {
		end++
	}
	for end > from && isBlank(c.s[end-1]) {
		end--
	}
	if q, ok := quoted(c.s, from); ok {
		from, end = q.from, q.to
	} else if end > from && from > 0 && strings.IndexByte("\"'`", c.s[end-1]) >= 0 {
		end-- // the line is in quotes itself
	}
	v := c.s[from:end]
	first, _, _ := strings.Cut(v, " ")
	first = strings.TrimRight(first, ",;")
	known := n.class >= secret
	switch {
	case v == "", isStandIn(v), isStandIn(first), isCode(first), isPath(v) && known, isWord(first), isNumber(first),
		!known && (first == v && !isMixed(v) || isPath(first) || isCode(v)), isConstant(v), strings.EqualFold(v, n.text):
		return 0
	}
	c.add(from, end)
	return end
}

// isEnvKey reports whether s is the name of such a line: upper case, at least
// three characters, and what it is.
func isEnvKey(s string) bool {
	n := strings.LastIndexByte(s, '_')
	if n < 3 || !upper.has(s[0]) || !(upNum | under).all(s) {
		return false
	}
	switch s[n+1:] {
	case "KEY", "SECRET", "TOKEN", "PASSWORD", "CREDENTIAL":
		return true
	}
	return false
}

// lineStart reports whether only indentation, a quotation mark or a word that
// declares comes before i on its line.
func lineStart(s string, i int) bool {
	const reach = 24
	floor := max(0, i-reach)
	from := i
	for from > floor && s[from-1] != '\n' && s[from-1] != '\r' {
		from--
		if n := escapedBreak(s[from:]); n > 0 && from+n <= i {
			from += n
			break
		}
	}
	if from == floor && floor > 0 && s[floor-1] != '\n' {
		return false
	}
	switch before := strings.Trim(s[from:i], decoration+"$"); before {
	case "", "export", "set", "setx", "setenv", "SetEnv", "env", "ENV", "ARG", "SET", "declare -x", "const", "var", "let", "local", "readonly", "final":
		return true
	}
	return false
}

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
	if i >= len(s) || strings.IndexByte("\"'`", s[i]) < 0 {
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

// closes reports whether the quote at p ends a string that began before the
// name, as in "token: " + t, so that what follows is code.
func (c *scan) closes(p int, v span) bool {
	rest := strings.TrimLeft(c.s[v.from:v.to], " \t")
	if len(rest) > 2 && strings.IndexByte("\"'`", rest[0]) >= 0 {
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
