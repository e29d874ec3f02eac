package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/redact"
	"github.com/agentloadout/loadout/store"
)

// KillSwitchName is the file whose presence stops every write.
const KillSwitchName = "KILL_SWITCH"

const maxKillSwitchBytes = 64 << 10

// killSwitch is what the file says. Its presence counts whatever it says.
type killSwitch struct {
	ActivatedAt string `json:"activatedAt"`
	ActivatedBy string `json:"activatedBy"`
	Reason      string `json:"reason"`
}

// Kill sets the kill switch: first the file, without the lock, so that it holds at once, then the record. When it is set already
// the receipt is a Duplicate and a note says by whom.
func (e *Engine) Kill(ctx context.Context, by, reason string) (Receipt, error) {
	by, reason = strings.TrimSpace(by), redact.Text(strings.TrimSpace(reason))
	if by == "" {
		by = event.User
	}
	switch {
	case redact.Text(by) != by:
		return Receipt{}, secretIn("by")
	case event.CheckName(by) != nil:
		return Receipt{}, invalid(event.CheckName(by))
	case reason == "":
		return Receipt{}, &ValidationError{Field: "reason", Reason: "is missing", Hints: []string{"loadout kill REASON"}}
	case event.Clip(reason, event.MaxReason) != reason:
		return Receipt{}, &ValidationError{Field: "reason", Reason: fmt.Sprintf("is longer than %d characters", event.MaxReason)}
	}
	data, err := json.MarshalIndent(killSwitch{event.FormatTime(e.now()), by, reason}, "", "  ")
	if err != nil {
		return Receipt{}, fmt.Errorf("write kill switch: %w", err)
	}
	if err := e.log.Create(KillSwitchName, append(data, '\n')); errors.Is(err, store.ErrExists) {
		return e.alreadyHalted()
	} else if err != nil {
		return Receipt{}, fmt.Errorf("write kill switch: %w", err)
	}
	receipt, err := e.transact(ctx, transaction{
		whileHalted: true,
		decide:      func(View) ([]event.Event, error) { return haltEvent(event.HaltSet, by, reason) },
	})
	if err != nil { // it holds all the same; Resume makes up for the record
		return Receipt{Head: -1, Notes: []string{fmt.Sprintf("the kill switch is on, but that could not be recorded: %v", err)}}, nil
	}
	return receipt, nil
}

// alreadyHalted answers a second Kill.
func (e *Engine) alreadyHalted() (Receipt, error) {
	halted, err := e.Halted()
	if err != nil {
		return Receipt{}, err
	}
	r := Receipt{Duplicate: true, Head: -1}
	if halted != nil { // else it was lifted this moment
		r.Notes = []string{"already " + halted.Error()}
	}
	return r, nil
}

// Resume lifts the kill switch and records that. When it is not set the receipt is a Duplicate.
func (e *Engine) Resume(ctx context.Context, by string) (Receipt, error) {
	if by = strings.TrimSpace(by); by == "" {
		by = event.User
	}
	var removed bool
	receipt, err := e.transact(ctx, transaction{
		whileHalted: true,
		decide: func(v View) ([]event.Event, error) {
			halted, err := e.Halted()
			if err != nil {
				return nil, err
			}
			var events []event.Event
			if halted == nil && v.State.Halt() == nil {
				return nil, nil
			}
			if halted != nil && !halted.Damaged && v.State.Halt() == nil { // killed by hand, or its record failed
				if events, err = haltEvent(event.HaltSet, halted.By, halted.Reason); err != nil {
					return nil, err
				}
			}
			lifted, err := haltEvent(event.HaltLifted, by, "")
			return append(events, lifted...), err
		},
		// The record comes first: a crash in between leaves everything stopped, not running unseen.
		stored: func(own []event.Event) error {
			if len(own) == 0 {
				return nil
			}
			removed = true
			if err := e.log.Remove(KillSwitchName); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove kill switch: %w", err)
			}
			return nil
		},
	})
	if err != nil {
		return Receipt{}, err
	}
	if !removed {
		receipt.Duplicate = true
		receipt.Notes = append(receipt.Notes, "the kill switch was not on")
	}
	return receipt, nil
}

func haltEvent(action event.HaltAction, by, reason string) ([]event.Event, error) {
	text := "Kill switch set: " + reason
	if action == event.HaltLifted {
		text = "Kill switch lifted"
	}
	ev, err := event.New(by, event.Broadcast, text, event.Halt{Action: action, Reason: reason})
	if err != nil {
		return nil, err
	}
	return []event.Event{ev}, nil
}

// Halted is the kill switch as its file tells it now, nil when it is not there. A damaged file still halts, and so does one
// that cannot be read. The error is about the directory.
func (e *Engine) Halted() (*HaltedError, error) {
	data, err := e.log.ReadFile(KillSwitchName, maxKillSwitchBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // not halted
	}
	var unsafe *store.UnsafeError
	if errors.As(err, &unsafe) && filepath.Base(unsafe.Path) != KillSwitchName {
		return nil, err // the directory itself: nothing in it counts
	}
	if err != nil {
		return &HaltedError{Damaged: true}, nil
	}
	var k killSwitch
	if json.Unmarshal(data, &k) != nil || k.Reason == "" || k.ActivatedBy == "" {
		return &HaltedError{Damaged: true}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, k.ActivatedAt)
	if err != nil {
		return &HaltedError{Damaged: true}, nil
	}
	return &HaltedError{By: k.ActivatedBy, Reason: k.Reason, At: at}, nil
}
