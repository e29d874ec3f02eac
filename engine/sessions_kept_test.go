package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
)

// What other versions wrote into sessions.json is kept, whatever becomes of the sessions.
func TestSessionsKeepWhatIsNotKnown(t *testing.T) {
	s := newScene(t)
	mustRecord(t, s.record(attached("a", "one"), attached("b", "two")))
	path := filepath.Join(s.Project().Dir, SessionsName)
	var whole map[string]any
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &whole) != nil {
		t.Fatal(err)
	}
	whole["mine"] = map[string]any{"deep": 1}
	whole["sessions"].([]any)[0].(map[string]any)["note"] = "keep this"
	if data, err = json.Marshal(whole); err != nil || os.WriteFile(path, data, 0o600) != nil {
		t.Fatal(err)
	}
	through := int64(1)
	mustRecord(t, s.record(
		event.Turn{Action: event.TurnQueued, Turn: "t", Agent: "a", Provider: "p", Why: event.WhyDelivery, Seqs: []int64{1}, Through: &through},
		event.Turn{Action: event.TurnStarted, Turn: "t", Agent: "a"},
		attached("a", "one"),
		event.Turn{Action: event.TurnForgotten, Agent: "b"},
	))
	if data, err = os.ReadFile(path); err != nil || !strings.Contains(string(data), `"note": "keep this"`) || !strings.Contains(string(data), `"deep": 1`) {
		t.Errorf("%v\n%s", err, data)
	}
	if !json.Valid(data) || strings.Count(string(data), "sessionId") != 1 {
		t.Errorf("%s", data)
	}
}

func mustRecord(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
