package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/suggest"
)

// parse reads the arguments of a call. What does not fit the schema is an *engine.ValidationError that names the argument.
func parse(raw json.RawMessage, s *jsonschema.Schema, into any) error {
	value := any(map[string]any{})
	if len(raw) > 0 && string(raw) != "null" {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&value); err != nil {
			return &engine.ValidationError{Field: "arguments", Reason: "cannot be read: " + err.Error()}
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return &engine.ValidationError{Field: "arguments", Reason: "has something behind it"}
		}
	}
	checked, err := check(s, value, "")
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(checked)
	if err != nil {
		return fmt.Errorf("read arguments: %w", err)
	}
	if err := json.Unmarshal(encoded, into); err != nil {
		return fmt.Errorf("read arguments: %w", err)
	}
	return nil
}

// check compares a value with the part of JSON Schema that schema.go uses, and returns it with its integers written as such.
func check(s *jsonschema.Schema, value any, at string) (any, error) {
	wrong := func(format string, args ...any) error {
		where := at
		if where == "" {
			where = "arguments"
		}
		return &engine.ValidationError{Field: where, Reason: fmt.Sprintf(format, args...)}
	}
	switch s.Type {
	case "object":
		return checkObject(s, value, at, wrong)
	case "array":
		items, ok := value.([]any)
		switch {
		case !ok:
			return nil, wrong("must be a list")
		case s.MinItems != nil && len(items) < *s.MinItems:
			return nil, wrong("is empty")
		case s.MaxItems != nil && len(items) > *s.MaxItems:
			return nil, wrong("has %d entries, more than %d", len(items), *s.MaxItems)
		}
		for i := range items {
			item, err := check(s.Items, items[i], fmt.Sprintf("%s[%d]", at, i))
			if err != nil {
				return nil, err
			}
			items[i] = item
		}
		return items, nil
	case "string":
		text, ok := value.(string)
		switch {
		case !ok:
			return nil, wrong("must be text")
		case s.MinLength != nil && strings.TrimSpace(text) == "":
			return nil, wrong("is empty")
		case s.MaxLength != nil && utf8.RuneCountInString(text) > *s.MaxLength:
			return nil, wrong("is longer than %d characters", *s.MaxLength)
		}
		return text, nil
	case "boolean":
		if _, ok := value.(bool); !ok {
			return nil, wrong("must be true or false")
		}
		return value, nil
	}
	number, ok := value.(json.Number)
	n, err := number.Float64()
	if !ok || err != nil || n != math.Trunc(n) || n < *s.Minimum || n > *s.Maximum {
		return nil, wrong("must be a whole number from %.0f to %.0f", *s.Minimum, *s.Maximum)
	}
	return int64(n), nil
}

func checkObject(s *jsonschema.Schema, value any, at string, wrong func(string, ...any) error) (any, error) {
	members, ok := value.(map[string]any)
	if !ok {
		return nil, wrong("must be an object")
	}
	for name := range members {
		if s.Properties[name] == nil {
			return nil, unknownArgument(s, name, at)
		}
	}
	for _, name := range names(s) {
		value, there := members[name]
		if value == nil { // absent, or null, which some clients send for that
			delete(members, name)
			there = false
		}
		within := strings.TrimPrefix(at+"."+name, ".")
		if !there {
			for _, needed := range s.Required {
				if needed == name {
					return nil, &engine.ValidationError{Field: within, Reason: "is missing", Hints: []string{name + ": " + s.Properties[name].Description}}
				}
			}
			continue
		}
		checked, err := check(s.Properties[name], value, within)
		if err != nil {
			return nil, err
		}
		members[name] = checked
	}
	return members, nil
}

func unknownArgument(s *jsonschema.Schema, name, at string) error {
	err := &engine.NotFoundError{
		Kind: "argument", Name: strings.TrimPrefix(at+"."+name, "."), Suggestions: suggest.Closest(name, names(s)),
	}
	if len(err.Suggestions) == 0 {
		err.Hints = []string{"the arguments are " + strings.Join(names(s), ", ")}
	}
	return err
}
