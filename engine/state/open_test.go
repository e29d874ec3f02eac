package state

import (
	"fmt"
	"slices"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
)

func TestPendingIf(t *testing.T) {
	s := manyTasks(t, 300)
	forCodex := func(t *Task) bool { return t.To == "codex" }
	seqs := func(list []Task) []int64 {
		var seqs []int64
		for _, t := range list {
			seqs = append(seqs, t.Seq)
		}
		return seqs
	}
	var want []int64
	for _, task := range s.Pending() {
		if task.To == "codex" {
			want = append(want, task.Seq)
		}
	}
	if got := seqs(s.PendingIf(forCodex)); len(want) != 100 || !slices.Equal(got, want) {
		t.Errorf("wanted ones %v, want %v", got, want)
	}
	list, omitted := s.NewestPending(7, forCodex)
	if got := seqs(list); omitted != 93 || !slices.Equal(got, want[93:]) {
		t.Errorf("newest %v, without %d", got, omitted)
	}
	if list, omitted := s.NewestPending(500, forCodex); len(list) != 100 || omitted != 0 {
		t.Errorf("all: %d, without %d", len(list), omitted)
	}
}

// TestWaitingAsksOncePerAgent: to find out whether a session is over may mean to look at its process.
func TestWaitingAsksOncePerAgent(t *testing.T) {
	s := New()
	for i := range 20 {
		ev, err := event.New("user", []string{"gemini", "codex"}[i%2], "what?", event.Question{})
		if err != nil {
			t.Fatal(err)
		}
		ev.ID, ev.Seq, ev.Timestamp = fmt.Sprintf("id%08d", i), int64(i), event.FormatTime(start)
		if err := s.Apply(&ev); err != nil {
			t.Fatal(err)
		}
	}
	asked := map[string]int{}
	list := s.Waiting(Outlook{Now: start, Stale: func(agent string) bool {
		asked[agent]++
		return agent == "codex"
	}})
	if len(list) != 10 || len(asked) != 2 || asked["codex"] != 1 || asked["gemini"] != 1 {
		t.Errorf("%d wait, asked %v", len(list), asked)
	}
}
