package discuss

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/store/jsonline"
)

// Conclusion is what a discussion came to. What was not agreed on stays in it.
type Conclusion struct {
	Decision     string   `json:"decision"`
	Rationale    string   `json:"rationale"`
	Alternatives []string `json:"alternatives"`
	Unresolved   []string `json:"unresolved"`
}

// Part is one of the lists of a Conclusion.
type Part struct {
	Head  string
	Items []string
}

// Lists are those that have something in them.
func (c *Conclusion) Lists() []Part {
	all := []Part{{"Alternatives", c.Alternatives}, {"Unresolved", c.Unresolved}}
	return slices.DeleteFunc(all, func(p Part) bool { return len(p.Items) == 0 })
}

// schema is the Conclusion for programs that check answers. The bounds are left to the prompt and to ParseConclusion: not every
// program knows the words for them.
const schema = `{"type":"object","additionalProperties":false,"required":["decision","rationale","alternatives","unresolved"],"properties":{` +
	`"decision":{"type":"string"},"rationale":{"type":"string"},` +
	`"alternatives":{"type":"array","items":{"type":"string"}},"unresolved":{"type":"array","items":{"type":"string"}}}}`

// ParseConclusion reads a synthesis: one JSON object with exactly the four members, within one code fence or none. A decision that is
// too long is shortened; anything else that is out of bounds is an error that names all of it.
func ParseConclusion(answer string) (Conclusion, error) {
	var raw struct {
		Decision     *string   `json:"decision"`
		Rationale    *string   `json:"rationale"`
		Alternatives *[]string `json:"alternatives"`
		Unresolved   *[]string `json:"unresolved"`
	}
	data := []byte(strings.ToValidUTF8(unfence(strings.TrimSpace(answer)), "\uFFFD"))
	var object jsonline.Object // unlike encoding/json it takes no key twice
	if err := object.Parse(data); err != nil {
		return Conclusion{}, fmt.Errorf("the final synthesis must be valid JSON: %w", err)
	}
	for _, f := range object.Fields() { // encoding/json would also take another case
		if !slices.Contains([]string{"decision", "rationale", "alternatives", "unresolved"}, string(f.Key)) {
			return Conclusion{}, fmt.Errorf("invalid final synthesis: %.40q is not asked for", f.Key)
		}
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		var wrongType *json.UnmarshalTypeError
		if errors.As(err, &wrongType) {
			return Conclusion{}, fmt.Errorf("invalid final synthesis: %s: is of the type %s", wrongType.Field, wrongType.Value)
		}
		return Conclusion{}, fmt.Errorf("the final synthesis must be valid JSON: %w", err)
	}
	var wrong []string
	one := func(name string, value *string, limit int) string {
		if value == nil {
			wrong = append(wrong, name+": is missing")
			return ""
		}
		text := Clean(*value)
		switch {
		case text == "":
			wrong = append(wrong, name+": is empty")
		case name == "decision":
			text = event.Clip(safetext.Line(text), limit)
		case event.Clip(text, limit) != text:
			wrong = append(wrong, fmt.Sprintf("%s: is longer than %d characters", name, limit))
		}
		return text
	}
	several := func(name string, values *[]string) []string {
		list := []string{}
		if values == nil {
			wrong = append(wrong, name+": is missing")
			return list
		}
		if len(*values) > event.MaxAlternatives {
			wrong = append(wrong, fmt.Sprintf("%s: has more than %d items", name, event.MaxAlternatives))
			return list
		}
		for i := range *values {
			list = append(list, one(fmt.Sprintf("%s[%d]", name, i), &(*values)[i], event.MaxAlternative))
		}
		return list
	}
	c := Conclusion{
		Decision: one("decision", raw.Decision, event.MaxTitle), Rationale: one("rationale", raw.Rationale, event.MaxRationale),
		Alternatives: several("alternatives", raw.Alternatives), Unresolved: several("unresolved", raw.Unresolved),
	}
	if len(wrong) > 0 {
		return Conclusion{}, errors.New("invalid final synthesis: " + strings.Join(wrong, "; "))
	}
	return c, nil
}

// unfence takes the one code fence away that may be around an answer.
func unfence(text string) string {
	first, rest, more := strings.Cut(text, "\n")
	if first = strings.TrimSpace(first); !more || first != "```" && first != "```json" {
		return text
	}
	if body, closed := strings.CutSuffix(strings.TrimSpace(rest), "```"); closed {
		return strings.TrimSpace(body)
	}
	return text
}

// Clean is an answer in the form in which it is stored: without secrets and without characters that act on a terminal.
func Clean(text string) string {
	return strings.TrimSpace(safetext.Block(engine.Redact(strings.ToValidUTF8(text, "\uFFFD"))))
}

// CheckStatement is what a program answered as it can be stored, or why it cannot.
func CheckStatement(reply turn.Reply) (string, error) {
	if reply.Truncated {
		return "", fmt.Errorf("the statement is longer than %d bytes", turn.MaxAnswer)
	}
	text := Clean(reply.Text)
	switch {
	case text == "":
		return "", errors.New("the statement is empty")
	case event.Clip(text, event.MaxContent) != text:
		return "", fmt.Errorf("the statement is longer than %d characters", event.MaxContent)
	}
	return text, nil
}

// checkSynthesis is CheckStatement for the last one. What the program has checked against the schema comes before its words.
func checkSynthesis(reply turn.Reply) (Conclusion, error) {
	if reply.Truncated {
		return Conclusion{}, fmt.Errorf("the final synthesis is longer than %d bytes", turn.MaxAnswer)
	}
	if data := bytes.TrimSpace(reply.Data); len(data) > 0 {
		return ParseConclusion(string(data))
	}
	return ParseConclusion(reply.Text)
}
