package connect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// find is the value at a path of member names, nil when there is none. A value on the way that is no object is an error.
func (d *document) find(path ...string) (*node, error) {
	n := d.root
	for i, key := range path {
		if !n.isObject() {
			return nil, fmt.Errorf("%s is not an object", strings.Join(path[:i], "."))
		}
		if n = n.get(key); n == nil {
			return nil, nil //nolint:nilnil // nothing is there
		}
	}
	return n, nil
}

// decode reads the value at a node, whatever comments stand in it.
func (d *document) decode(n *node) any {
	switch {
	case n.isObject():
		object := map[string]any{}
		for _, m := range n.members {
			object[m.key] = d.decode(m.value)
		}
		return object
	case n.isList():
		list := []any{}
		for _, item := range n.items {
			list = append(list, d.decode(item))
		}
		return list
	}
	var v any
	if json.Unmarshal(d.text[n.start:n.end], &v) != nil {
		return nil
	}
	return v
}

// set adds a member that is not there, with the objects that lead to it.
func (d *document) set(value any, path ...string) error {
	n := d.root
	for i, key := range path {
		next := n.get(key)
		if next == nil {
			for _, outer := range reversed(path[i+1:]) {
				value = map[string]any{outer: value}
			}
			return d.insert(n, key, value)
		}
		if !next.isObject() {
			return fmt.Errorf("%s is not an object", strings.Join(path[:i+1], "."))
		}
		n = next
	}
	return nil
}

func reversed(list []string) []string {
	out := make([]string, 0, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, list[i])
	}
	return out
}

// add adds an item to the list at a path, with the list and the objects that lead to it.
func (d *document) add(item any, path ...string) error {
	n, err := d.find(path...)
	switch {
	case err != nil:
		return err
	case n == nil:
		return d.set([]any{item}, path...)
	case !n.isList():
		return fmt.Errorf("%s is not a list", strings.Join(path, "."))
	}
	return d.insert(n, "", item)
}

// insert adds an element at the end of a list or object, laid out as the file is.
func (d *document) insert(n *node, key string, value any) error {
	inside := d.text[n.start+1 : n.end-1]
	hasLines := func(text []byte) bool { return bytes.Contains(text, []byte("\n")) }
	line := !hasLines(d.text[n.start:n.end]) && (d.children(n) > 0 || n != d.root && !hasLines(bytes.TrimSpace(d.text)))
	newline := d.newline()
	outer := d.indentAt(n.start)
	inner := outer + d.unit()
	if first, ok := d.first(n); ok && !line {
		inner = d.indentAt(first)
	}
	text, err := render(key, value, inner, d.unit(), newline, line)
	if err != nil {
		return err
	}
	at := n.start + 1 + len(bytes.TrimRight(inside, " \t\r\n")) // behind what is there, comments too
	behind := ""
	if line {
		if d.children(n) > 0 {
			text = " " + text
		}
	} else {
		text = newline + inner + text
		if d.children(n) == 0 && !bytes.Contains(d.text[at:n.end-1], []byte("\n")) {
			behind = newline + outer
		}
	}
	edited := append([]byte{}, d.text[:at]...)
	if last, ok := d.last(n); ok {
		edited = append([]byte{}, d.text[:last]...)
		edited = append(edited, ',')
		edited = append(edited, d.text[last:at]...)
	}
	edited = append(edited, text+behind...)
	d.text = append(edited, d.text[at:]...)
	return d.parse()
}

// render writes an element.
func render(key string, value any, indent, unit, newline string, line bool) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if !line {
		enc.SetIndent(indent, unit)
	}
	if err := enc.Encode(value); err != nil {
		return "", fmt.Errorf("encode entry: %w", err)
	}
	text := strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", newline)
	if key != "" {
		name, err := json.Marshal(key)
		if err != nil {
			return "", fmt.Errorf("encode entry: %w", err)
		}
		text = string(name) + ": " + text
	}
	return text, nil
}

// replace puts another value in the place of one.
func (d *document) replace(n *node, value any) error {
	text, err := render("", value, d.indentAt(n.start), d.unit(), d.newline(), !bytes.Contains(d.text[n.start:n.end], []byte("\n")))
	if err != nil {
		return err
	}
	d.text = splice(d.text, n.start, n.end, text)
	return d.parse()
}

// remove takes the i-th element out of a list or object, with its comma and the blanks before it.
func (d *document) remove(n *node, i int) error {
	spans := d.spans(n)
	from, to := spans[i][0], spans[i][1]
	switch {
	case i > 0: // the comma before it
		comma := spans[i-1][1] + bytes.IndexByte(d.text[spans[i-1][1]:from], ',')
		from = d.blanksBefore(from, comma+1)
		d.text = splice(d.text, from, to, "")
		d.text = splice(d.text, comma, comma+1, "")
		return d.parse()
	case len(spans) > 1: // the comma behind it, up to what comes next
		to += bytes.IndexByte(d.text[to:], ',') + 1
		for strings.IndexByte(" \t\r\n", d.text[to]) >= 0 {
			to++
		}
	default:
		from = d.blanksBefore(from, n.start+1)
		if len(bytes.TrimSpace(d.text[to:n.end-1])) == 0 && from == n.start+1 {
			to = n.end - 1
		}
	}
	d.text = splice(d.text, from, to, "")
	return d.parse()
}

// prune takes out the containers at the end of a path that are empty.
func (d *document) prune(path ...string) error {
	for len(path) > 0 {
		n, err := d.find(path...)
		if err != nil || n == nil || d.children(n) > 0 || len(bytes.TrimSpace(d.text[n.start+1:n.end-1])) > 0 {
			return err
		}
		key := path[len(path)-1]
		path = path[:len(path)-1]
		outer, err := d.find(path...)
		if err != nil {
			return err
		}
		for i, m := range outer.members {
			if m.key == key {
				if err := d.remove(outer, i); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

func splice(text []byte, from, to int, by string) []byte {
	return append(append(append([]byte{}, text[:from]...), by...), text[to:]...)
}

func (d *document) blanksBefore(at, limit int) int {
	for at > limit && strings.IndexByte(" \t\r\n", d.text[at-1]) >= 0 {
		at--
	}
	return at
}

// spans are where the elements of a list or object begin and end.
func (d *document) spans(n *node) [][2]int {
	var list [][2]int
	for _, m := range n.members {
		list = append(list, [2]int{m.start, m.value.end})
	}
	for _, v := range n.items {
		list = append(list, [2]int{v.start, v.end})
	}
	return list
}

func (d *document) children(n *node) int { return len(n.members) + len(n.items) }

func (d *document) first(n *node) (start int, ok bool) {
	if s := d.spans(n); len(s) > 0 {
		return s[0][0], true
	}
	return 0, false
}

func (d *document) last(n *node) (end int, ok bool) {
	if s := d.spans(n); len(s) > 0 {
		return s[len(s)-1][1], true
	}
	return 0, false
}

// indentAt are the blanks at the start of the line of a place.
func (d *document) indentAt(at int) string {
	start := bytes.LastIndexByte(d.text[:at], '\n') + 1
	if start == 0 && bytes.HasPrefix(d.text, bom) {
		start = len(bom)
	}
	end := start
	for end < at && (d.text[end] == ' ' || d.text[end] == '\t') {
		end++
	}
	return string(d.text[start:end])
}

// unit is the indentation of one level, two blanks where the file does not show it.
func (d *document) unit() string {
	if start, ok := d.first(d.root); ok {
		if in := d.indentAt(start); in != "" && bytes.Contains(d.text[d.root.start:start], []byte("\n")) {
			return in
		}
	}
	return "  "
}

func (d *document) newline() string {
	if bytes.Contains(d.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// SetJSON sets members of a section of a JSON file, which it makes where there is none, and changes nothing else of it.
func SetJSON(path, section string, values map[string]any) error {
	f, err := read(path)
	if err != nil {
		return err
	}
	if f.text == nil {
		f.mode = 0o600
	}
	d, err := parseJSON(f.text, false)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		n, err := d.find(section, key)
		switch {
		case err != nil:
		case n == nil:
			err = d.set(values[key], section, key)
		default:
			err = d.replace(n, values[key])
		}
		if err != nil {
			return err
		}
	}
	return replaceFile(f.target, d.text, f.mode)
}
