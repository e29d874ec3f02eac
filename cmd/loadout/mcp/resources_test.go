package mcp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

// keepWriting returns a function that publishes one more contract, in turn an old and a new one, until the log has so many events.
func (s *scene) keepWriting(most int64) func() {
	e := s.engine(nil)
	return func() {
		for i := range 20 {
			name := "api"
			if i == 0 {
				name = fmt.Sprint("api", s.pids, time.Now().UnixNano())
			}
			r, err := e.Do(s.t.Context(), engine.Request{Command: engine.Publish{Agent: "ada", Name: name, Body: "x"}})
			if err != nil {
				s.t.Error(err)
				return
			}
			if r.Head >= most {
				return
			}
		}
	}
}

// told waits until all these resources were told to have changed, and returns how often each was. Meanwhile it calls write, if there
// is one, every so often.
func (c *client) told(write func(), uris ...string) map[string]int {
	c.t.Helper()
	got := map[string]int{}
	limit := time.After(patience)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for slices.ContainsFunc(uris, func(u string) bool { return got[u] == 0 }) {
		select {
		case uri := <-c.updated:
			got[uri]++
		case <-again.C:
			if write != nil {
				write()
			}
		case <-limit:
			c.t.Fatalf("told of %v, want %v", got, uris)
		}
	}
	return got
}

func (c *client) read(uri string) string {
	c.t.Helper()
	r, err := c.ReadResource(c.t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		c.t.Fatalf("read %s: %v", uri, err)
	}
	if len(r.Contents) != 1 || r.Contents[0].MIMEType != "application/json" || r.Contents[0].URI != uri {
		c.t.Fatalf("%s holds %+v", uri, r.Contents)
	}
	return r.Contents[0].Text
}

func TestResources(t *testing.T) {
	for _, version := range []string{newest2026, usual2025} {
		t.Run(version, func(t *testing.T) {
			s := newScene(t)
			s.do(engine.Publish{Agent: "ada", Name: "pay/v1 (draft)", Body: "old"})
			c := s.connect("codex", version, s.engine(nil), Options{})
			contract := "loadout://contract/pay%2Fv1%20%28draft%29"

			templates, err := c.ListResourceTemplates(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var patterns []string
			for _, tt := range templates.ResourceTemplates {
				patterns = append(patterns, tt.URITemplate)
			}
			if slices.Sort(patterns); !slices.Equal(patterns, []string{"loadout://contract/{name}", "loadout://event/{seq}", "loadout://snapshot/{agent}"}) {
				t.Errorf("templates %v", patterns)
			}
			if uris := c.list(); !slices.Equal(uris, []string{contract, "loadout://snapshot/me"}) {
				t.Errorf("resources %v", uris)
			}
			for uri, words := range map[string][]string{
				contract:                   {`"body": "old"`, `"revision": 1`, untrusted},
				"loadout://snapshot/me":    {`"agent": "codex"`, untrusted},
				"loadout://snapshot/ada":   {`"agent": "ada"`},
				"loadout://event/0":        {`"type": "contract"`, `"body": "old"`, untrusted},
				"loadout://event/1":        {`"type": "agent"`},
				"loadout://snapshot/b%20c": {`"agent": "b c"`},
			} {
				text := c.read(uri)
				for _, w := range words {
					if !strings.Contains(text, w) {
						t.Errorf("%s does not hold %s:\n%s", uri, w, text)
					}
				}
			}
			for _, uri := range []string{"loadout://event/99", "loadout://event/x", "loadout://contract/none", "loadout://other/x", "file:///etc/passwd"} {
				_, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
				var failed *jsonrpc.Error
				if !errors.As(err, &failed) || failed.Code != -32002 && failed.Code != jsonrpc.CodeInvalidParams {
					t.Errorf("%s: %v", uri, err)
				}
			}
		})
	}
}

func (c *client) list() []string {
	c.t.Helper()
	list, err := c.ListResources(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	var uris []string
	for _, r := range list.Resources {
		uris = append(uris, r.URI)
	}
	slices.Sort(uris)
	return uris
}

func TestSubscriptions(t *testing.T) {
	for _, version := range []string{newest2026, usual2025} {
		t.Run(version, func(t *testing.T) {
			s := newScene(t)
			c := s.connect("codex", version, s.engine(nil), Options{})
			uris := []string{"loadout://snapshot/me", "loadout://snapshot/ada", "loadout://contract/api", "loadout://event/400"}
			for _, uri := range uris {
				if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
					t.Fatalf("subscribe to %s: %v", uri, err)
				}
			}
			if version == usual2025 { // in the newest, the refusal of one subscription ends the client's others
				if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "loadout://nothing"}); err == nil {
					t.Error("subscribed to nothing")
				}
			}
			// In the newest version nothing tells when a subscription begins, so events go on until it has.
			c.told(s.keepWriting(400), uris...)
			select {
			case <-c.listed:
			case <-time.After(patience):
				t.Error("the changed list was not told")
			}
			if got := c.list(); len(got) < 3 || got[0] != "loadout://contract/api" {
				t.Errorf("resources %v", got)
			}

			// The kill switch is news, and so is its end.
			if _, err := s.engine(nil).Kill(t.Context(), "user", "stop"); err != nil {
				t.Fatal(err)
			}
			c.told(nil, "loadout://snapshot/me")
			if _, err := s.engine(nil).Resume(t.Context(), "user"); err != nil {
				t.Fatal(err)
			}
			c.told(nil, "loadout://snapshot/me")

			if version == newest2026 {
				return // a subscription ends with its stream
			}
			for _, uri := range []string{"loadout://snapshot/ada", "loadout://snapshot/me"} {
				if err := c.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: uri}); err != nil {
					t.Fatal(err)
				}
			}
			c.server.news.mu.Lock()
			defer c.server.news.mu.Unlock()
			if len(c.server.news.wanted) != 2 {
				t.Errorf("still wanted: %v", c.server.news.wanted)
			}
		})
	}
}

// A burst is few notifications, and an acknowledgement is none.
func TestNotificationsAreGathered(t *testing.T) {
	s := newScene(t)
	c := s.connect("codex", usual2025, s.engine(nil), Options{})
	for _, uri := range []string{"loadout://snapshot/me", "loadout://event/51", "loadout://event/52"} {
		if err := c.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
	e := s.engine(nil)
	do := func(cmd engine.Command) {
		t.Helper()
		if _, err := e.Do(t.Context(), engine.Request{Command: cmd}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 51 { // seq 1 to 51
		do(engine.Decide{Agent: "ada", Title: fmt.Sprint(i)})
	}
	got := c.told(nil, "loadout://event/51", "loadout://snapshot/me")
	if got["loadout://snapshot/me"] > 25 {
		t.Errorf("51 events were told in %d notifications", got["loadout://snapshot/me"])
	}
	for len(c.updated) > 0 {
		<-c.updated
	}
	do(engine.Ack{Agent: "ada", Seq: 50})                                           // seq 52
	if got := c.told(nil, "loadout://event/52"); got["loadout://snapshot/me"] > 1 { // one may be left of the burst
		t.Errorf("an acknowledgement woke the snapshot: %v", got)
	}
}

// Only what can ever be there can be subscribed to.
func TestAddresses(t *testing.T) {
	for uri, good := range map[string]bool{
		"loadout://snapshot/me": true, "loadout://snapshot/a%2Fb": true, "loadout://contract/%C3%A9": true, "loadout://event/0": true,
		"loadout://snapshot/": false, "loadout://snapshot/%00": false, "loadout://snapshot/%FF": false, "loadout://snapshot/a/b": false,
		"loadout://contract/" + strings.Repeat("x", event.MaxContractName+1): false, "loadout://event/-1": false, "loadout://event/01": false,
		"loadout://event/1e9": false, "loadout://event/9007199254740992": false, "loadout://event/٣": false, "loadout://other/x": false,
		"file:///etc/passwd": false, "": false,
	} {
		if _, err := parseURI(uri); (err == nil) != good {
			t.Errorf("%.60q: %v", uri, err)
		}
	}
}

// Whoever asks after a contract was stored is told of it, however many ask while news of it come in, too.
func TestListIsNeverOlderThanTheLog(t *testing.T) {
	s := newScene(t)
	c := s.connect("codex", usual2025, s.engine(nil), Options{})
	e := s.engine(nil)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 25 {
				name := fmt.Sprintf("api%d-%p", i, &i)
				if _, err := e.Do(t.Context(), engine.Request{Command: engine.Publish{Agent: "ada", Name: name, Body: "x"}}); err != nil {
					t.Error(err)
					return
				}
				list, err := c.ListResources(t.Context(), nil)
				if err != nil || !slices.ContainsFunc(list.Resources, func(r *sdk.Resource) bool { return r.URI == contractURI(name) }) {
					t.Errorf("%s is not listed, %v", name, err)
				}
			}
		})
	}
	wg.Wait()
}

// A log that is replaced takes its contracts off the list.
func TestListAfterAnotherLog(t *testing.T) {
	s := newScene(t)
	s.do(engine.Publish{Agent: "ada", Name: "api", Body: "x"})
	c := s.connect("codex", usual2025, s.engine(nil), Options{})
	if got := c.list(); len(got) != 2 {
		t.Fatalf("resources %v", got)
	}
	v, err := newScene(t).engine(nil).View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.server.listContracts(v)
	c.server.news.mu.Lock()
	defer c.server.news.mu.Unlock()
	if len(c.server.news.contracts) != 0 {
		t.Errorf("listed %v", c.server.news.contracts)
	}
}

func TestCompletion(t *testing.T) {
	s := newScene(t)
	s.do(engine.Publish{Agent: "ada", Name: "api", Body: "x"})
	s.do(engine.Publish{Agent: "ada", Name: "bus", Body: "x"})
	c := s.connect("codex", usual2025, s.engine(nil), Options{})
	for argument, want := range map[string][]string{"name": {"api"}, "agent": {"ada"}, "seq": {}} {
		r, err := c.Complete(t.Context(), &sdk.CompleteParams{
			Ref:      &sdk.CompleteReference{Type: "ref/resource", URI: "loadout://contract/{name}"},
			Argument: sdk.CompleteParamsArgument{Name: argument, Value: "a"},
		})
		if err != nil || !slices.Equal(r.Completion.Values, want) {
			t.Errorf("%s: %+v, %v", argument, r, err)
		}
	}
}

func TestPrompt(t *testing.T) {
	s := newScene(t)
	s.do(engine.Own{Agent: "ada", Paths: []string{"src/api"}})
	c := s.connect("codex", usual2025, s.engine(nil), Options{})
	list, err := c.ListPrompts(t.Context(), nil)
	if err != nil || len(list.Prompts) != 1 || list.Prompts[0].Name != "coordinate" {
		t.Fatalf("prompts %+v, %v", list, err)
	}
	r, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "coordinate", Arguments: map[string]string{"task": "the form"}})
	if err != nil {
		t.Fatal(err)
	}
	text := r.Messages[0].Content.(*sdk.TextContent).Text
	for _, w := range []string{`the agent "codex"`, "claim_task", "the form", "ada: src/api", "kill switch"} {
		if !strings.Contains(text, w) {
			t.Errorf("the prompt does not say %q:\n%s", w, text)
		}
	}
	// Whatever the texts name is there.
	for tool := range c.server.tools {
		if tool != "replay" && tool != "request_task" && tool != "cancel_task" && !strings.Contains(lesson, tool) {
			t.Errorf("the lesson does not mention %s", tool)
		}
	}
}
