package jsonline

import (
	"bytes"
	"iter"
)

// Split is Parse for an object in a line that Parse has accepted. It trusts the
// text and takes half the time. What turns out not to be an object is refused as
// Parse refuses it.
func (o *Object) Split(raw []byte) error {
	o.fields = o.fields[:0]
	o.keys = o.keys[:0]
	clear(o.seen)
	i := skipSpace(raw, 1)
	for i < len(raw) && raw[i] == '"' {
		end := skipString(raw, i)
		key := raw[i+1 : max(end-1, i+1)]
		if bytes.IndexByte(key, '\\') >= 0 || o.has(key) {
			return o.Parse(raw)
		}
		start := skipSpace(raw, skipSpace(raw, end)+1)
		end = skipValue(raw, start)
		if start >= end {
			break
		}
		o.fields = append(o.fields, Field{Key: key, Value: raw[start:end:end]})
		i = skipSpace(raw, end)
		if i < len(raw) && raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	if i != len(raw)-1 || raw[i] != '}' {
		return o.Parse(raw)
	}
	return nil
}

// Elements yields the raw elements of raw, an array in a line that Parse has
// accepted.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := skipSpace(raw, 1); i < len(raw) && raw[i] != ']'; i = skipSpace(raw, i) {
			if raw[i] == ',' {
				i = skipSpace(raw, i+1)
			}
			end := skipValue(raw, i)
			if end <= i || !yield(raw[i:end:end]) {
				return
			}
			i = end
		}
	}
}

// The skip functions find their way in valid JSON. In anything else they end somewhere in it.

// skipValue returns the end of the value at b[i].
func skipValue(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = skipString(b, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
			continue // no value ends here
		default: // a number or a word
			for i < len(b) && b[i] > ' ' && b[i] != ',' && b[i] != ']' && b[i] != '}' {
				i++
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return len(b)
}

// skipString returns the end of the string that opens at b[i].
func skipString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			break
		}
		i += n
		slashes := 0
		for b[i-1-slashes] == '\\' { // ends at the opening quote at the latest
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(b)
}
