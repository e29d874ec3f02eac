package main

import (
	"context"
	"errors"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

// Exit codes, docs/protocol.md.
const (
	exitDone        = 0
	exitUnexpected  = 1
	exitUsage       = 2 // the words or values are wrong, or name nothing that exists
	exitConflict    = 3 // a rule refused it
	exitHalted      = 4 // the kill switch is on
	exitLocked      = 5 // the lock was not free in time
	exitProvider    = 6 // an agent program failed
	exitInterrupted = 130
)

// errSilent ends a verb with a code of its own after it has printed its answer.
type errSilent int

func (errSilent) Error() string { return "answered" }

// exitCode maps what a verb returned to the code of the process.
func exitCode(ctx context.Context, err error) int {
	var (
		silent     errSilent
		usage      *engine.UsageError
		validation *engine.ValidationError
		invalid    *event.InvalidError
		notFound   *engine.NotFoundError
		conflict   *engine.ConflictError
		halted     *engine.HaltedError
		locked     *engine.LockedError
		provider   *engine.ProviderError
	)
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &silent):
		return int(silent)
	case errors.As(err, &halted):
		return exitHalted
	case errors.As(err, &conflict):
		return exitConflict
	case errors.As(err, &locked):
		return exitLocked
	case errors.As(err, &provider):
		return exitProvider
	case errors.As(err, &usage), errors.As(err, &validation), errors.As(err, &invalid), errors.As(err, &notFound):
		return exitUsage
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitUnexpected
}
