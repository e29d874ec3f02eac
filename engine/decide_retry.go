package engine

import (
	"fmt"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// retried finds what a request with the same retry key stored before. redact is what the write path does to a draft. found
// is false when the key is new. When the key belongs to a different write the error is a *ConflictError of kind key.
func retried(v View, r Request, redact func(*event.Event)) (seq int64, found bool, err error) {
	asked, err := sketch(v, r.Command)
	if err != nil {
		return -1, false, nil //nolint:nilerr // the rule refuses it too, and says why
	}
	return stored(v, r, asked, redact)
}

// stored is retried for a request with this sketch.
func stored(v View, r Request, asked event.Event, redact func(*event.Event)) (seq int64, found bool, err error) {
	from, seq, intent, found := v.seen(r, asked.From)
	if !found {
		return -1, false, nil
	}
	asked.From = from
	redact(&asked)
	if err := asked.Normalize(); err != nil {
		return -1, false, nil //nolint:nilerr // as above
	}
	if state.Intent(&asked) != intent {
		return -1, false, &ConflictError{
			Kind: ConflictKey, Want: -1, Have: seq,
			Message: fmt.Sprintf("retry key %q of %s belongs to another request, stored as event %d", told(r.Key), told(asked.From), seq),
			Hints: []string{
				fmt.Sprintf("loadout coord subscribe %s --cursor %d    to see that event", word(asked.From), seq-1),
				"a new --key for a new request",
			},
		}
	}
	return seq, true, nil
}

// seen finds who stored what with the request's key: its sender, or, as a registration is sent under the name that it makes, any
// agent of its base.
func (v View) seen(r Request, sender string) (from string, seq int64, intent uint64, found bool) {
	senders := []string{sender}
	if c, ok := r.Command.(Register); ok && c.Name == "" {
		senders = nil
		for _, a := range v.State.Agents() {
			if event.SameName(a.Base, c.Base) {
				senders = append(senders, a.Name)
			}
		}
	}
	for _, from := range senders {
		if seq, intent, found := v.State.SeenRequest(from, r.Key); found {
			return from, seq, intent, true
		}
	}
	return "", -1, 0, false
}

// sketch is the event that a command asks for, without what depends on the state: what state.Intent looks at. A retry must
// find what it stored also when the state has moved on and the rule would refuse it now.
func sketch(v View, c Command) (event.Event, error) {
	ev, err := sketchOf(v, c.spelled(v.spelling))
	if err != nil {
		return event.Event{}, err
	}
	return v.sketched(ev), nil
}

// sketched makes an event whole, as Normalize wants it: three members of it are given under the lock.
func (v View) sketched(ev event.Event) event.Event {
	ev.ID, ev.Seq, ev.Timestamp = event.NewID(), 0, event.FormatTime(v.Now)
	return ev
}

func sketchOf(v View, c Command) (event.Event, error) {
	switch c := c.(type) {
	case Own:
		return ownEvent(c)
	case ReleasePaths:
		return releaseEvent(c)
	case Publish:
		return publishEvent(c, 1)
	case Consume:
		return reportEvent(c.report())
	case Report:
		return reportEvent(c)
	case Decide:
		return decisionEvent(c, "")
	case AddTask:
		return taskEvent(c, nil)
	case Ask:
		return askEvent(c)
	case Answer:
		t, err := v.find("question", c.ID, func(t state.Task) bool { return t.Question })
		if err != nil {
			return event.Event{}, err
		}
		return answerEvent(c, t)
	case Next:
		return takeEvent(c.Agent, state.Task{ID: "task", From: event.User, Description: "task"})
	case ClaimTask:
		return c.sketch(v)
	case Finish:
		t, err := v.find("task", c.ID, func(state.Task) bool { return true })
		if err != nil {
			return event.Event{}, err
		}
		return finishEvent(c, t)
	case Cancel:
		t, err := v.find("task", c.ID, func(state.Task) bool { return true })
		if err != nil {
			return event.Event{}, err
		}
		return cancelEvent(c, t)
	case Ack:
		return ackEvent(c)
	case Register:
		if c.Name != "" {
			return registerEvent(c, c.Name)
		}
		return registerEvent(c, c.Base) // the name is made under the lock
	case EndAgent:
		return newEvent(c.Name, event.Broadcast, c.Name, event.Agent{Action: event.AgentEnded, Name: c.Name})
	case ForgetAgent:
		return newEvent(event.User, event.Broadcast, c.Name, event.Agent{Action: event.AgentForgotten, Name: c.Name})
	case RenameAgent:
		return newEvent(c.Old, event.Broadcast, c.New, event.Agent{Action: event.AgentRenamed, Name: c.New, Previous: c.Old})
	case Emit:
		body, err := c.Body()
		if err != nil {
			return event.Event{}, err
		}
		if command, err := c.command(v, body); command != nil || err != nil {
			if err != nil {
				return event.Event{}, err
			}
			return sketchOf(v, command)
		}
		if t, err := v.find("task", c.Resolves, func(state.Task) bool { return true }); err == nil {
			c.Resolves = t.ID
		}
		return c.asIs(body)
	}
	return event.Event{}, fmt.Errorf("sketch %T: no rule", c)
}
