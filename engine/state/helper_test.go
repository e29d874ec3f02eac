package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

var start = time.Date(2026, 9, 10, 8, 0, 0, 0, time.UTC)

// log makes events as a log would hold them: numbered from 0, a second apart.
type log struct {
	t      testing.TB
	events []event.Event
	state  *State
}

func newLog(t testing.TB) *log {
	t.Helper()
	return &log{t: t, state: New()}
}

// add appends an event, folds it, and fails the test when the fold refuses it.
func (l *log) add(from, to string, body event.Body, change ...func(*event.Event)) event.Event {
	l.t.Helper()
	e, err := l.try(from, to, body, change...)
	if err != nil {
		l.t.Fatalf("apply %s of %s: %v", e.Type, from, err)
	}
	return e
}

func (l *log) try(from, to string, body event.Body, change ...func(*event.Event)) (event.Event, error) {
	l.t.Helper()
	e, err := event.New(from, to, "says "+from, body)
	if err != nil {
		l.t.Fatal(err)
	}
	e.Seq = int64(len(l.events))
	e.ID = fmt.Sprintf("id%06d", e.Seq)
	e.Timestamp = event.FormatTime(start.Add(time.Duration(e.Seq) * time.Second))
	for _, c := range change {
		c(&e)
	}
	l.events = append(l.events, e)
	return e, l.state.Apply(&e)
}

func resolving(id string) func(*event.Event) { return func(e *event.Event) { e.Resolves = id } }

func saying(text string) func(*event.Event) { return func(e *event.Event) { e.Description = text } }

func claim(mode event.Mode, paths ...string) event.Ownership {
	return event.Ownership{Mode: mode, Paths: paths}
}

// held lists claims as "path agent mode fence".
func held(claims []Claim) []string {
	list := []string{}
	for _, c := range claims {
		list = append(list, fmt.Sprintf("%s %s %s %d", c.Path, c.Agent, c.Mode, c.Fence))
	}
	return list
}

func fold(events []event.Event) *State {
	s := New()
	for i := range events {
		_ = s.Apply(&events[i]) // a bad one is counted
	}
	return s
}

// failing is a test or a check of one property.
type failing interface {
	Helper()
	Fatalf(format string, args ...any)
}

func mustEqual(t failing, what string, got, want *State) {
	t.Helper()
	if equal, difference := Equal(got, want); !equal {
		t.Fatalf("%s: %s", what, difference)
	}
}

func marshal(t failing, s *State) []byte {
	t.Helper()
	data, err := s.AppendBinary(nil)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	return data
}

// overlap reports whether two paths have something in common.
func overlap(a, b string, foldCase bool) bool {
	return Within(a, b, foldCase) || Within(b, a, foldCase)
}
