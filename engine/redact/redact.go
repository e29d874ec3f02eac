// Package redact takes secrets out of text and JSON before they are stored.
//
// Four kinds of evidence make a run of characters a secret:
//
//   - its own shape: the prefixes that providers give their tokens, JSON web
//     tokens, private keys, webhook addresses;
//   - its place: the password of a URL, the credentials of an Authorization
//     header or of a command line;
//   - the name it is assigned to, in any of the notations of configuration
//     files, source code, JSON, YAML, XML and prose ("password", "clientSecret",
//     "MY_API_KEY"); what may stand for a value there and is none (a reference,
//     a call, a type, a placeholder) stays;
//   - for names that only hint at a secret, the name together with a value that
//     looks random.
//
// Nothing is a secret for looking random alone: commit ids, UUIDs, digests and
// integrity hashes stay.
//
// A single pass looks for all of them; it is linear in the length of the text
// and needs no regular expressions, so that a process which writes one line pays
// neither for compiling them nor for running them. The functions are safe for
// concurrent use.
package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Marker stands where a secret was.
const Marker = "[REDACTED]"

// maxPasses bounds how often Text looks again at what it has changed, since a
// marker can end what hid another secret. The second look hardly ever finds one;
// a third that did has not been seen.
const maxPasses = 8

// Text returns s with every secret replaced by Marker and all other bytes as
// they were. Text(Text(s)) equals Text(s).
func Text(s string) string {
	for range maxPasses {
		c := scan{s: s}
		c.run(rules())
		if len(c.spans) == 0 {
			break
		}
		next := c.apply()
		if next == s {
			break
		}
		s = next
	}
	return s
}

// span is a half-open range of bytes.
type span struct{ from, to int }

// scan is one pass over a text.
type scan struct {
	s     string
	spans []span

	jwtEnd     int    // no JSON web token starts before this place
	commandEnd int    // the arguments of a command are dealt with up to this place
	walked     int    // lists and maps are dealt with up to this place
	wasted     int    // bytes of JSON read in vain
	manifest   int    // Kubernetes secrets are handled up to this place
	quotes     quotes // state of the double quotes on the current line
}

func (c *scan) add(from, to int) {
	c.spans = append(c.spans, span{from, to})
}

// run calls the finder of every rule at every place where its prefix stands. A
// finder returns the place up to which it has dealt with the text.
func (c *scan) run(ix *index) {
	s := c.s
	if len(s) < gramLen {
		return
	}
	gram := uint32(s[0]|0x20)<<8 | uint32(s[1]|0x20)
	for i := 0; i+gramLen <= len(s); i++ {
		gram = gram<<8 | uint32(s[i+2]|0x20)
		n := ix.first[bucket(gram)]
		if n == 0 {
			continue
		}
		end := i
		for ; n != 0; n = ix.nodes[n].next {
			if r := ix.nodes[n].rule; r.at(s, i) {
				if r.find == nil {
					end = max(end, token(c, i, r))
				} else {
					end = max(end, r.find(c, i, r))
				}
			}
		}
		if end > i && end+gramLen <= len(s) {
			gram = uint32(s[end]|0x20)<<8 | uint32(s[end+1]|0x20)
		}
		i = max(i, end-1)
	}
	c.shapes()
}

// apply returns the text with the spans replaced; spans that touch or overlap
// become one marker.
func (c *scan) apply() string {
	slices.SortFunc(c.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	b.Grow(len(c.s))
	done := 0
	for i := 0; i < len(c.spans); {
		at := c.spans[i]
		for i++; i < len(c.spans) && c.spans[i].from <= at.to; i++ {
			at.to = max(at.to, c.spans[i].to)
		}
		b.WriteString(c.s[done:at.from])
		b.WriteString(Marker)
		done = at.to
	}
	b.WriteString(c.s[done:])
	return b.String()
}
