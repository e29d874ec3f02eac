package tui

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

// refusal is a refusal in words, and what helps. The engine's own text names the other party.
func refusal(err error) (text string, hints []string) {
	var halted *engine.HaltedError
	var locked *engine.LockedError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer within " + lockTimeout.String(), []string{"if it was stored all the same, it shows in the timeline"}
	case errors.As(err, &halted):
		return err.Error(), []string{"R resumes, when you say that work may go on"}
	case errors.As(err, &locked):
		return err.Error(), []string{"enter tries again"}
	}
	return err.Error(), engine.Hints(err)
}

// refusedField is the input that a refusal is about.
func refusedField(err error) string {
	var typed *inputError
	var invalid *engine.ValidationError
	var body *event.InvalidError
	field := ""
	switch {
	case errors.As(err, &typed):
		return typed.input
	case errors.As(err, &invalid):
		field = invalid.Field
	case errors.As(err, &body):
		field = body.Field
	}
	if name, ok := fieldInputs[field]; ok {
		return name
	}
	return ""
}

// fieldInputs tells which input of a form holds which field of the log.
var fieldInputs = map[string]string{
	"payload.paths": "path", "payload.reason": "reason", "payload.expiresAt": "ttl", "payload.eventSeq": "seq", "payload.note": "note",
	"payload.title": "title", "payload.rationale": "rationale", "from": "agent", "to": "to", "description": "text", "context": "context",
}

// inputError is a refusal of what was typed, before the engine is asked.
type inputError struct{ input, reason string }

func (e *inputError) Error() string { return e.reason }

func wrongInput(input, format string, args ...any) error {
	return &inputError{input, fmt.Sprintf(format, args...)}
}
