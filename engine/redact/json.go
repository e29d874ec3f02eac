package redact

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// errDepth is the reason for refusing JSON that is nested too deeply.
var errDepth = errors.New("nested too deeply")

// maxDepth bounds the nesting of JSON values.
const maxDepth = 1000

// JSON returns the JSON value raw without its secrets. Strings are redacted as
// by Text. Under a key that names a secret the whole value becomes Marker,
// whatever its type; true, false, null and empty values say nothing and stay, as
// do counts such as "inputTokens": 1200. A key that only hints at a secret costs
// a string that looks random. Keys, their order, numbers, the types of all other
// values and the layout stay; a value without secrets is returned as it is. The
// error says that raw is not one valid JSON value.
func JSON(raw []byte) ([]byte, error) {
	if !json.Valid(raw) {
		var v any
		return nil, fmt.Errorf("redact JSON: %w", json.Unmarshal(raw, &v))
	}
	w := walk{s: string(raw)}
	if _, err := w.value(w.blanks(0), plain); err != nil {
		return nil, fmt.Errorf("redact JSON: %w", err)
	}
	if len(w.edits) == 0 {
		return raw, nil
	}
	out := make([]byte, 0, len(raw)+len(w.edits)*len(Marker))
	done := 0
	for _, e := range w.edits {
		if e.from < done {
			continue // inside a value that went whole
		}
		out = append(out, w.s[done:e.from]...)
		out = appendString(out, e.text)
		done = e.to
	}
	return append(out, w.s[done:]...), nil
}

// edit replaces a value by a string.
type edit struct {
	span
	text string
}

// walk goes through a valid JSON text once.
type walk struct {
	s     string
	depth int
	edits []edit
}

func (w *walk) blanks(i int) int {
	for i < len(w.s) && isBlank(w.s[i]) {
		i++
	}
	return i
}

// value deals with the value at i, whose key has class k, and returns its end.
func (w *walk) value(i int, k class) (int, error) {
	if w.depth++; w.depth > maxDepth {
		return i, errDepth
	}
	defer func() { w.depth-- }()
	from, mark := i, len(w.edits)
	var err error
	switch w.s[i] {
	case '"':
		end := stringEnd(w.s, i)
		w.text(i, end, k)
		return end, nil
	case '{':
		i, err = w.object(i)
	case '[':
		i, err = w.array(i, k)
	case 't', 'f', 'n':
		return literalEnd(w.s, i), nil
	default:
		end := literalEnd(w.s, i)
		if k >= secret {
			w.edits = append(w.edits, edit{span{i, end}, Marker})
		}
		return end, nil
	}
	if k >= secret && strings.TrimLeft(w.s[from+1:i], " \t\r\n") != w.s[i-1:i] && err == nil {
		w.edits = append(w.edits[:mark], edit{span{from, i}, Marker})
	}
	return i, err
}

// text deals with a string value.
func (w *walk) text(from, to int, k class) {
	s := unquote(w.s[from:to])
	redacted := s
	switch {
	case k >= secret && s != "" && s != Marker, k != plain && isSecretText(k, s):
		redacted = Marker
	default:
		redacted = Text(s)
	}
	if redacted != s {
		w.edits = append(w.edits, edit{span{from, to}, redacted})
	}
}

// object deals with an object. Besides its keys, two shapes tell secrets: the
// pair {"name": "DB_PASSWORD", "value": …} and the manifest of a Kubernetes
// secret.
func (w *walk) object(i int) (int, error) {
	var (
		named   class // of the string under "name" or "key"
		kind    bool  // it is a Kubernetes secret
		pending []span
		err     error
	)
	for i = w.blanks(i + 1); w.s[i] != '}'; i = w.blanks(i) {
		if w.s[i] == ',' {
			i = w.blanks(i + 1)
		}
		end := stringEnd(w.s, i)
		key := unquote(w.s[i:end])
		i = w.blanks(w.blanks(end) + 1)
		at := span{from: i}
		if i, err = w.value(i, keyClass(key)); err != nil {
			return i, err
		}
		at.to = i
		switch isText := w.s[at.from] == '"'; {
		case isText && (key == "name" || key == "key" || key == "Name" || key == "Key"):
			named = classify(unquote(w.s[at.from:at.to]))
		case isText && (key == "value" || key == "Value"),
			key == "data", key == "stringData":
			pending = append(pending, at)
		case isText && key == "kind":
			kind = unquote(w.s[at.from:at.to]) == "Secret"
		}
	}
	for _, at := range pending {
		if isText := w.s[at.from] == '"'; isText && named >= secret && isSecretText(named, unquote(w.s[at.from:at.to])) ||
			!isText && kind && w.s[at.from] == '{' {
			w.replace(at)
		}
	}
	return i + 1, nil
}

// replace puts Marker in place of a value that was dealt with before.
func (w *walk) replace(at span) {
	keep := w.edits[:0]
	placed := false
	for _, e := range w.edits {
		switch {
		case e.from < at.from:
			keep = append(keep, e)
		case e.from >= at.to:
			if !placed {
				placed = true
			}
			keep = append(keep, e)
		}
	}
	w.edits = keep
	n := len(w.edits)
	for n > 0 && w.edits[n-1].from > at.from {
		n--
	}
	w.edits = append(w.edits, edit{})
	copy(w.edits[n+1:], w.edits[n:])
	w.edits[n] = edit{at, Marker}
}

// array deals with an array under a key of class k. In a command line that was
// split into words, a flag gives its class to the word after it.
func (w *walk) array(i int, k class) (int, error) {
	flag := plain
	var err error
	for i = w.blanks(i + 1); w.s[i] != ']'; i = w.blanks(i) {
		if w.s[i] == ',' {
			i = w.blanks(i + 1)
		}
		from := i
		next := plain
		if w.s[from] == '"' {
			if s := unquote(w.s[from:stringEnd(w.s, from)]); len(s) > 1 && s[0] == '-' {
				flag = plain
				next = classify(strings.TrimLeft(s, "-"))
			}
		}
		if i, err = w.value(from, max(hintOnly(k), flag)); err != nil {
			return i, err
		}
		flag = plain
		if next >= secret {
			flag = next
		}
	}
	return i + 1, nil
}

// hintOnly is the class that the items of a list inherit: a list under a secret
// key goes whole.
func hintOnly(k class) class { return min(k, hint) }

// keyClass is the class of a JSON key. What only hints in text, where a name may
// belong to code, is as good as said by the keys of the coordination protocol.
func keyClass(key string) class {
	return classify(key)
}

// stringEnd returns the end of the JSON string that starts at i.
func stringEnd(s string, i int) int {
	for i++; s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// literalEnd returns the end of the number, true, false or null at i.
func literalEnd(s string, i int) int {
	for i < len(s) && (alnum | dash | plus | dot).has(s[i]) {
		i++
	}
	return i
}

// unquote returns what a valid JSON string means.
func unquote(quoted string) string {
	if inner := quoted[1 : len(quoted)-1]; strings.IndexByte(inner, '\\') < 0 && utf8.ValidString(inner) {
		return inner
	}
	var s string
	_ = json.Unmarshal([]byte(quoted), &s) // valid, as all of the text is
	return s
}

// appendString appends s as a JSON string. Unlike encoding/json it leaves <, >
// and & as they are.
func appendString(out []byte, s string) []byte {
	const digits = "0123456789abcdef"
	out = append(out, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, '\\', 'n')
		case r == '\r':
			out = append(out, '\\', 'r')
		case r == '\t':
			out = append(out, '\\', 't')
		case r < ' ' || r == 0x7f:
			out = append(out, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		case r == '\u2028' || r == '\u2029': // not in JavaScript strings
			out = append(out, '\\', 'u', '2', '0', '2', digits[r&15])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}

// isSchema reports whether a JSON object describes a value in place of holding
// one: {"type": "string"}.
func isSchema(raw json.RawMessage) bool {
	var schema struct {
		Type any    `json:"type"`
		Ref  string `json:"$ref"`
	}
	if json.Unmarshal(raw, &schema) != nil {
		return false
	}
	switch schema.Type {
	case "string", "object", "array", "number", "integer", "boolean":
		return true
	}
	return schema.Ref != ""
}

// json finds the array or object at p under a quoted name that is secret.
func (c *scan) json(v value, p int) int {
	if v.key.class < secret || !v.key.quoted || v.op != opColon || c.s[p] != '[' && c.s[p] != '{' ||
		c.wasted > 4*len(c.s) || strings.HasPrefix(c.s[p:], Marker) {
		return 0
	}
	dec := json.NewDecoder(strings.NewReader(c.s[p:]))
	var raw json.RawMessage
	if dec.Decode(&raw) != nil {
		c.wasted += len(c.s) - p
		return 0
	}
	end := p + len(raw)
	if strings.TrimSpace(c.s[p+1:end-1]) == "" || isSchema(raw) {
		return 0
	}
	c.add(p, end)
	return end
}
