package hook

import (
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
)

func TestTasksSayWhatKeepsThem(t *testing.T) {
	var d data
	d.tasks([]engine.OpenTask{
		{Task: state.Task{Seq: 1, From: "user", To: "*", Description: "build", TakenBy: "cursor"}, Stuck: "taken by cursor, whose session is over"},
		{Task: state.Task{Seq: 2, From: "user", To: "*", Description: "test", Waiting: []string{"t1"}}},
		{Task: state.Task{Seq: 3, From: "user", To: "*", Description: "ship", TakenBy: "codex"}, Stuck: "taken by codex, whose session is over"},
	}, "codex")
	for _, want := range []string{
		"#1 from user to *, taken by cursor, whose session is over: build", "#2 from user to *, waits for t1: test", "#3 from user to *, taken by you: ship",
	} {
		if !strings.Contains(d.b.String(), want) {
			t.Errorf("%s\nwant %s", d.b.String(), want)
		}
	}
}
