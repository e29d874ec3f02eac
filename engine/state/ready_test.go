package state

import (
	"fmt"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
)

// manyTasks is a state with so many open tasks, a third of them for codex.
func manyTasks(t testing.TB, n int) *State {
	t.Helper()
	s := New()
	for i := range n {
		ev, err := event.New("user", []string{"gemini", "codex", "*"}[i%3], fmt.Sprintf("task %d", i), event.Task{})
		if err != nil {
			t.Fatal(err)
		}
		ev.ID, ev.Seq, ev.Timestamp = fmt.Sprintf("id%08d", i), int64(i), event.FormatTime(start)
		if err := s.Apply(&ev); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// ready lists the tasks that are ready for an agent.
func (s *State) ready(agent string) []Task {
	return s.PendingIf(func(t *Task) bool { return s.IsReady(t.ID, agent) })
}

func TestFirstReadyIsTheFirstOfReady(t *testing.T) {
	s := manyTasks(t, 300)
	for _, agent := range []string{"codex", "Gemini", "nobody"} {
		all := s.ready(agent)
		first, ok := s.FirstReady(agent)
		if !ok || len(all) == 0 || first.ID != all[0].ID {
			t.Errorf("%s: first %s of %d", agent, first.ID, len(all))
		}
	}
	if task, ok := New().FirstReady("codex"); ok {
		t.Errorf("first of none: %+v", task)
	}
}

// BenchmarkOpenTasks is what verbs ask of 100,000 open tasks.
func BenchmarkOpenTasks(b *testing.B) {
	s := manyTasks(b, 100000)
	b.Run("first ready", func(b *testing.B) {
		for b.Loop() {
			s.FirstReady("codex")
		}
	})
	b.Run("find by number", func(b *testing.B) {
		for b.Loop() {
			s.FindTasks("#99999")
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			s.Pending()
		}
	})
}
