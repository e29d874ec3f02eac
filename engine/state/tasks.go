package state

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// task is a Task and what only the fold needs.
type task struct {
	Task
	takenSeq int64 // the event that took it, -1 while nobody has
	epoch    *epoch
}

// tasks is the work that waits, and the newest that is settled.
type tasks struct {
	open    map[string]*task    // by id
	settled ring[*task]         // in order of settlement
	waiting map[string][]string // id of a needed task → ids of the open ones that wait for it; lists are never changed in place
}

// MinPrefix is how much of an id names a task or decision, if no other id begins so.
const MinPrefix = 4

// task returns an open task to change.
func (s *State) task(id string) *task {
	t := s.tasks.open[id]
	if t == nil || t.epoch == s.epoch {
		return t
	}
	own := *t
	own.epoch = s.epoch
	s.tasks.open[id] = &own
	return &own
}

// taken returns the open task that an event takes, nil if it takes none.
func (s *State) taken(e *event.Event, body event.Body) *task {
	if _, ok := body.(event.Task); !ok || e.Resolves == "" {
		return nil
	}
	return s.tasks.open[e.Resolves]
}

func (s *State) foldTask(e *event.Event, b event.Task, at time.Time) {
	if s.taken(e, b) != nil {
		t := s.task(e.Resolves)
		t.Status, t.TakenBy, t.TakenAt, t.takenSeq = TaskTaken, strings.Clone(e.From), &at, e.Seq
		return
	}
	t := s.addTask(e, at)
	t.Handoff, t.Needs = b.Handoff, b.Needs
	for _, need := range b.Needs {
		if !s.isDone(need) && !slices.Contains(t.Waiting, need) {
			t.Waiting = append(t.Waiting, need)
			s.wait(need, t.ID)
		}
	}
}

func (s *State) foldQuestion(e *event.Event, at time.Time) { s.addTask(e, at).Question = true }

func (s *State) addTask(e *event.Event, at time.Time) *task {
	t := &task{
		Task: Task{
			ID: strings.Clone(e.ID), Seq: e.Seq, From: strings.Clone(e.From), To: strings.Clone(e.To),
			Description: strings.Clone(e.Description), Context: strings.Clone(e.Context), At: at, Status: TaskOpen,
		},
		takenSeq: -1,
		epoch:    s.epoch,
	}
	s.tasks.open[t.ID] = t
	return t
}

// wait notes that an open task waits for another one.
func (s *State) wait(need, id string) {
	waiting := s.tasks.waiting[need]
	s.tasks.waiting[need] = append(waiting[:len(waiting):len(waiting)], id)
}

// Blocked lists what a task waits for and what will never be done: it was cancelled, it failed, or nobody ever asked for it.
func (s *State) Blocked(t *Task) []string {
	return slices.DeleteFunc(slices.Clone(t.Waiting), func(need string) bool { return s.tasks.open[need] != nil })
}

// isDone reports whether a task is remembered as done.
func (s *State) isDone(id string) bool {
	for _, t := range s.tasks.settled.newest() {
		if (*t).ID == id {
			return (*t).Status == TaskDone
		}
	}
	return false
}

// settle ends the task or question that the event resolves. The first settlement counts.
func (s *State) settle(e *event.Event, status TaskStatus, evidence string, at time.Time) {
	t := s.task(resolved(e))
	if t == nil {
		return
	}
	delete(s.tasks.open, t.ID)
	for _, need := range t.Waiting {
		s.stopWaiting(need, t.ID)
	}
	s.supersede(t.Seq, e.Seq)
	t.Status, t.SettledBy, t.SettledAt, t.SettledSeq = status, strings.Clone(e.From), &at, e.Seq
	t.Evidence = event.Clip(evidence, MaxSettledText)
	if t.Question {
		t.Answer = strings.Clone(e.Description)
	}
	t.Description, t.Context = strings.Clone(event.Clip(t.Description, MaxSettledText)), ""
	s.tasks.settled.push(t, MaxSettled)
	if status == TaskDone {
		s.release(t.ID)
	}
}

// release lets the tasks go on that waited for this one.
func (s *State) release(id string) {
	for _, waiting := range s.tasks.waiting[id] {
		t := s.task(waiting)
		if t == nil {
			continue
		}
		if i := slices.Index(t.Waiting, id); i >= 0 {
			t.Waiting = slices.Delete(slices.Clone(t.Waiting), i, i+1)
		}
	}
	delete(s.tasks.waiting, id)
}

func (s *State) stopWaiting(need, id string) {
	kept := slices.DeleteFunc(slices.Clone(s.tasks.waiting[need]), func(waiting string) bool { return waiting == id })
	if len(kept) == 0 {
		delete(s.tasks.waiting, need)
		return
	}
	s.tasks.waiting[need] = kept
}

// resolved is the id of the task that an event settles.
func resolved(e *event.Event) string {
	if e.Resolves != "" {
		return e.Resolves
	}
	return event.ResolvesInWords(e.Context)
}

// reopen gives back what an agent has taken.
func (s *State) reopen(agent string) {
	for id, shared := range s.tasks.open {
		if shared.Status == TaskTaken && event.SameName(shared.TakenBy, agent) {
			t := s.task(id)
			t.Status, t.TakenBy, t.TakenAt, t.takenSeq = TaskOpen, "", nil, -1
		}
	}
}

func (s *State) renameTasks(previous, name string) {
	for id, shared := range s.tasks.open {
		if event.SameName(shared.To, previous) {
			s.task(id).To = name
		}
		if shared.TakenBy != "" && event.SameName(shared.TakenBy, previous) {
			s.task(id).TakenBy = name
		}
	}
}

// Tasks lists tasks and questions: open ones first come first, then settled ones newest first.
func (s *State) Tasks() []Task { return s.TasksIf(every) }

// TasksIf lists the wanted ones of Tasks. wanted may neither change nor keep what it is given: a task is large, and only those are
// copied that are wanted.
func (s *State) TasksIf(wanted func(*Task) bool) []Task {
	list := s.PendingIf(wanted)
	for _, t := range s.tasks.settled.newest() {
		if wanted(&(*t).Task) {
			list = append(list, (*t).Task)
		}
	}
	return list
}

// Task finds a task or question by its id: the open one, or else the one settled last.
func (s *State) Task(id string) (Task, bool) {
	if t := s.tasks.open[id]; t != nil {
		return t.Task, true
	}
	for _, t := range s.tasks.settled.newest() {
		if (*t).ID == id {
			return (*t).Task, true
		}
	}
	return Task{}, false
}

// FindTasks lists the tasks and questions that a word can stand for: an id, #SEQ, or the beginning of an id, at least MinPrefix
// characters. A whole id wins over the beginning of another, an open task over a settled one.
func (s *State) FindTasks(word string) []Task {
	if t, ok := s.Task(word); ok {
		return []Task{t}
	}
	if open := s.PendingIf(func(t *Task) bool { return named(t.ID, t.Seq, word) }); len(open) > 0 {
		return open
	}
	var settled []Task
	for _, t := range s.tasks.settled.newest() {
		if named((*t).ID, (*t).Seq, word) {
			settled = append(settled, (*t).Task)
		}
	}
	return settled
}

// FindDecisions lists the decisions that a word can stand for, like FindTasks, and also by their title.
func (s *State) FindDecisions(word string) []Decision {
	if i := s.findDecision(word); i >= 0 {
		return []Decision{*s.decisions.at(i)}
	}
	var found []Decision
	for _, d := range s.decisions.list() {
		if named(d.ID, d.Seq, word) {
			found = append(found, d)
		}
	}
	return found
}

// named reports whether a word stands for what has this id and number.
func named(id string, seq int64, word string) bool {
	if number, ok := strings.CutPrefix(word, "#"); ok {
		return number == strconv.FormatInt(seq, 10)
	}
	return len(word) >= MinPrefix && strings.HasPrefix(id, word)
}

// Pending lists open tasks and questions by sequence number.
func (s *State) Pending() []Task { return s.PendingIf(every) }

func every(*Task) bool { return true }

// PendingIf lists the wanted ones of Pending, see TasksIf.
func (s *State) PendingIf(wanted func(*Task) bool) []Task {
	list, _ := s.NewestPending(math.MaxInt, wanted)
	return list
}

// NewestPending lists the newest limit ones of PendingIf and says how many it leaves out.
func (s *State) NewestPending(limit int, wanted func(*Task) bool) (list []Task, omitted int64) {
	found := s.tasks.sorted(wanted)
	over := max(0, len(found)-limit)
	list = make([]Task, len(found)-over)
	for i, t := range found[over:] {
		list[i] = t.Task
	}
	return list, int64(over)
}

// sorted lists the wanted ones of what is open, by sequence number.
func (t *tasks) sorted(wanted func(*Task) bool) []*task {
	type place struct { // of many tasks, each lies somewhere else: numbers are compared without going there
		seq  int64
		task *task
	}
	places := make([]place, 0, len(t.open))
	for _, open := range t.open {
		if wanted(&open.Task) {
			places = append(places, place{open.Seq, open})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.seq != b.seq {
			return cmp.Compare(a.seq, b.seq)
		}
		return strings.Compare(a.task.ID, b.task.ID)
	})
	list := make([]*task, len(places))
	for i := range places {
		list[i] = places[i].task
	}
	return list
}

// IsReady reports whether an agent could take a task now: it is open, for the agent or for everybody, and all that it needs is done.
// Questions are answered, not taken.
func (s *State) IsReady(id, agent string) bool {
	t := s.tasks.open[id]
	return t != nil && t.readyFor(agent)
}

// FirstReady is the task with the lowest sequence number that is ready for an agent, see IsReady.
func (s *State) FirstReady(agent string) (Task, bool) {
	var first *task
	for _, t := range s.tasks.open {
		if (first == nil || t.Seq < first.Seq || t.Seq == first.Seq && t.ID < first.ID) && t.readyFor(agent) {
			first = t
		}
	}
	if first == nil {
		return Task{}, false
	}
	return first.Task, true
}

func (t *task) readyFor(agent string) bool {
	return t.Status == TaskOpen && !t.Question && len(t.Waiting) == 0 && (t.To == event.Broadcast || event.SameName(t.To, agent))
}
