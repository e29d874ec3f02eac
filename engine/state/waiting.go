package state

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// WaitKind is why something waits for a person.
type WaitKind string

// What waits for a person, the weightiest first.
const (
	WaitHalt     WaitKind = "halt"     // the kill switch is on: nobody can write
	WaitTurn     WaitKind = "turn"     // it failed, nobody knows what came of it, or it is held: no other is started before
	WaitCap      WaitKind = "cap"      // reached: no further turn is started
	WaitWork     WaitKind = "work"     // two agents want one item
	WaitQuestion WaitKind = "question" // put to a person, or to a session that does not run
	WaitTask     WaitKind = "task"     // put to a person, or one that nobody goes on with, see Stuck
	WaitClaim    WaitKind = "claim"    // held by a session that does not run, in the way of those that live
)

// weight of a kind: the lower, the weightier.
func (k WaitKind) weight() int {
	return slices.Index([]WaitKind{WaitHalt, WaitTurn, WaitCap, WaitWork, WaitQuestion, WaitTask, WaitClaim}, k)
}

// Waiting is one thing that waits for a person.
type Waiting struct {
	Kind  WaitKind  `json:"kind"`
	Text  string    `json:"text"`
	Agent string    `json:"agent"` // who waits, or whose session it is about
	Since time.Time `json:"since"`
	Seq   int64     `json:"seq"`            // the event that it began with, -1 for none
	ID    string    `json:"id,omitempty"`   // of the task, question or turn
	Path  string    `json:"path,omitempty"` // of the claim
	Verb  []string  `json:"verb,omitempty"` // arguments of the command that settles it; "…" stands for words of one's own
}

// Outlook is what decides beside the log whether something waits.
type Outlook struct {
	Now   time.Time
	Stale func(agent string) bool // whether a session is known not to run; nil: none is
	Rests func(agent string) bool // whether one of those goes on when it is given a turn; nil: all of them are over
	Halt  *Halt                   // the kill switch as its file tells it, nil when it is off; Seq -1 when no event says so
}

// Waiting lists what waits for a person: by weight, then the oldest first.
func (s *State) Waiting(o Outlook) []Waiting {
	o.Stale = askedOnce(o.Stale)
	var list []Waiting
	if h := o.Halt; h != nil {
		list = append(list, Waiting{
			Kind: WaitHalt, Text: cmp.Or(h.Reason, "halted"), Agent: h.By, Since: h.At, Seq: h.Seq, Verb: []string{"resume"},
		})
	}
	list = s.waitingTurns(list)
	list = s.waitingWork(list)
	list = s.waitingTasks(list, o)
	list = s.waitingClaims(list, o)
	slices.SortStableFunc(list, func(a, b Waiting) int {
		return cmp.Or(cmp.Compare(a.Kind.weight(), b.Kind.weight()), a.Since.Compare(b.Since), cmp.Compare(a.Seq, b.Seq))
	})
	return list
}

// left says of a stale session what has become of it.
func (o *Outlook) left(agent string) string {
	if o.Rests != nil && o.Rests(agent) {
		return "rests until it is given a turn"
	}
	return "is over"
}

// askedOnce is stale that asks but once for each agent: to find out may mean to look at its process. nil says no of everybody.
func askedOnce(stale func(agent string) bool) func(agent string) bool {
	known := map[string]bool{}
	return func(agent string) bool {
		over, asked := known[agent]
		if !asked && stale != nil {
			over = stale(agent)
			known[agent] = over
		}
		return over
	}
}

// waitingTurns adds turns that are not repeated on their own, and sessions that a cap keeps from their next turn.
func (s *State) waitingTurns(list []Waiting) []Waiting {
	for _, t := range s.OpenTurns() {
		if !t.Waits() {
			continue
		}
		since := t.Queued
		if t.Ended != nil {
			since = *t.Ended
		}
		text := turnWaits[t.Status]
		if t.Cause != "" {
			text += ": " + t.Cause
		}
		list = append(list, Waiting{
			Kind: WaitTurn, Text: text, Agent: t.Agent, Since: since, Seq: t.Seq, ID: t.ID, Verb: []string{"coord", "agents", "retry", t.ID},
		})
	}
	for _, session := range s.Sessions() {
		if session.Stopped != "" {
			text := "the next turn would pass the cap on " + session.Stopped
			for _, c := range s.Caps() {
				if c.Limit > 0 && string(c.Kind) == session.Stopped && (c.Agent == "" || c.Agent == session.Agent) {
					text += ": " + c.Tell()
				}
			}
			list = append(list, Waiting{
				Kind: WaitCap, Text: text,
				Agent: session.Agent, Since: s.when(session.Seq, session.Attached), Seq: session.Seq,
				Verb: append([]string{"coord", "agents", "raise"}, raising(session.Stopped)...),
			})
		}
	}
	return list
}

// raising are the words that raise a cap.
func raising(stopped string) []string {
	flags := map[event.TurnCap]string{
		event.CapTurns: "--max-turns", event.CapTotalTurns: "--max-total-turns", event.CapTokens: "--max-tokens", event.CapCost: "--max-cost",
	}
	if flag, ok := flags[event.TurnCap(stopped)]; ok {
		return []string{flag, "…"}
	}
	return nil
}

// turnWaits says why a turn waits.
var turnWaits = map[TurnStatus]string{
	TurnFailed: "a turn failed", TurnHeld: "a turn is held", TurnCancelled: "a turn was cancelled", TurnUncertain: "nobody knows what came of a turn",
}

// when is the time of an event that is remembered, else the one given.
func (s *State) when(seq int64, otherwise time.Time) time.Time {
	for _, r := range s.refs.newest() {
		if r.Seq == seq {
			return r.At
		}
	}
	return otherwise
}

// waitingWork adds the items of which a person is to choose the holder.
func (s *State) waitingWork(list []Waiting) []Waiting {
	for _, x := range s.Escalations() {
		holder, _ := s.Worker(x.Holder)
		list = append(list, Waiting{
			Kind: WaitWork, Text: fmt.Sprintf("wants %s %s, which %s has", x.Type, x.Item, cmp.Or(holder, x.Holder)),
			Agent: x.From, Since: x.At, Seq: x.Seq, ID: x.ID,
		})
	}
	return list
}

// Stuck says why an open task does not go on unless somebody settles that, with the arguments of the command that does; empty when it
// may go on: what it needs will never be done, or the session of who took it is over.
func (s *State) Stuck(t *Task, o *Outlook) (why string, verb []string) {
	switch blocked := s.Blocked(t); {
	case t.Status == TaskTaken:
		if o.Stale != nil && o.Stale(t.TakenBy) && (o.Rests == nil || !o.Rests(t.TakenBy)) {
			return fmt.Sprintf("taken by %s, whose session is over", t.TakenBy), []string{"agent", "end", t.TakenBy}
		}
	case t.Status == TaskOpen && len(blocked) > 0:
		ended := "is not known"
		switch need, _ := s.Task(blocked[0]); need.Status {
		case TaskCancelled:
			ended = "was cancelled"
		case TaskFailed:
			ended = "has failed"
		case TaskOpen, TaskTaken, TaskDone: // these stand in nobody's way for ever
		}
		return fmt.Sprintf("can never be begun: needs %s, which %s", blocked[0], ended), []string{"coord", "cancel", t.ID}
	}
	return "", nil
}

// waitingTasks adds questions and tasks that are put to a person, questions that nobody is left to answer, and tasks that are stuck.
func (s *State) waitingTasks(list []Waiting, o Outlook) []Waiting {
	people := s.people()
	person := func(t *Task) bool { return t.Status == TaskOpen && people[event.FoldName(t.To)] }
	orphan := func(t *Task) bool { return t.Question && t.To != event.Broadcast && o.Stale(t.To) }
	stuck := func(t *Task) bool {
		why, _ := s.Stuck(t, &o)
		return why != ""
	}
	for _, t := range s.PendingIf(func(t *Task) bool { return person(t) || orphan(t) || stuck(t) }) {
		w := Waiting{Kind: WaitTask, Text: t.Description, Agent: t.From, Since: t.At, Seq: t.Seq, ID: t.ID, Verb: []string{"coord", "done", t.ID}}
		if t.Question {
			w.Kind, w.Verb = WaitQuestion, []string{"coord", "answer", t.ID, "…"}
		}
		if why, verb := s.Stuck(&t, &o); why != "" {
			w.Text, w.Verb = fmt.Sprintf("%s (%s)", t.Description, why), verb
		} else if !person(&t) {
			w.Text = fmt.Sprintf("%s (to %s, whose session %s)", t.Description, t.To, o.left(t.To))
		}
		list = append(list, w)
	}
	return list
}

// waitingClaims adds the exclusive claims of sessions that do not run, one entry for each holder, while another session goes on that
// they may keep out.
func (s *State) waitingClaims(list []Waiting, o Outlook) []Waiting {
	if !s.someoneLives(o) {
		return list
	}
	index := map[string]int{}
	more := map[string]int{}
	for _, c := range s.Claims() {
		holder := event.FoldName(c.Agent)
		if c.Mode != event.Exclusive || c.Lapsed(o.Now) || !o.Stale(c.Agent) {
			continue
		}
		if i, ok := index[holder]; ok {
			more[holder]++
			list[i].Text = fmt.Sprintf("still holds %s and %d more; the session %s", list[i].Path, more[holder], o.left(c.Agent))
			continue
		}
		index[holder] = len(list)
		list = append(list, Waiting{
			Kind: WaitClaim, Text: fmt.Sprintf("still holds %s; the session %s", c.Path, o.left(c.Agent)), Agent: c.Agent, Since: c.Since, Seq: c.Seq, Path: c.Path,
			Verb: []string{"coord", "release", c.Agent, "."},
		})
	}
	return list
}

// someoneLives reports whether any registered session is not known to be over.
func (s *State) someoneLives(o Outlook) bool {
	return slices.ContainsFunc(s.members.list, func(m member) bool { return m.registered && !m.forgotten && !o.Stale(m.name) })
}

// people are the folded names that stand for a person: user, and whoever a session says that it belongs to, unless a session bears
// that name itself.
func (s *State) people() map[string]bool {
	names := map[string]bool{event.User: true}
	for i := range s.members.list {
		if human := s.members.list[i].human; human != "" {
			if m := s.members.get(human); m == nil || !m.registered {
				names[event.FoldName(human)] = true
			}
		}
	}
	return names
}
