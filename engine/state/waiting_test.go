package state

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// register is a session's beginning.
func register(name, human string) event.Agent {
	return event.Agent{Action: event.AgentRegistered, Name: name, Base: name, Human: human}
}

// waits lists what waits as "kind agent seq: text | verb".
func waits(list []Waiting) []string {
	out := []string{}
	for _, w := range list {
		out = append(out, fmt.Sprintf("%s %s %d: %s | %s", w.Kind, w.Agent, w.Seq, w.Text, strings.Join(w.Verb, " ")))
	}
	return out
}

func isOver(names ...string) func(string) bool {
	return func(agent string) bool { return slices.Contains(names, agent) }
}

func TestWaiting(t *testing.T) {
	lapsed := claim(event.Exclusive, "old")
	lapsed.ExpiresAt = event.FormatTime(start.Add(time.Minute))
	tests := []struct {
		name string
		log  func(l *log)
		look Outlook
		want []string
	}{
		{"nothing", func(l *log) { l.add("a", "b", event.Question{}); l.add("a", event.Broadcast, event.Task{}) }, Outlook{}, nil},
		{
			"the kill switch first, then questions, then tasks, each oldest first",
			func(l *log) {
				l.add("a", event.User, event.Task{}, saying("look at it"))
				l.add("b", event.User, event.Question{}, saying("REST?"))
				l.add("c", event.User, event.Question{}, saying("cents?"))
			},
			Outlook{Halt: &Halt{By: "anna", Reason: "lunch", At: start.Add(time.Hour), Seq: -1}},
			[]string{
				"halt anna -1: lunch | resume", "question b 1: REST? | coord answer id000001 …", "question c 2: cents? | coord answer id000002 …",
				"task a 0: look at it | coord done id000000",
			},
		},
		{
			"an answered question and a taken task wait for nobody",
			func(l *log) {
				q := l.add("a", event.User, event.Question{})
				l.add(event.User, "a", event.Done{}, resolving(q.ID))
				task := l.add("a", event.User, event.Task{})
				l.add(event.User, "a", event.Task{}, resolving(task.ID))
			},
			Outlook{},
			nil,
		},
		{
			"whose session it is, is a person; a session of that name is not",
			func(l *log) {
				l.add(event.Loadout, event.Broadcast, register("a", "Anna"))
				l.add(event.Loadout, event.Broadcast, register("b", "bot"))
				l.add(event.Loadout, event.Broadcast, register("bot", ""))
				l.add("a", "anna", event.Question{}, saying("which?"))
				l.add("a", "bot", event.Question{})
			},
			Outlook{},
			[]string{"question a 3: which? | coord answer id000003 …"},
		},
		{
			"turns that nobody repeats, and caps",
			func(l *log) {
				turn := event.Turn{Agent: "a", Turn: "t1", Provider: "sim", Session: "s", Why: event.WhyDelivery, Seqs: []int64{0}}
				step := func(action event.TurnAction, change func(*event.Turn)) {
					b := turn
					b.Action = action
					if change != nil {
						change(&b)
					}
					l.add(event.Loadout, event.Broadcast, b)
				}
				through := int64(0)
				l.add("b", event.User, event.Question{}, saying("still?"))
				step(event.TurnAttached, func(b *event.Turn) { b.Through = &through })
				step(event.TurnOpened, func(b *event.Turn) { b.Agents = []string{"a"} })
				step(event.TurnQueued, nil)
				step(event.TurnStarted, nil)
				step(event.TurnFailed, func(b *event.Turn) { b.Cause, b.Spent = "timeout", "maybe" })
				step(event.TurnStopped, func(b *event.Turn) { b.Cause = string(event.CapTurns) })
			},
			Outlook{},
			[]string{
				"turn a 3: a turn failed: timeout | coord agents retry t1", "cap a 6: the next turn would pass the cap on turns: 1 of 20 used | coord agents raise --max-turns …",
				"question b 0: still? | coord answer id000000 …",
			},
		},
		{
			"an item that two want, until a person has chosen",
			func(l *log) {
				item := &event.WorkItem{Type: "spec", ID: "login"}
				for _, id := range []string{"x1", "x2"} {
					l.add("codex", event.Broadcast, event.Work{Action: event.WorkEscalated, Agent: "run-b", Holder: "run-a", Item: item, Escalation: id})
				}
				l.add(event.User, event.Broadcast, event.Work{Action: event.WorkResolved, Escalation: "x1", Choice: event.SwapNow})
			},
			Outlook{},
			[]string{"work codex 1: wants spec login, which run-a has | "},
		},
		{
			"a question to a session that is over",
			func(l *log) { l.add("a", "b", event.Question{}, saying("done?")); l.add("a", "b", event.Task{}) },
			Outlook{Stale: isOver("b")},
			[]string{"question a 0: done? (to b, whose session is over) | coord answer id000000 …"},
		},
		{
			"tasks whose needs will never be done",
			func(l *log) {
				cancelled, failed := l.add("a", "b", event.Task{}), l.add("a", "b", event.Task{})
				l.add("a", "c", event.Task{Needs: []string{cancelled.ID}}, saying("first"))
				l.add("a", "c", event.Task{Needs: []string{failed.ID}}, saying("second"))
				l.add("a", "b", event.Cancel{}, resolving(cancelled.ID))
				l.add("b", "a", event.Error{}, resolving(failed.ID))
				open := l.add("a", "b", event.Task{})
				l.add("a", "c", event.Task{Needs: []string{open.ID}}, saying("only waits"))
				l.add("a", "c", event.Task{Needs: []string{"unheard-of"}}, saying("third"))
			},
			Outlook{},
			[]string{
				"task a 2: first (can never be begun: needs id000000, which was cancelled) | coord cancel id000002",
				"task a 3: second (can never be begun: needs id000001, which has failed) | coord cancel id000003",
				"task a 8: third (can never be begun: needs unheard-of, which is not known) | coord cancel id000008",
			},
		},
		{
			"a task whose taker is over",
			func(l *log) {
				for _, taker := range []string{"b", "c", "d"} {
					task := l.add("a", "*", event.Task{}, saying("for "+taker))
					l.add(taker, "a", event.Task{}, resolving(task.ID))
				}
			},
			Outlook{Stale: isOver("b", "d"), Rests: isOver("d")},
			[]string{"task a 0: for b (taken by b, whose session is over) | agent end b"},
		},
		{
			"a session that rests is not over",
			func(l *log) {
				l.add(event.Loadout, event.Broadcast, register("a", ""))
				l.add("b", event.Broadcast, claim(event.Exclusive, "src"))
				l.add("a", "b", event.Question{}, saying("done?"))
				l.add("c", event.Broadcast, claim(event.Exclusive, "doc", "web"))
			},
			Outlook{Stale: isOver("b", "c"), Rests: isOver("b")},
			[]string{
				"question a 2: done? (to b, whose session rests until it is given a turn) | coord answer id000002 …",
				"claim b 1: still holds src; the session rests until it is given a turn | coord release b .",
				"claim c 3: still holds doc and 1 more; the session is over | coord release c .",
			},
		},
		{
			"claims of sessions that are over, once for each holder",
			func(l *log) {
				l.add(event.Loadout, event.Broadcast, register("a", ""))
				l.add(event.Loadout, event.Broadcast, register("b", ""))
				l.add("b", event.Broadcast, claim(event.Exclusive, "src/api", "src/web", "test"))
				l.add("b", event.Broadcast, claim(event.Shared, "docs"))
				l.add("c", event.Broadcast, claim(event.Exclusive, "x"))
				l.add("c", event.Broadcast, lapsed)
			},
			Outlook{Now: start.Add(time.Hour), Stale: isOver("b", "c")},
			[]string{
				"claim b 2: still holds src/api and 2 more; the session is over | coord release b .",
				"claim c 4: still holds x; the session is over | coord release c .",
			},
		},
		{
			"they are in nobody's way when all sessions are over",
			func(l *log) {
				l.add(event.Loadout, event.Broadcast, register("a", ""))
				l.add("a", event.Broadcast, claim(event.Exclusive, "src"))
			},
			Outlook{Stale: isOver("a")},
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := newLog(t)
			tt.log(l)
			if got := waits(l.state.Waiting(tt.look)); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}
