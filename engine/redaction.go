package engine

import (
	"bytes"
	"errors"
	"slices"

	"github.com/agentloadout/loadout/engine/event"
)

// cleanDraft takes secrets out of what an event says and brings it into the form in which it is stored. Names, paths and
// other words by which things are found again cannot be changed without losing what they stand for: a secret there is refused.
func cleanDraft(ev *event.Event) error {
	for _, f := range []struct{ name, value string }{
		{"id", ev.ID}, {"from", ev.From}, {"to", ev.To}, {"resolves", ev.Resolves}, {"key", ev.Key}, {"by", ev.By},
	} {
		if Redact(f.value) != f.value {
			return secretIn(f.name)
		}
	}
	said := *ev
	if err := redactDraft(ev); err != nil {
		return err
	}
	if !bytes.Equal(said.Payload, ev.Payload) {
		before, err := said.Body()
		if err != nil {
			return invalid(err)
		}
		after, err := ev.Body()
		if err != nil {
			return invalid(err)
		}
		if !slices.Equal(names(before), names(after)) {
			return secretIn("payload")
		}
	}
	return invalid(ev.Normalize())
}

// redactDraft takes secrets out of the free words of an event.
func redactDraft(ev *event.Event) error {
	ev.Description = Redact(ev.Description)
	ev.Context = Redact(ev.Context)
	if len(ev.Payload) == 0 {
		return nil
	}
	payload, err := redactJSON(ev.Payload)
	if err != nil {
		return &ValidationError{Field: "payload", Reason: "is no JSON"}
	}
	ev.Payload = payload
	return nil
}

func secretIn(field string) error {
	return &ValidationError{Field: field, Reason: "holds what looks like a secret in a name, path or id, where it cannot be removed"}
}

// invalid turns the codec's refusal into ours.
func invalid(err error) error {
	var bad *event.InvalidError
	if errors.As(err, &bad) {
		return &ValidationError{Field: bad.Field, Reason: bad.Reason}
	}
	return err
}

// names lists the words of a payload by which things are found again.
func names(body event.Body) []string {
	switch b := body.(type) {
	case event.Contract:
		return []string{b.Name}
	case event.Ownership:
		list := append([]string{b.Holder}, b.Paths...)
		for _, d := range b.Displaced {
			list = append(list, d.Agent, d.Path)
		}
		return list
	case event.Task:
		return b.Needs
	case event.Decision:
		return []string{b.Supersedes, b.DiscussionID}
	case event.Update:
		return b.Consumes
	case event.Discussion:
		return append([]string{b.ThreadID, b.ReplyTo}, b.Participants...)
	case event.Agent:
		return []string{b.Name, b.Previous, b.Base, b.Human, b.Session, b.Start, b.Boot, b.Host}
	case event.Turn:
		return append([]string{b.Turn, b.Agent, b.Provider, b.Session, b.Cause}, b.Agents...)
	case event.Work:
		list := []string{b.Agent, b.Harness, b.Human, b.To, b.Holder, b.Escalation}
		if b.Item != nil {
			list = append(list, b.Item.Type, b.Item.ID)
		}
		return list
	case event.Gate:
		list := []string{b.Scope, b.Ledger}
		for _, g := range b.Gates {
			list = append(list, g.ID)
		}
		return list
	case event.Wave:
		list := []string{b.Scope, b.Wave}
		for _, leaf := range b.Leaves {
			list = append(list, leaf.Leaf, leaf.Handle)
		}
		return list
	case event.Handoff, event.Question, event.Done, event.Status, event.Error, event.Cancel, event.Ack, event.Halt, event.Unknown:
	}
	return nil
}
