package state

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/agentloadout/loadout/engine/event"
)

// drawWork draws an event about work items, gates or waves.
func drawWork(t *rapid.T) event.Body {
	one := func(list ...string) string { return rapid.SampledFrom(list).Draw(t, "one") }
	item := &event.WorkItem{Type: one("spec_task", "command_run"), ID: one("1", "2")}
	run := one("run-a", "run-b", "run-c")
	switch rapid.IntRange(0, 11).Draw(t, "work") {
	case 0:
		return event.Work{Action: event.WorkRegistered, Agent: run, Harness: one("codex", "ralph"), Human: "dana"}
	case 1:
		return event.Work{Action: event.WorkUnregistered, Agent: run}
	case 2, 3, 4:
		return event.Work{Action: event.WorkTaken, Agent: run, Item: item, Harness: one("codex", "ralph")}
	case 5:
		return event.Work{Action: event.WorkReleased, Agent: run, Item: item, Outcome: event.WorkCompleted}
	case 6:
		return event.Work{Action: event.WorkLapsed, Agent: run, Item: item, Beat: "2026-09-10T08:00:00.000Z"}
	case 7:
		return event.Work{
			Action: rapid.SampledFrom([]event.WorkAction{event.WorkPaused, event.WorkResumed, event.WorkYielded}).Draw(t, "action"),
			Agent:  run, Item: item,
		}
	case 8:
		return event.Work{Action: event.WorkEscalated, Agent: run, Holder: one("run-a", "run-b"), Item: item, Escalation: one("e1", "e2")}
	case 9:
		return event.Work{Action: event.WorkResolved, Escalation: one("e1", "e2"), Choice: event.SwapNow}
	case 10:
		return event.Gate{Scope: one("", "s"), Ledger: one("leaf-a", "leaf-b"), Met: 1, Gates: []event.GateLine{{ID: "G1", Title: "t", State: event.GateMet}}}
	default:
		return event.Wave{Wave: one("w1", "w2"), State: event.WaveOpen, Leaves: []event.WaveLeaf{{Leaf: "l", Handle: one("h", "")}}}
	}
}

// story folds the bodies of one agent after the other and returns the state.
func story(t *testing.T, bodies ...event.Body) *State {
	t.Helper()
	s := New()
	for i, body := range bodies {
		e, err := event.New("codex", event.Broadcast, "x", body)
		if err != nil {
			t.Fatal(err)
		}
		e.ID, e.Seq, e.Timestamp = fmt.Sprint(i), int64(i), event.FormatTime(start.Add(time.Duration(i)*time.Minute))
		if err := s.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestWorkItems(t *testing.T) {
	item := func(id string) *event.WorkItem { return &event.WorkItem{Type: "spec_task", ID: id} }
	s := story(
		t,
		event.Work{Action: event.WorkRegistered, Agent: "a", Harness: "claude-code", Human: "dana"},
		event.Work{Action: event.WorkRegistered, Agent: "b", Harness: "codex"},
		event.Work{Action: event.WorkTaken, Agent: "a", Item: item("spc-7.2"), Harness: "claude-code", Human: "dana"},
		event.Work{Action: event.WorkTaken, Agent: "b", Item: item("spc-7.3")},
		event.Work{Action: event.WorkPaused, Agent: "a", Item: item("spc-7.2")},
		event.Work{Action: event.WorkReleased, Agent: "a", Item: item("spc-7.3"), Outcome: event.WorkCompleted}, // not a's
		event.Work{Action: event.WorkEscalated, Agent: "b", Holder: "a", Item: item("spc-7.2"), Escalation: "e1"},
	)
	held := s.WorkItems()
	if len(held) != 2 || held[0].ID != "spc-7.2" || !held[0].Paused || held[0].Harness != "claude-code" || held[0].Human != "dana" || held[1].Run != "b" {
		t.Errorf("held: %+v", held)
	}
	if x := s.Escalations(); len(x) != 1 || x[0].Requester != "b" || x[0].Holder != "a" || x[0].Item != "spc-7.2" {
		t.Errorf("escalations: %+v", x)
	}

	later := s.Clone()
	for _, body := range []event.Body{
		event.Work{Action: event.WorkResolved, Escalation: "e1", Choice: event.Sequence},
		event.Work{Action: event.WorkReleased, Agent: "b", Item: item("spc-7.3"), Outcome: event.WorkAbandoned},
		event.Work{Action: event.WorkTaken, Agent: "b", Item: item("spc-7.2")}, // whoever takes it has it
		event.Work{Action: event.WorkUnregistered, Agent: "b"},
	} {
		e, err := event.New("codex", event.Broadcast, "x", body)
		if err != nil {
			t.Fatal(err)
		}
		e.ID, e.Seq, e.Timestamp = "later", later.Head()+1, event.FormatTime(start.Add(time.Hour))
		if err := later.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	if len(later.WorkItems()) != 0 || len(later.Escalations()) != 0 {
		t.Errorf("left: %+v, %+v", later.WorkItems(), later.Escalations())
	}
	var how []string
	for _, i := range later.EndedWork() {
		how = append(how, fmt.Sprint(i.Run, " ", i.ID, " ", i.How, " ", i.Outcome))
	}
	want := "[b spc-7.3 release abandoned a spc-7.2 take  b spc-7.2 agent_unregistered ]"
	if fmt.Sprint(how) != want {
		t.Errorf("ended: %v, want %s", how, want)
	}
	if len(s.WorkItems()) != 2 || len(s.EndedWork()) != 0 {
		t.Error("the clone changed what it was made of")
	}
}

func TestWorkIsBounded(t *testing.T) {
	var bodies []event.Body
	for i := range 2 * MaxWorkItems {
		bodies = append(bodies, event.Work{Action: event.WorkTaken, Agent: "a", Item: &event.WorkItem{Type: "t", ID: fmt.Sprint(i)}})
	}
	for i := range 2 * MaxLedgers {
		bodies = append(bodies, event.Gate{Ledger: fmt.Sprint("l", i)}, event.Wave{
			Wave: fmt.Sprint("w", i), State: event.WaveOpen, Leaves: []event.WaveLeaf{{Leaf: "l"}},
		})
	}
	s := story(t, bodies...)
	held, waves := s.WorkItems(), s.Waves()
	if len(held) != MaxWorkItems || held[0].ID != fmt.Sprint(MaxWorkItems) || len(s.Ledgers()) != MaxLedgers || len(waves) != MaxWaves {
		t.Errorf("%d items from %s on, %d ledgers, %d waves", len(held), held[0].ID, len(s.Ledgers()), len(waves))
	}
}

func TestALaterGateReplacesTheLedger(t *testing.T) {
	s := story(
		t,
		event.Gate{Scope: "s", Ledger: "leaf-a", Unmet: 2},
		event.Gate{Ledger: "leaf-a", Met: 1},
		event.Gate{Scope: "s", Ledger: "leaf-a", Met: 2},
		event.Wave{Wave: "w", State: event.WaveOpen, Leaves: []event.WaveLeaf{{Leaf: "a"}, {Leaf: "b"}}},
		event.Wave{Wave: "w", State: event.WaveSealed, Leaves: []event.WaveLeaf{
			{Leaf: "a", Started: "2026-09-10T08:00:00.000Z", Returned: "2026-09-10T08:30:00.000Z"}, {Leaf: "b", Started: "2026-09-10T08:00:00.000Z"},
		}},
	)
	l := s.Ledgers()
	if len(l) != 2 || l[0].Scope != "" || l[1].Met != 2 || l[1].Seq != 2 || l[1].By != "codex" {
		t.Errorf("ledgers: %+v", l)
	}
	w := s.Waves()
	if started, returned := w[0].Returned(); len(w) != 1 || w[0].State != event.WaveSealed || started != 2 || returned != 1 {
		t.Errorf("waves: %+v", w)
	}
}
