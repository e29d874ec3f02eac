package sim

import (
	"encoding/json"
	"fmt"
)

// shape is as much of a JSON Schema as an answer is made from.
type shape struct {
	Type       string           `json:"type"`
	Enum       []any            `json:"enum"`
	Properties map[string]shape `json:"properties"`
	Items      *shape           `json:"items"`
}

// follow is an answer that follows a schema, made up of text; nil when it is no schema.
func follow(schema []byte, text string) []byte {
	var s shape
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	data, err := json.Marshal(s.value("answer", text))
	if err != nil {
		return nil
	}
	return data
}

// value makes something up for a member of that name.
func (s *shape) value(name, text string) any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	switch s.Type {
	case "object":
		members := map[string]any{}
		for key, member := range s.Properties {
			members[key] = member.value(key, text)
		}
		return members
	case "array":
		if s.Items == nil {
			return []any{}
		}
		return []any{s.Items.value(name, text)}
	case "string":
		return fmt.Sprintf("%sThe %s that a script makes up: %s", Label, name, text)
	case "boolean":
		return false
	case "null":
		return nil
	}
	return 0
}
