package redact

import "sync"

// rule says what to do where prefix stands in the text.
type rule struct {
	prefix string
	fold   bool   // prefix is lower case and matches any case
	find   finder // nil: token

	// What token looks for after the prefix.
	body     charset
	min, max int // length of the body; max 0: no limit
	flags    flag
}

// finder looks at a place where the prefix of r stands, adds the spans of the
// secrets it finds there, and returns the place up to which no other rule needs
// to look, or at.
type finder func(c *scan, at int, r *rule) int

func (r *rule) at(s string, i int) bool {
	if len(s)-i < len(r.prefix) {
		return false
	}
	if !r.fold {
		return s[i:i+len(r.prefix)] == r.prefix
	}
	return hasPrefixFold(s[i:], r.prefix)
}

// gramLen is the length of the piece of text by which rules are found, and the
// least length of a prefix; shorter ones are entered with each character of
// their body.
const gramLen = 3

// index finds the rules whose prefix may start at a place by the first three
// bytes there, without regard to case.
type index struct {
	first [1 << bucketBits]uint16 // number of a node; 0: none
	nodes []node
}

type node struct {
	rule *rule
	next uint16
}

const bucketBits = 12

// bucket is where the rules for a gram (its last three bytes count) are.
func bucket(gram uint32) uint32 {
	return (gram << 8 * 0x9E3779B1) >> (32 - bucketBits)
}

var rules = sync.OnceValue(buildIndex)

func buildIndex() *index {
	ix := &index{nodes: make([]node, 1, 600)}
	for i := range tokenRules {
		ix.add(&tokenRules[i])
	}
	for i := range shapeRules {
		ix.add(&shapeRules[i])
	}
	names := make([]rule, 0, len(nameStems)+len(vendors))
	for _, name := range nameStems {
		names = append(names, rule{prefix: name, find: named, fold: true})
	}
	for _, name := range vendors {
		names = append(names, rule{prefix: name, find: vendored, fold: true})
	}
	for i := range names {
		ix.add(&names[i])
	}
	return ix
}

func (ix *index) add(r *rule) {
	if len(r.prefix) >= gramLen {
		ix.enter(r, r.prefix[:gramLen])
		return
	}
	for b := range byte(0x80) {
		twin := b >= 'A' && b <= 'Z' && r.body.has(b|0x20) // shares a bucket
		if r.body.has(b) && !twin {
			ix.enter(r, r.prefix+string(rune(b)))
		}
	}
}

func (ix *index) enter(r *rule, start string) {
	b := bucket(uint32(start[0]|0x20)<<16 | uint32(start[1]|0x20)<<8 | uint32(start[2]|0x20))
	ix.nodes = append(ix.nodes, node{rule: r, next: ix.first[b]})
	ix.first[b] = uint16(len(ix.nodes) - 1)
}

// hasPrefixFold is strings.HasPrefix for a lower-case ASCII prefix, without
// regard to case in s.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && equalFold(s[:len(prefix)], prefix)
}

// equalFold compares s, in any case, with a lower-case ASCII word.
func equalFold(s, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := range len(s) {
		b := s[i]
		if b >= 'A' && b <= 'Z' {
			b |= 0x20
		}
		if b != lower[i] {
			return false
		}
	}
	return true
}
