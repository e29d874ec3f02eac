package redact

import "strings"

// urlCredentials finds the password of scheme://user:password@host, whatever
// characters it was given, and a token that stands alone before the @.
func urlCredentials(c *scan, at int, r *rule) int {
	s := c.s
	from := at + len(r.prefix)
	stop := from
	for stop < len(s) && !isBlank(s[stop]) && strings.IndexByte("/?#\"'`<>\\|^,;()[]{}", s[stop]) < 0 {
		stop++
	}
	authority := s[from:stop]
	sign := strings.LastIndexByte(authority, '@')
	user, _, both := strings.Cut(authority, ":")
	if sign < 0 {
		// A password with a slash or the like: look for the @ beyond it.
		if !both || digit.all(authority[len(user)+1:]) && stop < len(s) && s[stop] == '/' {
			return at
		}
		const reach = 200
		for stop < len(s) && stop < from+reach && !isBlank(s[stop]) && strings.IndexByte("\"'`<>\\", s[stop]) < 0 {
			stop++
		}
		authority = s[from:stop]
		if sign = strings.LastIndexByte(authority, '@'); sign < 0 || strings.Contains(authority[:sign], "://") {
			return at
		}
	}
	if host := authority[sign+1:]; both && host != "localhost" && !strings.ContainsAny(host, ".:") {
		// No host: the password may have an @ and go on beyond a slash.
		const reach = 200
		rest := s[from:min(len(s), from+reach)]
		if end := strings.IndexAny(rest, " \t\r\n\"'`<>\\"); end >= 0 {
			rest = rest[:end]
		}
		if next := strings.LastIndexByte(rest, '@'); next > sign && next+1 < len(rest) && alnum.has(rest[next+1]) {
			authority, sign = rest, next
		}
	}
	user, password, both := strings.Cut(authority[:sign], ":")
	switch {
	case !both && (len(user) >= 16 && isMixed(user) && isRandom(user) || len(user) >= 32 && hex.all(user)):
		c.add(from, from+sign)
	case both && password != "" && !isStandIn(password):
		c.add(from+len(user)+1, from+sign)
	default:
		return at
	}
	return from + sign
}

// webhook finds addresses that anyone who knows them may post to. They go whole,
// but for the scheme.
func webhook(c *scan, at int, r *rule) int {
	const longestHost, shortestPath = 80, 16
	parts := path | atSign
	from := parts.back(c.s, at, longestHost)
	from += len(c.s[from:at]) - len(strings.TrimLeft(c.s[from:at], "/"))
	end := (parts | colon).run(c.s, at+len(r.prefix))
	if end-at-len(r.prefix) < shortestPath || isReference(c.s[at+len(r.prefix):end]) {
		return at
	}
	c.add(from, end)
	return end
}

// dsnPassword finds the password of user:password@tcp(host)/database.
func dsnPassword(c *scan, at int, _ *rule) int {
	const reach = 100
	from := at
	for from > 0 && at-from < reach && !isBlank(c.s[from-1]) && strings.IndexByte("\"'`=", c.s[from-1]) < 0 {
		from--
	}
	user, password, ok := strings.Cut(c.s[from:at], ":")
	if !ok || user == "" || password == "" || strings.HasPrefix(password, "//") || isStandIn(password) {
		return at
	}
	c.add(from+len(user)+1, at)
	return at
}
