package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/turn"
)

// bridgeLock is the lock of the one bridge or discussion of a project.
const bridgeLock = "bridge.lock"

// leaseTry is how long and how often a lease is tried for: those who only look whether somebody has it hold it for a moment.
const (
	leaseTry   = 500 * time.Millisecond
	leasePause = 20 * time.Millisecond
)

// BridgeLease takes the one place of a bridge or discussion until release is called or this process dies. The error is a
// *LockedError when another one has it.
func (e *Engine) BridgeLease(ctx context.Context) (release func() error, err error) {
	release, err = e.lease(ctx, bridgeLock, leaseTry)
	var locked *LockedError
	if errors.As(err, &locked) {
		return nil, &busyError{heldError{locked, e.now()}}
	}
	return release, err
}

// busyError says that the place of the bridge is taken, and what helps: waiting for a lock is not it.
type busyError struct{ heldError }

func (b *busyError) Error() string {
	return "a bridge or discussion runs already: " + b.holder()
}

// Hint is what the caller can do next.
func (b *busyError) Hint() []string {
	return []string{
		"Ctrl-C in its terminal, in a cockpit B    to end it; it ends with its process in any case",
		"loadout coord agents list    to see what it does",
	}
}

// BridgeHolder says who has the place of the bridge or discussion; nil: nobody.
func (e *Engine) BridgeHolder(ctx context.Context) (*LockedError, error) {
	return e.holder(ctx, bridgeLock)
}

// TurnLease takes the session of an agent for one turn, which may wait for that of another process to end. wait 0 does not wait. The
// error is a *LockedError when the session is not free in time. Who has it knows that a turn of that session which the log shows as
// running is not: whoever waited for it died.
func (e *Engine) TurnLease(ctx context.Context, agent string, wait time.Duration) (release func() error, err error) {
	release, err = e.lease(ctx, sessionLock(agent), wait)
	return release, e.inWords(err)
}

// TurnHolder says who waits for a turn of an agent's session; nil: nobody, so that one which the log shows as running is lost.
func (e *Engine) TurnHolder(ctx context.Context, agent string) (*LockedError, error) {
	return e.holder(ctx, sessionLock(agent))
}

// TurnMark is the mark of a turn of this project, see turn.Mark.
func (e *Engine) TurnMark(id string) string {
	dir, err := filepath.EvalSymlinks(e.project.Dir)
	if err != nil {
		dir = e.project.Dir
	}
	return turn.Mark(dir, id)
}

// Reap ends what a turn left running whose process is gone, which is known to who has its session's TurnLease.
func (e *Engine) Reap(id string) error {
	if e.options.Reaper == nil {
		return nil
	}
	if err := e.options.Reaper.Reap(e.TurnMark(id)); err != nil {
		return fmt.Errorf("turn %s: %w", id, err)
	}
	return nil
}

// sessionLock is the lock of the session of an agent.
func sessionLock(agent string) string { return "session-" + fileWord(agent) + ".lock" }

// fileWord stands for an agent in the name of a file, as names may hold what a file name cannot.
func fileWord(agent string) string {
	sum := sha256.Sum256([]byte(event.FoldName(agent)))
	return hex.EncodeToString(sum[:8])
}

func (e *Engine) lease(ctx context.Context, name string, wait time.Duration) (release func() error, err error) {
	over := time.NewTimer(wait)
	defer over.Stop()
	for {
		release, err = e.log.Lease(name, e.options.Command)
		var locked *LockedError
		if !errors.As(err, &locked) {
			return release, err
		}
		locked.Waited = wait
		again := time.NewTimer(leasePause)
		select {
		case <-over.C:
			again.Stop()
			return nil, err
		case <-ctx.Done():
			again.Stop()
			return nil, context.Cause(ctx)
		case <-again.C:
		}
	}
}

func (e *Engine) holder(ctx context.Context, name string) (*LockedError, error) {
	if there, err := e.log.Exists(name); err != nil || !there {
		return nil, err
	}
	release, err := e.lease(ctx, name, 0)
	var locked *LockedError
	if errors.As(err, &locked) {
		return locked, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, release()
}
