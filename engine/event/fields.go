package event

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/agentloadout/loadout/store/jsonline"
)

// fields reads the members of one payload object and keeps the first error. An optional member that is absent or an empty
// string reads as the zero value.
type fields struct {
	object jsonline.Object
	prefix string // path of the object, for errors: "payload."
	brief  bool   // check texts that no state is built from and return nothing of them
	strict bool   // read what this program is about to write
	err    error
}

// parse makes raw, which may be anything, the object to read.
func (f *fields) parse(raw []byte) bool { return f.parsed(f.object.Parse(raw)) }

// split is parse for what is known to be valid JSON, and takes half its time.
func (f *fields) split(raw []byte) bool { return f.parsed(f.object.Split(raw)) }

func (f *fields) parsed(err error) bool {
	if err != nil {
		f.err = invalid(f.prefix[:len(f.prefix)-1], "is not a valid object: "+err.Error())
	}
	return err == nil
}

// get returns the raw value of a member, nil when it is absent.
func (f *fields) get(key string) []byte {
	raw, _ := f.object.Get(key)
	return raw
}

func (f *fields) fail(key, reason string) {
	if f.err == nil {
		f.err = invalid(f.prefix+key, reason)
	}
}

// required returns the raw value of a member that must be there.
func (f *fields) required(key string) []byte {
	raw := f.get(key)
	if raw == nil {
		f.fail(key, "is missing")
	}
	return raw
}

func (f *fields) has(key string) bool { return f.get(key) != nil }

// string decodes raw, the value of key or an element of it.
func (f *fields) string(key string, raw []byte, limit int) string {
	s, err := jsonline.String(raw)
	if err != nil {
		f.fail(key, "is not a string")
	} else if !fits(s, limit) {
		f.fail(key, tooLong("", limit).Reason)
	}
	return s
}

// name is a required text whose blanks at both ends do not count.
func (f *fields) name(key string, limit int) string {
	raw := f.required(key)
	if raw == nil {
		return ""
	}
	s := trim(f.string(key, raw, math.MaxInt))
	switch {
	case s == "":
		f.fail(key, "is empty")
	case !fits(s, limit):
		f.fail(key, tooLong("", limit).Reason)
	}
	return s
}

// newLabel is for a name that this program is about to write: what cannot be typed or shown as a name is refused. One that another
// program wrote stays as it is.
func (f *fields) newLabel(key, s string) string {
	if f.strict && hasUnprintable(s) {
		f.fail(key, unprintable)
	}
	return s
}

// optionalName is name for a member that may be absent or empty.
func (f *fields) optionalName(key string, limit int) string {
	raw := f.get(key)
	if raw == nil {
		return ""
	}
	s := trim(f.string(key, raw, math.MaxInt))
	if !fits(s, limit) {
		f.fail(key, tooLong("", limit).Reason)
	}
	return s
}

// text is a required text in which every character counts; it may be empty.
func (f *fields) text(key string, limit int) string {
	raw := f.required(key)
	if raw == nil {
		return ""
	}
	return f.string(key, raw, limit)
}

// optionalText is text for a member that may be absent.
func (f *fields) optionalText(key string, limit int) string {
	raw := f.get(key)
	if raw == nil {
		return ""
	}
	return f.string(key, raw, limit)
}

// remark is an optionalText that no state is built from.
func (f *fields) remark(key string, limit int) string {
	raw := f.get(key)
	if raw == nil {
		return ""
	}
	return f.skim(key, raw, limit)
}

// skim is string, without decoding when that is not needed.
func (f *fields) skim(key string, raw []byte, limit int) string {
	if f.brief && raw[0] == '"' && len(raw)-2 <= limit {
		return ""
	}
	return f.string(key, raw, limit)
}

// integer is a required whole number from low to high.
func (f *fields) integer(key string, low, high int64) int64 {
	raw := f.required(key)
	if raw == nil {
		return 0
	}
	return f.number(key, raw, low, high)
}

// optionalInteger is integer for a member that may be absent, nil then.
func (f *fields) optionalInteger(key string, low, high int64) *int64 {
	raw := f.get(key)
	if raw == nil {
		return nil
	}
	n := f.number(key, raw, low, high)
	return &n
}

func (f *fields) number(key string, raw []byte, low, high int64) int64 {
	n, err := jsonline.Int(raw)
	if err != nil || n < low || n > high {
		f.fail(key, "is not a whole number from "+strconv.FormatInt(low, 10)+" to "+strconv.FormatInt(high, 10))
	}
	return n
}

// choice is a required word out of a fixed list.
func choice[T ~string](f *fields, key string, words ...T) T {
	raw := f.required(key)
	if raw == nil {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 && raw[0] == '"' {
		inside := raw[1 : len(raw)-1]
		for _, w := range words {
			if string(inside) == string(w) {
				return w
			}
		}
	}
	f.fail(key, "is none of "+joined(words))
	return ""
}

// optionalChoice is choice for a member that may be absent.
func optionalChoice[T ~string](f *fields, key string, words ...T) T {
	if !f.has(key) {
		return ""
	}
	return choice(f, key, words...)
}

func joined[T ~string](words []T) string {
	var b []byte
	for i, w := range words {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, w...)
	}
	return string(b)
}

// only refuses members other than these.
func (f *fields) only(keys ...string) {
	for _, field := range f.object.Fields() {
		if !slices.Contains(keys, string(field.Key)) {
			f.fail(Clip(string(field.Key), MaxName), "is not known")
		}
	}
}

// list hands each element of an optional list to fn. More than limit elements are refused.
func (f *fields) list(key string, limit int, fn func(raw []byte)) {
	raw := f.get(key)
	if raw == nil {
		return
	}
	if raw[0] != '[' {
		f.fail(key, "is not a list")
		return
	}
	n := 0
	for element := range jsonline.Elements(raw) {
		if n++; n > limit {
			f.fail(key, "has more than "+strconv.Itoa(limit)+" elements")
			return
		}
		fn(element)
	}
}

// names is an optional list of texts that must not be empty and whose blanks at both ends do not count.
func (f *fields) names(key string, limit, each int) []string {
	var names []string
	f.list(key, limit, func(raw []byte) {
		s := trim(f.string(key, raw, math.MaxInt))
		switch {
		case s == "":
			f.fail(key, "has an empty element")
		case !fits(s, each):
			f.fail(key, "has an element that is "+tooLong("", each).Reason[len("is "):])
		}
		names = append(names, s)
	})
	return names
}

// remarks is an optional list of texts that no state is built from.
func (f *fields) remarks(key string, limit, each int) []string {
	var texts []string
	f.list(key, limit, func(raw []byte) {
		if s := f.skim(key, raw, each); !f.brief {
			texts = append(texts, s)
		}
	})
	return texts
}

// nested reads the object raw as fields of its own and keeps its first error.
func (f *fields) nested(key string, raw []byte, fn func(*fields)) {
	inner := fields{prefix: f.prefix + key + ".", brief: f.brief, strict: f.strict}
	if inner.parse(raw) {
		fn(&inner)
	}
	if f.err == nil {
		f.err = inner.err
	}
}
