package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/suggest"
	"github.com/agentloadout/loadout/engine/words"
)

// decideTask asks for work. What it needs must exist, so needs can never go round in a circle: a task names older ones only.
func decideTask(v View, c AddTask) ([]event.Event, error) {
	var needs []string
	for _, word := range c.Needs {
		t, err := v.find("task", word, func(t state.Task) bool { return !t.Question })
		if err != nil {
			return nil, err
		}
		if t.Status == state.TaskFailed || t.Status == state.TaskCancelled {
			return nil, &ConflictError{
				Kind: ConflictTask, Want: t.Seq, Have: t.SettledSeq,
				Message: fmt.Sprintf("task %s can never be done: %s", t.ID, settledText(t, v)),
				Hints:   []string{"the same without it in --needs"},
			}
		}
		if !slices.Contains(needs, t.ID) {
			needs = append(needs, t.ID)
		}
	}
	return draft1(taskEvent(c, needs))
}

func taskEvent(c AddTask, needs []string) (event.Event, error) {
	ev, err := newEvent(c.From, c.To, c.Text, event.Task{Needs: needs, Handoff: c.Handoff})
	ev.Context = c.Context
	return ev, err
}

func askEvent(c Ask) (event.Event, error) {
	ev, err := newEvent(c.From, c.To, c.Text, event.Question{})
	ev.Context = c.Context
	return ev, err
}

// decideAnswer settles a question with words.
func decideAnswer(v View, c Answer) ([]event.Event, error) {
	t, err := v.find("question", c.ID, func(t state.Task) bool { return t.Question })
	if err != nil {
		return nil, err
	}
	if err := v.maySettle(c.From, t); err != nil {
		return nil, err
	}
	if event.SameName(c.From, t.From) && t.To != event.Broadcast && !event.SameName(c.From, t.To) && !v.isPerson(c.From) {
		return nil, &ConflictError{
			Kind: ConflictTask, Want: t.Seq, Have: t.Seq,
			Message: fmt.Sprintf("question %s is for %s to answer", t.ID, told(t.To)),
			Hints:   []string{fmt.Sprintf("loadout coord cancel %s --from %s    when it needs no answer any more", word(t.ID), word(c.From))},
		}
	}
	return draft1(answerEvent(c, t))
}

func answerEvent(c Answer, t state.Task) (event.Event, error) {
	ev, err := newEvent(c.From, t.From, c.Text, event.Done{})
	ev.Resolves = t.ID
	return ev, err
}

// decideNext takes the oldest task that is ready for the agent. Nothing ready is not an error.
func decideNext(v View, c Next) ([]event.Event, error) {
	if err := checkAgent("agent", c.Agent); err != nil {
		return nil, err
	}
	ready, ok := v.State.FirstReady(c.Agent)
	if !ok {
		return nil, nil
	}
	return draft1(takeEvent(c.Agent, ready))
}

// notReady says of the tasks that an agent could want why it cannot take them: they wait, or they are stuck.
func (v *View) notReady(agent string) []string {
	tasks := v.OpenTasks(v.State.PendingIf(func(t *state.Task) bool {
		concerns := isFor(t, agent) || event.SameName(t.TakenBy, agent)
		return concerns && !t.Question && (t.Status == state.TaskTaken || len(t.Waiting) > 0)
	}))
	var notes []string
	for i := range tasks {
		switch t := &tasks[i]; {
		case t.Stuck != "" && t.Status == state.TaskTaken:
			notes = append(notes, fmt.Sprintf("task %s from %s: %s; a person gives it back: %s", t.ID, told(t.From), told(t.Stuck), t.Command()))
		case t.Stuck != "":
			notes = append(notes, fmt.Sprintf("task %s from %s: %s; for who asked, or a person: %s", t.ID, told(t.From), told(t.Stuck), t.Command()))
		case t.Status == state.TaskOpen:
			notes = append(notes, fmt.Sprintf("task %s from %s waits for %s", t.ID, told(t.From), toldList(t.Waiting)))
		}
	}
	if over := len(notes) - maxTold; over > 0 {
		notes = append(notes[:maxTold], fmt.Sprintf("%d more tasks cannot be taken: loadout coord status", over))
	}
	return notes
}

func takeEvent(agent string, t state.Task) (event.Event, error) {
	to := t.From
	if to == "" || event.SameName(to, event.Loadout) {
		to = event.Broadcast
	}
	ev, err := newEvent(agent, to, said("Takes: %s", brief(t)), event.Task{})
	ev.Resolves = t.ID
	return ev, err
}

// decideFinish settles a task as done or failed.
func decideFinish(v View, c Finish) ([]event.Event, error) {
	t, err := v.find("task", c.ID, func(state.Task) bool { return true })
	if err != nil {
		return nil, err
	}
	if t.Question {
		return nil, &ValidationError{
			Field: "task", Reason: t.ID + " is a question, which wants an answer",
			Hints: []string{fmt.Sprintf("loadout coord answer %s \"…\"", word(t.ID))},
		}
	}
	if err := v.maySettle(c.From, t); err != nil {
		return nil, err
	}
	return draft1(finishEvent(c, t))
}

func finishEvent(c Finish, t state.Task) (event.Event, error) {
	to := settledFor(c.From, t)
	if c.Failed {
		text := said("Failed: %s", brief(t))
		if c.Evidence != "" {
			text = said("Failed: %s", c.Evidence)
		}
		ev, err := newEvent(c.From, to, text, event.Error{})
		ev.Resolves = t.ID
		return ev, err
	}
	ev, err := newEvent(c.From, to, said("Completed: %s", brief(t)), event.Done{Evidence: c.Evidence})
	ev.Resolves = t.ID
	return ev, err
}

// brief is what a task is about, short enough to be the same before and after it was settled.
func brief(t state.Task) string { return event.Clip(t.Description, state.MaxSettledText/2) }

// settledFor is who wants to know that a task is settled: who asked, or everybody.
func settledFor(from string, t state.Task) string {
	if event.SameName(from, t.From) || event.SameName(t.From, event.Loadout) {
		return event.Broadcast
	}
	return t.From
}

// maySettle refuses to settle what is settled, and what is not the sender's: a task belongs to who took it, else to whom it was
// given, and to who asked for it. A person may settle everything.
func (v View) maySettle(from string, t state.Task) error {
	if !t.Open() {
		return v.refuseSettled(t)
	}
	owner := t.To
	if t.Status == state.TaskTaken {
		owner = t.TakenBy
	}
	if v.isPerson(from) || owner == event.Broadcast || event.SameName(from, owner) || event.SameName(from, t.From) {
		return nil
	}
	refusal := &ConflictError{Kind: ConflictTask, Want: t.Seq, Have: t.Seq}
	if t.Status == state.TaskTaken {
		refusal.Message = fmt.Sprintf("%s %s is %s's, who took it at %s", kindOf(t), t.ID, told(owner), words.Since(v.Now, *t.TakenAt))
	} else {
		refusal.Message = fmt.Sprintf("%s %s is for %s, from %s at %s", kindOf(t), t.ID, told(owner), told(t.From), words.Since(v.Now, t.At))
	}
	refusal.Hints = []string{fmt.Sprintf("loadout coord ask %s \"…\" --from %s    to ask about it", word(owner), word(from))}
	return refusal
}

// isPerson reports whether who acts under a name is a person.
func (v View) isPerson(name string) bool { return v.Person || event.SameName(name, event.User) }

// decideCancel withdraws a task or question. That is for who asked, and for a person.
func decideCancel(v View, c Cancel) ([]event.Event, error) {
	t, err := v.find("task", c.ID, func(state.Task) bool { return true })
	if err != nil {
		return nil, err
	}
	if !t.Open() {
		return nil, v.refuseSettled(t)
	}
	if !v.isPerson(c.From) && !event.SameName(c.From, t.From) {
		return nil, &ConflictError{
			Kind: ConflictTask, Want: t.Seq, Have: t.Seq,
			Message: fmt.Sprintf("%s %s is withdrawn by %s, who asked, or by a person", kindOf(t), t.ID, told(t.From)),
			Hints:   []string{fmt.Sprintf("loadout coord done %s --failed --from %s    when it cannot be done", word(t.ID), word(c.From))},
		}
	}
	return draft1(cancelEvent(c, t))
}

func cancelEvent(c Cancel, t state.Task) (event.Event, error) {
	text := said("Cancelled: %s", brief(t))
	if c.Reason != "" {
		text = said("Cancelled: %s", c.Reason)
	}
	to := t.To
	if t.TakenBy != "" {
		to = t.TakenBy
	}
	if event.SameName(to, c.From) {
		to = event.Broadcast
	}
	ev, err := newEvent(c.From, to, text, event.Cancel{})
	ev.Resolves = t.ID
	return ev, err
}

// maxSuggested is how many of the newest open tasks are looked at for what could have been meant.
const maxSuggested = 1000

// find resolves what stands for a task or question: id, beginning of an id, or #SEQ.
func (v View) find(kind, name string, wanted func(state.Task) bool) (state.Task, error) {
	name = strings.TrimSpace(name)
	found := slices.DeleteFunc(v.State.FindTasks(name), func(t state.Task) bool { return !wanted(t) })
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		open, _ := v.State.NewestPending(maxSuggested, func(t *state.Task) bool { return wanted(*t) })
		ids := make([]string, len(open))
		for i := range open {
			ids[i] = open[i].ID
		}
		missing := &NotFoundError{Kind: kind, Name: told(name), Suggestions: suggest.Closest(name, ids)}
		missing.Hints = []string{"loadout coord status    to list what is open"}
		if len(name) < state.MinPrefix && !strings.HasPrefix(name, "#") {
			missing.Reason = fmt.Sprintf("the beginning of an id needs %d characters, a number a # before it", state.MinPrefix)
		}
		return state.Task{}, missing
	}
	return state.Task{}, ambiguous(kind, name, len(found))
}

func (v View) refuseSettled(t state.Task) error {
	return &ConflictError{
		Kind: ConflictTask, Want: t.Seq, Have: t.SettledSeq,
		Message: fmt.Sprintf("%s %s is settled: %s", kindOf(t), t.ID, settledText(t, v)),
	}
}

func kindOf(t state.Task) string {
	if t.Question {
		return "question"
	}
	return "task"
}

// settledText says how a task ended, by whom and when.
func settledText(t state.Task, v View) string {
	text := fmt.Sprintf("%s by %s", t.Status, told(t.SettledBy))
	if t.SettledAt != nil {
		text += " at " + words.Since(v.Now, *t.SettledAt)
	}
	return text
}
