//go:build unix

package providers

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/providers/internal/fakemodel"
)

// place is a repository in which the real programs discuss.
type place struct {
	*product
	*fakemodel.Server
}

func newPlace(t *testing.T, replies ...fakemodel.Reply) *place {
	t.Helper()
	server := fakemodel.New(replies...)
	t.Cleanup(server.Close)
	p := &place{newProduct(t, server), server}
	p.env = append(p.env, "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	p.call("git", "init", "--quiet")
	return p
}

// line is as much of an event as this test looks at.
type line struct {
	ID, Type, From, To, Resolves string
	Payload                      struct {
		Action, Kind, ReplyTo, Outcome, Content string
		DiscussionID                            string
	}
}

func (p *place) log(t *testing.T) []line {
	t.Helper()
	f, err := os.Open(filepath.Join(p.dir, ".handoff", "coordination.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []line
	for s := bufio.NewScanner(f); s.Scan(); {
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// TestRealDiscussion has both real programs discuss, with each of them as the proposer.
func TestRealDiscussion(t *testing.T) {
	t.Parallel()
	conclusion := map[string]any{"decision": "Use cents", "rationale": "No rounding.", "alternatives": []string{"decimals"}, "unresolved": []string{"taxes"}}
	text, err := json.Marshal(conclusion)
	if err != nil {
		t.Fatal(err)
	}
	for proposer, synthesis := range map[string]fakemodel.Reply{
		"claude-code": {Tools: []fakemodel.Tool{{Name: "StructuredOutput", Input: conclusion}}}, // how it asks for an answer to a schema
		"codex":       {Text: string(text)},
	} {
		t.Run(proposer, func(t *testing.T) {
			t.Parallel()
			synthesis.When = "the synthesis of the discussion above"
			p := newPlace(t,
				fakemodel.Reply{When: "Your statement: a proposal", Text: "Whole cents, because of rounding."},
				fakemodel.Reply{When: "Your statement: a critique", Text: "Taxes need more digits."},
				synthesis,
				fakemodel.Reply{When: "the synthesis of the discussion above", Text: "done"},
			)
			out, said := p.call(p.binary, "coord", "discuss", "start", "Cents or decimals?", "--agents", "claude-code,codex", "--proposer", proposer,
				"--rounds", "1", "--max-turns", "3", "--timeout", "300", "--thread-id", "cents", "--json")
			if !strings.HasPrefix(said, "3 paid turns: "+proposer+" proposes") {
				t.Errorf("announced %q", said)
			}
			var answer struct {
				TurnsUsed  int
				Conclusion struct{ Decision string }
				State      struct {
					Status       string
					Participants []string
				}
			}
			if err := json.Unmarshal([]byte(out), &answer); err != nil {
				t.Fatal(err)
			}
			if answer.TurnsUsed != 3 || answer.Conclusion.Decision != "Use cents" || answer.State.Status != "closed" || answer.State.Participants[0] != proposer {
				t.Errorf("answer %+v", answer)
			}
			p.check(t, proposer)
			if out, _ := p.call("git", "status", "--short"); out != "" {
				t.Errorf("the working tree is not clean:\n%s", out)
			}
		})
	}
}

// check looks at the order of the events, who replies to what, what the programs were offered, and what they saw of each other.
func (p *place) check(t *testing.T, proposer string) {
	t.Helper()
	var order []string
	started, last := 0, ""
	for _, l := range p.log(t) {
		switch l.Type {
		case "turn":
			if l.Payload.Action == "started" {
				started++
			}
		case "decision":
			order = append(order, "decision")
			if l.Resolves != last || l.Payload.DiscussionID != "cents" || l.From != proposer {
				t.Errorf("decision %+v", l)
			}
		case "discussion":
			order = append(order, l.Payload.Kind)
			if l.Payload.ReplyTo != last {
				t.Errorf("%s replies to %q, not to %q", l.Payload.Kind, l.Payload.ReplyTo, last)
			}
			last = l.ID
		}
	}
	if got := strings.Join(order, " "); got != "started proposal critique summary decision closed" || started != 3 {
		t.Errorf("%d turns, events %s", started, got)
	}
	critiques := 0
	for _, request := range p.Requests() {
		for _, tool := range request.Tools {
			if tool != "StructuredOutput" && request.API == "anthropic" {
				t.Errorf("%s was offered %s", request.API, tool)
			}
		}
		if strings.Contains(request.Prompt, "Your statement: a critique") {
			critiques++
			if !strings.Contains(request.Prompt, "| Whole cents, because of rounding.") {
				t.Errorf("the reviewer saw:\n%s", request.Prompt)
			}
		}
	}
	if critiques != 1 {
		t.Errorf("%d requests for the critique", critiques)
	}
}
