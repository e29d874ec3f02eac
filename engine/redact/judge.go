package redact

import "strings"

const (
	longestCode = 512 // no expression, path or word that stands for a value is longer
	longestHint = 200 // nor is a value of a name that only hints
)

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
	if v.text == "" || strings.EqualFold(v.text, v.key.text) || v.key.vague && !isPassLike(v.text) {
		return false
	}
	if v.quoted {
		return v.isQuotedSecret(s)
	}
	if v.key.class < secret && len(v.text) >= longestHint {
		return false
	}
	if len(v.text) > longestCode {
		return true
	}
	if v.op == opColon && v.tight && strings.Count(v.text, ":") >= 3 {
		return false // a line of /etc/passwd
	}
	if v.key.class != password && (isVersion(v.text) || isOID(v.text)) || isConstant(v.text) || isHexNumber(v.text) {
		return false
	}
	return !isStandIn(v.text) && !isWord(v.text) && !isPath(v.text) && !isCode(v.text) && v.isBareSecret(s)
}

// isPassLike reports whether a value of "pass" says that this is a password, and
// not what has passed: one word with letters and digits.
func isPassLike(v string) bool {
	return len(v) >= 6 && isMixed(v) && strings.IndexByte(v, ' ') < 0
}

func (v *value) isQuotedSecret(s string) bool {
	if !isSecretText(v.key.class, v.text) {
		return false
	}
	if v.key.class < secret {
		return v.op != opComma || v.key.quoted
	}
	strong := isStrong(v.text)
	switch v.op {
	case opCompare:
		return strong || v.key.class == password && len(v.text) >= 4 || len(v.text) >= 10 && strings.ContainsAny(v.text, "0123456789")
	case opComma:
		return v.key.quoted && (strong || v.key.isUpper() ||
			isSetter(s, v.key.from) && (v.key.class == password || strings.ContainsAny(v.text, "0123456789")))
	case opBar:
		return strong
	default:
		return true
	}
}

// isStrong reports whether v would be taken for a secret even where values seldom
// stand: one random word that is no digest.
func isStrong(v string) bool {
	return len(v) >= 8 && isRandom(v) && (isMixed(v) || len(v) >= 16 && !anyHex.all(v)) && !isID(v) && strings.IndexByte(v, ' ') < 0
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
	for _, verb := range [...]string{"setenv", "set", "put", "add", "append", "define", "property", "header", "environ", "env", "secret", "default", "get"} {
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
	switch v.key.class {
	case vendor:
		return isKey(t) || isChance(t)
	case hint:
		return isChance(t)
	default:
	}
	kinds, other := in(t)
	isPassword := v.key.class == password
	random := len(t) >= 8 && isRandom(t) && (kinds&digit != 0 || len(t) >= 16)
	switch v.op {
	case opCompare, opArrow:
		return false
	case opComma, opBar:
		return random && isMixed(t)
	case opDefine:
		return v.key.isUpper() && (random || len(t) >= 12) // make; elsewhere it is code
	default:
	}
	switch config := v.isConfig(s); {
	case digit.all(strings.TrimLeft(t, "+-")): // a count, a place, or a number for a password
		return len(t) >= 12 || v.key.quoted && len(t) >= 6 || isPassword && len(t) >= 4 && (v.key.quoted || v.tight)
	case random:
		return true
	case isName(t):
		return v.isBareName(s, kinds, config)
	case !other && kinds&^(letter|under|colon|dot) == 0: // columns:of:words
		return false
	case isPassword:
		return len(t) >= 8 || len(t) >= 6 && isMixed(t) || len(t) >= 4 && (config || v.isLine(s))
	}
	return len(t) >= 12 || len(t) >= 8 && kinds&digit != 0
}

// isBareName judges a value that could be the name of a variable as well.
func (v *value) isBareName(s string, kinds charset, config bool) bool {
	t := v.text
	isPassword := v.key.class == password
	short := 8
	if isPassword {
		short = 4
	}
	switch {
	case kinds&digit != 0 && v.isLine(s) && !isWord(strings.TrimRight(t, "0123456789")) &&
		(isPassword && len(t) > short || len(t) >= short && kinds&(upper|under) == 0):
		return true
	case kinds&digit != 0:
		return len(t) >= short && config || len(t) >= 8 && (longNumber(t) || mixes(t) >= 3)
	case kinds&^lower == 0:
		return len(t) >= 12 || isPassword && config && (len(t) >= 8 || len(t) >= short && v.tight)
	case v.tight && v.op == opAssign:
		return config && (isPassword || len(t) >= 12)
	}
	return config && kinds&upper == 0 && len(t) >= 12
}

// longNumber reports whether t ends in four digits, as names seldom do.
func longNumber(t string) bool { return len(t)-digit.back(t, len(t), 4) == 4 }

// mixes counts where a letter stands beside a digit, as in pa55w0rd.
func mixes(t string) int {
	n := 0
	for i := 1; i < len(t); i++ {
		if digit.has(t[i]) != digit.has(t[i-1]) {
			n++
		}
	}
	return n
}

// isConfig reports whether the value stands as configuration, command lines and
// URLs write it: nothing but the end of the line, a blank or the next pair after
// it, and either no blanks around the operator or the name first on its line.
func (v *value) isConfig(s string) bool {
	rest := s[v.to:]
	next := byte('\n')
	if rest != "" {
		next = rest[0]
	}
	switch next {
	case ')', ']', '}', '(':
		return false
	case ',':
		// f(password=pw, x=1) is code, unless pw has a digit; password=pw,x=1 is not.
		dense := len(rest) > 1 && !isBlank(rest[1])
		return v.tight && pairFollows(s, v.to+1) && (dense || strings.ContainsAny(v.text, "0123456789"))
	}
	return v.tight && v.op == opAssign || v.op == opColon && v.isLine(s)
}

// isLine reports whether the name, the operator and the value are all of a line.
func (v *value) isLine(s string) bool {
	if v.to < len(s) && s[v.to] == ';' {
		return false
	}
	end := skip(s, v.to)
	return (end >= len(s) || strings.IndexByte("\n\r#\"\\", s[end]) >= 0) && lineStart(s, v.key.from)
}
