package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/agentloadout/loadout/engine/words"
)

// heldError is a *LockedError as the reader counts time.
type heldError struct {
	locked *LockedError
	seen   time.Time // when it was refused, in the reader's zone
}

func (h *heldError) Error() string {
	return fmt.Sprintf("%s is held by %s; waited %s", h.locked.Path, h.holder(), words.Span(h.locked.Waited))
}

// holder says who has the lock since when.
func (h *heldError) holder() string {
	if h.locked.Owner.PID == 0 {
		return h.locked.Owner.String()
	}
	return fmt.Sprintf("%s since %s", h.locked.Owner, words.Since(h.seen, h.locked.Owner.Since))
}

func (h *heldError) Unwrap() error { return h.locked }

// inWords puts the refusal of a lock into the words of all other refusals. Other errors stay as they are.
func (e *Engine) inWords(err error) error {
	var locked *LockedError
	var held *heldError
	if !errors.As(err, &locked) || errors.As(err, &held) {
		return err
	}
	return &heldError{locked, e.now()}
}
