package redact

import (
	"encoding/json"
	"slices"
	"strings"
)

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

// isAbout reports whether a JSON array has words, rules and messages about a value
// in place of values: ["required", "is too short"].
func isAbout(raw json.RawMessage) bool {
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return false
	}
	return !slices.ContainsFunc(list, func(v string) bool { return !isWord(v) && !isRule(v) && !isMessage(v) })
}

// json finds the array or object at p under the quoted name of a secret, in text
// that has JSON in it.
func (c *scan) json(v value, p int) int {
	if v.key.class < secret || !v.key.quoted || v.op != opColon || c.s[p] != '[' && c.s[p] != '{' ||
		strings.HasPrefix(c.s[p:], Marker) || c.wasted > 4*len(c.s) {
		return 0
	}
	dec := json.NewDecoder(strings.NewReader(c.s[p:]))
	var raw json.RawMessage
	if dec.Decode(&raw) != nil {
		c.wasted += len(c.s) - p
		return 0
	}
	end := p + len(raw)
	if strings.TrimSpace(c.s[p+1:end-1]) == "" || isSchema(raw) || isAbout(raw) {
		return 0
	}
	c.add(p, end)
	return end
}
