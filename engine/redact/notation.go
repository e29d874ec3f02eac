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
	case "is", "was", "to", "as", "are":
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

// flag finds the value of --password value. More than one blank is the layout of
// a help text.
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

// below finds the value on the lines after the name: a string literal, or the
// items of a YAML list.
func (c *scan) below(v value, p int) int {
	s := c.s
	if v.key.class < secret || v.op != opColon && v.op != opAssign || p < c.listEnd {
		return 0
	}
	i := p
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	const farthest = 200
	if i-p > farthest || i >= len(s) {
		return 0
	}
	if at, ok := quoted(s, i); ok {
		if text := s[at.from:at.to]; isSecretText(v.key.class, text) && isValueLike(text) && !pairOf(s, at.to+1) {
			c.add(at.from, at.to)
			return at.to
		}
		return 0
	}
	end := 0
	for v.op == opColon && strings.HasPrefix(s[i:], "- ") {
		stop := lineEnd(s, i)
		item := span{skip(s, i+2), stop}
		if at, ok := quoted(s, item.from); ok {
			item = at
		} else {
			item.to = bare(s, item.from)
		}
		if text := s[item.from:item.to]; len(text) >= 8 && isMixed(text) && !isStandIn(text) && !isPath(text) && !isCode(text) {
			c.add(item.from, item.to)
			end = item.to
		}
		for i = stop; i < len(s) && isBlank(s[i]); i++ {
		}
		c.listEnd = i
	}
	return end
}

// pairOf reports whether a colon follows at i, so that what came before is a name.
func pairOf(s string, i int) bool {
	i = skip(s, i)
	return i < len(s) && s[i] == ':'
}

// blockStart reports whether a YAML block scalar starts after p: | or >, and
// nothing more on the line than how to treat its ends.
func blockStart(s string, p int) bool {
	if s[p] != '|' && s[p] != '>' {
		return false
	}
	end := (digit | dash | plus | blank).run(s, p+1)
	return end < len(s) && (s[end] == '\n' || s[end] == '\r')
}

// block finds the lines after i that are indented more than the line of n.
func (c *scan) block(n name, i int) int {
	s := c.s
	if n.class < secret {
		return 0
	}
	indent := indentOf(s, n.from)
	from, end := 0, 0
	for i < len(s) {
		i++ // the line break
		stop := lineEnd(s, i)
		text := skip(s, i)
		if text < stop {
			if text-i <= indent {
				break
			}
			if from == 0 {
				from = text
			}
			end = stop
		}
		i = stop
	}
	if from == 0 || isStandIn(s[from:min(end, from+sample)]) {
		return 0
	}
	c.add(from, end)
	return end
}

// indentOf returns the indentation of the line that i is on.
func indentOf(s string, i int) int {
	const reach = 200
	from := i
	for floor := max(0, i-reach); from > floor && s[from-1] != '\n'; from-- {
	}
	return skip(s, from) - from
}

// kubernetesSecret finds the values below data and stringData in the manifest of
// a secret, whatever their names are.
func kubernetesSecret(c *scan, at int, r *rule) int {
	s := c.s
	kind := strings.TrimLeft(s[at+len(r.prefix):min(len(s), at+40)], "\"' \t:\\")
	if at < c.manifest || !hasPrefixFold(kind, "secret") || !wordEnd(kind, len("secret")) {
		return at
	}
	from, to := c.manifest, len(s)
	if n := strings.LastIndex(s[from:at], "\n---"); n >= 0 {
		from += n + 1
	}
	if n := strings.Index(s[at:], "\n---"); n >= 0 {
		to = at + n
	}
	c.manifest = to
	inside, indent := false, 0
	for i := from; i < to; i++ {
		stop := min(to, lineEnd(s, i))
		text := skip(s, i)
		switch line := s[text:max(text, stop)]; {
		case strings.TrimSpace(line) == "":
		case inside && text-i > indent:
			if _, v, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
				text += len(line) - len(v)
			}
			c.item(skip(s, text), stop)
		default:
			key, _, _ := strings.Cut(line, ":")
			inside, indent = key == "data" || key == "stringData", text-i
		}
		i = stop
	}
	return at
}

// item adds the value between from and to, without quotes, unless it is none.
func (c *scan) item(from, to int) {
	s := c.s
	for to > from && isBlank(s[to-1]) {
		to--
	}
	if at, ok := quoted(s[:to], from); ok {
		from, to = at.from, at.to
	}
	v := s[from:to]
	if v == "" || isStandIn(v) || strings.Trim(v, "|>+-") == "" {
		return
	}
	c.add(from, to)
}
