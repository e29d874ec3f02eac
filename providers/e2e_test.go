//go:build unix

package providers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/providers/internal/clienttest"
	"github.com/agentloadout/loadout/providers/internal/fakemodel"
)

// place is a repository with the binary of this tree, and with both real programs in homes of their own.
type place struct {
	*fakemodel.Server
	dir, binary string
	env         []string
}

// buildLoadout builds the program of this tree.
func buildLoadout(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "loadout")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "github.com/agentloadout/loadout/cmd/loadout") //nolint:gosec // fixed words
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

func newPlace(t *testing.T, binary string, replies ...fakemodel.Reply) *place {
	t.Helper()
	claude, codex := clienttest.Claude(t), clienttest.Codex(t)
	server := fakemodel.New(replies...)
	t.Cleanup(server.Close)
	home := t.TempDir()
	p := &place{Server: server, dir: t.TempDir(), binary: binary}
	p.env = append(os.Environ(),
		"HOME="+home, "XDG_CONFIG_HOME="+filepath.Join(home, "config"), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"LOADOUT_PROJECT=", "LOADOUT_AGENT=", "LOADOUT_TURN=", "CLAUDE_CODE_SESSION_ID=",
		"CLAUDE_CONFIG_DIR="+filepath.Join(home, "claude"), "ANTHROPIC_BASE_URL="+server.URL, "ANTHROPIC_API_KEY=sk-test",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "CLAUDE_CODE_MAX_RETRIES=0",
		"CODEX_HOME="+filepath.Join(home, "codex"), "CODEX_API_KEY=sk-test", "FAKE_API_KEY=sk-test",
	)
	clienttest.Write(t, filepath.Join(home, "codex", "config.toml"), fmt.Sprintf(`
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "%s/v1"
wire_api = "responses"
env_key = "FAKE_API_KEY"
request_max_retries = 0
stream_max_retries = 0
`, server.URL))
	set, err := json.Marshal(map[string]any{"providers": map[string]any{
		"claude-code": map[string]any{"command": []string{claude}},
		"codex":       map[string]any{"command": []string{codex}, "permissions": map[string]any{"model": "gpt-5.5"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	clienttest.Write(t, filepath.Join(home, "config", "loadout", "config.json"), string(set))
	bin := filepath.Join(home, "bin") // to find them before a command is set
	for name, path := range map[string]string{"claude": claude, "codex": codex} {
		if err := os.MkdirAll(bin, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	p.env = append(p.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	p.run(t, "git", "init", "--quiet")
	return p
}

// run runs a program in the repository and returns what it printed to stdout.
func (p *place) run(t *testing.T, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...) //nolint:gosec // the words of this test
	cmd.Dir, cmd.Env = p.dir, p.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s\n%s", filepath.Base(name), strings.Join(args, " "), err, &out, &errs)
	}
	return out.String(), errs.String()
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
	clienttest.Claude(t)
	clienttest.Codex(t)
	binary := buildLoadout(t)
	for proposer, synthesis := range map[string]fakemodel.Reply{
		"claude-code": {Tools: []fakemodel.Tool{{Name: "StructuredOutput", Input: conclusion}}}, // how it asks for an answer to a schema
		"codex":       {Text: string(text)},
	} {
		t.Run(proposer, func(t *testing.T) {
			t.Parallel()
			synthesis.When = "the synthesis of the discussion above"
			p := newPlace(t, binary,
				fakemodel.Reply{When: "Your statement: a proposal", Text: "Whole cents, because of rounding."},
				fakemodel.Reply{When: "Your statement: a critique", Text: "Taxes need more digits."},
				synthesis,
				fakemodel.Reply{When: "the synthesis of the discussion above", Text: "done"},
			)
			out, said := p.run(t, p.binary, "coord", "discuss", "start", "Cents or decimals?", "--agents", "claude-code,codex", "--proposer", proposer,
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
			if out, _ := p.run(t, "git", "status", "--short"); out != "" {
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
