package redact

import "strings"

// This file finds the values inside of the value of a name: the items of lists and
// maps in the notations of JSON, YAML, TOML and of programming languages. The
// name of a secret says less about them than about a value of its own: they are
// types, rules, messages and references more often than secrets.

// holder is what is known of the values in a list or a map.
type holder struct {
	class class
	full  bool // they are what the name says: passwords: […], token: {value: …}
	many  bool // the name is that of several: passwords
}

// holderOf returns what the name of a list or a map says about what is in it.
func holderOf(n name) holder {
	p := split(n.text)
	last := string(p.at(p.n - 1))
	many := strings.HasSuffix(last, "s") && last != "pass"
	h := holder{n.class, many, many}
	switch {
	case n.vague:
		h.class = hint
	case n.class < hint || n.class == hint && last != "tokens":
		h.class = plain
	case last == "auth" || last == "authorization":
		h.class = hint // mostly settings
	}
	return h
}

// under returns what is known of the value of a key inside of h. When own is set
// that value is found by the name of the key.
func (h holder) under(key string, described bool) (in holder, own bool) {
	if k := classify(key); k >= secret {
		return holderOf(name{text: key, class: k}), true
	}
	if h.class == plain {
		return h, false
	}
	p := split(key)
	switch last := string(p.at(p.n - 1)); {
	case isBearer(last):
		return holder{class: hint}, false
	case isAttribute(last) || isDetail(last):
		return holder{}, false
	case isQualifier(last) && !described && !digit.all(last):
		return holder{h.class, h.class >= secret, h.many}, false
	}
	return holder{class: h.class, many: h.many}, false
}

// isBearer reports whether a word names who has a secret, or else something about
// it: {server: …}.
func isBearer(w string) bool {
	switch w {
	case "client", "server", "service", "user", "agent", "owner", "provider", "admin", "plugin", "key", "store", "status":
		return true
	}
	return false
}

// isDetail reports whether a word is the name of something that stands beside
// secrets. More such words are attributes.
func isDetail(w string) bool {
	switch w {
	case "email", "mail", "login", "account", "region", "zone", "tenant", "database", "project", "domain", "scheme", "site",
		"address", "decimals", "icon", "logo", "color", "colour", "chain", "hasher", "hashing", "encoder", "encoding", "encryption",
		"iterations", "cost", "blank", "short", "long", "mismatch", "hostname", "environment", "external", "mount", "backend",
		"driver", "property", "lifetime", "strategy", "loc", "line", "uid", "gid", "comment", "comments", "note", "notes", "summary":
		return true
	}
	return false
}

// isHeld judges a value in a list or a map. One that is not quoted could be code,
// unless it is the text of a line.
func (h holder) isHeld(v string, quoted, line bool) bool {
	if len(v) < 4 || h.class == plain || isStandIn(v) || isPath(v) || isWord(v) || !quoted && (isCode(v) || !line && isVariable(v)) {
		return false
	}
	if h.class < secret {
		return len(v) <= longestHint && isChance(v) && !isDigest(v)
	}
	if isOID(v) || isConstant(v) || isHexNumber(v) || isRule(v) || isMessage(v) || isNameOf(v) || isDigest(v) ||
		h.class == secret && (isVersion(v) || isMail(v)) {
		return false
	}
	kinds, other := in(v)
	isPassword := h.class == password
	mixed := kinds&digit != 0 && kinds&letter != 0
	random := isRandom(v) || isJumbled(v)
	switch {
	case kinds&blank != 0:
		return isPassword && (quoted || line && (letter|digit|blank).all(v) && strings.Count(v, " ") >= 2) ||
			h.full && quoted && isSecretText(h.class, v)
	case kinds&(letter|blank) == 0 && !other && kinds&digit != 0:
		return len(v) >= 12 || isPassword && h.full && len(v) >= 6
	case mixed && random:
		return len(v) >= 8 || isPassword && len(v) >= 6
	case kinds&^letter == 0 && !other: // a word, or letters drawn by lot
		return len(v) >= 16 && random || isPassword && h.full && (quoted || line)
	case mixed && !quoted && !line && isName(v):
		return len(v) >= 8 && mixes(v) >= 2
	case mixed && isPassword:
		return len(v) >= 8 || h.full || (h.many || mixes(v) >= 2) && len(v) >= 6
	case mixed:
		return len(v) >= 16 || len(v) >= 12 && other || len(v) >= 8 && (h.full && line || isUUID(v))
	case isPassword:
		return h.full && len(v) >= 6 || other && len(v) >= 8
	}
	return len(v) >= 16 && random || other && h.full && len(v) >= 12
}

// isJumbled reports whether v is letters in a case drawn by lot.
func isJumbled(v string) bool {
	changes := 0
	for i := 1; i < len(v); i++ {
		if (lower.has(v[i-1]) && upper.has(v[i])) || (upper.has(v[i-1]) && lower.has(v[i])) {
			changes++
		}
	}
	return 5*changes >= 2*len(v)
}

// isVariable reports whether v is written like the names of variables: user_2.
func isVariable(v string) bool {
	return (lowNum | under).all(v) && strings.Contains(v, "_") && !digit.has(v[0])
}

// isDigest reports whether v says that it is a digest: sha512-….
func isDigest(v string) bool {
	n := lowNum.run(v, 0)
	return n < len(v) && (v[n] == '-' || v[n] == ':') && (strings.HasPrefix(v, "sha") || strings.HasPrefix(v, "md5"))
}

// isRule reports whether v is a rule for a value, min:8.
func isRule(v string) bool {
	n := (lower | under).run(v, 0)
	return n > 0 && n <= 16 && n < len(v) && v[n] == ':' &&
		(lower | under | digit | dot).all(strings.ReplaceAll(v[n+1:], ",", "")) && !isRandom(v[n+1:])
}

// isMail reports whether v is an address of a person or of a service.
func isMail(v string) bool {
	user, host, ok := strings.Cut(v, "@")
	return ok && user != "" && strings.Contains(host, ".") && (wordy | dot | plus).all(user) &&
		(alnum | dash | dot).all(host) && !isRandom(host)
}

// isNameOf reports whether v is what someone calls a secret: app-credentials-v2.
func isNameOf(v string) bool {
	if len(v) < 16 && strings.HasPrefix(v, "id_") { // id_ed25519
		return true
	}
	return (wordy | dot).all(v) && !isRandom(v) && strings.ContainsAny(v, "_-.") && classify(v) >= hint
}

// isMessage reports whether v has words that sentences are made of, in place of
// the words of a pass phrase.
func isMessage(v string) bool {
	for w := range strings.FieldsSeq(v) {
		if len(w) == len(v) {
			return false
		}
		w = strings.ToLower(strings.Trim(w, ".,;:!?()"))
		switch w {
		case "", "be", "not", "too", "please", "enter", "match", "cannot", "can't", "don't", "characters", "least", "most", "after",
			"before", "every", "per", "need", "needs", "add", "fix", "use", "using", "store", "stored", "rotate", "rotated", "update",
			"done", "todo", "check", "now", "all", "no", "change", "reset", "hash", "hashed", "login", "page", "form", "test", "tests",
			"short", "long", "contain", "contains", "=", "-", "->", "=>", "|", "/", "+", "&&", "||", "see", "remove", "removed", "go",
			"passwords", "tokens", "secrets", "keys", "i", "we", "you", "your", "hashing":
			return true
		}
		if w != "a" && isWord(w) {
			return true
		}
	}
	return false
}

// frame is a bracket that is open.
type frame struct {
	holder
	opener    byte
	described bool   // a key of the map said what kind of thing it is
	keyed     bool   // a key came, for which key is what is known of the value
	own       bool   // which its own name finds
	seen      bool   // a value came since the last comma
	key       holder // if keyed
}

// value returns what is known of the value to come.
func (f *frame) value() holder {
	if f.keyed {
		return f.key
	}
	return f.holder
}

// collection finds the secrets in the list or map that starts at p under a name,
// also after a type: []string{…}, list[str] = […].
func (c *scan) collection(v value, p int) {
	h := holderOf(v.key)
	if h.class == plain || p < c.walked {
		return
	}
	switch v.op {
	case opColon:
		if q := afterType(c.s, p); q > 0 {
			p = q
		}
	case opAssign, opDefine, opArrow:
	default:
		return
	}
	if from := opening(c.s, p); from >= 0 {
		if h.class == hint && v.key.class >= secret && c.s[from] == '(' {
			c.login(from + 1)
		}
		c.walked = max(c.walked, c.walk(h, from))
	}
}

// login judges the second of the two literals at i, auth=("user", "password").
func (c *scan) login(i int) {
	user, ok := quoted(c.s, i)
	if !ok || user.to+1 >= len(c.s) || c.s[user.to+1] != ',' {
		return
	}
	at, ok := quoted(c.s, skip(c.s, user.to+2))
	h := holder{class: password, many: true}
	if ok && at.to+1 < len(c.s) && c.s[at.to+1] == ')' && h.isHeld(c.s[at.from:at.to], true, false) {
		c.add(at.from, at.to)
	}
}

const longestType = 64

// afterType returns where the value after a type and an equals sign is, or 0.
func afterType(s string, p int) int {
	i := p
	for stop := min(len(s), p+longestType); i < stop && (word.has(s[i]) ||
		strings.IndexByte(" .[]*&<>,?|:'", s[i]) >= 0 || s[i] == ';' && s[p] == '['); i++ {
	}
	if i == p || i+1 >= len(s) || s[i:i+2] != "= " {
		return 0
	}
	return skip(s, i+1)
}

// opening returns the place of the bracket of the literal at p, or -1. A type or
// what makes a list may come before.
func opening(s string, p int) int {
	if p >= len(s) || strings.HasPrefix(s[p:], Marker) {
		return -1
	}
	i := p
	if strings.HasPrefix(s[i:], "new ") {
		i = skip(s, i+4)
	}
	start := i
	stop := min(len(s), i+longestType)
	for i < stop && (word.has(s[i]) || strings.IndexByte(".[]*&<>!", s[i]) >= 0) {
		i++
	}
	end := i
	if i > start && s[i-1] == ']' {
		i = skip(s, i) // new String[] {
	}
	switch {
	case i >= len(s):
	case s[i] == '{' && (i > p || s[p] == '{'):
		return i
	case s[i] == '(' && i > start && isMaker(s[start:i]):
		return i
	case s[i] == '(' && i == p:
		return i
	}
	if end-2 >= p && s[end-1] == '[' && s[end-2] == '!' { // vec!["…"]
		return end - 1
	}
	if s[p] == '[' {
		return p
	}
	return -1
}

// isMaker reports whether a call makes a list or a map of its arguments.
func isMaker(call string) bool {
	call = call[strings.LastIndexByte(call, '.')+1:]
	if n := strings.IndexByte(call, '<'); n > 0 {
		call = call[:n]
	}
	switch strings.ToLower(call) {
	case "of", "aslist", "listof", "setof", "mapof", "list", "set", "map", "dict", "tuple", "frozenset", "array",
		"freeze", "toset", "tolist", "tomap":
		return true
	}
	return false
}

// walk judges the values of the list or map at i, and returns where it ends. It
// goes through the text once, and asks little of its syntax.
func (c *scan) walk(h holder, i int) int {
	s := c.s
	open := []frame{{holder: h, opener: s[i]}}
	for i++; i < len(s) && len(open) > 0; {
		f := &open[len(open)-1]
		switch b := s[i]; {
		case strings.HasPrefix(s[i:], Marker):
			i += len(Marker)
			f.seen = true
		case b == '#' && isBlank(s[i-1]), strings.HasPrefix(s[i:], "//") && s[i-1] != ':':
			i = lineEnd(s, i)
		case b == ',' || b == ';' || b == '\n' && f.seen:
			f.keyed, f.own, f.seen = false, false, false
			i++
		case isBlank(b):
			i++
		case b == ']' || b == '}' || b == ')':
			i++
			if f.opener != opener(b) {
				return i // this was no list
			}
			if open = open[:len(open)-1]; len(open) > 0 {
				open[len(open)-1].seen = true
			}
		case b == '[' || b == '{' || b == '(':
			next := frame{holder: f.value(), opener: b}
			if isCodeBefore(s, i) {
				next.holder = holder{}
			}
			open = append(open, next)
			i++
		case isQuote(b) || b == '\\' || i+1 < len(s) && (letter.has(b) || b == '@') && (s[i+1] == '"' || s[i+1] == '\''):
			i = c.literalItem(f, i)
		default:
			i = c.bareItem(f, i)
		}
	}
	return i
}

// opener returns what a bracket closes.
func opener(b byte) byte {
	switch b {
	case ']':
		return '['
	case '}':
		return '{'
	}
	return '('
}

// isCodeBefore reports whether the bracket at i is one of a call, an index, a type
// or a block of code.
func isCodeBefore(s string, i int) bool {
	bracket := s[i]
	if bracket == '{' {
		for i > 0 && blank.has(s[i-1]) {
			i--
		}
		if i > 1 && s[i-2:i] == "=>" {
			return true
		}
	}
	if i == 0 || !alnum.has(s[i-1]) && strings.IndexByte("_)]>", s[i-1]) < 0 {
		return false
	}
	from := (word | dot).back(s, i, maxName)
	switch bracket {
	case '(':
		return !isMaker(s[from:i])
	case '{':
		return from == 0 || s[from-1] != ']' // []string{
	}
	return true
}

// literalItem deals with the string literal at i, which is a key or a value.
func (c *scan) literalItem(f *frame, i int) int {
	s := c.s
	at, ok := quoted(s, i)
	if !ok {
		// Nothing closes it: the text was cut.
		if isQuote(s[i]) {
			if at = (span{i + 1, lineEnd(s, i)}); at.to == len(s) && at.to-at.from < longestCode &&
				f.value().isHeld(s[at.from:at.to], true, false) {
				c.add(at.from, at.to)
			}
		}
		return i + 1
	}
	end := at.to
	for end < len(s) && s[end] == '\\' {
		end++
	}
	if q := s[end : end+1]; strings.HasPrefix(s[end:], q+q+q) && at.from >= 3 && s[at.from-3:at.from] == q+q+q {
		end += 2
	}
	end++
	text := s[at.from:at.to]
	if sign := keySign(s, skip(s, end), f.opener); sign > end && !f.keyed {
		f.name(text)
		return sign
	}
	if !f.own && f.value().isHeld(text, true, false) {
		c.add(at.from, at.to)
	}
	f.seen = true
	return end
}

// bareItem deals with what stands at i without quotes: a key, a value, or code.
func (c *scan) bareItem(f *frame, i int) int {
	s := c.s
	from := properties(s, i)
	end := from
	for ; end < len(s) && strings.IndexByte("\n\r,;[]{}()\"'`", s[end]) < 0; end++ {
		if f.opener == '(' && isBlank(s[end]) {
			break
		}
		if (s[end] == ':' || s[end] == '=') && !f.keyed && end > from {
			if sign := keySign(s, end, f.opener); sign > 0 && end-from <= maxName {
				f.name(strings.Trim(s[from:end], " \t:?"))
				return sign
			}
		}
	}
	text := strings.TrimRight(s[from:end], " \t\\")
	called := end < len(s) && strings.IndexByte("[{(\"'`", s[end]) >= 0
	words := f.opener == '[' && strings.Count(text, " ") >= 2
	if !called && !f.own && f.value().isHeld(text, false, words) {
		c.add(from, from+len(text))
	}
	f.seen = true
	return max(end, i+1)
}

// keySign returns the end of the sign at i that makes what comes before it a key,
// or 0.
func keySign(s string, i int, opener byte) int {
	switch {
	case i >= len(s):
	case strings.HasPrefix(s[i:], "=>"):
		return i + 2
	case s[i] == ':' && i+1 < len(s) && s[i+1] != ':' && (isBlank(s[i+1]) ||
		strings.IndexByte("\"'`[{\\", s[i+1]) >= 0 || isQuote(s[i-1]) || opener == '{' && alnum.has(s[i+1])):
		return i + 1
	case s[i] == '=' && opener != '[' && i+1 < len(s) && strings.IndexByte("=~,;)]}\n", s[i+1]) < 0:
		return i + 1
	}
	return 0
}

// name sets the key of the value to come.
func (f *frame) name(key string) {
	f.keyed, f.seen = true, false
	f.key, f.own = f.under(key, f.described)
	f.described = f.described || key == "type" || key == "kind"
}

// properties returns the place after the tags and anchors of YAML at i that say
// nothing about a value: !!str, &name. Other tags, such as !Ref, are references.
func properties(s string, i int) int {
	for i < len(s) && (s[i] == '!' || s[i] == '&') {
		end := i + 1
		switch {
		case strings.HasPrefix(s[i:], "!!"):
			end = (wordy | dot | colon | slash).run(s, i+2)
		case strings.HasPrefix(s[i:], "!<"):
			for end < len(s) && !isBlank(s[end]) && s[end] != '>' {
				end++
			}
			end++
		case s[i] == '&':
			if end = (wordy | dot).run(s, i+1); end == i+1 || s[i:end] == "&mut" || s[i:end] == "&dyn" {
				return i
			}
		}
		next := skip(s, min(end, len(s)))
		if end < len(s) && next == end && s[end] != '\n' && s[end] != '\r' || next < len(s) && s[next] == '=' {
			return i
		}
		i = min(next, len(s))
	}
	return i
}
