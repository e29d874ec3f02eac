package pane

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// What events change is the same as what is found when all is listed anew, and changes nothing that was handed out before.
func TestTasksFollowTheEvents(t *testing.T) {
	same := func(a, b *Tasks) string {
		return cmp.Diff(a, b, cmp.AllowUnexported(Tasks{}), cmpopts.IgnoreFields(Tasks{}, "listed"), cmpopts.EquateEmpty())
	}
	agents := []string{"codex", "Codex", "gemini", event.Broadcast, event.User}
	rapid.Check(t, func(t *rapid.T) {
		s := state.New()
		seq := int64(0)
		add := func() event.Event {
			var body event.Body
			resolves, context := "", ""
			id := fmt.Sprintf("id%d", rapid.Int64Range(0, max(seq, 1)).Draw(t, "id"))
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0, 1, 2, 3:
				body = event.Task{}
			case 4, 5:
				body = event.Question{}
			case 6:
				body, resolves = event.Task{}, id // takes it
			case 7:
				body, resolves = event.Done{}, id
			case 8:
				body, context = event.Done{}, "Resolves "+id
			case 9:
				body = event.Agent{Action: event.AgentEnded, Name: "codex"}
			}
			e, err := event.New(rapid.SampledFrom(agents[:3]).Draw(t, "from"), rapid.SampledFrom(agents).Draw(t, "to"), "x", body)
			if err != nil {
				t.Fatal(err)
			}
			e.Seq, e.ID, e.Resolves, e.Context = seq, fmt.Sprintf("id%d", seq), resolves, context
			e.Timestamp = "2026-09-03T12:00:00.000Z"
			seq++
			_ = s.Apply(&e) // what breaks a rule changes nothing
			return e
		}
		tasks := OpenTasks(s)
		for range rapid.IntRange(1, 12).Draw(t, "updates") {
			events := make([]event.Event, rapid.IntRange(0, 5).Draw(t, "events"))
			was, before := tasks, OpenTasks(s.Clone())
			for i := range events {
				events[i] = add()
			}
			tasks = tasks.After(s, events)
			if diff := same(tasks, OpenTasks(s)); diff != "" {
				t.Fatalf("after %+v: %s", events, diff)
			}
			if diff := same(was, before); diff != "" {
				t.Fatalf("handed out before, and changed: %s", diff)
			}
		}
	})
}
