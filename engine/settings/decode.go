package settings

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/suggest"
)

// allower is a key of its own notation.
type allower interface {
	encoding.TextUnmarshaler
	Allowed() string // for example: a length of time such as 30s
}

// decoder sets keys as it reads a file. It goes on after a fault, to report all of them at once.
type decoder struct {
	json     *json.Decoder
	data     []byte
	path     string
	project  bool
	sources  map[string]string
	problems []Problem
}

func newDecoder(path string, project bool, data []byte, sources map[string]string) *decoder {
	d := &decoder{json: json.NewDecoder(bytes.NewReader(data)), data: data, path: path, project: project, sources: sources}
	d.json.UseNumber()
	return d
}

// apply sets what the file says and returns what is wrong with it.
func (s *Settings) apply(path string, project bool, data []byte) []Problem {
	d := newDecoder(path, project, data, s.sources)
	err := d.value(reflect.ValueOf(s).Elem(), "", "")
	if err == nil {
		if _, rest := d.json.Token(); !errors.Is(rest, io.EOF) {
			d.refuse("", "holds more than one object")
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("it ends too early")
	}
	if err != nil {
		d.refuse("", "is not JSON: %v", err)
	}
	return d.problems
}

func (d *decoder) line() int {
	return 1 + bytes.Count(d.data[:min(int(d.json.InputOffset()), len(d.data))], []byte("\n"))
}

func (d *decoder) refuse(key, format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	d.problems = append(d.problems, Problem{d.path, d.line(), safetext.Line(key), reason})
}

// value reads one value into dst. The error is one of the syntax, after which nothing can be read.
func (d *decoder) value(dst reflect.Value, key, allowed string) error {
	token, err := d.json.Token()
	if err != nil {
		return err
	}
	return d.put(dst, token, key, allowed)
}

// put sets dst to the value that begins with token.
func (d *decoder) put(dst reflect.Value, token json.Token, key, allowed string) error {
	if own, ok := dst.Addr().Interface().(allower); ok {
		return d.own(own, token, key)
	}
	wrong := func(want string) error {
		d.refuse(key, "must be %s", want)
		return d.skip(token)
	}
	switch dst.Kind() { //nolint:exhaustive // the kinds that settings have; a test looks at all of them
	case reflect.Struct:
		if token != json.Delim('{') {
			return wrong("an object")
		}
		return d.object(dst, key)
	case reflect.Map:
		if token != json.Delim('{') {
			return wrong("an object")
		}
		return d.mapping(dst, key, allowed)
	case reflect.Slice:
		return d.list(dst, token, key, allowed)
	case reflect.Bool:
		b, ok := token.(bool)
		if !ok {
			return wrong("true or false")
		}
		dst.SetBool(b)
	case reflect.String:
		s, ok := token.(string)
		if !ok || allowed != "" && !slices.Contains(strings.Fields(allowed), s) {
			return wrong(oneOf(allowed, "a text"))
		}
		dst.SetString(s)
	case reflect.Int, reflect.Int64:
		n, ok := token.(json.Number)
		i, err := strconv.ParseInt(n.String(), 10, 64)
		if !ok || err != nil || i < 0 {
			return wrong("a whole number, 0 or more")
		}
		dst.SetInt(i)
	case reflect.Float64:
		n, ok := token.(json.Number)
		f, err := n.Float64()
		if !ok || err != nil || f < 0 {
			return wrong("a number, 0 or more")
		}
		dst.SetFloat(f)
	default:
		return fmt.Errorf("settings have no %s", dst.Kind())
	}
	d.note(key)
	return nil
}

func (d *decoder) own(dst allower, token json.Token, key string) error {
	var text string
	switch t := token.(type) {
	case string:
		text = t
	case json.Number:
		text = t.String()
	default:
		d.refuse(key, "must be %s", dst.Allowed())
		return d.skip(token)
	}
	if dst.UnmarshalText([]byte(text)) != nil {
		d.refuse(key, "must be %s", dst.Allowed())
	} else {
		d.note(key)
	}
	return nil
}

func (d *decoder) note(key string) { d.sources[key] = fmt.Sprintf("%s:%d", d.path, d.line()) }

// object reads the members of a section.
func (d *decoder) object(dst reflect.Value, key string) error {
	return d.members(key, func(name, path string) error {
		field, ok := fieldNamed(dst.Type(), name)
		switch {
		case !ok:
			d.refuse(path, "is unknown%s", meant(name, key, fieldNames(dst.Type())))
		case d.project && field.Tag.Get("only") == "user":
			d.refuse(path, "may stand only in a person's own %s, not in a project's", UserFile)
		default:
			return d.value(dst.FieldByIndex(field.Index), path, field.Tag.Get("allowed"))
		}
		return d.skipNext()
	})
}

// mapping reads a section whose keys are names that a person makes up.
func (d *decoder) mapping(dst reflect.Value, key, allowed string) error {
	if dst.IsNil() {
		dst.Set(reflect.MakeMap(dst.Type()))
	}
	return d.members(key, func(name, path string) error {
		item := reflect.New(dst.Type().Elem()).Elem()
		if old := dst.MapIndex(reflect.ValueOf(name)); old.IsValid() {
			item.Set(old)
		}
		before := len(d.problems)
		err := d.value(item, path, allowed)
		if err == nil && len(d.problems) == before {
			dst.SetMapIndex(reflect.ValueOf(name), item)
		}
		return err
	})
}

// members calls fn for each member of an object, behind its name.
func (d *decoder) members(key string, fn func(name, path string) error) error {
	var seen []string
	for d.json.More() {
		token, err := d.json.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // the decoder lets nothing else stand there
		path := strings.TrimPrefix(key+"."+name, ".")
		if slices.Contains(seen, name) {
			d.refuse(path, "is set twice")
			if err := d.skipNext(); err != nil {
				return err
			}
			continue
		}
		seen = append(seen, name)
		if err := fn(name, path); err != nil {
			return err
		}
	}
	_, err := d.json.Token()
	return err
}

// list reads a list, or one value as a list of one.
func (d *decoder) list(dst reflect.Value, token json.Token, key, allowed string) error {
	before := len(d.problems)
	read := reflect.MakeSlice(dst.Type(), 0, 4)
	add := func(token json.Token) error {
		item := reflect.New(dst.Type().Elem()).Elem()
		if err := d.put(item, token, key, allowed); err != nil {
			return err
		}
		for i := range read.Len() {
			if len(d.problems) == before && reflect.DeepEqual(read.Index(i).Interface(), item.Interface()) {
				d.refuse(key, "names %v twice", item.Interface())
			}
		}
		read = reflect.Append(read, item)
		return nil
	}
	if token != json.Delim('[') {
		if err := add(token); err != nil {
			return err
		}
	} else {
		for d.json.More() {
			token, err := d.json.Token()
			if err == nil {
				err = add(token)
			}
			if err != nil {
				return err
			}
		}
		if _, err := d.json.Token(); err != nil {
			return err
		}
	}
	if len(d.problems) == before {
		dst.Set(read)
		d.note(key)
	}
	return nil
}

// skip reads the rest of a value that begins with token; skipNext reads a whole one.
func (d *decoder) skip(token json.Token) error {
	if token != json.Delim('{') && token != json.Delim('[') {
		return nil
	}
	for depth := 1; depth > 0; {
		next, err := d.json.Token()
		if err != nil {
			return err
		}
		switch next {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
	return nil
}

func (d *decoder) skipNext() error {
	token, err := d.json.Token()
	if err != nil {
		return err
	}
	return d.skip(token)
}

// meant says which key could have been meant, or which there are.
func meant(name, section string, names []string) string {
	if near := suggest.Closest(name, names); len(near) > 0 {
		return "; did you mean " + strings.TrimPrefix(section+"."+near[0], ".") + "?"
	}
	return "; there are " + strings.Join(names, ", ")
}

func oneOf(allowed, otherwise string) string {
	if words := strings.Fields(allowed); len(words) > 0 {
		return "one of " + strings.Join(words, ", ")
	}
	return otherwise
}
