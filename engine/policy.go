package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/agentloadout/loadout/engine/event"
)

// PolicyName is the file in which a person says which events are worth a turn.
const PolicyName = "policy.json"

const (
	maxPolicyBytes = 256 << 10
	maxPolicyRules = 100
)

// Level is how much an event weighs for the sessions that a bridge drives.
type Level string

// The levels, by weight.
const (
	Immediate Level = "immediate" // delivered at the next turn boundary, without waiting for more to come
	Boundary  Level = "boundary"  // delivered at the next turn boundary
	Passive   Level = "passive"   // wakes nobody
	Never     Level = "never"     // not for any session: a record of this program, or a type that it does not know
)

// Policy says how much events weigh. The zero value is what holds without a file.
type Policy struct {
	DefaultLevel Level        `json:"defaultLevel,omitempty"` // of what no rule names, instead of boundary
	Rules        []PolicyRule `json:"rules,omitempty"`        // the first that matches decides
}

// PolicyRule gives events a level.
type PolicyRule struct {
	Type  event.Type `json:"type"` // "*" for all types of the protocol
	From  string     `json:"from"` // whose; empty or "*" for everybody's
	Level Level      `json:"level"`
}

// Policy reads policy.json. Without the file it is the zero Policy; a file that cannot be used is a *ValidationError.
func (e *Engine) Policy() (Policy, error) {
	data, err := e.log.ReadFile(PolicyName, maxPolicyBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Policy{}, nil
	}
	if err != nil {
		return wrongPolicy("%v", err)
	}
	return parsePolicy(data)
}

func wrongPolicy(format string, args ...any) (Policy, error) {
	return Policy{}, &ValidationError{
		Field: PolicyName, Reason: "cannot be used: " + fmt.Sprintf(format, args...),
		Hints: []string{`{"defaultLevel": "boundary", "rules": [{"type": "update", "from": "codex", "level": "boundary"}]}`},
	}
}

func parsePolicy(data []byte) (Policy, error) {
	var p Policy
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return wrongPolicy("%s", jsonFault(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return wrongPolicy("there is more than one object in it")
	}
	if len(p.Rules) > maxPolicyRules {
		return wrongPolicy("it has more than %d rules", maxPolicyRules)
	}
	if p.DefaultLevel != "" && !p.DefaultLevel.known() {
		return wrongPolicy("defaultLevel is none of immediate, boundary, passive")
	}
	for i, r := range p.Rules {
		switch {
		case r.Type == "" || event.CheckName(string(r.Type)) != nil && r.Type != event.Broadcast:
			return wrongPolicy("rule %d has no type", i+1)
		case r.From != "" && r.From != event.Broadcast && event.CheckName(r.From) != nil:
			return wrongPolicy("rule %d has a from that is no name", i+1)
		case !r.Level.known():
			return wrongPolicy("the level of rule %d is none of immediate, boundary, passive", i+1)
		}
	}
	return p, nil
}

// known reports whether a policy may name the level.
func (l Level) known() bool { return l == Immediate || l == Boundary || l == Passive }

// Level is how much an event weighs: what the first rule that matches says, else the default. Records of this program and types that
// it does not know need a rule that names their type.
func (p Policy) Level(ev *event.Event) Level {
	usual := usualLevel(ev.Type)
	for _, r := range p.Rules {
		if r.From != "" && r.From != event.Broadcast && !event.SameName(r.From, ev.From) {
			continue
		}
		if r.Type == ev.Type || r.Type == event.Broadcast && usual != Never {
			return r.Level
		}
	}
	if p.DefaultLevel != "" && usual == Boundary {
		return p.DefaultLevel
	}
	return usual
}

// usualLevel is the level of a type where nothing else is said.
func usualLevel(t event.Type) Level {
	switch t {
	case event.TypeOwnership, event.TypeError:
		return Immediate
	case event.TypeTask, event.TypeHandoff, event.TypeQuestion, event.TypeDone, event.TypeStatus, event.TypeCancel, event.TypeContract,
		event.TypeDecision, event.TypeDiscussion:
		return Boundary
	case event.TypeUpdate, event.TypeAck:
		return Passive
	default: // records of this program, and what it does not know
		return Never
	}
}
