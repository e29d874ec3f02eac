package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/store"
)

// MessagesName is the file of handoff messages, in a form that other programs read and write. For what this program stores, the
// log is the truth and the file its projection.
const MessagesName = "messages.jsonl"

const maxMessagesBytes = 64 << 20

// Message is one line of messages.jsonl.
type Message struct {
	ID           string          `json:"id"`
	Type         event.Type      `json:"type"`
	From         string          `json:"from"`
	To           string          `json:"to"`
	Description  string          `json:"description"`
	Context      string          `json:"context,omitempty"`
	Bundle       json.RawMessage `json:"bundle,omitempty"`       // of other programs
	Verification json.RawMessage `json:"verification,omitempty"` // of other programs: what a settlement must show
	Evidence     json.RawMessage `json:"evidence,omitempty"`
	Timestamp    string          `json:"timestamp"`
	Resolves     string          `json:"resolves,omitempty"`
}

// evidence is what Message.Evidence holds when this program wrote it.
type evidence struct {
	Mode        string `json:"mode"`
	Status      string `json:"status"`
	Summary     string `json:"summary,omitempty"`
	IsTruncated bool   `json:"isTruncated"`
}

// BadMessage is a line of messages.jsonl that cannot be read.
type BadMessage struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// mailbox is what messages.jsonl holds.
type mailbox struct {
	messages []Message
	corrupt  []BadMessage
	ids      map[string]bool // of the messages
	settled  map[string]int  // id of a settled message to the place of what settled it in messages
}

// readMailbox reads messages.jsonl. A line that cannot be read hides no other.
func (e *Engine) readMailbox() (mailbox, error) {
	box := mailbox{ids: map[string]bool{}, settled: map[string]int{}}
	data, err := e.log.ReadFile(MessagesName, maxMessagesBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return box, nil
	}
	if err != nil {
		return box, fmt.Errorf("read handoff messages: %w", err)
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		m, err := parseMessage(line)
		if err != nil {
			box.corrupt = append(box.corrupt, BadMessage{Line: number, Reason: err.Error()})
			continue
		}
		box.add(m)
	}
	return box, nil
}

func (b *mailbox) add(m Message) {
	b.ids[m.ID] = true
	if settles(m.Type) {
		for _, id := range []string{m.Resolves, event.ResolvesInWords(m.Context)} {
			if _, twice := b.settled[id]; id != "" && !twice {
				b.settled[id] = len(b.messages)
			}
		}
	}
	b.messages = append(b.messages, m)
}

func settles(t event.Type) bool {
	return t == event.TypeDone || t == event.TypeError || t == event.TypeCancel
}

func parseMessage(line []byte) (Message, error) {
	if len(line) > store.MaxLineBytes {
		return Message{}, fmt.Errorf("is longer than %d bytes", store.MaxLineBytes)
	}
	if !utf8.Valid(line) {
		return Message{}, errors.New("is not UTF-8")
	}
	var m Message
	if err := json.Unmarshal(line, &m); err != nil {
		return Message{}, errors.New("is not the JSON of a message")
	}
	if m.Type == "" {
		m.Type = event.TypeTask
	}
	if m.From == "" {
		m.From = event.User
	}
	for _, f := range []struct{ name, value string }{
		{"id", m.ID}, {"to", strings.TrimSpace(m.To)}, {"description", strings.TrimSpace(m.Description)},
	} {
		if f.value == "" {
			return Message{}, fmt.Errorf("has no %s", f.name)
		}
	}
	if _, ok := event.ParseTime(m.Timestamp); !ok {
		return Message{}, errors.New("has no timestamp that can be read")
	}
	switch m.Type { //nolint:exhaustive // the types that a message may have
	case event.TypeTask, event.TypeHandoff, event.TypeQuestion, event.TypeDone, event.TypeStatus, event.TypeError, event.TypeCancel:
		return m, nil
	}
	return Message{}, fmt.Errorf("has the unknown type %q", event.Clip(string(m.Type), 40))
}

// toMessage is the message that stands for an event.
func toMessage(ev *event.Event) Message {
	m := Message{
		ID: ev.ID, Type: ev.Type, From: ev.From, To: ev.To, Description: ev.Description, Context: ev.Context,
		Timestamp: ev.Timestamp, Resolves: ev.Resolves,
	}
	if body, err := ev.Body(); err == nil {
		if done, ok := body.(event.Done); ok && done.Evidence != "" {
			m.Evidence, _ = json.Marshal(evidence{Mode: "manual", Status: "passed", Summary: done.Evidence})
		}
	}
	return m
}

// taskMessage is the message that stands for a task of the state.
func taskMessage(t state.Task) Message {
	return Message{
		ID: t.ID, Type: event.TypeTask, From: t.From, To: t.To, Description: t.Description, Context: t.Context,
		Timestamp: event.FormatTime(t.At),
	}
}

// project picks the events that messages.jsonl must show: handoffs, and what settles them.
func project(s *state.State, own []event.Event) []Message {
	var messages []Message
	handed := map[string]bool{}
	for i := range own {
		ev := &own[i]
		switch {
		case ev.Type == event.TypeTask && ev.Resolves == "":
			body, err := ev.Body()
			if task, ok := body.(event.Task); err == nil && ok && task.Handoff {
				handed[ev.ID] = true
				messages = append(messages, toMessage(ev))
			}
		case settles(ev.Type) && ev.Resolves != "":
			if t, ok := s.Task(ev.Resolves); ok && t.Handoff || handed[ev.Resolves] {
				messages = append(messages, toMessage(ev))
			}
		}
	}
	return messages
}

// has reports whether the file says already what the message says.
func (b *mailbox) has(m Message) bool {
	_, settled := b.settled[m.Resolves]
	return b.ids[m.ID] || settles(m.Type) && settled
}

// appendMessages writes messages but those that are known already.
func (e *Engine) appendMessages(messages []Message, known func(Message) bool) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	for _, m := range messages {
		if known != nil && known(m) {
			continue
		}
		if err := enc.Encode(m); err != nil {
			return fmt.Errorf("write handoff message: %w", err)
		}
	}
	if text.Len() == 0 {
		return nil
	}
	return e.log.AppendFile(MessagesName, text.Bytes())
}

// time is when the message was written.
func (m *Message) time() time.Time {
	t, _ := event.ParseTime(m.Timestamp)
	return t
}
