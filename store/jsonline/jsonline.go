// Package jsonline reads one JSON object per line without allocating.
//
// Parse validates a line completely in one pass: JSON syntax, UTF-8, no raw
// control character, nothing after the object, nesting of at most MaxDepth, and
// no top-level key twice. What it accepts, encoding/json accepts with the same
// meaning; what it refuses beyond that (duplicate keys, invalid UTF-8, depth)
// are texts on whose meaning two readers could differ.
//
// Fields alias the line that was parsed. An Object may be reused for any number
// of lines; it is not safe for concurrent use.
package jsonline

import (
	"bytes"
	"fmt"
)

// MaxDepth is the deepest nesting of objects and arrays that Parse accepts; the
// top-level object is depth 1.
const MaxDepth = 128

// indexAbove is the number of fields from which duplicate keys are looked up in
// a map, so that a line with very many keys costs linear time.
const indexAbove = 32

// Field is one top-level member of an object.
type Field struct {
	Key   []byte // decoded; aliases the line when the key holds no escape
	Value []byte // the raw JSON text of the value, without surrounding blanks
}

// Object holds the top-level fields of one line, in their order. The zero value
// is ready for use.
type Object struct {
	fields []Field
	keys   []byte              // decoded text of keys with escapes
	seen   map[string]struct{} // keys, once there are more than indexAbove
}

// Make returns n objects that share one allocation for their first fields. It
// suits a caller that parses many lines before it looks at any.
func Make(n int) []Object {
	const usual = 12 // an envelope has at most ten fields
	objects := make([]Object, n)
	fields := make([]Field, n*usual)
	for i := range objects {
		objects[i].fields = fields[i*usual : i*usual : (i+1)*usual]
	}
	return objects
}

// SyntaxError says what is wrong with a line and where.
type SyntaxError struct {
	Offset int    // byte offset in the line
	Reason string // lower case, without the offset
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset)
}

// Parse validates line and makes its top-level fields the content of o. The
// fields stay valid while line is unchanged and until the next Parse. After an
// error, which is a *SyntaxError, o is empty.
func (o *Object) Parse(line []byte) error {
	o.fields = o.fields[:0]
	o.keys = o.keys[:0]
	clear(o.seen)
	if at, reason := o.parse(line); reason != "" {
		o.fields = o.fields[:0]
		return &SyntaxError{Offset: at, Reason: reason}
	}
	return nil
}

// Fields returns the top-level fields in the order of the line.
func (o *Object) Fields() []Field { return o.fields }

// Get returns the raw JSON text of the field named key.
func (o *Object) Get(key string) (raw []byte, ok bool) {
	for i := range o.fields {
		if string(o.fields[i].Key) == key {
			return o.fields[i].Value, true
		}
	}
	return nil, false
}

// parse fills o from b. A reason means that b is refused at the offset.
func (o *Object) parse(b []byte) (at int, reason string) {
	i := skipSpace(b, 0)
	if i == len(b) || b[i] != '{' {
		return i, "not a JSON object"
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return atEnd(b, i+1)
	}
	for {
		start := i
		if i == len(b) || b[i] != '"' {
			return i, expected(b, i, "a key")
		}
		var escaped bool
		if i, escaped, reason = scanString(b, i+1); reason != "" {
			return i, reason
		}
		key := b[start+1 : i-1]
		if escaped {
			from := len(o.keys)
			o.keys = appendUnescaped(o.keys, key)
			key = o.keys[from:len(o.keys):len(o.keys)]
		}
		if o.has(key) {
			return start, "duplicate key"
		}
		if i = skipSpace(b, i); i == len(b) || b[i] != ':' {
			return i, expected(b, i, "a colon")
		}
		start = skipSpace(b, i+1)
		if i, reason = scanValue(b, start, 1); reason != "" {
			return i, reason
		}
		o.fields = append(o.fields, Field{Key: key, Value: b[start:i:i]})
		i = skipSpace(b, i)
		if i == len(b) {
			return i, "unexpected end"
		}
		switch b[i] {
		case ',':
			i = skipSpace(b, i+1)
		case '}':
			return atEnd(b, i+1)
		default:
			return i, expected(b, i, "a comma or the end of the object")
		}
	}
}

// has reports whether a field with that key was met before.
func (o *Object) has(key []byte) bool {
	if len(o.fields) < indexAbove {
		for i := range o.fields {
			if bytes.Equal(o.fields[i].Key, key) {
				return true
			}
		}
		return false
	}
	if len(o.seen) == 0 {
		if o.seen == nil {
			o.seen = make(map[string]struct{}, 2*indexAbove)
		}
		for i := range o.fields {
			o.seen[string(o.fields[i].Key)] = struct{}{}
		}
	}
	if _, found := o.seen[string(key)]; found {
		return true
	}
	o.seen[string(key)] = struct{}{}
	return false
}

// atEnd accepts b when only blanks follow from i.
func atEnd(b []byte, i int) (at int, reason string) {
	if i = skipSpace(b, i); i != len(b) {
		return i, "text after the object"
	}
	return i, ""
}

func expected(b []byte, i int, what string) string {
	if i == len(b) {
		return "unexpected end"
	}
	return "expected " + what
}
