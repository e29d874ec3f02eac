package agents

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/panetest"
)

var now = time.Date(2026, 9, 3, 12, 0, 0, 0, time.UTC)

// story folds events an hour before now.
type story struct {
	*testing.T
	*state.State
}

func (s story) add(from, to, words string, body event.Body) {
	s.Helper()
	e, err := event.New(from, to, words, body)
	if err != nil {
		s.Fatal(err)
	}
	e.Seq = s.Head() + 1
	e.ID, e.Timestamp = fmt.Sprintf("id%06d", e.Seq), now.Add(-time.Hour).Format(event.TimeFormat)
	if err := s.Apply(&e); err != nil {
		s.Fatal(err)
	}
}

func (s story) register(names ...string) {
	for _, name := range names {
		s.add(event.Loadout, event.Broadcast, "joins", event.Agent{Action: event.AgentRegistered, Name: name, Base: name})
	}
}

// tell is a story of one agent that lives, one whose session is over, and one that left.
func tell(t *testing.T) story {
	s := story{t, state.New()}
	s.register("alive", "dead", "left")
	s.add(event.Loadout, event.Broadcast, "leaves", event.Agent{Action: event.AgentEnded, Name: "left"})
	s.add("alive", event.Broadcast, "claims", event.Ownership{Paths: []string{"a", "b"}, Mode: event.Exclusive})
	s.add("dead", event.Broadcast, "claims", event.Ownership{Paths: []string{"c"}, Mode: event.Exclusive})
	s.add("alive", event.User, "REST or GraphQL?", event.Question{})
	s.add("alive", "dead", "which port?", event.Question{})
	s.add("dead", "alive", "do it", event.Task{})
	return s
}

func show(t *testing.T, s story, edit ...func(*pane.Snapshot)) *Pane {
	t.Helper()
	p := New(panetest.Look(t, false))
	p.SetSize(100, 14, false)
	snap := pane.Snapshot{State: s.State, Now: now, Actor: event.User, Live: map[string]engine.Liveness{
		"alive": {Known: true, Live: true, LastBeat: now}, "dead": {Known: true, LastBeat: now.Add(-20 * time.Minute)},
	}}
	for _, fn := range edit {
		fn(&snap)
	}
	if snap.Tasks = pane.OpenTasks(snap.State); !snap.Past {
		snap.Waiting = snap.FindWaiting()
	}
	p.Apply(snap, pane.Changes{})
	return p
}

func past(s *pane.Snapshot) { s.Past, s.Live = true, nil }

// squeezed is the pane's lines with single blanks.
func squeezed(t *testing.T, p *Pane) []string {
	var out []string
	for _, line := range panetest.Draw(t, p, 100, 14, false) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func TestWhatWaitsForAPersonIsOnTop(t *testing.T) {
	want := []string{
		"! question alive REST or GraphQL? 1h",
		"! question alive which port? (to dead, whose session is over) 1h",
		"! claim dead still holds c; the session is over 1h",
		"○ user you ! 1 asked 3 unread",
		"● alive live 2 claims 1 task 2 unread now",
		"× dead stale ! 1 asked 1 claim 2 unread 20m",
		"× left ended 2 unread",
	}
	p := show(t, tell(t))
	if got := squeezed(t, p); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	if got := p.Status(); got != "! 3 for you, 1 live" {
		t.Errorf("status %q", got)
	}
}

// However many wait, a zoomed pane lists a bounded number, and says what finds the others.
func TestVeryManyThatWaitAreFiltered(t *testing.T) {
	s := tell(t)
	for i := range maxZoomed {
		s.add("alive", event.User, fmt.Sprintf("question %d", i), event.Question{})
	}
	p := New(panetest.Look(t, false))
	p.SetSize(120, 20, true)
	snap := pane.Snapshot{State: s.State, Now: now, Actor: event.User}
	snap.Tasks, snap.Waiting = pane.OpenTasks(snap.State), snap.FindWaiting()
	p.Apply(snap, pane.Changes{})
	if left, _ := (*rows)(p).Row(maxZoomed, 100); p.rows[maxZoomed].more != 1 || !strings.HasSuffix(left[0].Text, "and 1 more wait for you; / finds them") {
		t.Errorf("row %+v says %q", p.rows[maxZoomed], left)
	}
	p.SetFilter("question 999")
	if len(p.rows) != 1 || p.rows[0].wait == nil {
		t.Errorf("a filter finds %d rows", len(p.rows))
	}
}

func TestManyThatWaitLeaveRoomForTheAgents(t *testing.T) {
	s := tell(t)
	for i := range 8 {
		s.add("alive", event.User, fmt.Sprintf("question %d", i), event.Question{})
	}
	p := show(t, s)
	if got := squeezed(t, p); got[5] != "and 6 more wait for you; z shows them" || !strings.HasPrefix(got[6], "○ user") {
		t.Errorf("not zoomed:\n%q", got)
	}
	p.SetSize(100, 30, true)
	p.rebuild()
	if len(p.rows) != 11+4 {
		t.Errorf("zoomed: %d rows", len(p.rows))
	}
}

func TestTheSelectedOneCanBeSettled(t *testing.T) {
	p := show(t, tell(t))
	if w := p.Subject().Wait; w == nil || w.Kind != state.WaitQuestion || w.Text != "REST or GraphQL?" {
		t.Errorf("first: %+v", w)
	}
	p.List.Select(2)
	if s := p.Subject(); s.Wait == nil || s.Path != "." || s.Claim.Agent != "dead" {
		t.Errorf("claim: %+v", s)
	}
	p.List.Select(4) // alive waits for an answer
	if s := p.Subject(); s.Agent != "alive" || s.Wait == nil || s.Wait.Text != "REST or GraphQL?" {
		t.Errorf("alive: %+v", s)
	}
	p.List.Select(6)
	if s := p.Subject(); s.Agent != "left" || s.Wait != nil {
		t.Errorf("left: %+v", s)
	}
}

func TestThePastDoesNotKnowWhoLived(t *testing.T) {
	got := strings.Join(squeezed(t, show(t, tell(t), past)), "\n")
	if strings.Contains(got, "● ") || strings.Contains(got, "stale") || !strings.Contains(got, "alive joined") || strings.Contains(got, "REST") {
		t.Errorf("the past says\n%s", got)
	}
}

func TestDetailStartsWithWhatWaits(t *testing.T) {
	p := show(t, tell(t))
	p.List.Select(5)
	p.Changed()
	s := panetest.Screen(t, p, 120, true)
	waits, session := strings.Index(s, "waits for an answer of dead"), strings.Index(s, "program")
	if waits < 0 || session < waits {
		t.Errorf("detail:\n%s", s)
	}
}

func TestLateNewsIsMarked(t *testing.T) {
	s := tell(t)
	s.add("alive", event.Broadcast, "publishes", event.Contract{Name: "api", Revision: 1, Body: "one"})
	s.add("alive", event.Broadcast, "publishes again", event.Contract{Name: "api", Revision: 2, Body: "two"})
	p := show(t, s)
	p.List.Select(6)
	p.Changed()
	for _, want := range []string{"has not acknowledged", "#9        1h  alive contract: publishes", "(! old news since #10)", "#10       1h  alive contract: publishes again"} {
		if got := strings.Join(panetest.Draw(t, p, 160, 50, true), "\n"); !strings.Contains(got, want) {
			t.Errorf("the detail does not say %q:\n%s", want, got)
		}
	}
}

func TestMeter(t *testing.T) {
	s := tell(t)
	through := int64(0)
	turn := func(b event.Turn) {
		b.Agent, b.Provider, b.Session, b.Why, b.Through = "alive", "sim", "s", event.WhyDelivery, &through
		s.add(event.Loadout, event.Broadcast, "turn", b)
	}
	turn(event.Turn{Action: event.TurnAttached})
	turn(event.Turn{Action: event.TurnQueued, Turn: "t1", Seqs: []int64{4, 5}, Passive: 3, Duplicate: 1})
	turn(event.Turn{Action: event.TurnStarted, Turn: "t1"})
	turn(event.Turn{Action: event.TurnFinished, Turn: "t1", Usage: &event.TurnUsage{Input: 40_000, Output: 1_200, CostMicros: 380_000, Priced: true, Known: true}})
	p := show(t, s)
	if got := panetest.Screen(t, p, 140, false); !strings.Contains(got, "1 turn 41k tok $0.38") {
		t.Errorf("list:\n%s", got)
	}
	p.List.Select(4)
	p.Changed()
	for _, want := range []string{"turns     1 turn, 1 of 20 automatic", "delivered 2 events", "used      41k tok $0.38"} {
		if got := strings.Join(panetest.Draw(t, p, 160, 50, true), "\n"); !strings.Contains(got, want) {
			t.Errorf("the detail does not say %q:\n%s", want, got)
		}
	}
}

// Of many open tasks all are counted, and the newest listed.
func TestManyTasks(t *testing.T) {
	s := story{t, state.New()}
	s.register("alive")
	for i := range maxTasks + 7 {
		s.add(event.User, "alive", fmt.Sprintf("task %03d", i), event.Task{})
	}
	s.add(event.User, "alive", "why?", event.Question{})
	p := show(t, s)
	if got := panetest.Screen(t, p, 140, false); !strings.Contains(got, fmt.Sprintf("%d tasks", maxTasks+7)) || !strings.Contains(got, "! 1 asked") {
		t.Errorf("list:\n%s", got)
	}
	p.List.Select(len(p.rows) - 1)
	p.Changed()
	got := strings.Join(panetest.Draw(t, p, 160, 200, true), "\n")
	for _, want := range []string{"7 older ones", "task 007", "task 056", "why?"} {
		if !strings.Contains(got, want) {
			t.Errorf("the detail does not say %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "task 006") {
		t.Errorf("the detail lists everything:\n%s", got)
	}
}

// What a narrow row has no room for is what its mark says already, and not what the agent holds.
func TestNarrowRowsKeepWhatIsHeld(t *testing.T) {
	p := show(t, tell(t))
	for _, w := range []int{46, 52, 58, 78} {
		got := panetest.Screen(t, p, w, false)
		for _, want := range []string{"! 1 asked", "2 claims", "1 claim "} {
			if !strings.Contains(got, want) {
				t.Errorf("%d cells have no %q:\n%s", w, want, got)
			}
		}
	}
}

func TestOrders(t *testing.T) {
	p := show(t, tell(t))
	names := func() string {
		var list []string
		for _, r := range p.rows {
			if r.agent != nil {
				list = append(list, r.agent.Name)
			}
		}
		return strings.Join(list, " ")
	}
	for _, want := range []string{"user alive dead left", "alive dead left user", "user alive dead left", "alive dead left user"} {
		if got := names(); got != want {
			t.Errorf("%v: %s, want %s", p.order, got, want)
		}
		p.Handle(keymap.Sort)
	}
}

// TestGolden draws names in scripts of every kind.
func TestGolden(t *testing.T) {
	s := tell(t)
	s.register("claude-code", "claude-code-2", "日本語のエージェント", "emoji👩‍💻", "שרון", "e\u0301lan")
	s.add("日本語のエージェント", event.User, "価格はセントですか、それとも小数ですか？", event.Question{})
	s.add("שרון", event.User, "שלום עולם?", event.Task{})
	p := show(t, s)
	p.SetFocus(true)
	p.List.Select(9)
	panetest.Golden(t, "frames", p)
}
