package redact

import "strings"

// isStandIn reports whether a value only stands where a secret would: a
// reference to it, a mask, a placeholder, or the marker of an earlier pass.
func isStandIn(v string) bool {
	if scheme, rest, ok := strings.Cut(v, " "); ok && rest != "" && isScheme(scheme) {
		v = rest
	}
	return strings.HasPrefix(v, Marker) || isReference(v) || isMask(v) || isPlaceholder(v) || isTemplate(v)
}

// isTemplate reports whether v is put together from references, as in "%s:%s" or
// "{user}:{password}".
func isTemplate(v string) bool {
	found, rest := false, 0
	for i := 0; i < len(v); {
		n := 0
		switch v[i] {
		case '%':
			end := (digit | dot | dash | plus).run(v, i+1)
			if end < len(v) && strings.IndexByte("svdqrx", v[end]) >= 0 && wordEnd(v, end+1) {
				n = end + 1 - i
			} else if strings.HasPrefix(v[i:], "%(") {
				n = strings.Index(v[i:min(len(v), i+64)], ")s") + 2
			}
		case '{':
			if end := (word | dot).run(v, i+1); end < len(v) && v[end] == '}' {
				n = end + 1 - i
			}
		}
		if n < 2 {
			if alnum.has(v[i]) {
				rest++
			}
			i++
			continue
		}
		found = true
		i += n
	}
	return found && (rest == 0 || !isMixed(v) && !isRandom(v))
}

// isReference reports whether v names a value in place of spelling it out:
// variables of shells, templates, formats, queries and secret managers.
func isReference(v string) bool {
	for _, start := range [...]string{
		"${", "$(", "$[", "{{", "{%", "<%", "#{", "@{", "%{", "%(", "ENC[",
		"op://", "vault:", "arn:", "env:", "file:", "secret://", "ref+",
		"!vault", "!Ref", "!Sub", "!GetAtt", "!secret", "!env_var", "!reference",
	} {
		if strings.HasPrefix(v, start) {
			return true
		}
	}
	if len(v) < 2 {
		return v == "?"
	}
	rest := v[1:]
	switch v[0] {
	case '$':
		name := word.run(rest, 0)
		return name > 0 && (name == len(rest) || strings.IndexByte("/}):.,;", rest[name]) >= 0)
	case '%':
		if word.all(rest) && len(rest) <= 2 || rest[len(rest)-1] == '%' && word.all(rest[:len(rest)-1]) {
			return true
		}
		n := (digit | dot | dash | plus).run(rest, 0)
		return n+1 == len(rest) && letter.has(rest[n])
	case ':', '@', '*', '&':
		return isName(rest) && !isRandom(rest)
	case '{':
		return rest[len(rest)-1] == '}' && (wordy | dot | colon | blank).all(rest[:len(rest)-1])
	case '[':
		return rest[len(rest)-1] == ']' && (letter | under | dash | blank).all(rest[:len(rest)-1])
	case '<':
		return rest[len(rest)-1] == '>' && len(v) <= 80
	}
	return false
}

// isNumber reports whether v is a short number.
func isNumber(v string) bool {
	return len(v) <= 6 && digit.all(strings.TrimLeft(v, "+-")) || isHexNumber(v)
}

// isHexNumber reports whether v is a number of up to 64 bits in hexadecimal.
func isHexNumber(v string) bool {
	v, ok := strings.CutPrefix(strings.TrimLeft(v, "+-"), "0x")
	return ok && len(v) <= 16 && anyHex.all(v)
}

// isMask reports whether v consists of the signs that hide a value or mark its
// absence.
func isMask(v string) bool {
	return strings.Trim(v, "*xX.-_:#?0•…· ") == ""
}

func isPlaceholder(v string) bool {
	for _, start := range [...]string{"your-", "your_", "your ", "yourapi", "yoursecret", "yourtoken", "yourpass", "xxxx", "replace-", "replace_", "replaceme", "placeholder", "insert-", "insert_", "<", "redacted"} {
		if hasPrefixFold(v, start) {
			return true
		}
	}
	return false
}

// isName reports whether v is an identifier.
func isName(v string) bool {
	return v != "" && word.all(v) && !digit.has(v[0])
}

// isWord reports whether an unquoted v is a keyword, a type or a plain word that
// configuration, code and prose put where a value stands.
func isWord(v string) bool {
	if i := strings.IndexAny(v, "!?|[<"); i > 0 {
		v = v[:i] // String!, string|null
	}
	if len(v) > 16 {
		return false
	}
	switch strings.ToLower(v) {
	case "true", "false", "yes", "no", "on", "off", "null", "nil", "none", "undefined", "void", "nan", "any", "self", "this",
		"new", "await", "async", "func", "function", "lambda", "return", "not", "if", "else", "for", "and", "or", "is", "in", "to",
		"the", "a", "an", "as", "of", "at", "by", "it", "from", "with", "when", "that", "which", "was", "has", "must", "should",
		"can", "will", "may", "does", "do", "are", "be", "been", "string", "str", "text", "bool", "boolean", "int", "int64",
		"integer", "float", "number", "bytes", "byte", "char", "array", "list", "map", "dict", "object", "struct", "type",
		"interface", "var", "let", "const", "val", "static", "final", "public", "private", "protected", "secretstr", "buffer",
		"uint8array", "uuid", "varchar", "bytea", "blob", "json", "email", "usize", "u64", "unknown", "never", "optional", "required", "enabled", "disabled", "default", "empty", "missing",
		"invalid", "valid", "wrong", "incorrect", "expired", "changed", "updated", "set", "unset", "ok", "error", "failed",
		"denied", "rejected", "accepted", "flag", "flags", "option", "options", "argument", "arguments", "arg", "value", "values",
		"parameter", "param", "field", "input", "instead", "only", "first", "needed", "used", "here", "there", "below", "above",
		"file", "stdin", "prompt", "username", "user", "password", "passwd", "pass", "pwd", "token", "secret", "key", "apikey", "auth",
		"credentials", "hidden", "masked", "encrypted", "plaintext", "plain", "basic", "bearer", "digest", "oauth", "oauth2", "jwt", "same-origin",
		"cram-md5", "digest-md5", "scram-sha-1", "scram-sha-256", "xoauth2", "ntlm", "gssapi", "md5", "sha1", "sha256", "sha512", "bcrypt", "argon2", "scrypt", "authentication", "authenticated", "generated", "provided":
		return true
	}
	return false
}

// isPath reports whether v is a place: a file or an address, made of words.
func isPath(v string) bool {
	switch {
	case strings.HasPrefix(v, "/"), strings.HasPrefix(v, "./"), strings.HasPrefix(v, "../"), strings.HasPrefix(v, "~/"):
	case len(v) > 3 && letter.has(v[0]) && v[1] == ':' && (v[2] == '\\' || v[2] == '/'):
	case strings.Contains(v[:min(len(v), 16)], "://"):
	case strings.Count(v, "/") >= 2 && letter.has(v[0]) && (path &^ (equal | plus | percent)).all(v): // a/b/c
	case strings.HasPrefix(v, "--"): // a flag
	default:
		return false
	}
	for part := range strings.FieldsFuncSeq(v[:min(len(v), sample)], func(r rune) bool { return strings.ContainsRune("/\\.:?&=", r) }) {
		if len(part) >= 8 && isMixed(part) && isRandom(part) || len(part) >= 20 && isRandom(part) {
			return false
		}
	}
	return true
}

// isCode reports whether an unquoted v is an expression of a programming
// language: a call, a member of something, an index, an operator.
func isCode(v string) bool {
	n := 0
	for n < len(v) && (word.has(v[n]) || v[n] == '.' || v[n] == '$' || v[n] == '@' && n == 0 || v[n] == '*' && n == 0 ||
		v[n] == '&' && n == 0 || v[n] == '?' || strings.HasPrefix(v[n:], "::") || n > 0 && v[n-1] == ':' && v[n] == ':' ||
		strings.HasPrefix(v[n:], "->") || n > 0 && v[n-1] == '-' && v[n] == '>') {
		n++
	}
	head := v[:n]
	if n == len(v) {
		// A path of names, none of them random.
		if !strings.ContainsAny(head, ".:>") || digit.has(v[0]) {
			return false
		}
		for part := range strings.FieldsFuncSeq(head, func(r rune) bool { return strings.ContainsRune(".:->?$", r) }) {
			if !isName(part) || len(part) >= 8 && isMixed(part) && isRandom(part) || len(part) >= 20 && isRandom(part) {
				return false
			}
		}
		return true
	}
	switch v[n] {
	case '(', '[':
		return n == 0 || !(len(head) >= 8 && isMixed(head) && isRandom(head))
	case '<':
		return n > 0 && (upper.has(head[0]) || strings.Contains(head, ".")) // Option<String>, config.get<string>
	case '{':
		return n == 0 || n+1 == len(v) || v[n+1] == '}' || letter.has(head[0]) || head[0] == '&'
	case '=', '>', '|', ')', ']', '}', ',', ';', '^':
		return n == 0
	case '!':
		return n == 0 && len(v) > 1 && letter.has(v[1]) && isName(v[1:])
	case '-', '+':
		return n == 0 && len(v) == 1
	}
	return false
}

// isPackage reports whether v is a path of two names: go/token.
func isPackage(v string) bool {
	a, b, ok := strings.Cut(v, "/")
	return ok && isName(a) && isName(b) && len(v) < 24 && !isRandom(a) && !isRandom(b)
}

// isSentence reports whether v is a description: a capital and four or more
// words without digits.
func isSentence(v string) bool {
	return upper.has(v[0]) && strings.Count(v, " ") >= 3 && !strings.ContainsAny(v, "0123456789")
}

// isConstant reports whether v is the name of an environment variable or a
// constant (MY_TOKEN) or of a secret (aws_secret_access_key, accessToken).
func isConstant(v string) bool {
	if !(letter | under | dash).all(v) {
		return false
	}
	if strings.ContainsAny(v, "_-") {
		return (upper | under).all(v) || classify(v) >= hint
	}
	k, _ := in(v)
	return k&lower != 0 && k&upper != 0 && classify(v) >= secret
}

// isCodeName reports whether v is in the style of the constants of C.
func isCodeName(v string) bool {
	return (upNum | under | dot).all(v) && strings.Contains(v, "_")
}

// isOID reports whether v is a version or an object identifier.
func isOID(v string) bool { return (digit | dot).all(v) && strings.Count(v, ".") >= 2 }

// isID reports whether v is a UUID or a ULID.
func isID(v string) bool {
	return isUUID(v) || len(v) == 26 && v[0] >= '0' && v[0] <= '7' && upNum.all(v) && !strings.ContainsAny(v, "ILOU")
}

func isUUID(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := range len(v) {
		if dashed := i == 8 || i == 13 || i == 18 || i == 23; dashed != (v[i] == '-') || !dashed && !anyHex.has(v[i]) {
			return false
		}
	}
	return true
}

// isChance reports whether v, under a name that only hints, is a secret: one
// long random word that is no digest and no id.
func isChance(v string) bool {
	return len(v) >= 16 && (b64 | wordy | dot | tilde).all(v) && isMixed(v) && isRandom(v) && !isID(v) && !anyHex.all(v) && !isPath(v) && !isAlphabet(v) && !isCodeName(v)
}

// isAlphabet reports whether v is a list of characters rather than a value.
func isAlphabet(v string) bool {
	return strings.Contains(v, "bcdefg") || strings.Contains(v, "BCDEFG")
}

// isVersion reports whether v ends in a version number: jjwt-api-0.11.2.
func isVersion(v string) bool {
	n := (digit | dot).back(v, len(v), len(v))
	return strings.Count(v[n:], ".") >= 1 && v[n:] != v && (!isRandom(v[:n]) || !strings.ContainsAny(v[:n], "0123456789")) && len(v)-n <= 12
}

// isKey reports whether v has the shape of the keys of the vendors.
func isKey(v string) bool {
	const shortest, longest = 14, 200
	if len(v) < shortest || len(v) > longest || !(b64 | wordy | dot | tilde | percent | colon).all(v) || isPath(v) {
		return false
	}
	k, _ := in(v)
	switch {
	case len(v) == 17 && v[8] == ':' && hex.all(v[:8]) && hex.all(v[9:]): // Sidekiq
		return true
	case k&digit == 0:
		return len(v) >= 20 && isRandom(v)
	case k&letter == 0:
		return digit.all(v)
	}
	return isRandom(v) || anyHex.all(v) || isUUID(v)
}

// isSecretText reports whether a value that is spelled out, in quotes or as a
// JSON string, is a secret under a name of class k.
func isSecretText(k class, v string) bool {
	if strings.TrimSpace(v) == "" || isStandIn(v) {
		return false
	}
	switch k {
	case plain:
		return false
	case vendor:
		return isKey(v) || isChance(v)
	case hint:
		return isChance(v)
	case password:
		return len(v) >= 3 && !isWord(v) && !isPath(v) && (!isConstant(v) || strings.IndexByte(v, '_') < 0)
	case secret:
		switch {
		case isPath(v), isConstant(v), isSentence(v), isOID(v), isWord(v), v[len(v)-1] == ':', isPackage(v):
			return false
		case len(v) >= 12:
			return true
		}
		kinds, other := in(v)
		return len(v) >= 8 && (other || kinds&^letter != 0 || isRandom(v))
	}
	return false
}
