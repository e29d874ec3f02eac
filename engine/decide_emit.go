package engine

import (
	"fmt"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// decideEmit stores an event that came whole. What has a rule of its own goes through it, so that no surface gets around one.
func decideEmit(v View, c Emit) ([]event.Event, error) {
	body, err := c.Body()
	if err != nil {
		return nil, invalid(err)
	}
	switch b := body.(type) {
	case event.Ownership:
		return decideEmitted(v, c, b)
	case event.Contract:
		return decidePublish(v, Publish{Agent: c.From, Name: b.Name, Body: b.Body, Format: b.Format, Revision: &b.Revision})
	case event.Ack:
		return decideAck(v, Ack{Agent: c.From, Seq: b.EventSeq, Note: b.Note})
	case event.Decision:
		return decideDecision(v, Decide{Agent: c.From, Title: b.Title, Rationale: b.Rationale, Supersedes: b.Supersedes})
	case event.Update:
		for _, name := range b.Consumes {
			if _, ok := v.State.Contract(name); !ok {
				return nil, noContract(v.State, name)
			}
		}
		return c.asIs(b)
	case event.Task:
		if c.Resolves != "" {
			return v.take(c)
		}
		return decideTask(v, AddTask{From: c.From, To: c.To, Text: c.Description, Context: c.Context, Needs: b.Needs, Handoff: b.Handoff})
	case event.Question:
		return c.asIs(b)
	case event.Done:
		return v.settleAsIs(c, b)
	case event.Error:
		if c.Resolves == "" {
			return c.asIs(b) // a report of a failure
		}
		return v.settleAsIs(c, b)
	case event.Cancel:
		return decideCancel(v, Cancel{From: c.From, ID: c.Resolves, Reason: c.Description})
	case event.Status:
		return c.asIs(event.Status{}) // a summary is for a compaction to write
	case event.Handoff, event.Discussion:
		return c.asIs(b)
	case event.Agent, event.Halt:
		return nil, &ValidationError{Field: "type", Reason: fmt.Sprintf("%q is for this program to write", c.Type)}
	case event.Unknown:
		return nil, &ValidationError{Field: "type", Reason: fmt.Sprintf("%q is not known", c.Type)}
	}
	return nil, fmt.Errorf("emit %T: no rule", body)
}

// asIs is the event with its words, and with the payload that its type has.
func (c Emit) asIs(body event.Body) ([]event.Event, error) {
	ev, err := newEvent(c.From, c.to(), c.Description, body)
	ev.Context, ev.Resolves = c.Context, c.Resolves
	return draft1(ev, err)
}

func (c Emit) to() string {
	if c.To == "" {
		return event.Broadcast
	}
	return c.To
}

func decideEmitted(v View, c Emit, b event.Ownership) ([]event.Event, error) {
	if b.Mode == event.Release {
		return decideRelease(v, ReleasePaths{Agent: c.From, Paths: b.Paths, Reason: b.Reason})
	}
	own := Own{Agent: c.From, Paths: b.Paths, Shared: b.Mode == event.Shared, Reason: b.Reason}
	if until, ok := event.ParseTime(b.ExpiresAt); ok {
		if own.TTL = until.Sub(v.Now); own.TTL <= 0 {
			return nil, &ValidationError{Field: "payload.expiresAt", Reason: "is not in the future"}
		}
	}
	return decideOwn(v, own)
}

// take takes the task that an event names.
func (v View) take(c Emit) ([]event.Event, error) {
	t, err := v.find("task", c.Resolves, func(t state.Task) bool { return !t.Question })
	if err != nil {
		return nil, err
	}
	if !t.Open() {
		return nil, v.refuseSettled(t)
	}
	if t.Status == state.TaskTaken && !event.SameName(t.TakenBy, c.From) {
		return nil, &ConflictError{
			Kind: ConflictTask, Want: t.Seq, Have: t.Seq,
			Message: fmt.Sprintf("task %s is %s's, who took it at %s", t.ID, t.TakenBy, sinceText(*t.TakenAt, v.Now)),
			Hints:   []string{fmt.Sprintf("loadout coord next %s    to take another one", word(c.From))},
		}
	}
	c.Resolves = t.ID
	return c.asIs(event.Task{})
}

// settleAsIs settles a task, or answers a question, in the words of the event.
func (v View) settleAsIs(c Emit, body event.Body) ([]event.Event, error) {
	t, err := v.find("task", c.Resolves, func(state.Task) bool { return true })
	if err != nil {
		return nil, err
	}
	if t.Question && !t.Open() {
		return nil, v.refuseSettled(t)
	}
	if !t.Question {
		if err := v.maySettle(c.From, t); err != nil {
			return nil, err
		}
	}
	c.Resolves = t.ID
	return c.asIs(body)
}
