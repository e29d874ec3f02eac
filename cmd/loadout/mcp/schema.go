package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agentloadout/loadout/engine/event"
)

// property is one argument of a tool.
type property struct {
	name     string
	schema   *jsonschema.Schema
	required bool
}

func required(name string, s *jsonschema.Schema) property { return property{name, s, true} }
func optional(name string, s *jsonschema.Schema) property { return property{name, s, false} }

// object is the schema of arguments that are these and no others.
func object(properties ...property) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, p := range properties {
		s.Properties[p.name] = p.schema
		s.PropertyOrder = append(s.PropertyOrder, p.name)
		if p.required {
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}

// text is a string of least to most characters.
func text(least, most int, about string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string", MaxLength: &most, Description: about}
	if least > 0 {
		s.MinLength = &least
	}
	return s
}

// list is an array of least to most items.
func list(items *jsonschema.Schema, least, most int, about string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "array", Items: items, MaxItems: &most, Description: about}
	if least > 0 {
		s.MinItems = &least
	}
	return s
}

// whole is an integer of least to most.
func whole(least, most int64, about string) *jsonschema.Schema {
	low, high := float64(least), float64(most)
	return &jsonschema.Schema{Type: "integer", Minimum: &low, Maximum: &high, Description: about}
}

func flag(about string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "boolean", Description: about}
}

// agentArgument is the argument that every tool has.
func agentArgument() property {
	return optional("agent", text(1, event.MaxName, "Who acts. Leave it out: this server speaks for your agent. The name of another live session is refused."))
}

// outputOf is the schema of what a tool answers: T, or the error that every refusal has.
func outputOf[T any]() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {Type: "object"},
	}})
	if err != nil {
		return nil, fmt.Errorf("output schema: %w", err)
	}
	s.Properties["error"] = &jsonschema.Schema{
		Type: "object", Description: "Why the call was refused; nothing was stored.", Required: []string{"code", "message"},
		Properties: map[string]*jsonschema.Schema{
			"code":    {Type: "string", Description: "Stable name of the refusal."},
			"message": {Type: "string"},
			"hints":   {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
			"notes":   {Type: "array", Items: &jsonschema.Schema{Type: "string"}},
		},
	}
	if s.Properties["notes"] == nil {
		s.Properties["notes"] = &jsonschema.Schema{
			Type: "array", Items: &jsonschema.Schema{Type: "string"}, Description: "What else is to be known, such as a log that was lost.",
		}
	}
	s.AnyOf = []*jsonschema.Schema{{Required: s.Required}, {Required: []string{"error"}}}
	s.Required = nil
	return s, nil
}

// names are the arguments that a schema knows.
func names(s *jsonschema.Schema) []string {
	if len(s.PropertyOrder) > 0 {
		return s.PropertyOrder
	}
	return slices.Sorted(maps.Keys(s.Properties))
}
