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
	if n.vague {
		if p = skip(s, p); (op != opColon && op != opAssign) || p >= len(s) || isBlank(s[p]) {
			return 0
		}
		c.collection(value{key: n, op: op}, p)
		return c.valueAt(value{key: n, op: op}, p)
	}
	c.table(n)
	if n.class >= secret {
		if end := c.markup(n); end > 0 {
			return end
		}
		if end := c.sibling(n); end > 0 {
			return end
		}
	}
	if op == opNone {
		return 0
	}
	if op == opBlank {
		return c.unassigned(n, p)
	}
	v := value{key: n, op: op, tight: i == n.end && p < len(s) && !isBlank(s[p])}
	p = skip(s, p)
	tagged := false
	if op == opColon {
		q := properties(s, p)
		if tagged, p = q > p, q; strings.HasPrefix(s[p:], "# ") { // a comment, and the value below it
			p = lineEnd(s, p)
		}
	}
	if p >= len(s) || s[p] == '\n' || s[p] == '\r' {
		return c.below(v, p)
	}
	if tagged && lineStart(s, n.from) && n.class >= secret && !isQuote(s[p]) && strings.IndexByte("[{|>", s[p]) < 0 {
		c.text(holder{class: n.class, full: true}, p, lineEnd(s, p))
		return 0
	}
	if n.dashed && v.tight && op == opAssign {
		if end := c.flag(n, p); end > 0 {
			return end
		}
	}
	if n.class >= secret {
		if end := c.tripled(n, p); end > 0 {
			return end
		}
		header := span{p, len(s)}
		if q, ok := quoted(s, p); ok {
			header = q
		}
		if end := c.authorization(header); end > header.from {
			return end
		}
	}
	if end := c.json(v, p); end > 0 {
		return end
	}
	c.collection(v, p)
	return c.valueAt(v, p)
}

// valueAt judges the value that starts at p. If that is a type, the value comes
// after it: password: string = "…".
func (c *scan) valueAt(v value, p int) int {
	s := c.s
	at, ok := quoted(s, p)
	switch {
	case v.op == opColon && blockStart(s, p):
		return c.block(v.key, lineEnd(s, p))
	case ok:
		if c.closes(p, at) {
			return 0
		}
		v.span, v.quoted = at, true
	case isQuote(s[p]) || s[p] == '\\' && p+1 < len(s) && isQuote(s[p+1]):
		// A quote that nothing on the line closes: the text was cut, or it is none.
		v.span, v.quoted = span{p + 1, lineEnd(s, p)}, true
		if c.closes(p, v.span) || c.inString(p) {
			return 0
		}
	case v.op == opAssign && isInPairs(s, v.key.from):
		v.span = span{p, pairEnd(s, p)}
	case v.key.class < secret || v.key.vague:
		v.span = span{p, bare(s[:min(len(s), p+longestHint)], p)}
	default:
		v.span = span{p, bare(s, p)}
	}
	v.text = s[v.from:v.to]
	if v.isSecret(s) {
		c.add(v.from, v.to)
		return v.to
	}
	if !v.quoted && v.op == opColon && !v.key.vague {
		return c.typed(v.key, p)
	}
	return 0
}

// whole finds the lines NAME_KEY = anything, which go whole.
func (c *scan) whole(n name, op operator, p int) int {
	if op != opAssign || !isEnvKey(n.text) || !lineStart(c.s, n.from) {
		return 0
	}
	from := skip(c.s, p)
	end, _ := nextBreak(c.s, from, len(c.s))
	for end > from && isBlank(c.s[end-1]) {
		end--
	}
	if q, ok := quoted(c.s, from); ok {
		from, end = q.from, q.to
	} else if end > from && isQuote(c.s[end-1]) {
		end-- // the line is in quotes itself
	}
	v := c.s[from:end]
	first, _, _ := strings.Cut(v, " ")
	first = strings.TrimRight(first, ",;")
	switch {
	case v == "", isStandIn(v), isStandIn(first), isCode(first), isPath(v), isWord(first), isNumber(first), isConstant(v),
		strings.EqualFold(v, n.text):
		return 0
	case n.class < secret && first == v && !isMixed(v): // CACHE_KEY = users
		return 0
	}
	c.add(from, end)
	return end
}
