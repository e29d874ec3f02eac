package redact

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	from, mark := i, len(w.edits)
	switch w.s[i] {
	case '"':
		i = stringEnd(w.s, i)
		w.text(from, i, k)
		return i, nil
	case 't', 'f', 'n':
		return literalEnd(w.s, i), nil
	case '{', '[':
		w.depth++
		if w.depth > maxDepth {
			return i, errDepth
		}
		var err error
		if w.s[i] == '{' {
			i, err = w.object(i)
		} else {
			i, err = w.array(i, k)
		}
		w.depth--
		if err != nil || w.blanks(from+1) == i-1 { // empty
			return i, err
		}
	default:
		i = literalEnd(w.s, i)
	}
	if k >= secret {
		w.edits = append(w.edits[:mark], edit{span{from, i}, Marker})
	}
	return i, nil
}

// text deals with a string value.
func (w *walk) text(from, to int, k class) {
	s := unquote(w.s[from:to])
	redacted := Marker
	if (k < secret || s == "") && !isSecretText(k, s) {
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
		named    class // of the string under "name" or "key"
		manifest bool
		values   []span // that are secret if the object has one of the shapes
	)
	mark := len(w.edits)
	for i = w.blanks(i + 1); w.s[i] != '}'; i = w.blanks(i) {
		if w.s[i] == ',' {
			i = w.blanks(i + 1)
		}
		end := stringEnd(w.s, i)
		key := unquote(w.s[i:end])
		from := w.blanks(w.blanks(end) + 1)
		var err error
		isText, k := w.s[from] == '"', classify(key)
		if isText && isVague(key) && isPassLike(unquote(w.s[from:stringEnd(w.s, from)])) {
			k = password
		}
		if i, err = w.value(from, k); err != nil {
			return i, err
		}
		switch key {
		case "name", "Name", "key", "Key":
			if isText {
				named = classify(unquote(w.s[from:i]))
			}
		case "kind":
			manifest = w.s[from:i] == `"Secret"`
		case "value", "Value", "data", "stringData":
			values = append(values, span{from, i})
		}
	}
	for _, at := range values {
		switch w.s[at.from] {
		case '"':
			if named >= secret && isSecretText(named, unquote(w.s[at.from:at.to])) {
				w.replace(at, mark)
			}
		case '{':
			if manifest && w.blanks(at.from+1) != at.to-1 {
				w.replace(at, mark)
			}
		}
	}
	return i + 1, nil
}

// replace puts Marker in place of a value that was dealt with before; the edits
// before mark are elsewhere.
func (w *walk) replace(at span, mark int) {
	order := func(e edit, from int) int { return cmp.Compare(e.from, from) }
	first, _ := slices.BinarySearchFunc(w.edits[mark:], at.from, order)
	last, _ := slices.BinarySearchFunc(w.edits[mark:], at.to, order)
	w.edits = slices.Replace(w.edits, mark+first, mark+last, edit{at, Marker})
}

// array deals with an array under a key of class k. In a command line that was
// split into words, a flag gives its class to the word after it.
func (w *walk) array(i int, k class) (int, error) {
	k = min(k, hint) // an array under the name of a secret goes whole
	flag := plain
	for i = w.blanks(i + 1); w.s[i] != ']'; i = w.blanks(i) {
		if w.s[i] == ',' {
			i = w.blanks(i + 1)
		}
		item, next := k, plain
		if w.s[i] == '"' {
			switch s := unquote(w.s[i:stringEnd(w.s, i)]); {
			case !strings.HasPrefix(s, "-"):
				item = max(k, flag)
			case classify(strings.TrimLeft(s, "-")) >= secret:
				next = secret
			}
		}
		var err error
		if i, err = w.value(i, item); err != nil {
			return i, err
		}
		flag = next
	}
	return i + 1, nil
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
