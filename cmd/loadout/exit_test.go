package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

func TestExitCode(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		err  error
		want int
	}{
		{"done", t.Context(), nil, 0},
		{"unexpected", t.Context(), errors.New("disk is on fire"), 1},
		{"findings", t.Context(), errSilent(exitUnexpected), 1},
		{"usage", t.Context(), &engine.UsageError{}, 2},
		{"validation", t.Context(), &engine.ValidationError{}, 2},
		{"invalid event", t.Context(), &event.InvalidError{}, 2},
		{"not found", t.Context(), &engine.NotFoundError{}, 2},
		{"conflict", t.Context(), &engine.ConflictError{}, 3},
		{"conflicts found", t.Context(), errSilent(exitConflict), 3},
		{"halted", t.Context(), &engine.HaltedError{}, 4},
		{"locked", t.Context(), &engine.LockedError{}, 5},
		{"provider", t.Context(), &engine.ProviderError{Err: &engine.UsageError{}}, 6},
		{"interrupted", cancelled, context.Canceled, 130},
		{"cancelled by itself", t.Context(), context.Canceled, 1},
		{"refused before the interrupt", cancelled, &engine.ConflictError{}, 3},
		{"halted beats conflict", t.Context(), errors.Join(&engine.ConflictError{}, &engine.HaltedError{}), 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.err
			if err != nil {
				err = fmt.Errorf("own path: %w", err)
			}
			if got := exitCode(tt.ctx, err); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}
