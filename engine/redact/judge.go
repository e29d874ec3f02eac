package redact

import "strings"

// value is what stands after a name.
type value struct {
	key    name
	op     operator
	tight  bool // no blanks around the operator
	quoted bool // in quotes, which are not part of span
	span
	text string
}

// isSecret decides.
func (v *value) isSecret(s string) bool {
	if v.text == "" || strings.EqualFold(v.text, v.key.text) {
		return false
	}
	if v.quoted {
		return v.isQuotedSecret(s)
	}
	const longest = 512 // of anything but a secret
	if len(v.text) > longest {
		return v.key.class >= secret
	}
	if v.key.class != password && (isVersion(v.text) || isOID(v.text)) || isConstant(v.text) || isHexNumber(v.text) {
		return false
	}
	return !isStandIn(v.text) && !isWord(v.text) && !isPath(v.text) && !isCode(v.text) && v.isBareSecret(s)
}

func (v *value) isQuotedSecret(s string) bool {
	if !isSecretText(v.key.class, v.text) {
		return false
	}
	if v.key.class < secret {
		return v.op != opComma || v.key.quoted
	}
	strong := len(v.text) >= 8 && isMixed(v.text) && isRandom(v.text)
	switch v.op {
	case opCompare:
		return strong || v.key.class == password && len(v.text) >= 4
	case opComma:
		return v.key.quoted && (strong || v.key.isUpper() ||
			isSetter(s, v.key.from) && (v.key.class == password || isMixed(v.text)))
	case opBar:
		return strong
	}
	return true
}

// isSetter reports whether the quoted name at i is the argument of a function
// that stores a value: Setenv("…", put('…'.
func isSetter(s string, i int) bool {
	const reach = 24
	before := s[max(0, i-reach):i]
	n := strings.LastIndexByte(before, '(')
	if n < 0 {
		return false
	}
	before = strings.ToLower(before[:n])
	for _, verb := range [...]string{"setenv", "set", "put", "add", "append", "define", "property", "header", "environ", "env", "secret"} {
		if strings.HasSuffix(before, verb) {
			return true
		}
	}
	return false
}

// isBareSecret judges a value without quotes, where configuration has to be told
// from code.
func (v *value) isBareSecret(s string) bool {
	t := v.text
	kinds, other := in(t)
	random := len(t) >= 8 && isRandom(t) && (kinds&digit != 0 || len(t) >= 16)
	switch v.key.class {
	case vendor:
		return isKey(t) || isChance(t)
	case hint:
		return isChance(t)
	}
	switch v.op {
	case opCompare, opArrow:
		return false
	case opComma, opBar:
		return random && isMixed(t)
	case opDefine:
		return v.key.isUpper() && (random || len(t) >= 12) // make; elsewhere it is code
	}
	if digit.all(strings.TrimLeft(t, "+-")) {
		return v.key.class == password && len(t) >= 4 && (v.key.quoted || v.tight) || len(t) >= 12 || v.key.quoted && len(t) >= 6
	}
	if random && len(t) >= 8 {
		return true
	}
	config := v.isConfig(s)
	if !other && kinds&^word == 0 && isName(t) {
		return v.isBareName(t, kinds, config)
	}
	// Signs that no name has.
	if !other && kinds&^(letter|under|colon|dot) == 0 {
		return false // columns:of:words
	}
	if v.key.class == password {
		return len(t) >= 4 && (config || len(t) >= 8)
	}
	return len(t) >= 12 || len(t) >= 8 && kinds&digit != 0
}

// isBareName judges a value that could be the name of a variable as well.
func (v *value) isBareName(t string, kinds charset, config bool) bool {
	short := 8
	if v.key.class == password {
		short = 4
	}
	switch {
	case kinds&digit != 0:
		return len(t) >= max(6, short) && (config || len(t) >= 12 && longNumber(t))
	case kinds&^lower == 0:
		return len(t) >= 12 || config && v.tight && len(t) >= short && v.key.class == password || config && len(t) >= 8 && v.key.class == password
	case kinds&under != 0 && isConstant(t):
		return false
	}
	return config && (v.tight && v.op == opAssign || kinds&upper == 0) && (len(t) >= 12 || v.tight && v.key.class == password)
}

// longNumber reports whether t ends in four digits, as names seldom do.
func longNumber(t string) bool { return len(t)-digit.back(t, len(t), 4) == 4 }

// isConfig reports whether the value stands as configuration, command lines and
// URLs write it: nothing but the end of the line, a blank or the next pair after
// it, and either no blanks around the operator or the name first on its line.
func (v *value) isConfig(s string) bool {
	rest := s[v.to:]
	if rest != "" && strings.IndexByte(",)]}", rest[0]) >= 0 && !pairFollows(s, v.to+1) {
		return false
	}
	if v.tight && v.op == opAssign {
		return rest == "" || strings.IndexByte(",)(]}", rest[0]) < 0
	}
	if rest != "" && strings.IndexByte(",;)", rest[0]) >= 0 {
		return false
	}
	end := skip(s, v.to)
	atEnd := end >= len(s) || s[end] == '\n' || s[end] == '\r' || s[end] == '#' || s[end] == '"' || s[end] == '\\'
	return v.op == opColon && atEnd && lineStart(s, v.key.from)
}
