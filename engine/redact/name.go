package redact

import "strings"

// name is a name in the text that may have a value.
type name struct {
	text   string
	from   int  // of text
	end    int  // past text and what closes it: quotes, brackets, a question mark
	dashed bool // a flag: --password
	quoted bool // closed by a quote
	vague  bool // pass, which is not always a password
	class  class
}

// isUpper reports whether the name is in the style of environment variables.
func (n *name) isUpper() bool {
	return (upNum | under).all(n.text) && !digit.all(n.text)
}

// named finds the value of the name that the rule's word is in.
func named(c *scan, at int, _ *rule) int {
	n, ok := nameAt(c.s, at)
	if !ok || n.from >= 2 && c.s[n.from-2:n.from] == "::" { // AWS::IAM::AccessKey is a type
		return at
	}
	n.class = classify(n.text)
	switch {
	case equalFold(n.text, "key"), equalFold(n.text, "keys"):
		n.join(c.s)
	case n.class == hint && n.from > 0 && strings.IndexByte("?&;", c.s[n.from-1]) >= 0 &&
		(equalFold(n.text, "sig") || equalFold(n.text, "signature")):
		n.class = secret // of a signed URL
	case isVague(n.text) && !n.isUpper():
		n.class, n.vague = password, true
	}
	if n.class == plain && !isEnvKey(n.text) {
		return at
	}
	return max(at, c.assignment(n))
}

// isVague reports whether a name is short for password, or for passed.
func isVague(name string) bool { return equalFold(name, "pass") || equalFold(name, "pw") }

// join makes the word before part of the name, if that makes it secret: API key.
func (n *name) join(s string) {
	end := n.from - 1
	if end <= 0 || s[end] != ' ' {
		return
	}
	from := word.back(s, end, maxName)
	if k := classify(s[from:end] + "_key"); k != plain {
		n.text, n.from, n.class = s[from:n.from+len(n.text)], from, k
	}
}

// vendored finds the value of a name that has the name of a provider in it, as a
// word of its own.
func vendored(c *scan, at int, r *rule) int {
	n, ok := nameAt(c.s, at)
	end := at + len(r.prefix)
	switch {
	case !ok, classify(n.text) >= secret: // the latter is found by its other words
		return at
	case at > n.from && letter.has(c.s[at-1]) && !(lower.has(c.s[at-1]) && upper.has(c.s[at])),
		end < len(c.s) && lower.has(c.s[end]):
		return at
	}
	p := split(n.text)
	if last := string(p.at(p.n - 1)); isAttribute(last) && last != "id" && last != "client" {
		return at
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
	if len(n.text) < 3 && !isVague(n.text) || len(n.text) > maxName {
		return n, false
	}
	i := to
	for i < len(s) && s[i] == '\\' {
		i++
	}
	if i < len(s) && isQuote(s[i]) {
		n.end, n.quoted = i+1, true
	}
	for n.end < len(s) && strings.IndexByte("]?!", s[n.end]) >= 0 {
		n.end++
	}
	return n, true
}

// isEnvKey reports whether s is a name whose line goes whole (see whole): upper
// case, at least three characters, and what it is.
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
