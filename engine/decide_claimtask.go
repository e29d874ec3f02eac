package engine

import (
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// ClaimTask claims paths exclusively and takes a task: both, or neither. One of the two may be absent.
type ClaimTask struct {
	Agent  string
	ID     string // the task to take; empty: a new one, which Text describes
	Text   string // what is done; of a task that exists, a note to it
	NewID  string // what the new task will be called; Do makes one up when it is empty
	Paths  []string
	Typed  string // as of Own
	Reason string // as of Own
}

func (c ClaimTask) spelled(as func(string) string) Command {
	c.Agent = as(c.Agent)
	return c
}

// own is the claim in it.
func (c ClaimTask) own() Own {
	return Own{Agent: c.Agent, Paths: c.Paths, Typed: c.Typed, Reason: c.Reason}
}

// decideClaimTask claims first, so that a refusal names what stands in the way of the files.
func decideClaimTask(v View, c ClaimTask) ([]event.Event, error) {
	if c.ID == "" && c.Text == "" && len(c.Paths) == 0 {
		return nil, &ValidationError{Field: "task", Reason: "is needed: the id of one that exists, or what a new one is about"}
	}
	var events []event.Event
	if len(c.Paths) > 0 {
		claim, err := decideOwn(v, c.own())
		if err != nil {
			return nil, err
		}
		events = claim
	}
	taken, err := c.task(v)
	return append(events, taken...), err
}

// task is what takes the task, or makes it and takes it.
func (c ClaimTask) task(v View) ([]event.Event, error) {
	switch {
	case c.ID != "":
		t, err := v.find("task", c.ID, func(t state.Task) bool { return !t.Question })
		if err != nil {
			return nil, err
		}
		take, err := takeEvent(c.Agent, t)
		if err != nil {
			return nil, err
		}
		if c.Text != "" {
			take.Description = c.Text
		}
		return v.take(Emit{Event: take})
	case c.Text != "":
		made, err := c.made()
		if err != nil {
			return nil, err
		}
		take, err := takeEvent(c.Agent, state.Task{ID: c.NewID, Description: c.Text})
		return []event.Event{made, take}, err
	}
	return nil, nil
}

// made is the event of the new task. It goes to everybody, so that they know what is being worked on.
func (c ClaimTask) made() (event.Event, error) {
	ev, err := taskEvent(AddTask{From: c.Agent, To: event.Broadcast, Text: c.Text}, nil)
	ev.ID = c.NewID
	return ev, err
}

// sketch is the first of its events, without what depends on the state.
func (c ClaimTask) sketch(v View) (event.Event, error) {
	if len(c.Paths) > 0 {
		return ownEvent(c.own())
	}
	if c.ID == "" {
		return c.made()
	}
	t, err := v.find("task", c.ID, func(t state.Task) bool { return !t.Question })
	if err != nil {
		return event.Event{}, err
	}
	ev, err := takeEvent(c.Agent, t)
	if c.Text != "" {
		ev.Description = c.Text
	}
	return ev, err
}
