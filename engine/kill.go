package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
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

// Kill sets the kill switch: first the file, without the lock, so that it holds at once, then the record. Whatever keeps the file
// from being written whole, or the record from being made, is a note once something is at the path: its presence halts. When it
// is set already the receipt is a Duplicate and a note says by whom; when that cannot be told, this Kill is recorded all the same.
func (e *Engine) Kill(ctx context.Context, by, reason string) (Receipt, error) {
	return e.KillOnce(ctx, by, reason, "")
}

// KillOnce is Kill with a retry key, as in Do: a second try stores nothing and halts nothing, also when the kill switch was lifted
// meanwhile. A log that cannot be read does not keep it from halting.
func (e *Engine) KillOnce(ctx context.Context, by, reason, key string) (Receipt, error) {
	by, reason = strings.TrimSpace(by), Redact(strings.TrimSpace(reason))
	if by == "" {
		by = event.User
	}
	switch {
	case Redact(by) != by:
		return Receipt{}, secretIn("by")
	case event.CheckName(by) != nil:
		return Receipt{}, invalid(event.CheckName(by))
	case reason == "":
		return Receipt{}, &ValidationError{Field: "reason", Reason: "is missing", Hints: []string{"loadout kill REASON"}}
	case event.Clip(reason, event.MaxReason) != reason:
		return Receipt{}, &ValidationError{Field: "reason", Reason: fmt.Sprintf("is longer than %d characters", event.MaxReason)}
	}
	t := transaction{
		request:     Request{Key: key},
		whileHalted: true,
		decide:      func(v View) ([]event.Event, error) { return haltEvent(event.HaltSet, v.spelling(by), reason) },
		sketch:      haltSketch(event.HaltSet, by, reason),
	}
	if key != "" {
		if err := checkKey(by, key, e.now()); err != nil {
			return Receipt{}, err
		}
		var other *ConflictError
		if r, found, err := e.before(ctx, t); found || errors.As(err, &other) {
			return r, err
		}
	}
	data, err := json.MarshalIndent(killSwitch{event.FormatTime(e.now()), by, reason}, "", "  ")
	if err != nil {
		return Receipt{}, fmt.Errorf("write kill switch: %w", err)
	}
	data = append(data, '\n')
	var notes []string
	switch err := e.log.Create(KillSwitchName, data); {
	case errors.Is(err, store.ErrExists):
		return e.alreadyHalted(ctx, t, data)
	case err != nil:
		halted, lookErr := e.Halted()
		if lookErr != nil || halted == nil {
			return Receipt{}, fmt.Errorf("the kill switch could not be set: %w", err)
		}
		if errors.Is(err, store.ErrUnsafe) { // something else of that name
			return e.alreadyHalted(ctx, t, data)
		}
		notes = append(notes, fmt.Sprintf("the kill switch is on, but its file could not be written whole: %v", err))
	}
	return e.recordHalt(ctx, t, notes), nil
}

// recordHalt makes the record of a kill switch that is on; notes are what is to be told beside.
func (e *Engine) recordHalt(ctx context.Context, t transaction, notes []string) Receipt {
	receipt, err := e.transact(ctx, t)
	if err != nil { // it holds all the same; Resume makes up for the record
		receipt = Receipt{Head: -1, Notes: []string{fmt.Sprintf("the kill switch is on, but that could not be recorded: %v", err)}}
	}
	receipt.Notes = append(notes, receipt.Notes...)
	return receipt
}

// alreadyHalted answers a Kill, whose file would be data, when the kill switch is on. When nobody can tell who set it, at least this
// one is recorded, and an empty file is replaced by data in one step: it halts all the time.
func (e *Engine) alreadyHalted(ctx context.Context, t transaction, data []byte) (Receipt, error) {
	halted, err := e.Halted()
	if err != nil {
		return Receipt{}, err
	}
	if halted == nil { // lifted this moment
		return Receipt{Duplicate: true, Head: -1}, nil
	}
	notes := []string{"already " + halted.Error()}
	if !halted.Damaged {
		return Receipt{Duplicate: true, Head: -1, Notes: notes}, nil
	}
	if old, err := e.log.ReadFile(KillSwitchName, maxKillSwitchBytes); err == nil && len(bytes.TrimSpace(old)) == 0 {
		if err := e.log.WriteFile(KillSwitchName, data); err != nil {
			notes = append(notes, fmt.Sprintf("its file could not be written: %v", err))
		}
	}
	return e.recordHalt(ctx, t, notes), nil
}

// Resume lifts the kill switch and records that. When it is not set the receipt is a Duplicate.
func (e *Engine) Resume(ctx context.Context, by string) (Receipt, error) {
	return e.ResumeOnce(ctx, by, "")
}

// ResumeOnce is Resume with a retry key, as in Do: a second try lifts nothing that was set since.
func (e *Engine) ResumeOnce(ctx context.Context, by, key string) (Receipt, error) {
	if by = strings.TrimSpace(by); by == "" {
		by = event.User
	}
	var removed bool
	var aside string
	receipt, err := e.transact(ctx, transaction{
		request:     Request{Key: key},
		whileHalted: true,
		sketch:      haltSketch(event.HaltLifted, by, ""),
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
				if events, err = haltEvent(event.HaltSet, v.spelling(halted.By), halted.Reason); err != nil {
					return nil, err
				}
			}
			lifted, err := haltEvent(event.HaltLifted, v.spelling(by), "")
			return append(events, lifted...), err
		},
		// The record comes first: a crash in between leaves everything stopped, not running unseen.
		stored: func(own []event.Event) error {
			if len(own) == 0 {
				return nil
			}
			removed = true
			if e.log.Remove(KillSwitchName) == nil {
				return nil
			}
			var err error // a folder of that name, and not an empty one
			if aside, err = e.log.MoveAside(KillSwitchName); err != nil {
				return fmt.Errorf("the kill switch is still on, remove %s by hand: %w", filepath.Join(e.project.Dir, KillSwitchName), err)
			}
			return nil
		},
	})
	if err != nil {
		return Receipt{}, err
	}
	if aside != "" {
		receipt.Notes = append(receipt.Notes, "what was in the place of the kill switch could not be removed and is now "+aside)
	}
	if !removed && !receipt.Duplicate {
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

// checkKey refuses a retry key with which nothing can be recorded, before anything is halted.
func checkKey(by, key string, now time.Time) error {
	events, err := haltEvent(event.HaltLifted, by, "")
	if err != nil {
		return err
	}
	ev := View{Now: now}.sketched(events[0])
	ev.Key = key
	return cleanDraft(&ev)
}

// haltSketch is what a retry of a kill or resume asks for.
func haltSketch(action event.HaltAction, by, reason string) func(View) (event.Event, error) {
	return func(v View) (event.Event, error) {
		events, err := haltEvent(action, v.spelling(by), reason)
		if err != nil {
			return event.Event{}, err
		}
		return v.sketched(events[0]), nil
	}
}

// Halted is the kill switch as its file tells it now, nil when it is not there. Whatever is at its path halts: also a damaged file,
// one that cannot be read, or another kind of file. The error says that this cannot be told: the directory is not to be trusted, or
// the path cannot be looked at.
func (e *Engine) Halted() (*HaltedError, error) {
	if there, err := e.log.Exists(KillSwitchName); err != nil || !there {
		return nil, err
	}
	data, err := e.log.ReadFile(KillSwitchName, maxKillSwitchBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // lifted this moment
	}
	if err != nil {
		return &HaltedError{Damaged: true}, nil
	}
	var k killSwitch
	if json.Unmarshal(data, &k) != nil || k.Reason == "" || event.CheckName(k.ActivatedBy) != nil {
		return &HaltedError{Damaged: true}, nil
	}
	at, err := time.Parse(time.RFC3339Nano, k.ActivatedAt)
	if err != nil {
		return &HaltedError{Damaged: true}, nil
	}
	return &HaltedError{By: k.ActivatedBy, Reason: event.Clip(k.Reason, event.MaxReason), At: at, Seen: e.now()}, nil
}

// refuseHalted is the kill switch as a refusal, nil when it is off.
func (e *Engine) refuseHalted() error {
	halted, err := e.Halted()
	if err == nil && halted != nil {
		err = halted
	}
	return err
}
