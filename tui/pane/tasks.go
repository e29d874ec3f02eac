package pane

import (
	"cmp"
	"maps"
	"slices"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// Tasks are the open tasks and questions of a state, by their numbers, and who has how many. There may be very many of them, so they are
// not listed anew for each event. Nobody changes one that is handed out.
type Tasks struct {
	Tasks     []TaskRef
	Questions []TaskRef

	counts map[string]TaskCounts // by doer
	listed *int                  // another one whenever all were listed anew, when anything about them may differ
}

// TaskRef stands for an open task or question.
type TaskRef struct {
	Seq   int64
	ID    string
	Doer  string // who has taken it, or else for whom it is, as event.FoldName writes it
	From  string // likewise
	Taken bool
}

// TaskCounts says how much waits for an agent.
type TaskCounts struct{ Tasks, Questions int }

func newTaskRef(t *state.Task) TaskRef {
	return TaskRef{
		Seq: t.Seq, ID: t.ID, Taken: t.Status == state.TaskTaken,
		Doer: event.FoldName(cmp.Or(t.TakenBy, t.To)), From: event.FoldName(t.From),
	}
}

func bySeq(a, b TaskRef) int {
	if a.Seq != b.Seq {
		return cmp.Compare(a.Seq, b.Seq)
	}
	return cmp.Compare(a.ID, b.ID)
}

// OpenTasks lists those of a state. It looks at each, so it is not for the update loop.
func OpenTasks(s *state.State) *Tasks {
	t := &Tasks{counts: map[string]TaskCounts{}, listed: new(int)}
	s.PendingIf(func(task *state.Task) bool {
		ref, list := newTaskRef(task), t.list(task.Question)
		*list = append(*list, ref)
		t.count(ref.Doer, task.Question, 1)
		return false
	})
	slices.SortFunc(t.Tasks, bySeq)
	slices.SortFunc(t.Questions, bySeq)
	return t
}

// maxLooks is how many events are followed one by one; more cost as much as listing all.
const maxLooks = 64

// After are those of the state that some events have led to. It looks at the tasks that these are about; at each only when there are many
// events, and where an agent came or went, which may be about all of its tasks. It is called at most once: what is added at the end shares
// the memory of t.
func (t *Tasks) After(s *state.State, events []event.Event) *Tasks {
	agents := func(e event.Event) bool { return e.Type == event.TypeAgent }
	if len(events) > maxLooks || slices.ContainsFunc(events, agents) {
		return OpenTasks(s)
	}
	next := tasksEditor{Tasks: Tasks{t.Tasks, t.Questions, maps.Clone(t.counts), t.listed}}
	for i := range events {
		e := &events[i]
		if e.Type == event.TypeTask || e.Type == event.TypeQuestion {
			next.look(s, e.ID)
		}
		next.look(s, cmp.Or(e.Resolves, event.ResolvesInWords(e.Context)))
	}
	return &next.Tasks
}

// Counts says how much waits for an agent.
func (t *Tasks) Counts(agent string) TaskCounts { return t.counts[event.FoldName(agent)] }

func (t *Tasks) list(questions bool) *[]TaskRef {
	if questions {
		return &t.Questions
	}
	return &t.Tasks
}

func (t *Tasks) count(doer string, question bool, n int) {
	c := t.counts[doer]
	if question {
		c.Questions += n
	} else {
		c.Tasks += n
	}
	if t.counts[doer] = c; c == (TaskCounts{}) {
		delete(t.counts, doer)
	}
}

// tasksEditor changes Tasks of its own. Its lists are those of others until an item inside of them changes.
type tasksEditor struct {
	Tasks
	own [2]bool
}

// look brings one task up to date.
func (t *tasksEditor) look(s *state.State, id string) {
	if id == "" {
		return
	}
	now, known := s.Task(id)
	ref, open := newTaskRef(&now), known && (now.Status == state.TaskOpen || now.Status == state.TaskTaken)
	for k, question := range []bool{false, true} {
		list := t.list(question)
		i, found := slices.BinarySearchFunc(*list, ref, bySeq)
		if !known { // it was settled long before
			i = slices.IndexFunc(*list, func(r TaskRef) bool { return r.ID == id })
			found = i >= 0
		}
		wanted := open && now.Question == question
		if found == wanted && (!found || (*list)[i] == ref) {
			continue
		}
		if found {
			t.count((*list)[i].Doer, question, -1)
		}
		if wanted {
			t.count(ref.Doer, question, 1)
		}
		if !found && i == len(*list) {
			*list = append(*list, ref)
			continue
		}
		if !t.own[k] {
			*list, t.own[k] = slices.Clone(*list), true
		}
		switch {
		case !wanted:
			*list = slices.Delete(*list, i, i+1)
		case found:
			(*list)[i] = ref
		default:
			*list = slices.Insert(*list, i, ref)
		}
	}
}
