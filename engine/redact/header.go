package redact

import "strings"

// bearer finds the token after the word Bearer, wherever it stands.
func bearer(c *scan, at int, r *rule) int {
	from := at + len(r.prefix)
	if from >= len(c.s) || !blank.has(c.s[from]) || !wordStart(c.s, at) {
		return at
	}
	from = skip(c.s, from)
	end := (url64 | path | tilde).run(c.s, from)
	for end > from && c.s[end-1] == '.' {
		end--
	}
	v := c.s[from:end]
	if len(v) < 20 && (len(v) < 8 || !isMixed(v) && !isRandom(v)) || isMask(v) {
		return at
	}
	c.add(from, end)
	return end
}

// basic finds the encoded user:password after the word Basic.
func basic(c *scan, at int, r *rule) int {
	from := at + len(r.prefix)
	if from >= len(c.s) || !blank.has(c.s[from]) {
		return at
	}
	from = skip(c.s, from)
	end := b64.run(c.s, from)
	if end-from < 8 || !decodes(c.s[from:end]) {
		return at
	}
	c.add(from, end)
	return end
}

// isScheme reports whether s is an authentication scheme: one of those of the
// Authorization header, or one that a service made up.
func isScheme(s string) bool {
	for _, name := range [...]string{
		"bearer", "basic", "token", "digest", "negotiate", "ntlm", "oauth", "hawk", "mac", "key", "apikey",
		"api-key", "aws4-hmac-sha256", "ssws", "jwt", "splunk", "geniekey", "sharedkey", "sharedaccesssignature",
		"bot", "aws", "dpop", "hmac", "discogs", "flyv1",
	} {
		if equalFold(s, name) {
			return true
		}
	}
	_, last, ok := strings.Cut(strings.ToLower(s), "-")
	return ok && (strings.HasSuffix(last, "token") || strings.HasSuffix(last, "key"))
}

// authorization finds the credentials of a header value: what follows the scheme.
// It returns their end, or the start of the value when there are none.
func (c *scan) authorization(at span) int {
	const longestScheme = 32
	from, limit := at.from, at.to
	s := c.s[:limit]
	name := wordy.run(s[:min(limit, from+longestScheme)], from)
	if name >= limit || s[name] != ' ' || !isScheme(s[from:name]) {
		return from
	}
	start := skip(s, name)
	if end, secret := parameters(s, start); end > start { // Digest, OAuth, AWS
		if !secret {
			return from
		}
		c.add(start, end)
		return end
	}
	first, _, _ := strings.Cut(s[start:headerEnd(s[:min(limit, start+sample)], start)], " ")
	if first == "" || isStandIn(first) {
		return from
	}
	end := start
	for end < limit && !isBlank(s[end]) && !endsHeader(s, end) {
		end++
	}
	end -= len(s[start:end]) - len(strings.TrimRight(s[start:end], ",;)}]"))
	if !isValueLike(s[start:end]) {
		return from
	}
	c.add(start, end)
	return end
}

// parameters returns the end of the parameters at i, name=value and name="value",
// or i if there are none, and whether a value of theirs is spelled out.
func parameters(s string, i int) (end int, secret bool) {
	for end = i; ; {
		name := wordy.run(s, i)
		if name == i || name+1 >= len(s) || s[name] != '=' || s[name+1] == '=' || isBlank(s[name+1]) {
			return end, secret
		}
		at, ok := quoted(s, name+1)
		if ok {
			for end = at.to; s[end] == '\\'; end++ {
			}
			end++
		} else {
			at = span{name + 1, name + 1}
			for at.to < len(s) && !isBlank(s[at.to]) && s[at.to] != ',' && !endsHeader(s, at.to) {
				at.to++
			}
			end = at.to
		}
		v := s[at.from:at.to]
		secret = secret || len(v) >= 8 && !isStandIn(v) && !isQuote(v[0])
		for i = end; i < len(s) && (s[i] == ',' || blank.has(s[i])); i++ {
		}
		if rest := strings.TrimPrefix(s[i:], "\r"); strings.HasPrefix(rest, "\n ") || strings.HasPrefix(rest, "\n\t") {
			i = skip(s, len(s)-len(rest)+1) // the header goes on
		}
	}
}

// headerEnd returns where the header value at i ends, without blanks.
func headerEnd(s string, i int) int {
	end := i
	for ; i < len(s) && !endsHeader(s, i); i++ {
		if !isBlank(s[i]) {
			end = i + 1
		}
	}
	return end
}

// endsHeader reports whether the header at i is over: at the end of its line or
// of the string literal it is in.
func endsHeader(s string, i int) bool {
	switch s[i] {
	case '\n', '\r', '"', '\'', '`':
		return true
	case '\\':
		return escapedBreak(s[i:]) > 0 || i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\'')
	}
	return false
}

// isValueLike reports whether a word that stands where credentials do is more
// than a word: long, or with a digit or a sign in it.
func isValueLike(v string) bool {
	k, other := in(v)
	return len(v) >= 20 || len(v) >= 6 && (other || k&^letter != 0) || len(v) >= 12 && isRandom(v)
}
