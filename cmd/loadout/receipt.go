package main

import (
	"context"
	"encoding/json"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

// write stores what an agent does. named is the agent that the verb names, "" for who calls; make gives the command in its name.
func (c *call) write(ctx context.Context, w writing, named string, make func(agent string) engine.Command) (engine.Receipt, string, error) {
	e, err := c.open(w.LockWait)
	if err != nil {
		return engine.Receipt{}, "", err
	}
	who, err := c.acting(ctx, e, named)
	if err != nil {
		return engine.Receipt{}, "", err
	}
	r, err := c.store(ctx, e, w, who, make(who.name))
	return r, who.name, err
}

// store carries out a command and says beside the answer what the person should know.
func (c *call) store(ctx context.Context, e *engine.Engine, w writing, who actor, cmd engine.Command) (engine.Receipt, error) {
	r, err := e.Do(ctx, engine.Request{Command: cmd, Key: w.Key, By: who.by})
	if err != nil {
		return r, err
	}
	c.noteReceipt(r)
	return r, nil
}

// noteReceipt reports on stderr what came with a write.
func (c *call) noteReceipt(r engine.Receipt) {
	c.wrote = c.wrote || len(r.Events) > 0 && !r.Duplicate
	for _, n := range r.Notes {
		c.note("note: %s", n)
	}
	for i := range r.Expired {
		c.note("note: %s (seq %d)", r.Expired[i].Description, r.Expired[i].Seq)
	}
	if r.Duplicate && len(r.Events) > 0 {
		c.note("note: a retry; stored before, nothing was written now")
	}
}

// bodies are the bodies of one type among the events of a receipt. The engine has just written them, so they can be read.
func bodies[B event.Body](r engine.Receipt) []B {
	var list []B
	for i := range r.Events {
		if body, err := r.Events[i].Body(); err == nil {
			if b, ok := body.(B); ok {
				list = append(list, b)
			}
		}
	}
	return list
}

// receipt is how a write answers in JSON: the members of the event that it stored, those of extra, and what came with it.
func receipt(r engine.Receipt, extra ...any) joined {
	var answer joined
	if n := len(r.Events); n > 0 {
		answer = append(answer, eventJSON(&r.Events[n-1]))
	}
	about := receiptJSON{
		Stored:    len(r.Events) > 0 && !r.Duplicate,
		Duplicate: r.Duplicate && len(r.Events) > 0,
		HighSeq:   r.Head,
		Expired:   eventsJSON(r.Expired),
		Notes:     r.Notes,
	}
	if len(r.Events) > 1 {
		about.Events = eventsJSON(r.Events)
	}
	return append(append(answer, extra...), about)
}

// receiptJSON is what a write's answer says beside the event.
type receiptJSON struct {
	Stored    bool              `json:"stored"`              // written now
	Duplicate bool              `json:"duplicate,omitempty"` // a retry: the event is the one of the first time
	HighSeq   int64             `json:"highSeq"`
	Events    []json.RawMessage `json:"events,omitempty"`  // all, when the command stored several
	Expired   []json.RawMessage `json:"expired,omitempty"` // lapsed claims recorded with it
	Notes     []string          `json:"notes,omitempty"`
}

// eventJSON is an event as the log holds it.
func eventJSON(ev *event.Event) json.RawMessage { return ev.AppendLine(nil) }

// newsJSON is eventJSON of an event that somebody reads, with the seq of what has superseded it, 0 for nothing.
func newsJSON(ev *event.Event, supersededBy int64) any {
	if supersededBy == 0 {
		return eventJSON(ev)
	}
	return joined{eventJSON(ev), struct {
		SupersededBy int64 `json:"supersededBy"`
	}{supersededBy}}
}

func eventsJSON(events []event.Event) []json.RawMessage {
	out := make([]json.RawMessage, len(events))
	for i := range events {
		out[i] = eventJSON(&events[i])
	}
	return out
}

// answer prints the answer of a verb: v with --json, else what text prints. Where the log has lost something, it says so beside that:
// what is not there any more must not look like nothing.
func (c *call) answer(v any, text func()) error {
	lost := c.lost()
	if c.JSON {
		if lost != "" {
			v = noted{v, lost}
		}
		return writeJSON(c.stdout, v)
	}
	text()
	if lost != "" {
		c.note("note: %s", lost)
	}
	return nil
}

// noted is an answer, which must encode as an object, with one more of its notes.
type noted struct {
	answer any
	note   string
}

// MarshalJSON implements json.Marshaler.
func (n noted) MarshalJSON() ([]byte, error) {
	text, err := joined{n.answer}.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	var notes []string
	if own, ok := members["notes"]; ok {
		if err := json.Unmarshal(own, &notes); err != nil {
			return nil, err
		}
		delete(members, "notes")
	}
	more := struct {
		Notes []string `json:"notes"`
	}{append(notes, n.note)}
	return joined{members, more}.MarshalJSON()
}
