package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// HandoffStatus is everything that was handed over.
type HandoffStatus struct {
	Initialized bool         `json:"initialized"` // there is a message
	Directory   string       `json:"directory"`
	Messages    []Message    `json:"messages"` // oldest first
	Pending     []Message    `json:"pending"`  // tasks that nobody has settled, oldest first
	Done        []Message    `json:"done"`     // settled tasks
	Corrupt     []BadMessage `json:"corrupt"`
	AsOf        int64        `json:"asOf"`
	Notes       []string     `json:"notes,omitempty"`
}

// HandoffStatus reads all handoff messages, also those that another program wrote.
func (e *Engine) HandoffStatus(ctx context.Context) (HandoffStatus, error) {
	v, err := e.View(ctx)
	if err != nil {
		return HandoffStatus{}, err
	}
	var notes []string
	box, err := e.readMailbox()
	if err != nil { // what the log has is shown all the same
		notes = []string{fmt.Sprintf("what other programs wrote cannot be shown: %v; loadout doctor --fix makes the file anew", err)}
	} else if v.Halted == nil && behind(v.State, box) {
		if notes = e.mendMessages(ctx); len(notes) == 0 {
			if v, err = e.View(ctx); err != nil {
				return HandoffStatus{}, err
			}
			if box, err = e.readMailbox(); err != nil {
				return HandoffStatus{}, err
			}
		}
	}
	s := handedOver(v.State, box)
	s.Directory, s.AsOf, s.Notes = e.project.Dir, v.State.Head(), notes
	return s, nil
}

func isHandoff(t *state.Task) bool { return t.Handoff }

// handedOver tells what is pending from what is done. The log decides over what it knows, the file over the rest.
func handedOver(s *state.State, box mailbox) HandoffStatus {
	for _, t := range s.TasksIf(isHandoff) { // what a crash kept out of the file
		if !box.ids[t.ID] {
			box.add(taskMessage(t))
		}
	}
	out := HandoffStatus{
		Initialized: len(box.messages) > 0, Messages: orEmpty(box.messages),
		Pending: []Message{}, Done: []Message{}, Corrupt: orEmpty(box.corrupt),
	}
	for _, m := range box.messages {
		if m.Type != event.TypeTask || m.Resolves != "" {
			continue
		}
		_, settled := box.settled[m.ID]
		if t, ok := s.Task(m.ID); ok && !t.Open() {
			settled = true
		}
		if settled {
			out.Done = append(out.Done, m)
		} else {
			out.Pending = append(out.Pending, m)
		}
	}
	slices.SortStableFunc(out.Pending, func(a, b Message) int { return cmp.Compare(a.time().UnixNano(), b.time().UnixNano()) })
	return out
}

// Inbox is the handoff tasks that wait for an agent, oldest first.
func (e *Engine) Inbox(ctx context.Context, agent string) ([]Message, error) {
	s, err := e.HandoffStatus(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(s.Pending, func(m Message) bool { return m.To != event.Broadcast && !event.SameName(m.To, agent) }), nil
}

// HandoffSend hands a task to an agent: a task event in the log, then its message. Request.Command is an AddTask; its Handoff is
// set. Key and By work as in Do.
func (e *Engine) HandoffSend(ctx context.Context, r Request) (Receipt, Message, error) {
	task, ok := r.Command.(AddTask)
	if !ok {
		return Receipt{}, Message{}, &UsageError{Message: "only a task can be handed over"}
	}
	task.Handoff = true
	r.Command = task
	notes := e.mendBehind(ctx)
	receipt, err := e.Do(ctx, r)
	if err != nil {
		return Receipt{}, Message{}, err
	}
	receipt.Notes = append(notes, receipt.Notes...)
	return receipt, toMessage(&receipt.Events[0]), nil
}

// HandoffDone settles a handoff task, also one that only messages.jsonl knows: the log then takes in the task with its
// settlement. The caller settles it in its own name when it is an agent; a person does it for the receiver. key works as in Do.
func (e *Engine) HandoffDone(ctx context.Context, id, evidence, key string) (Receipt, Message, error) {
	if err := e.refuseHalted(); err != nil { // before who calls: that may be refused too
		return Receipt{}, Message{}, err
	}
	caller, err := e.Identify(ctx, "", "")
	if err != nil {
		return Receipt{}, Message{}, err
	}
	r := Request{Key: key}
	if event.SameName(caller, event.User) {
		caller, r.By = "", event.User
	}
	notes := e.mendBehind(ctx)
	var box mailbox
	receipt, err := e.transact(ctx, transaction{
		request: r,
		decide: func(v View) ([]event.Event, error) {
			var unreadable error
			box, unreadable = e.readMailbox()
			events, err := settle(v, box, caller, id, evidence)
			var missing *NotFoundError
			if errors.As(err, &missing) && unreadable != nil { // it may be there
				return nil, unreadable
			}
			return events, err
		},
		sketch: func(v View) (event.Event, error) {
			t, err := v.find("task", id, func(t state.Task) bool { return !t.Question })
			if err != nil {
				return event.Event{}, err
			}
			return sketch(v, Finish{From: cmp.Or(caller, receiver(t.To, t.TakenBy)), ID: t.ID, Evidence: evidence})
		},
		known: func(m Message) bool { return box.has(m) },
	})
	if err != nil {
		return Receipt{}, Message{}, err
	}
	receipt.Notes = append(notes, receipt.Notes...)
	return receipt, toMessage(&receipt.Events[len(receipt.Events)-1]), nil
}

// settle makes the events that settle a handoff task. from is who settles it, empty: its receiver.
func settle(v View, box mailbox, from, id, evidence string) ([]event.Event, error) {
	t, err := v.find("task", id, func(t state.Task) bool { return !t.Question })
	if err == nil {
		if from == "" {
			from = receiver(t.To, t.TakenBy)
		}
		return decide(v, Finish{From: from, ID: t.ID, Evidence: evidence})
	}
	m, found := box.find(id)
	if !found {
		return nil, err
	}
	return adopt(v, box, m, from, evidence)
}

// receiver is in whose name a task is settled when nobody is named.
func receiver(to, takenBy string) string {
	switch {
	case takenBy != "":
		return takenBy
	case to == event.Broadcast:
		return event.User
	}
	return to
}

// find is the message of a task by its id, or by a beginning of it of at least four characters that no other has.
func (b *mailbox) find(id string) (Message, bool) {
	var match []Message
	for _, m := range b.messages {
		switch {
		case m.Type != event.TypeTask || m.Resolves != "":
		case m.ID == id:
			return m, true
		case len(id) >= 4 && strings.HasPrefix(m.ID, id):
			match = append(match, m)
		}
	}
	if len(match) != 1 {
		return Message{}, false
	}
	return match[0], true
}

// adopt takes a task that another program handed over into the log, settled.
func adopt(v View, box mailbox, m Message, from, evidence string) ([]event.Event, error) {
	if by, settled := box.settled[m.ID]; settled {
		return nil, &ConflictError{Kind: ConflictTask, Want: -1, Have: -1, Message: "task " + m.ID + " is settled already, by " + box.messages[by].From}
	}
	if len(m.Verification) > 0 && evidence == "" {
		return nil, &UsageError{
			Message: "task " + m.ID + " asks for evidence",
			Hints:   []string{"loadout handoff --done " + word(m.ID) + " --evidence TEXT"},
		}
	}
	if from == "" {
		from = receiver(m.To, "")
	} else if m.To != event.Broadcast && !event.SameName(from, m.To) && !event.SameName(from, m.From) {
		return nil, &ConflictError{Kind: ConflictTask, Want: -1, Have: -1, Message: "task " + m.ID + " was handed to " + m.To + " by " + m.From + ", not to " + from}
	}
	task, err := event.New(v.spelling(m.From), v.spelling(m.To), event.Clip(m.Description, event.MaxDescription), event.Task{Handoff: true})
	if err != nil {
		return nil, err
	}
	task.ID, task.Context = m.ID, event.Clip(m.Context, event.MaxContext)
	done, err := finishEvent(Finish{From: v.spelling(from), Evidence: evidence}, state.Task{ID: m.ID, From: task.From, Description: task.Description})
	return []event.Event{task, done}, err
}

// behind reports whether the file lacks a message that the log stands for, or the log a settlement that another program wrote.
func behind(s *state.State, box mailbox) bool {
	for _, t := range s.TasksIf(isHandoff) {
		if _, settled := box.settled[t.ID]; !box.ids[t.ID] || settled == t.Open() {
			return true
		}
	}
	return false
}

// mendBehind is mendMessages before another write, which meets again whatever else is wrong, where the file is behind.
func (e *Engine) mendBehind(ctx context.Context) []string {
	v, err := e.View(ctx)
	if err != nil || v.Halted != nil {
		return nil
	}
	if box, err := e.readMailbox(); err != nil || !behind(v.State, box) {
		return nil
	}
	return e.mendMessages(ctx)
}

// mendMessages brings log and file together: a crash may have come between the two, and another program may have settled
// what was handed over. It returns why it could not.
func (e *Engine) mendMessages(ctx context.Context) []string {
	var box mailbox
	var missing []Message
	_, err := e.transact(ctx, transaction{
		decide: func(v View) ([]event.Event, error) {
			var err error
			if box, err = e.readMailbox(); err != nil {
				return nil, err
			}
			missing, err = e.missing(ctx, v.State, box)
			if err != nil {
				return nil, err
			}
			return foreignSettlements(v, box)
		},
		known:  func(m Message) bool { return box.has(m) },
		stored: func([]event.Event) error { return e.appendMessages(missing, nil) },
		beside: true,
	})
	var halted *HaltedError
	if err == nil || errors.As(err, &halted) {
		return nil
	}
	return []string{"the handoff messages could not be brought up to date: " + err.Error()}
}

// missing lists the messages that the log stands for and the file lacks. It must not look at the memory: the caller holds it.
func (e *Engine) missing(ctx context.Context, s *state.State, box mailbox) ([]Message, error) {
	var messages []Message
	tasks := s.TasksIf(isHandoff)
	slices.SortFunc(tasks, func(a, b state.Task) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, t := range tasks {
		if !box.ids[t.ID] {
			messages = append(messages, taskMessage(t))
		}
		if _, told := box.settled[t.ID]; t.Open() || told {
			continue
		}
		settled := map[state.TaskStatus]event.Type{state.TaskDone: event.TypeDone, state.TaskFailed: event.TypeError, state.TaskCancelled: event.TypeCancel}
		m := Message{
			ID: event.NewID(), Type: settled[t.Status], From: t.SettledBy, To: t.From, Resolves: t.ID,
			Description: event.Clip("Completed: "+t.Description, event.MaxDescription), Timestamp: event.FormatTime(*t.SettledAt),
		}
		messages = append(messages, m)
	}
	return messages, ctx.Err()
}

// foreignSettlements makes the events for what another program has settled in the file.
func foreignSettlements(v View, box mailbox) ([]event.Event, error) {
	var events []event.Event
	for _, t := range v.State.PendingIf(isHandoff) {
		at, settled := box.settled[t.ID]
		if !settled {
			continue
		}
		m := box.messages[at]
		bodies := map[event.Type]event.Body{event.TypeDone: event.Done{}, event.TypeError: event.Error{}, event.TypeCancel: event.Cancel{}}
		ev, err := event.New(v.spelling(m.From), v.spelling(m.To), event.Clip(m.Description, event.MaxDescription), bodies[m.Type])
		if err != nil {
			return nil, err
		}
		ev.Resolves, ev.Context = t.ID, event.Clip(m.Context, event.MaxContext)
		events = append(events, ev)
	}
	return events, nil
}
