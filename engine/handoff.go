package engine

import (
	"context"

	"github.com/agentloadout/loadout/engine/event"
)

// MessagesName is the file of handoff messages, in a form that other programs read.
const MessagesName = "messages.jsonl"

// Message is one line of messages.jsonl.
type Message struct {
	ID          string     `json:"id"`
	Type        event.Type `json:"type"`
	From        string     `json:"from"`
	To          string     `json:"to"`
	Description string     `json:"description"`
	Context     string     `json:"context,omitempty"`
	Timestamp   string     `json:"timestamp"`
	Resolves    string     `json:"resolves,omitempty"`
}

// BadMessage is a line of messages.jsonl that cannot be read.
type BadMessage struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// HandoffStatus is everything that was handed over.
type HandoffStatus struct {
	Initialized bool         `json:"initialized"` // there is a log or a message
	Directory   string       `json:"directory"`
	Messages    []Message    `json:"messages"`
	Pending     []Message    `json:"pending"` // tasks that nobody has settled, oldest first
	Done        []Message    `json:"done"`    // settled tasks
	Corrupt     []BadMessage `json:"corrupt"`
	AsOf        int64        `json:"asOf"`
}

// HandoffStatus reads all handoff messages, also those that another program wrote.
func (e *Engine) HandoffStatus(ctx context.Context) (HandoffStatus, error) { panic("later") }

// Inbox is the handoff tasks that wait for an agent, oldest first.
func (e *Engine) Inbox(ctx context.Context, agent string) ([]Message, error) { panic("later") }

// HandoffSend hands a task to an agent: a task event in the log, then its message. Request.Command is an AddTask; its Handoff is
// set. Key and By work as in Do.
func (e *Engine) HandoffSend(ctx context.Context, r Request) (Receipt, Message, error) {
	panic("later")
}

// HandoffDone settles a handoff task as its receiver, also one that only messages.jsonl knows.
func (e *Engine) HandoffDone(ctx context.Context, id, evidence string) (Receipt, Message, error) {
	panic("later")
}
