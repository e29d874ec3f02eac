package mcp

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store"
)

// What the log has lost must not look like nothing: it is a note of whatever comes next, also where that writes what goes on above it.
func TestLostLogIsTold(t *testing.T) {
	for _, tt := range []struct {
		tool      string
		arguments args
		refused   bool
	}{
		{"snapshot", nil, false},
		{"subscribe", nil, false},
		{"replay", nil, false},
		{"conflicts", args{"paths": []string{"src"}}, false},
		{"diff", args{"name": "api"}, true},
		{"publish_update", args{"note": "going on"}, false},
		{"finish_task", args{"taskId": "none", "evidence": "x"}, true},
	} {
		t.Run(tt.tool, func(t *testing.T) {
			s := newScene(t)
			s.do(engine.Publish{Agent: "ann", Name: "api", Body: "one"})
			c := s.connect("codex", usual2025, s.engine(nil), Options{})
			fits := schemasOf(t, c)
			if r := c.try("snapshot", nil); strings.Contains(strings.Join(textsOf(r), ""), "the log is gone") {
				t.Error("told of a loss where there is none")
			}
			if err := os.Remove(filepath.Join(s.dir, ".handoff", store.LogName)); err != nil {
				t.Fatal(err)
			}
			r := c.try(tt.tool, tt.arguments)
			fits(tt.tool, r)
			var data struct {
				Notes []string
				Error struct{ Notes []string }
			}
			c.decode(r, &data)
			notes := append(data.Notes, data.Error.Notes...)
			if r.IsError != tt.refused || len(notes) != 1 || !strings.HasPrefix(notes[0], "the log is gone: it had reached seq ") {
				t.Errorf("error %v, notes %q", r.IsError, notes)
			}
			if text := strings.Join(textsOf(r), "\n"); strings.Count(text, "note: the log is gone") != 1 {
				t.Errorf("text %s", text)
			}
		})
	}
}

func TestLostLogIsToldWithAResource(t *testing.T) {
	s := newScene(t)
	s.do(engine.Publish{Agent: "ann", Name: "api", Body: "one"})
	c := s.connect("codex", usual2025, s.engine(nil), Options{})
	if err := os.Remove(filepath.Join(s.dir, ".handoff", store.LogName)); err != nil {
		t.Fatal(err)
	}
	r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: snapshotURI(engine.Me)})
	if err != nil {
		t.Fatal(err)
	}
	var data struct{ Notes []string }
	if err := json.Unmarshal([]byte(r.Contents[0].Text), &data); err != nil || len(data.Notes) != 1 || !strings.HasPrefix(data.Notes[0], "the log is gone") {
		t.Errorf("%v: %s", err, r.Contents[0].Text)
	}
}

// A call that its client takes back while it waits is no failure of the program.
func TestCancelledCallIsInterrupted(t *testing.T) {
	s := newScene(t)
	c := s.connect("codex", usual2025, s.engine(nil), Options{})
	c.call("snapshot", nil, nil) // who calls is known
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := publishUpdate().call(ctx, c.server, json.RawMessage(`{"note": "too late"}`))
	if err != nil {
		t.Fatal(err)
	}
	var data struct{ Error struct{ Code string } }
	if c.decode(r, &data); !r.IsError || data.Error.Code != "interrupted" {
		t.Errorf("code %q: %q", data.Error.Code, textsOf(r))
	}
}

// What an answer leaves out is counted: by the limit, and for its size.
func TestLeftOutIsCounted(t *testing.T) {
	s := newScene(t)
	e := s.engine(nil)
	const all = 40
	for range all {
		if _, err := e.Do(t.Context(), engine.Request{Command: engine.Report{Agent: "ann", Update: event.Update{Note: strings.Repeat("long ", 200)}}}); err != nil {
			t.Fatal(err)
		}
	}
	c := s.connect("codex", usual2025, e, Options{})
	for _, limit := range []int{3, 500} {
		var page eventsOut
		c.call("subscribe", args{"cursor": -1, "limit": limit}, &page)
		if page.Omitted == 0 || int64(page.Count)+page.Omitted != all+1 { // with the registration of c
			t.Errorf("limit %d: %d events, %d omitted", limit, page.Count, page.Omitted)
		}
	}
	for _, entries := range []int{0, 5, 200} {
		var past replayOut
		text := c.call("replay", args{"events": entries}, &past)
		if int64(len(past.Entries))+past.Omitted.Entries != all+1 {
			t.Errorf("%d asked: %d entries, %d omitted: %s", entries, len(past.Entries), past.Omitted.Entries, text)
		}
	}
}

// What is lost with an archive is told, so that an answer never looks like all there was.
func TestEventsOfALostArchiveAreTold(t *testing.T) {
	s := newScene(t)
	e := s.engine(nil)
	for range 10 {
		if _, err := e.Do(t.Context(), engine.Request{Command: engine.Report{Agent: "ann", Update: event.Update{Note: "note"}}}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := e.Compact(t.Context(), engine.CompactOptions{MaxEvents: 2, MaxAge: -1})
	if err != nil {
		t.Fatal(err)
	}
	c := s.connect("codex", usual2025, e, Options{})
	for _, gone := range []bool{false, true} {
		if gone {
			if err := os.Remove(filepath.Join(s.dir, ".handoff", r.Archive)); err != nil {
				t.Fatal(err)
			}
		}
		var page eventsOut
		if text := c.call("subscribe", args{"cursor": -1}, &page); page.Gone != gone || strings.Contains(strings.Join(text, "\n"), `"gone": true`) != gone {
			t.Errorf("subscribe, gone %t: %t: %s", gone, page.Gone, text)
		}
		var past replayOut
		if text := c.call("replay", args{"events": 200}, &past); past.Gone != gone || strings.Contains(strings.Join(text, "\n"), engine.GoneText) != gone {
			t.Errorf("replay, gone %t: %t: %s", gone, past.Gone, text)
		}
	}
}
