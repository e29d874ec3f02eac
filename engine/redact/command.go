package redact

import (
	"slices"
	"strings"
)

// program says which arguments of a program are secret, for the programs whose
// flags do not say it themselves.
type program struct {
	pair  []string // flags that take user:password
	value []string // flags that take a password
	glued string   // a flag that the password follows without a blank
}

func programOf(name string) program {
	switch name {
	case "curl":
		return program{pair: []string{"-u", "--user", "-U", "--proxy-user"}}
	case "smbclient":
		return program{pair: []string{"-U", "--user"}}
	case "redis-cli":
		return program{value: []string{"-a"}}
	case "ldapsearch":
		return program{value: []string{"-w"}}
	case "docker login", "podman login":
		return program{value: []string{"-p"}}
	case "sshpass":
		return program{value: []string{"-p"}, glued: "-p"}
	}
	return program{glued: "-p"} // mysql, mysqldump, mariadb
}

// command finds the secrets in the arguments of a program, up to the end of the
// command.
func command(c *scan, at int, r *rule) int {
	if at < c.commandEnd || !wordStart(c.s, at) {
		return at
	}
	p := programOf(r.prefix)
	i := word.run(c.s, at+len(r.prefix))
	flag := ""
	for {
		arg, ok := argument(c.s, i)
		c.commandEnd = arg.to
		if !ok {
			return at
		}
		v := c.s[arg.from:arg.to]
		i = arg.to
		name, value, tight := strings.Cut(v, "=")
		switch {
		case slices.Contains(p.value, flag):
			c.argument(arg)
		case slices.Contains(p.pair, flag):
			c.pair(arg)
		case tight && slices.Contains(p.pair, name):
			c.pair(span{arg.to - len(value), arg.to})
		case p.glued != "" && len(v) > len(p.glued) && strings.HasPrefix(v, p.glued):
			c.argument(span{arg.from + len(p.glued), arg.to})
		case len(v) > 2 && slices.Contains(p.pair, v[:2]):
			c.pair(span{arg.from + 2, arg.to})
		}
		flag = v
	}
}

func (c *scan) argument(at span) {
	at = c.unquoted(at)
	if v := c.s[at.from:at.to]; v != "" && v[0] != '-' && !isStandIn(v) {
		c.add(at.from, at.to)
	}
}

// pair adds the password of user:password (or user%password), unless it reads
// like a manual.
func (c *scan) pair(at span) {
	at = c.unquoted(at)
	v := c.s[at.from:at.to]
	n := strings.IndexAny(v, ":%")
	if n < 0 || strings.ContainsAny(v[:n], "<{[") || isStandIn(v) {
		return
	}
	switch strings.ToLower(v[n+1:]) {
	case "password", "pass", "passwd", "pw", "token", "secret":
		return
	}
	if n+1 == len(v) && len(v) > 8 { // a key as the user, without a password
		c.argument(span{at.from, at.to - 1})
		return
	}
	c.argument(span{at.from + n + 1, at.to})
}

// unquoted narrows a span to what its outer quotes hold.
func (c *scan) unquoted(at span) span {
	for at.from < at.to && (c.s[at.from] == '"' || c.s[at.from] == '\'') {
		at.from++
	}
	for at.to > at.from && (c.s[at.to-1] == '"' || c.s[at.to-1] == '\'') {
		at.to--
	}
	return at
}

// argument returns the next shell word at or after i, with its quotes; ok is
// false at the end of the command, which is then the end of the span.
func argument(s string, i int) (arg span, ok bool) {
	for i < len(s) && (blank.has(s[i]) || strings.HasPrefix(s[i:], "\\\n")) {
		if s[i] == '\\' {
			i++
		}
		i++
	}
	from := i
	for i < len(s) && !isBlank(s[i]) && strings.IndexByte("`|;", s[i]) < 0 {
		if s[i] != '"' && s[i] != '\'' {
			i++
			continue
		}
		// A quote opens after a sign or a flag; after a word it closes what the
		// whole command is in.
		n := strings.IndexByte(s[i+1:], s[i])
		if n < 0 || strings.IndexByte(s[i+1:i+1+n], '\n') >= 0 || i > from && alnum.has(s[i-1]) && s[from] != '-' {
			break
		}
		i += n + 2
	}
	return span{from, i}, i > from && s[from] != '&'
}

// opensslPassword finds what openssl calls a pass phrase source, pass:… .
func opensslPassword(c *scan, at int, r *rule) int {
	const reach = 12
	if !strings.Contains(c.s[max(0, at-reach):at], "-pass") {
		return at
	}
	arg, _ := argument(c.s, at+len(r.prefix))
	c.argument(arg)
	return arg.to
}

// sqlPassword finds CREATE USER … IDENTIFIED BY '…'.
func sqlPassword(c *scan, at int, r *rule) int {
	const reach = 200
	before := strings.ToLower(c.s[max(0, at-reach):at])
	if !strings.Contains(before, "create") && !strings.Contains(before, "alter") && !strings.Contains(before, "grant") {
		return at
	}
	from := skip(c.s, at+len(r.prefix))
	if hasPrefixFold(c.s[from:], "password ") {
		from = skip(c.s, from+len("password "))
	}
	if v, ok := quoted(c.s, from); ok && v.to > v.from && !isStandIn(c.s[v.from:v.to]) {
		c.add(v.from, v.to)
		return v.to
	}
	return at
}
