package redact

import "strings"

// This file knows where a value stands in the notations that have no operator
// between it and its name.

// unassigned finds the value that comes after the name and a blank, at p: that
// of a flag, a .netrc file, a statement, a declaration or a sentence.
func (c *scan) unassigned(n name, p int) int {
	s := c.s
	if n.dashed {
		return c.flag(n, p)
	}
	v := value{key: n, op: opBlank}
	next := s[p:min(len(s), p+8)]
	word1, _, _ := strings.Cut(next, " ")
	switch strings.ToLower(word1) {
	case "is", "was", "to", "as", "are", "->":
		return c.stated(v, skip(s, p+len(word1)))
	}
	if at, ok := quoted(s, p); ok && !c.closes(p, at) {
		v.span, v.quoted, v.text = at, true, s[at.from:at.to]
		if isStrong(v.text) && v.isSecret(s) || n.class >= secret && n.isUpper() && strings.IndexByte(v.text, ' ') < 0 && v.isSecret(s) {
			c.add(v.from, v.to)
			return v.to
		}
		return 0
	}
	v.span = span{p, bare(s, p)}
	v.text = s[v.from:v.to]
	switch {
	case n.class < secret || isStandIn(v.text) || isWord(v.text) || isCode(v.text) || isPath(v.text):
	case n.class == password && c.isNetrc(n),
		lineStart(s, n.from) && (isStrong(v.text) || isMixed(v.text) && len(v.text) >= 6 && lineEnd(s, v.to) == skip(s, v.to)):
		c.add(v.from, v.to)
		return v.to
	}
	if n.quoted {
		return 0
	}
	return c.typed(n, p)
}

// flag finds the value of --password value and --password=value. More than one
// blank is the layout of a help text.
func (c *scan) flag(n name, p int) int {
	s := c.s
	if p != n.end+1 || n.class < secret {
		return 0
	}
	if at, ok := quoted(s, p); ok {
		if v := s[at.from:at.to]; strings.TrimSpace(v) != "" && !isStandIn(v) {
			c.add(at.from, at.to)
			return at.to
		}
		return 0
	}
	end := bare(s, p)
	v := s[p:end]
	kinds, other := in(v)
	switch {
	case len(v) < 3 || v[0] == '-' || isStandIn(v) || isWord(v) || isCode(v) || isPath(v):
		return 0
	case !other && kinds&^(upper|under|dash) == 0 && len(v) < 16: // PASSWORD, in a synopsis
		return 0
	case !other && kinds&^letter == 0 && !isRandom(v) && strings.ToLower(v[1:]) == v[1:]:
		// A word: in a sentence, other words would follow.
		if n.class == secret && len(v) < 12 {
			return 0
		}
		next := skip(s, end)
		if next < len(s) && strings.IndexByte("-\n\r\\|;&\"'`)", s[next]) < 0 {
			return 0
		}
	}
	c.add(p, end)
	return end
}

// isNetrc reports whether the name stands where "password" does in a .netrc
// file: after the login, and that after the machine.
func (c *scan) isNetrc(n name) bool {
	const reach = 160
	before := c.s[max(0, n.from-reach):n.from]
	fields := strings.Fields(before)
	if k := len(fields); k >= 2 && (equalFold(fields[k-2], "login") || equalFold(fields[k-2], "machine") || equalFold(fields[k-2], "user")) {
		return strings.Contains(before, "machine ") || fields[k-2] == "login"
	}
	return len(fields) > 0 && fields[len(fields)-1] == "default"
}

// stated finds the value in "the password is hunter2".
func (c *scan) stated(v value, p int) int {
	s := c.s
	for range 3 {
		end := letter.run(s, p)
		switch strings.ToLower(s[p:end]) {
		case "now", "changed", "set", "reset", "updated", "still", "just", "to", "currently", "temporarily", "called":
			p = skip(s, end)
		}
	}
	if p >= len(s) || v.key.class < secret {
		return 0
	}
	if at, ok := quoted(s, p); ok {
		v.span, v.quoted, v.text = at, true, s[at.from:at.to]
		if strings.IndexByte(v.text, ' ') >= 0 || len(v.text) < 4 || !isValueLike(v.text) || !v.isSecret(s) {
			return 0
		}
	} else {
		v.span = span{p, bare(s, p)}
		v.text = s[v.from:v.to]
		kinds, other := in(v.text)
		passable := v.key.class == password && kinds&digit != 0 && kinds&letter != 0 && (kinds&(dash|slash|dot) == 0 || other)
		if len(v.text) < 6 || !isStrong(v.text) && !passable || isStandIn(v.text) || isWord(v.text) || isCode(v.text) || isPath(v.text) {
			return 0
		}
	}
	c.add(v.from, v.to)
	return v.to
}

// typed finds the value after the type of a declaration (password string = "…",
// key: &'static str = "…") or after words between the name and its operator
// (token for CI: …).
func (c *scan) typed(n name, p int) int {
	const reach = 40
	s := c.s
	stop := min(len(s), p+reach)
	i := p
	for i < stop && (word.has(s[i]) || strings.IndexByte(" .[]*&<>'?()-|", s[i]) >= 0) {
		i++
	}
	if i >= stop || i == p || digit.has(s[i-1]) {
		return 0
	}
	op, q := operatorAt(s, i)
	if op != opAssign && op != opColon && op != opDefine {
		return 0
	}
	q = skip(s, q)
	v := value{key: n, op: op}
	if at, ok := quoted(s, q); ok && !c.closes(q, at) {
		v.span, v.quoted, v.text = at, true, s[at.from:at.to]
		if n.class < secret && !isChance(v.text) || op == opColon && !isValueLike(v.text) || !v.isSecret(s) {
			return 0
		}
	} else {
		v.span = span{q, bare(s[:min(len(s), q+longestHint)], q)}
		v.text = s[v.from:v.to]
		chance := isChance(v.text) || n.class == vendor && isKey(v.text)
		if !chance || isCode(v.text) || isStandIn(v.text) {
			return 0
		}
	}
	c.add(v.from, v.to)
	return v.to
}

// markup finds <password>…</password>, <string name="api_key">…</string>, and
// <key>password</key><string>…</string>.
func (c *scan) markup(n name) int {
	s := c.s
	rest := s[n.end:]
	from, strict := 0, false
	switch {
	case strings.HasPrefix(rest, ">") && n.from > 0 && s[n.from-1] == '<':
		from = n.end + 1
	case strings.HasPrefix(rest, ">") && n.quoted:
		from, strict = n.end+1, true
	default:
		for _, pair := range [...][2]string{{"</key>", "<string>"}, {"</name>", "<value>"}} {
			if tail, ok := strings.CutPrefix(rest, pair[0]); ok {
				if tail, ok = strings.CutPrefix(strings.TrimLeft(tail, " \t\r\n"), pair[1]); ok {
					from = len(s) - len(tail)
				}
			}
		}
	}
	if from == 0 {
		return 0
	}
	const longest = 4096
	size := strings.IndexByte(s[from:min(len(s), from+longest)], '<')
	if size < 0 || !strings.HasPrefix(s[from+size:], "</") {
		return 0
	}
	text := strings.TrimSpace(s[from : from+size])
	from += strings.Index(s[from:from+size], text)
	if text == "" || strings.EqualFold(text, n.text) || !isSecretText(n.class, text) ||
		strict && (strings.Contains(text, " ") || !isMixed(text) || len(text) < 8) {
		return 0
	}
	c.add(from, from+len(text))
	return from + len(text)
}

// sibling finds the value of a name that is a value itself: name: DB_PASSWORD
// and, next to it, value: …, in YAML, JSON or XML.
func (c *scan) sibling(n name) int {
	const reach = 64
	s := c.s
	i := n.end
	for stop := min(len(s), i+reach); i < stop && strings.IndexByte(" \t\r\n,;", s[i]) >= 0; i++ {
	}
	if i == n.end || !isLabelled(s, n.from) {
		return 0
	}
	for i < len(s) && (s[i] == '\\' || s[i] == '"' || s[i] == '\'') {
		i++
	}
	if !hasPrefixFold(s[i:], "value") {
		return 0
	}
	of, ok := nameAt(s, i)
	if !ok || !equalFold(of.text, "value") {
		return 0
	}
	op, p := operatorAt(s, skip(s, of.end))
	if op != opAssign && op != opColon {
		return 0
	}
	if p = skip(s, p); p >= len(s) || isBlank(s[p]) {
		return 0
	}
	of.class, of.text, of.quoted = n.class, n.text, true
	return c.valueAt(value{key: of, op: op, tight: true}, p)
}

// isLabelled reports whether what comes before i calls it a name or a key.
func isLabelled(s string, i int) bool {
	const reach = 16
	before := strings.TrimRight(s[max(0, i-reach):i], " \t\"'\\:=")
	before = strings.ToLower(before[max(0, len(before)-4):])
	return strings.HasSuffix(before, "name") || strings.HasSuffix(before, "key") || strings.HasSuffix(before, "id")
}
