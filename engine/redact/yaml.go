package redact

import "strings"

// below finds the value on the lines after the name: a string literal, or a list
// or map.
func (c *scan) below(v value, p int) int {
	s := c.s
	if v.op != opColon && v.op != opAssign {
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
	if at, ok := quoted(s, i); ok && !pairOf(s, at.to+1) {
		if text := s[at.from:at.to]; v.key.class >= secret && isSecretText(v.key.class, text) && isValueLike(text) {
			c.add(at.from, at.to)
			return at.to
		}
		return 0
	}
	c.collection(v, i)
	if v.op == opColon {
		c.lines(v.key, p)
	}
	return 0
}

// level is a key of YAML whose value is on the lines below it.
type level struct {
	holder
	column    int
	described bool
	sign      byte // between keys and values
}

// lines judges the values of the YAML list or map on the lines after i, those
// that are indented more than the name.
func (c *scan) lines(n name, i int) {
	s := c.s
	h := holderOf(n)
	if h.class == plain || i < c.walked || !lineStart(s, n.from) {
		return
	}
	start, mark := marginOf(s, n.from)
	base := n.from - start
	if n.from > start && isQuote(s[n.from-1]) {
		base--
	}
	levels := []level{{holder: h, column: base, sign: ':'}}
	for i < len(s) {
		i++ // the line break
		stop := lineEnd(s, i)
		if mark != 0 && i < stop && s[i] == mark {
			i++
		}
		at := skip(s, i)
		if at >= stop || s[at] == '#' {
			i = stop
			continue
		}
		column, item := at-i, false
		for strings.HasPrefix(s[at:stop], "- ") {
			if !item {
				column, item = at-i, true
			}
			at = skip(s, at+2)
		}
		if column < base || column == base && !item {
			break
		}
		for top := len(levels) - 1; top > 0 && (levels[top].column > column || levels[top].column == column && !item); top-- {
			levels = levels[:top]
		}
		stop = c.line(&levels, at, at-i, stop)
		i = stop
	}
	c.walked = max(c.walked, i)
}

// table judges the values of the table of TOML that n is the name of.
func (c *scan) table(n name) {
	s := c.s
	from := n.from
	for from > 0 && s[from-1] == '[' {
		from--
	}
	h := holderOf(n)
	i := skip(s, n.end)
	if from == n.from || s[n.end-1] != ']' || h.class == plain || n.end < c.walked ||
		i < len(s) && s[i] != '\n' && s[i] != '\r' || !lineStart(s, from) {
		return
	}
	levels := []level{{holder: h, sign: '='}}
	for i < len(s) {
		i++ // the line break
		stop := lineEnd(s, i)
		at := skip(s, i)
		if at < stop && s[at] != '#' && s[at] != ';' {
			if _, _, ok := keyAt(s, at, stop, '='); !ok {
				break
			}
			stop = c.line(&levels, at, 0, stop)
		}
		i = stop
	}
	c.walked = max(c.walked, i)
}

// line judges the key and value, or the value, between at and stop. It returns
// where the last of the lines of the value ends.
func (c *scan) line(levels *[]level, at, column, stop int) int {
	s := c.s
	top := &(*levels)[len(*levels)-1]
	h := top.holder
	if key, next, ok := keyAt(s, at, stop, top.sign); ok {
		in, own := h.under(key, top.described)
		top.described = top.described || key == "type" || key == "kind"
		at = properties(s, skip(s, next))
		if at >= stop || blockStart(s, at) {
			*levels = append(*levels, level{holder: in, column: column, sign: top.sign})
			return stop
		}
		if h = in; own && s[at] != '[' && s[at] != '{' {
			return stop
		}
	}
	at = properties(s, at)
	if at >= stop || strings.HasPrefix(s[at:], Marker) {
		return stop
	}
	if s[at] == '[' || s[at] == '{' {
		end := c.walk(h, at)
		return lineEnd(s, end)
	}
	c.text(h, at, stop)
	return stop
}

// text judges the value between at and stop, which may have quotes around it or a
// comment after it.
func (c *scan) text(h holder, at, stop int) {
	s := c.s
	item, ok := quoted(s, at)
	if !ok {
		item = span{at, stop}
		if n := strings.Index(s[at:stop], " #"); n >= 0 {
			item.to = at + n
		}
		for item.to > at && isBlank(s[item.to-1]) {
			item.to--
		}
	}
	if h.isHeld(s[item.from:item.to], ok, true) {
		c.add(item.from, item.to)
	}
}

// keyAt reads the key at i, and where what comes after its colon or equals sign is.
func keyAt(s string, i, stop int, sign byte) (key string, next int, ok bool) {
	if at, ok := quoted(s[:stop], i); ok {
		next = skip(s, at.to+1)
		return s[at.from:at.to], next + 1, next < stop && s[next] == sign
	}
	end := (wordy | dot | slash | blank).run(s[:min(stop, i+maxName)], i)
	if end == i || end >= stop || s[end] != sign || sign == ':' && end+1 < stop && !isBlank(s[end+1]) {
		return "", 0, false
	}
	return strings.TrimRight(s[i:end], " \t"), end + 1, true
}

// marginOf returns where the line that i is on starts, after the mark of a diff or
// a quotation, which is 0 when there is none.
func marginOf(s string, i int) (start int, mark byte) {
	const reach = 200
	start = i
	for floor := max(0, i-reach); start > floor && s[start-1] != '\n' && s[start-1] != '\r'; start-- {
	}
	if s[start] == '+' || s[start] == '>' {
		return start + 1, s[start]
	}
	return start, 0
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
