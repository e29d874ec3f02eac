package engine

import (
	"fmt"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
)

// decideEmit stores an event that came whole. What has a rule of its own goes through it, so that no surface gets around one.
func decideEmit(v View, c Emit) ([]event.Event, error) {
	body, err := c.Body()
	if err != nil {
		return nil, invalid(err)
	}
	if command, err := c.command(v, body); command != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return apply(v, command)
	}
	switch b := body.(type) {
	case event.Update:
		if err := v.knowsContracts(b.Consumes); err != nil {
			return nil, err
		}
	case event.Task:
		return v.take(c)
	case event.Done:
		return v.settleAsIs(c, b)
	case event.Error:
		return v.settleAsIs(c, b)
	case event.Agent, event.Halt, event.Turn, event.Work, event.Gate, event.Wave:
		return nil, &ValidationError{Field: "type", Reason: fmt.Sprintf("%q is for this program to write", c.Type)}
	case event.Unknown:
		return nil, &ValidationError{Field: "type", Reason: fmt.Sprintf("%q is not known", told(string(c.Type)))}
	case event.Status:
		body = event.Status{} // a summary is for a compaction to write
	case event.Ownership, event.Contract, event.Ack, event.Decision, event.Cancel, event.Question, event.Handoff, event.Discussion:
	}
	return draft1(c.asIs(body))
}

// command is the command that says what the event says, nil when no command does. What such an event has beyond the command, a
// description say, is not kept.
func (c Emit) command(v View, body event.Body) (Command, error) {
	switch b := body.(type) {
	case event.Ownership:
		return c.ownership(v, b)
	case event.Contract:
		return Publish{Agent: c.From, Name: b.Name, Body: b.Body, Format: b.Format, Revision: &b.Revision}, nil
	case event.Ack:
		return Ack{Agent: c.From, Seq: b.EventSeq, Note: b.Note}, nil
	case event.Decision:
		return Decide{Agent: c.From, Title: b.Title, Rationale: b.Rationale, Supersedes: b.Supersedes}, nil
	case event.Task:
		if c.Resolves == "" {
			return AddTask{From: c.From, To: c.to(), Text: c.Description, Context: c.Context, Needs: b.Needs, Handoff: b.Handoff}, nil
		}
	case event.Cancel:
		return Cancel{From: c.From, ID: c.Resolves, Reason: c.Description}, nil
	case event.Handoff, event.Question, event.Done, event.Status, event.Error, event.Update, event.Discussion, event.Agent,
		event.Halt, event.Turn, event.Work, event.Gate, event.Wave, event.Unknown:
	}
	return nil, nil //nolint:nilnil // the event is stored as it is
}

// ownership is the command of a claim or release. Whose claims it ends is decided here and not by who emits it.
func (c Emit) ownership(v View, b event.Ownership) (Command, error) {
	if b.Cause != "" || b.Holder != "" || len(b.Displaced) > 0 {
		return nil, &ValidationError{Field: "payload", Reason: "has cause, holder or displaced, which are for this program to write"}
	}
	if b.Mode == event.Release {
		return ReleasePaths{Agent: c.From, Paths: b.Paths, Reason: b.Reason}, nil
	}
	own := Own{Agent: c.From, Paths: b.Paths, Shared: b.Mode == event.Shared, Reason: b.Reason}
	if until, ok := event.ParseTime(b.ExpiresAt); ok {
		if own.TTL = until.Sub(v.Now); own.TTL <= 0 {
			return nil, &ValidationError{Field: "payload.expiresAt", Reason: "is not in the future"}
		}
	}
	return own, nil
}

// asIs is the event with its words, and with the payload that its type has.
func (c Emit) asIs(body event.Body) (event.Event, error) {
	ev, err := newEvent(c.From, c.to(), c.Description, body)
	ev.Context, ev.Resolves = c.Context, c.Resolves
	return ev, err
}

func (c Emit) to() string {
	if c.To == "" {
		return event.Broadcast
	}
	return c.To
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
	if v.State.IsReady(t.ID, c.From) || t.Status == state.TaskTaken && event.SameName(t.TakenBy, c.From) {
		c.Resolves = t.ID
		return draft1(c.asIs(event.Task{}))
	}
	refusal := &ConflictError{Kind: ConflictTask, Want: t.Seq, Have: t.Seq}
	refusal.Hints = []string{fmt.Sprintf("loadout coord next %s    to take one that is ready", word(c.From))}
	switch {
	case t.Status == state.TaskTaken:
		refusal.Message = fmt.Sprintf("task %s is %s's, who took it at %s", t.ID, told(t.TakenBy), words.Since(v.Now, *t.TakenAt))
	case len(t.Waiting) > 0:
		refusal.Message = fmt.Sprintf("task %s waits for %s", t.ID, toldList(t.Waiting))
		if open := v.OpenTasks([]state.Task{t})[0]; open.Stuck != "" {
			refusal.Message = fmt.Sprintf("task %s %s", t.ID, told(open.Stuck))
			refusal.Hints = append(refusal.Hints, open.Command()+"    for who asked, or a person")
		}
	default:
		refusal.Message = fmt.Sprintf("task %s was given to %s by %s at %s", t.ID, told(t.To), told(t.From), words.Since(v.Now, t.At))
	}
	return nil, refusal
}

// settleAsIs settles a task, or answers a question, in the words of the event. Without either it is news of a result.
func (v View) settleAsIs(c Emit, body event.Body) ([]event.Event, error) {
	if c.Resolves == "" {
		return draft1(c.asIs(body))
	}
	t, err := v.find("task", c.Resolves, func(state.Task) bool { return true })
	if err != nil {
		return nil, err
	}
	if err := v.maySettle(c.From, t); err != nil {
		return nil, err
	}
	c.Resolves = t.ID
	return draft1(c.asIs(body))
}
