package redact

import "strings"

// bearer finds the token after the word Bearer, wherever it stands.
func bearer(c *scan, at int, r *rule) int {
	from := at + len(r.prefix)
	if from >= len(c.s) || !blank.has(c.s[from]) || !wordStart(c.s, at) {
		return named(c, at, r)
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
		return named(c, at, r)
	}
	from = skip(c.s, from)
	end := b64.run(c.s, from)
	if end-from < 8 || !decodes(c.s[from:end]) {
		return at
	}
	c.add(from, end)
	return end
}

// schemes are the authentication schemes of an Authorization header and of the
// services that made up their own.
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

// authorization finds the credentials of a header value that starts at from:
// what follows the scheme, or all of it when it is one random word. It returns
// from when there are none.
func (c *scan) authorization(from, limit int) int {
	s := c.s[:limit]
	end := from
	for end < len(s) && s[end] != '\n' && s[end] != '\r' && strings.IndexByte("\"'`", s[end]) < 0 && escapedBreak(s[end:]) == 0 &&
		!(s[end] == '\\' && end+1 < len(s) && strings.IndexByte("\"'", s[end+1]) >= 0) {
		end++
	}
	v := strings.TrimRight(s[from:end], " \t")
	scheme, rest, ok := strings.Cut(v, " ")
	if !ok || !isScheme(scheme) {
		return from
	}
	start := from + len(v) - len(strings.TrimLeft(rest, " \t"))
	rest = s[start : from+len(v)]
	first, more, _ := strings.Cut(rest, " ")
	if rest == "" || isStandIn(first) {
		return from
	}
	first = strings.TrimRight(first, ",;)}]")
	switch {
	case strings.IndexByte(first, '=') > 0 && strings.Contains(more, "="):
		// Digest, OAuth, AWS: parameters up to the end of the line.
		c.add(start, from+len(v))
		return from + len(v)
	case !isValueLike(first):
		return from
	}
	c.add(start, start+len(first))
	return start + len(first)
}

// isValueLike reports whether a word that stands where credentials do is more
// than a word: long, or with a digit or a sign in it.
func isValueLike(v string) bool {
	k, other := in(v)
	return len(v) >= 20 || len(v) >= 6 && (other || k&^letter != 0) || len(v) >= 12 && isRandom(v)
}
