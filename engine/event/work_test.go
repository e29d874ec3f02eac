package event

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestWorkAndGatePayloadsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		typ     Type
		payload string
		field   string
	}{
		{"no action", TypeWork, `{"agent":"a"}`, "payload.action"},
		{"a heartbeat", TypeWork, `{"action":"heartbeat","agent":"a"}`, "payload.action"},
		{"a take of nothing", TypeWork, `{"action":"take","agent":"a"}`, "payload.item"},
		{"a take by nobody", TypeWork, `{"action":"take","item":{"type":"t","id":"1"}}`, "payload.agent"},
		{"an item without a type", TypeWork, `{"action":"take","agent":"a","item":{"id":"1"}}`, "payload.item.type"},
		{"an item that is a string", TypeWork, `{"action":"take","agent":"a","item":"spc-1.1"}`, "payload.item"},
		{"a release without an outcome", TypeWork, `{"action":"release","agent":"a","item":{"type":"t","id":"1"}}`, "payload.outcome"},
		{"an unknown outcome", TypeWork, `{"action":"release","agent":"a","item":{"type":"t","id":"1"},"outcome":"lost"}`, "payload.outcome"},
		{"a lapse at no time", TypeWork, `{"action":"lapsed","agent":"a","item":{"type":"t","id":"1"},"lastBeat":"noon"}`, "payload.lastBeat"},
		{"an escalation against nobody", TypeWork, `{"action":"escalate_requested","agent":"a","item":{"type":"t","id":"1"},"escalation":"e"}`, "payload.holder"},
		{"a choice of nothing", TypeWork, `{"action":"escalate_resolved","escalation":"e"}`, "payload.choice"},
		{"a registration without a program", TypeWork, `{"action":"agent_registered","agent":"a"}`, "payload.harness"},
		{"a ledger without a name", TypeGate, `{"met":1,"unmet":0,"abandoned":0}`, "payload.ledger"},
		{"a negative count", TypeGate, `{"ledger":"l","met":-1,"unmet":0,"abandoned":0}`, "payload.met"},
		{"a gate in no state", TypeGate, `{"ledger":"l","met":1,"unmet":0,"abandoned":0,"gates":[{"id":"G1","title":"t"}]}`, "payload.gates.state"},
		{"a wave of nobody", TypeWave, `{"wave":"w","state":"open","leaves":[]}`, "payload.leaves"},
		{"a wave in no state", TypeWave, `{"wave":"w","state":"closed","leaves":[{"leaf":"l"}]}`, "payload.state"},
		{"a leaf without a name", TypeWave, `{"wave":"w","state":"open","leaves":[{"handle":"h"}]}`, "payload.leaves.leaf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Event{Type: c.typ, Payload: json.RawMessage(c.payload)}
			var invalid *InvalidError
			if _, err := e.Body(); !errors.As(err, &invalid) || invalid.Field != c.field {
				t.Errorf("got %v, want an error of %s", err, c.field)
			}
		})
	}
}

// Whatever the payload is: no panic, both readers agree, and what is accepted survives being written.
func FuzzWorkAndGates(f *testing.F) {
	f.Add(0, []byte(`{"action":"take","agent":"a","item":{"type":"spec_task","id":"spc-7.2"},"reason":"x"}`))
	f.Add(0, []byte(`{"action":"lapsed","agent":"a","item":{"type":"t","id":"1"},"lastBeat":"2026-09-10T08:00:00Z"}`))
	f.Add(1, []byte(`{"ledger":"l","met":1,"unmet":0,"abandoned":1,"gates":[{"id":"G","title":"t","state":"abandoned","reason":"r"}]}`))
	f.Add(2, []byte(`{"wave":"w","state":"open","leaves":[{"leaf":"l","startedAt":"2026-09-10T08:00:00Z"}]}`))
	types := []Type{TypeWork, TypeGate, TypeWave}
	f.Fuzz(func(t *testing.T, kind int, payload []byte) {
		if !json.Valid(payload) {
			return
		}
		e := Event{
			ID: "x", Seq: 1, Type: types[uint(kind)%uint(len(types))], From: "a", To: Broadcast, Description: "d",
			Timestamp: "2026-09-10T08:00:00.000Z", Payload: payload,
		}
		checkPayload(t, e)
	})
}
