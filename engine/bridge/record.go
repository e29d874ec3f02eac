package bridge

import (
	"errors"
	"math"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
)

// What a person or the end of a bridge cancels a turn with: the causes of its context.
var (
	errByPerson = errors.New("cancelled by a person")
	errEnded    = errors.New("the bridge has ended")
)

// errMoved says that a session is not where it was when a turn was made up: look again.
var errMoved = errors.New("the session has moved on")

// events makes drafts of turn events.
func events(turns ...event.Turn) ([]event.Event, error) {
	list := make([]event.Event, 0, len(turns))
	for _, b := range turns {
		ev, err := engine.TurnEvent(b)
		if err != nil {
			return nil, err
		}
		list = append(list, ev)
	}
	return list, nil
}

// of is a step of something that belongs to a session.
func of(s state.Session, action event.TurnAction) event.Turn {
	return event.Turn{Action: action, Agent: s.Agent, Provider: s.Provider, Session: s.ID, Scripted: s.Scripted}
}

// step is a step of a turn.
func step(t state.Turn, action event.TurnAction) event.Turn {
	return event.Turn{Action: action, Turn: t.ID, Agent: t.Agent, Provider: t.Provider, Session: t.Session, Scripted: t.Scripted, Why: t.Why, Thread: t.Thread}
}

// begin decides about the turn of a batch: the events that queue and start it, or the one that says which cap stops it.
func begin(v engine.View, s state.Session, b *batch, id string, prompt int) (list []event.Event, stopped bound, err error) {
	now, ok := v.State.Session(s.Agent)
	if !ok || now.ID != s.ID || now.Cursor != s.Cursor || now.Running != "" {
		return nil, bound{}, errMoved
	}
	if len(v.State.OpenTurns()) >= state.MaxOpenTurns-1 {
		return nil, bound{}, &engine.ConflictError{
			Kind: engine.ConflictTask, Want: -1, Have: -1, Message: "too many turns wait for a person; no further one is queued",
			Hints: []string{"loadout coord agents list    to see them", "loadout coord agents skip AGENT    to let them go"},
		}
	}
	var turns []event.Turn
	queued := of(s, event.TurnQueued)
	queued.Why, queued.Through = event.WhyDelivery, &b.through
	queued.Passive, queued.Duplicate = b.passive, b.duplicate
	if len(b.held) > 0 {
		held := queued
		held.Action, held.Turn, held.Seqs, held.Depth, held.Cause = event.TurnHeld, event.NewID(), seqsOf(b.held), b.heldDepth, state.CauseDepth
		if len(b.deliver) > 0 { // one cursor moves once, with what is delivered
			through := s.Cursor
			held.Through, held.Passive, held.Duplicate = &through, 0, 0
		}
		turns = append(turns, held)
	}
	if len(b.deliver) > 0 {
		if stopped = admit(v.State, s.Agent, prompt); stopped.kind != "" {
			if now.Stopped == string(stopped.kind) {
				return nil, stopped, nil
			}
			stop := of(s, event.TurnStopped)
			stop.Cause = string(stopped.kind)
			list, err = events(stop)
			return list, stopped, err
		}
		queued.Turn, queued.Seqs, queued.Depth = id, seqsOf(b.deliver), b.depth
		started := of(s, event.TurnStarted)
		started.Turn, started.Why, started.Attempt = id, event.WhyDelivery, 1
		turns = append(turns, queued, started)
	}
	list, err = events(turns...)
	return list, bound{}, err
}

// restart decides about a turn that is queued already, or that is made again.
func restart(v engine.View, t state.Turn, prompt int) (list []event.Event, stopped bound, err error) {
	s, ok := v.State.Session(t.Agent)
	now, open := v.State.Turn(t.ID)
	if !ok || !open || now.Status != t.Status || s.Running != "" {
		return nil, bound{}, errMoved
	}
	if stopped = admit(v.State, t.Agent, prompt); stopped.kind != "" {
		if s.Stopped == string(stopped.kind) {
			return nil, stopped, nil
		}
		stop := of(s, event.TurnStopped)
		stop.Cause = string(stopped.kind)
		list, err = events(stop)
		return list, stopped, err
	}
	started := step(now, event.TurnStarted)
	started.Attempt = now.Attempt + 1
	list, err = events(started)
	return list, bound{}, err
}

// outcome is what to record about a turn that has ended: what the program gave, and why the context ended if it did.
func outcome(t state.Turn, reply turn.Reply, err, cause error) event.Turn {
	b := step(t, event.TurnFinished)
	if reply.Session != "" && len(reply.Session) <= event.MaxSession {
		b.Session = reply.Session
	}
	b.Duration = max(0, reply.Duration.Milliseconds())
	b.Usage, b.Total = usage(reply.Usage), usage(reply.Total)
	if errors.Is(cause, turn.ErrKilled) {
		return cancelled(b, state.CauseHalt, err)
	}
	if err == nil {
		return b
	}
	switch {
	case errors.Is(cause, errByPerson):
		return cancelled(b, state.CausePerson, err)
	case cause != nil:
		return cancelled(b, state.CauseEnd, err)
	}
	b.Action, b.Cause, b.Spent = event.TurnFailed, string(turn.Crashed), string(turn.Maybe)
	var failure *turn.Failure
	if errors.As(err, &failure) {
		b.Cause, b.RetryAfter = string(failure.Kind), max(0, failure.RetryAfter.Milliseconds())
		b.Spent = string(spent(failure))
	}
	return b
}

func cancelled(b event.Turn, cause string, err error) event.Turn {
	b.Action, b.Cause, b.Spent = event.TurnCancelled, cause, string(turn.Maybe)
	var failure *turn.Failure
	if errors.As(err, &failure) {
		b.Spent = string(spent(failure))
	}
	return b
}

// spent is what a failure says, the worse when it says nothing.
func spent(f *turn.Failure) turn.Spent {
	switch f.Spent {
	case turn.Nothing, turn.Yes:
		return f.Spent
	case turn.Maybe:
	}
	return turn.Maybe
}

// usage is nil when there is nothing to tell.
func usage(u turn.Usage) *event.TurnUsage {
	if u == (turn.Usage{}) {
		return nil
	}
	return &event.TurnUsage{
		Input: max(0, u.Input), Cached: max(0, u.Cached), Output: max(0, u.Output), CostMicros: micros(u.Cost), Priced: u.Priced, Known: u.Known,
	}
}

// micros is an amount in millionths, rounded up: a cap is not passed by many small roundings.
func micros(dollars float64) int64 {
	if !(dollars > 0) {
		return 0
	}
	return int64(min(math.Ceil(dollars*1e6-1e-3), event.MaxSeq))
}

// before gives a provider back what it reported last as the session's total.
func before(u state.Usage) turn.Usage {
	return turn.Usage{
		Input: u.Input, Cached: u.Cached, Output: u.Output, Cost: float64(u.CostMicros) / 1e6, Priced: u.Priced, Known: u.Known,
	}
}

// due is the turn of an agent that is to be started before anything else, and how long from now on; nil when there is none.
func due(s *state.State, agent string, now time.Time, backoff time.Duration) (t *state.Turn, wait time.Duration) {
	for _, open := range s.OpenTurns() {
		if !event.SameName(open.Agent, agent) || open.Why != event.WhyDelivery {
			continue
		}
		switch {
		case open.Status == state.TurnQueued:
			return &open, 0
		case open.Repeats():
			return &open, pause(&open, now, backoff)
		}
	}
	return nil, 0
}

// pause is how long a turn that failed still waits before it is started again.
func pause(t *state.Turn, now time.Time, backoff time.Duration) time.Duration {
	if t.Status != state.TurnFailed || t.Ended == nil {
		return 0
	}
	for range t.Attempt - 1 {
		backoff *= backoffFactor
	}
	backoff = max(backoff, t.RetryAfter)
	return min(backoff, max(0, t.Ended.Add(backoff).Sub(now)))
}
