package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
)

type handoffCmd struct {
	To       string   `complete:"agent" arg:"" optional:"" name:"agent" help:"To whom, or with no text: whose inbox."`
	Text     []string `arg:"" optional:"" type:"words" help:"The work to hand over."`
	Context  string   `placeholder:"TEXT" help:"What one must know."`
	From     string   `complete:"agent" placeholder:"AGENT" help:"Who hands over; default: who acts, else user."`
	Done     string   `complete:"task" placeholder:"ID" help:"Mark this task as done."`
	Evidence string   `placeholder:"TEXT" help:"With --done: what shows it."`
	bounded
	writing
}

func (handoffCmd) Help() string {
	return examples(
		"loadout handoff codex 'Implement the frontend' --context 'consume checkout-api'",
		"loadout handoff codex",
		"loadout handoff --done k3v9q2m7",
		"loadout handoff --json",
	)
}

func (o *handoffCmd) run(ctx context.Context, c *call) error {
	sends := len(o.Text) > 0
	switch {
	case o.Done != "" && o.To != "":
		return &engine.UsageError{Message: "--done takes no agent and no text"}
	case o.Done == "" && o.Evidence != "":
		return &engine.UsageError{Message: "--evidence goes with --done"}
	case !sends && (o.Context != "" || o.From != ""):
		return &engine.UsageError{Message: "--context and --from go with the text of a handoff"}
	case (sends || o.Done != "") && o.All:
		return &engine.UsageError{Message: "--all goes with a list"}
	case !sends && o.Done == "" && o.Key != "":
		return &engine.UsageError{Message: "--key goes with the text of a handoff, or with --done"}
	}
	if o.Done != "" {
		c.caller = cmp.Or(c.As, c.Agent)
		if c.actor != nil {
			c.caller = cmp.Or(c.caller, *c.actor, event.User)
		}
	}
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	switch {
	case o.Done != "":
		return o.done(ctx, c, e)
	case sends:
		return o.send(ctx, c, e)
	case o.To != "":
		return o.inbox(ctx, c, e)
	}
	return o.status(ctx, c, e)
}

func (o *handoffCmd) send(ctx context.Context, c *call, e *engine.Engine) error {
	who, err := c.acting(ctx, e, o.From)
	if err != nil {
		return err
	}
	to, err := c.agent(ctx, e, o.To)
	if err != nil {
		return err
	}
	r, message, err := e.HandoffSend(ctx, engine.Request{
		Command: engine.AddTask{From: who.name, To: to, Text: strings.Join(o.Text, " "), Context: o.Context},
		Key:     o.Key, By: who.by,
	})
	if err != nil {
		return err
	}
	c.noteReceipt(r)
	answer := struct {
		Message engine.Message `json:"message"`
		Setup   []string       `json:"setup"`
	}{message, []string{}}
	return c.answer(receipt(r, answer), func() {
		c.printf("Sent to %s: %s (id %s, seq %d)\n", message.To, message.Description, message.ID, r.Seq())
		c.printf("it is picked up with: loadout handoff %s\n", words.ShellWord(message.To))
	})
}

func (o *handoffCmd) done(ctx context.Context, c *call, e *engine.Engine) error {
	r, message, err := e.HandoffDone(ctx, o.Done, o.Evidence, o.Key)
	if err != nil {
		return err
	}
	c.noteReceipt(r)
	answer := struct {
		Completed bool           `json:"completed"`
		Message   engine.Message `json:"message"`
	}{true, message}
	return c.answer(receipt(r, answer), func() { c.printf("Marked %s done. (seq %d)\n", message.Resolves, r.Seq()) })
}

func (o *handoffCmd) inbox(ctx context.Context, c *call, e *engine.Engine) error {
	agent, err := c.reader(ctx, e, o.To)
	if err != nil {
		return err
	}
	view, err := e.View(ctx) // before the messages: they are of this number at least
	if err != nil {
		return err
	}
	tasks, err := e.Inbox(ctx, agent)
	if err != nil {
		return err
	}
	all := len(tasks)
	tasks = orEmpty(tasks)[:min(all, c.most(o.All))] // they are worked in order
	answer := struct {
		Agent string `json:"agent"`
		AsOf  int64  `json:"asOf"`
		readingJSON
		Messages []engine.Message `json:"messages"` // that wait for the agent, oldest first
		Omitted  int              `json:"omitted"`
		Skipped  state.Skips      `json:"skipped"`
	}{agent, view.State.Head(), readingOf(view.State, agent), tasks, all - len(tasks), view.State.Skips()}
	return c.answer(answer, func() {
		defer c.printSkips(answer.Skipped)
		defer c.printf("%s, read to %s, %s in the log\n", words.AsOf(answer.AsOf), words.Seq(answer.ReadTo), words.Plural(answer.LogEvents, "event"))
		if len(tasks) == 0 {
			c.printf("No pending handoff tasks for %s.\n", agent)
			return
		}
		c.printf("%s for %s:\n", words.Plural(all, "pending handoff task"), agent)
		for _, m := range tasks {
			c.printf("\n[%s] from %s, %s\n", c.bold(m.ID), m.From, c.stored(m.Timestamp))
			c.block("  ", m.Description)
			if m.Context != "" {
				c.printf("  context:\n")
				c.block("    ", m.Context)
			}
			c.printf("  when finished: loadout handoff --done %s\n", words.ShellWord(m.ID))
		}
		c.more(answer.Omitted, "task", "handoff "+words.ShellWord(agent)+" --all")
		c.printf("\nwork them in order, oldest first\n")
	})
}

func (o *handoffCmd) status(ctx context.Context, c *call, e *engine.Engine) error {
	s, err := e.HandoffStatus(ctx)
	if err != nil {
		return err
	}
	for _, n := range s.Notes {
		c.note("note: %s", n)
	}
	other := len(s.Messages) - countTasks(s.Messages)
	var left handoffTruncated
	s.Messages, left.Messages = newest(s.Messages, c.most(o.All))
	s.Pending, left.Pending = newest(s.Pending, c.most(o.All))
	s.Done, left.Done = newest(s.Done, c.most(o.All))
	s.Corrupt, left.Corrupt = newest(s.Corrupt, c.most(o.All))
	answer := struct {
		engine.HandoffStatus
		Truncated handoffTruncated `json:"truncated"`
	}{s, left}
	return c.answer(answer, func() {
		if len(s.Messages) == 0 {
			c.printf("No handoff messages yet (%s).\n", words.AsOf(s.AsOf))
		}
		list := func(title string, messages []engine.Message, omitted int) {
			c.section(title, len(messages)+omitted)
			for _, m := range messages {
				c.printf("  %s  %s → %s  %s\n", m.ID, m.From, m.To, m.Description)
			}
			c.more(omitted, "task", "handoff --all")
		}
		list("Pending", s.Pending, left.Pending)
		list("Done", s.Done, left.Done)
		if other > 0 {
			c.printf("\nOther messages: %d\n", other)
		}
		for _, bad := range s.Corrupt {
			c.printf("Warning: line %d of %s cannot be read: %s\n", bad.Line, engine.MessagesName, bad.Reason)
		}
		c.more(left.Corrupt, "such line", "handoff --all")
	})
}

// handoffTruncated counts what the lists of all handoffs leave out.
type handoffTruncated struct {
	Messages int `json:"messages"`
	Pending  int `json:"pending"`
	Done     int `json:"done"`
	Corrupt  int `json:"corrupt"`
}

func countTasks(messages []engine.Message) int {
	n := 0
	for _, m := range messages {
		if m.Type == "task" {
			n++
		}
	}
	return n
}
