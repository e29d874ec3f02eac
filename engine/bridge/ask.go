package bridge

import (
	"context"
	"errors"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
)

// Question is a turn outside of a bridge, of which somebody waits for the answer.
type Question struct {
	Why    event.TurnWhy
	Thread string // the discussion that it makes a statement for
	Prompt string
	Dir    string // where the program works, absolute
	Schema []byte // JSON Schema that the answer must follow; nil: free text
	Attach bool   // a session that the turn opens takes part from its end on, unless the turn was cancelled

	// Also makes events that are stored in the same write as the end of the turn: both, or neither. It is called under the lock,
	// possibly more than once, for a turn that was answered or that failed with err, and not for one that was cancelled.
	Also func(reply turn.Reply, end event.Turn, err error) ([]event.Event, error)
	// Stored is told all that this write stored, as it was stored.
	Stored func(events []event.Event)
}

// Ask makes a turn of a session, which it opens when s has no ID, and returns the answer and the event that says how it ended. The
// turn is on record before it is submitted. It ends early with ctx, by the kill switch, or when a person cancels it.
func Ask(ctx context.Context, e *engine.Engine, s state.Session, q Question, o Options) (turn.Reply, event.Turn, error) {
	o = o.withDefaults()
	return single(ctx, e, &o, s, q)
}

// single makes a turn that is not one of a bridge.
func single(ctx context.Context, e *engine.Engine, o *Options, s state.Session, q Question) (turn.Reply, event.Turn, error) {
	release, err := e.TurnLease(ctx, s.Agent, sendWait)
	if err != nil {
		return turn.Reply{}, event.Turn{}, err
	}
	reply, end, err := singleHeld(ctx, e, o, s, q)
	return reply, end, errors.Join(err, release())
}

func singleHeld(ctx context.Context, e *engine.Engine, o *Options, s state.Session, q Question) (turn.Reply, event.Turn, error) {
	tell := &teller{report: o.Report}
	if err := settleAgent(ctx, e, tell, s.Agent); err != nil {
		return turn.Reply{}, event.Turn{}, err
	}
	t := state.Turn{
		ID: event.NewID(), Agent: s.Agent, Provider: s.Provider, Session: s.ID, Scripted: s.Scripted, Why: q.Why, Thread: q.Thread, Attempt: 1,
	}
	r, err := e.RecordTurns(ctx, o.By, func(engine.View) ([]event.Event, error) {
		started := step(t, event.TurnStarted)
		started.Attempt = 1
		return events(step(t, event.TurnQueued), started)
	})
	if err != nil {
		return turn.Reply{}, event.Turn{}, err
	}
	t.Seq = r.Seq()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop, err := watchKill(ctx, e, t.ID, cancel)
	if err != nil {
		return turn.Reply{}, event.Turn{}, err
	}
	defer stop()
	return submit(ctx, e, o, tell, submission{
		turn: t, prompt: q.Prompt, dir: q.Dir, permissions: o.Permissions(s.Provider, s.Agent), before: before(s.Total),
		schema: q.Schema, attach: q.Attach, also: q.Also, stored: q.Stored,
	})
}

// watchKill cancels a turn when the kill switch is set or somebody cancels the turn in the log, until stop is called.
func watchKill(ctx context.Context, e *engine.Engine, id string, cancel context.CancelCauseFunc) (stop func(), err error) {
	v, err := e.View(ctx)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = e.FollowFrom(ctx, v, func(d engine.Delivery) error { // it ends with ctx
			if d.Halted != nil {
				cancel(turn.ErrKilled)
			}
			for i := range d.Events {
				body, err := d.Events[i].Body()
				if b, ok := body.(event.Turn); err == nil && ok && b.Turn == id && b.Action == event.TurnCancelled {
					cancel(errByPerson)
				}
			}
			return nil
		})
	}()
	return func() { end(); <-done }, nil
}
