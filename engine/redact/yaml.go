package redact

import "strings"

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
