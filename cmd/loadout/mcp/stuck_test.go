package mcp

import (
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
)

func TestAStuckTaskIsMarked(t *testing.T) {
	var p page
	p.task(&engine.OpenTask{
		Task:  state.Task{ID: "t1", From: "user", To: "*", Description: "build", Status: state.TaskTaken, TakenBy: "codex"},
		Stuck: "taken by codex, whose session is over", Verb: []string{"agent", "end", "codex"},
	})
	want := "[t1] user → *: build (taken by codex, whose session is over; what settles it: loadout agent end codex)"
	if got := p.text(); !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}
