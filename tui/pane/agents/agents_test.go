package agents

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/theme"
)

var now = time.Date(2026, 9, 3, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, past bool) *Pane {
	t.Helper()
	s := state.New()
	add := func(from, to string, body event.Body) {
		e, err := event.New(from, to, "words", body)
		if err != nil {
			t.Fatal(err)
		}
		e.Seq = s.Head() + 1
		e.ID, e.Timestamp = fmt.Sprint(e.Seq), now.Add(-time.Hour).Format(event.TimeFormat)
		if err := s.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"alive", "dead", "left"} {
		add(event.Loadout, event.Broadcast, event.Agent{Action: event.AgentRegistered, Name: name, Base: name})
	}
	add(event.Loadout, event.Broadcast, event.Agent{Action: event.AgentEnded, Name: "left"})
	add("alive", event.Broadcast, event.Ownership{Paths: []string{"a", "b"}, Mode: event.Exclusive})
	add("dead", event.Broadcast, event.Ownership{Paths: []string{"c"}, Mode: event.Exclusive})
	add("alive", "dead", event.Question{})
	add("alive", event.User, event.Question{})
	add("dead", "alive", event.Task{})

	th, err := theme.New(theme.Options{Name: theme.None})
	if err != nil {
		t.Fatal(err)
	}
	p := New(pane.Look{Theme: th, Owners: th.NewOwners()})
	p.SetSize(100, 12, false)
	snap := pane.Snapshot{State: s, Now: now, Actor: event.User, Past: past, Live: map[string]engine.Liveness{
		"alive": {Known: true, Live: true, LastBeat: now}, "dead": {Known: true},
	}}
	if past {
		snap.Live = nil
	}
	p.Apply(snap, pane.Changes{})
	return p
}

func lines(p *Pane) []string {
	var out []string
	for _, line := range p.View() {
		if line = strings.Join(strings.Fields(ansi.Strip(line)), " "); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func TestPresenceAndWhatWaits(t *testing.T) {
	want := []string{
		"○ user you ! 1 question 3 unread",
		"● alive live 2 claims 1 task 2 unread 1h",
		"× dead lost ! 1 question 1 claim 2 unread 1h",
		"× left ended 2 unread",
	}
	if got := lines(open(t, false)); !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

func TestThePastDoesNotKnowWhoLived(t *testing.T) {
	got := strings.Join(lines(open(t, true)), "\n")
	if strings.Contains(got, "● ") || strings.Contains(got, "lost") || !strings.Contains(got, "alive joined") {
		t.Errorf("the past says\n%s", got)
	}
}

func TestDetailStartsWithWhatWaits(t *testing.T) {
	p := open(t, false)
	p.SetSize(120, 24, true)
	p.List.Select(2)
	p.Changed()
	s := ansi.Strip(strings.Join(p.View(), "\n"))
	waits, session := strings.Index(s, "waits for an answer of dead"), strings.Index(s, "program")
	if waits < 0 || session < waits {
		t.Errorf("detail:\n%s", s)
	}
}
