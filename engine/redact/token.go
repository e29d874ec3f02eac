package redact

// flag refines what token accepts.
type flag uint8

const (
	// anywhere: the token may start inside a word. For prefixes that nothing
	// else contains; the others start at a word.
	anywhere flag = 1 << iota
	// mixed: the body has digits and letters and is not all hexadecimal. For
	// prefixes that ordinary names and files have too.
	mixed
	// random: the body looks random.
	random
	// alone: no other part of a compound name comes before.
	alone
	// kept: the prefix stays, only the body goes.
	kept
)

// token finds the tokens of tokenRules: a prefix and a body of known characters
// and length. With a greatest length nothing may continue the body; without
// one the whole run goes.
func token(c *scan, at int, r *rule) int {
	if r.flags&anywhere == 0 && !wordStart(c.s, at) ||
		r.flags&alone != 0 && (under|dash|dot|slash).back(c.s, at, 1) < at ||
		r.max > 0 && (r.body&^alnum).back(c.s, at, 1) < at { // inside of a longer run
		return at
	}
	from := at + len(r.prefix)
	// What refuses a token does so by its first part.
	limit := min(len(c.s), from+max(sample, r.min))
	if r.max > 0 {
		limit = min(len(c.s), from+r.max+1)
	}
	end := r.body.run(c.s[:limit], from)
	n := end - from
	if n < r.min || r.max > 0 && (n > r.max || !wordEnd(c.s, end)) ||
		r.flags&mixed != 0 && !isMixed(c.s[from:end]) || r.flags&random != 0 && !isRandom(c.s[from:end]) {
		return at
	}
	if r.max == 0 {
		end = r.body.run(c.s, end)
		for end-from > r.min && (c.s[end-1] == '.' || c.s[end-1] == '-') {
			end-- // the end of a sentence, a dash
		}
	}
	if r.flags&kept == 0 {
		from = at
	}
	c.add(from, end)
	return end
}

func isMixed(s string) bool {
	k, _ := in(s[:min(len(s), sample)])
	return k&digit != 0 && k&letter != 0 && (k&^anyHex != 0 || k&upGZ != 0)
}
