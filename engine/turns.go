package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/words"
)

// RecordTurns stores what decide makes of the state under the lock: turn events, made with TurnEvent, agent events of the session that a
// turn opened, and what came of the turn of a discussion. No events and no error: there is nothing to do. While the kill switch is on only
// endings are stored, which tell nothing but that something has ended. by is whose turn events these are: this program's when it is
// empty. sessions.json follows what was stored.
func (e *Engine) RecordTurns(ctx context.Context, by string, decide func(View) ([]event.Event, error)) (Receipt, error) {
	return e.RecordSession(ctx, by, "", decide)
}

// RecordSession is RecordTurns for events of which one attaches a session that works in the folder dir, the top of the project when
// that is empty.
func (e *Engine) RecordSession(ctx context.Context, by, dir string, decide func(View) ([]event.Event, error)) (Receipt, error) {
	if by != "" {
		if err := checkAgent("by", by); err != nil {
			return Receipt{}, err
		}
	}
	return e.transact(ctx, transaction{
		whileHalted: true,
		decide: func(v View) ([]event.Event, error) {
			events, err := decide(v)
			if err != nil || len(events) == 0 {
				return nil, err
			}
			if _, err := e.SessionRecords(); err != nil { // before anything is stored that it could not follow
				return nil, err
			}
			halted, err := e.Halted()
			if err != nil {
				return nil, err
			}
			for i := range events {
				if !ofTurns(events[i].Type) {
					return nil, fmt.Errorf("record turn: %s is no event of a turn", events[i].Type)
				}
				if halted != nil && !isEnding(&events[i]) {
					return nil, halted
				}
				if by != "" && events[i].Type == event.TypeTurn {
					events[i].From = by
				}
			}
			return events, nil
		},
		stored: func(own []event.Event) error { return e.noteSessions(dir, own) },
	})
}

// ofTurns reports whether turns, or what comes of those of a discussion, are recorded with events of this type.
func ofTurns(t event.Type) bool {
	switch t {
	case event.TypeTurn, event.TypeAgent, event.TypeDiscussion, event.TypeDecision, event.TypeError:
		return true
	default:
		return false
	}
}

// isEnding reports whether an event says only that something has ended, which may be stored while the kill switch is on.
func isEnding(ev *event.Event) bool {
	body, err := ev.Body()
	if err != nil {
		return false
	}
	b, ok := body.(event.Turn)
	return ok && (b.Action == event.TurnCancelled || b.Action == event.TurnUncertain || b.Action == event.TurnClosed)
}

// TurnEvent is the draft of a turn event. What it says in words is made of b alone.
func TurnEvent(b event.Turn) (event.Event, error) {
	ev, err := event.New(event.Loadout, event.Broadcast, tellTurn(&b), b)
	return ev, invalid(err)
}

// tellTurn says in a line what a turn event reports.
func tellTurn(b *event.Turn) string {
	who := b.Agent
	if who == "" {
		who = "the bridge"
	}
	switch b.Action {
	case event.TurnAttached:
		return fmt.Sprintf("%s: a session of %s takes part", who, b.Provider)
	case event.TurnForgotten:
		return who + ": session forgotten"
	case event.TurnOpened:
		return "Bridge opened for " + strings.Join(b.Agents, ", ")
	case event.TurnClosed:
		return "Bridge closed"
	case event.TurnPassed:
		return fmt.Sprintf("%s: nothing to deliver up to seq %d", who, *b.Through)
	case event.TurnDelivered:
		return fmt.Sprintf("%s: told %s with its own prompt", who, words.Plural(len(b.Seqs), "event"))
	case event.TurnQueued:
		return fmt.Sprintf("%s: turn queued for %s", who, trigger(b))
	case event.TurnHeld:
		return fmt.Sprintf("%s: turn held for %s, %d bridged turns led to it", who, trigger(b), b.Depth)
	case event.TurnStarted:
		return who + ": turn started"
	case event.TurnFinished:
		return who + ": turn finished" + used(b)
	case event.TurnFailed:
		return fmt.Sprintf("%s: turn failed: %s%s", who, strings.ReplaceAll(b.Cause, "_", " "), used(b))
	case event.TurnCancelled:
		return fmt.Sprintf("%s: turn cancelled (%s)", who, b.Cause)
	case event.TurnUncertain:
		return who + ": nobody knows what came of a turn"
	case event.TurnRetried:
		return who + ": turn to be made again"
	case event.TurnSkipped:
		return who + ": turn skipped"
	case event.TurnStopped:
		return fmt.Sprintf("%s: stopped by the cap on %s", who, CapName(event.TurnCap(b.Cause)))
	case event.TurnCapped:
		return who + ": caps set"
	}
	return who + ": " + string(b.Action)
}

// CapName says in words what a cap bounds.
func CapName(c event.TurnCap) string {
	switch c {
	case event.CapTurns:
		return "turns"
	case event.CapTotalTurns:
		return "turns of all sessions"
	case event.CapTokens:
		return "tokens"
	case event.CapCost:
		return "cost"
	}
	return string(c)
}

// trigger says what a turn is made for.
func trigger(b *event.Turn) string {
	switch b.Why {
	case event.WhyDelivery:
		return words.Plural(len(b.Seqs), "event")
	case event.WhyMessage:
		return "a message"
	case event.WhyOpening:
		return "a new session"
	case event.WhyDiscussion:
		return "a discussion"
	}
	return string(b.Why)
}

func used(b *event.Turn) string {
	if b.Usage == nil || !b.Usage.Known {
		return ""
	}
	return fmt.Sprintf(" (%d tokens)", b.Usage.Input+b.Usage.Output)
}
