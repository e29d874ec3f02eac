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
		name        string
		interrupted bool
		err         error
		want        int
	}{
		{"done", false, nil, 0},
		{"unexpected", false, errors.New("disk is on fire"), 1},
		{"findings", false, errSilent(exitUnexpected), 1},
		{"usage", false, &engine.UsageError{}, 2},
		{"validation", false, &engine.ValidationError{}, 2},
		{"invalid event", false, &event.InvalidError{}, 2},
		{"not found", false, &engine.NotFoundError{}, 2},
		{"conflict", false, &engine.ConflictError{}, 3},
		{"conflicts found", false, errSilent(exitConflict), 3},
		{"halted", false, &engine.HaltedError{}, 4},
		{"locked", false, &engine.LockedError{}, 5},
		{"provider", false, &engine.ProviderError{Err: &engine.UsageError{}}, 6},
		{"interrupted", true, context.Canceled, 130},
		{"cancelled by itself", false, context.Canceled, 1},
		{"refused before the interrupt", true, &engine.ConflictError{}, 3},
		{"halted beats conflict", false, errors.Join(&engine.ConflictError{}, &engine.HaltedError{}), 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.err
			if err != nil {
				err = fmt.Errorf("own path: %w", err)
			}
			ctx := t.Context()
			if tt.interrupted {
				ctx = cancelled
			}
			if got := exitCode(ctx, err); got != tt.want {
				t.Errorf("%d, want %d", got, tt.want)
			}
		})
	}
}
