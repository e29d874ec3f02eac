package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
)

func TestPolicyLevels(t *testing.T) {
	p, err := parsePolicy([]byte(`{"defaultLevel": "passive", "rules": [
		{"type": "update", "from": "codex", "level": "immediate"},
		{"type": "update", "level": "passive"},
		{"type": "turn", "from": "*", "level": "boundary"},
		{"type": "poem", "level": "boundary"},
		{"type": "*", "from": "boss", "level": "immediate"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		typ   event.Type
		from  string
		usual Level // without a file
		want  Level
	}{
		{event.TypeUpdate, "Codex", Passive, Immediate},
		{event.TypeUpdate, "boss", Passive, Passive}, // the first rule that matches
		{event.TypeAck, "boss", Passive, Immediate},
		{event.TypeOwnership, "codex", Immediate, Immediate},
		{event.TypeTask, "codex", Boundary, Passive},
		{event.TypeTurn, "loadout", Never, Boundary},
		{event.TypeHalt, "boss", Never, Never}, // not named
		{event.TypeAgent, "boss", Never, Never},
		{"poem", "codex", Never, Boundary},
		{"song", "boss", Never, Never},
	} {
		ev := event.Event{Type: tt.typ, From: tt.from}
		if got := (Policy{}).Level(&ev); got != tt.usual {
			t.Errorf("%s from %s is %s by itself, want %s", tt.typ, tt.from, got, tt.usual)
		}
		if got := p.Level(&ev); got != tt.want {
			t.Errorf("%s from %s is %s, want %s", tt.typ, tt.from, got, tt.want)
		}
	}
}

// A policy that cannot be used is refused: another one than was meant could wake sessions all day.
func TestBadPolicies(t *testing.T) {
	for _, text := range []string{
		``, `[]`, `{"defaultLevel": "loud"}`, `{"default": "passive"}`, `{} {}`, `{"rules": [{"level": "passive"}]}`,
		`{"rules": [{"type": "task"}]}`, `{"rules": [{"type": "task", "level": "never"}]}`, `{"rules": [{"type": "task", "to": "x", "level": "passive"}]}`,
		`{"rules": [` + strings.Repeat(`{"type": "task", "level": "passive"},`, 100) + `{"type": "task", "level": "passive"}]}`,
	} {
		var invalid *ValidationError
		if _, err := parsePolicy([]byte(text)); !errors.As(err, &invalid) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}
