package discuss

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/state"
)

// Plan is how a decision becomes work.
type Plan struct {
	PlanID     string     `json:"planId"` // the same for the same decision, tasks and paths
	ThreadID   string     `json:"threadId"`
	Decision   string     `json:"decision"`
	Tasks      []PlanTask `json:"tasks"`
	Unassigned []string   `json:"unassigned"` // paths that nobody holds
}

// PlanTask is the task of one agent.
type PlanTask struct {
	Agent       string   `json:"agent"`
	Description string   `json:"description"`
	Context     string   `json:"context"`
	Paths       []string `json:"paths"`
}

// Implemented is what became of a plan.
type Implemented struct {
	Plan         Plan     `json:"plan"`
	HandoffsSent int      `json:"handoffsSent"`
	HandoffIDs   []string `json:"handoffIds"`
	Reused       bool     `json:"reused"` // all of it was sent before
}

// folders begin a path that nobody has claimed, in the texts of a discussion.
var folders = []string{"./", "src/", "lib/", "app/", "packages/", "server/", "client/", "tests/", "test/"}

// place is what stands behind the name of a file for a line in it.
var place = regexp.MustCompile(`(:\d+)+$`)

// NamedPaths are the paths that texts name, in stored form, sorted: words that begin as the folders of a project usually do, or that are
// below a path that somebody holds, though not for holding the whole project.
func NamedPaths(s *state.State, foldCase bool, texts ...string) ([]string, error) {
	var found []string
	between := func(r rune) bool { return strings.ContainsRune(" \t\n`\"'()[]{}<>,;|*", r) }
	for _, text := range texts {
		for _, word := range strings.FieldsFunc(safetext.Block(text), between) {
			word = place.ReplaceAllString(strings.TrimRight(word, ".:!?"), "")
			clean, err := event.CleanPath(path.Clean(word))
			if err != nil || clean == "." || event.Clip(clean, event.MaxPath) != clean {
				continue
			}
			begins := func(folder string) bool { return strings.HasPrefix(word, folder) }
			holds := func(c state.Claim) bool { return c.Path != "." && state.Within(clean, c.Path, foldCase) }
			if slices.ContainsFunc(folders, begins) || strings.Contains(word, "/") && slices.ContainsFunc(s.Overlapping(clean, foldCase), holds) {
				found = append(found, clean)
			}
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if len(found) > event.MaxPaths {
		return nil, &engine.ValidationError{
			Field: "discussion", Reason: fmt.Sprintf("names %d paths; a plan has at most %d", len(found), event.MaxPaths),
		}
	}
	return found, nil
}

// holders are the agents of the claims that cover a path, the closest claim first.
func holders(s *state.State, p string, foldCase bool) []string {
	var covering []state.Claim
	for _, c := range s.Overlapping(p, foldCase) {
		if state.Within(p, c.Path, foldCase) {
			covering = append(covering, c)
		}
	}
	slices.SortStableFunc(covering, func(a, b state.Claim) int { return len(b.Path) - len(a.Path) })
	var agents []string
	for _, c := range covering {
		agents = append(agents, c.Agent)
	}
	return agents
}

// MakePlan makes a plan of a thread that came to a decision. It is pure.
func MakePlan(t *Thread, s *state.State, foldCase bool) (Plan, error) {
	c := t.Conclusion()
	if c == nil {
		return Plan{}, &engine.ConflictError{
			Kind: engine.ConflictTask, Want: -1, Have: -1, Message: fmt.Sprintf("discussion %s is %s: there is no decision to implement", t.ThreadID, t.Status),
			Hints: []string{verb("show", t.ThreadID), verb("resume", t.ThreadID)},
		}
	}
	texts := []string{c.Decision, c.Rationale}
	for _, st := range t.Statements {
		texts = append(texts, st.Content)
	}
	paths, err := NamedPaths(s, foldCase, append(append(texts, c.Alternatives...), c.Unresolved...)...)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{ThreadID: t.ThreadID, Decision: c.Decision, Tasks: []PlanTask{}, Unassigned: []string{}}
	for _, named := range paths {
		agents := holders(s, named, foldCase)
		if len(agents) == 0 {
			p.Unassigned = append(p.Unassigned, named)
			continue
		}
		i := slices.IndexFunc(p.Tasks, func(task PlanTask) bool { return event.SameName(task.Agent, agents[0]) })
		if i < 0 {
			i = len(p.Tasks)
			p.Tasks = append(p.Tasks, PlanTask{Agent: agents[0]})
		}
		p.Tasks[i].Paths = append(p.Tasks[i].Paths, named)
	}
	for i := range p.Tasks {
		p.Tasks[i].Description = fmt.Sprintf("Implement in %s: %s", shown(p.Tasks[i].Paths), c.Decision)
	}
	if len(p.Tasks) == 0 {
		p.Tasks = []PlanTask{
			{Agent: t.Participants[0], Description: "Implement: " + c.Decision, Paths: []string{}},
			{Agent: t.Participants[1], Description: "Validate what " + t.Participants[0] + " implements: " + c.Decision, Paths: []string{}},
		}
	}
	p.number()
	for i := range p.Tasks {
		p.Tasks[i].Context = p.context(t.Topic, c, &p.Tasks[i])
	}
	return p, nil
}

// shown is a list of paths as a task tells it, the first few.
func shown(paths []string) string {
	const most = 5
	if len(paths) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:most], ", "), len(paths)-most)
	}
	return strings.Join(paths, ", ")
}

// number gives the plan its id.
func (p *Plan) number() {
	type task struct {
		Agent       string   `json:"agent"`
		Description string   `json:"description"`
		Paths       []string `json:"paths"`
	}
	content := struct {
		ThreadID string `json:"threadId"`
		Decision string `json:"decision"`
		Tasks    []task `json:"tasks"`
	}{ThreadID: p.ThreadID, Decision: p.Decision}
	for _, t := range p.Tasks {
		content.Tasks = append(content.Tasks, task{t.Agent, t.Description, t.Paths})
	}
	data, _ := json.Marshal(content) // strings only: it cannot fail
	sum := sha256.Sum256(data)
	const length = 8
	p.PlanID = hex.EncodeToString(sum[:length])
}

// context is what a task tells beyond its description: first what must not be cut off.
func (p *Plan) context(topic string, c *Conclusion, t *PlanTask) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[loadout-implementation:%s]\nDecided in discussion %s on: %s\n\nDecision: %s\n", p.PlanID, p.ThreadID, topic, c.Decision)
	list := func(part Part) {
		if len(part.Items) > 0 {
			fmt.Fprintf(&b, "\n%s:\n- %s\n", part.Head, strings.Join(part.Items, "\n- "))
		}
	}
	list(Part{"It is done when", []string{
		"the decision holds in these paths, and nothing outside of them was changed without a claim",
		"the tests pass, and what shows that is given as evidence: loadout coord done ID --evidence …",
		"what is not resolved was asked or decided, not guessed",
	}})
	list(Part{"Paths", t.Paths})
	if c.Rationale != "" {
		fmt.Fprintf(&b, "\nWhy: %s\n", c.Rationale)
	}
	for _, part := range c.Lists() {
		list(part)
	}
	return event.Clip(b.String(), event.MaxContext)
}

// Implement sends the tasks of a plan as handoffs, in the name of by. Sending the same plan again stores nothing.
func Implement(ctx context.Context, e *engine.Engine, p Plan, by string) (Implemented, error) {
	done := Implemented{Plan: p, HandoffIDs: []string{}, Reused: true}
	if len(p.Unassigned) > 0 {
		return done, &engine.ConflictError{
			Kind: engine.ConflictTask, Want: -1, Have: -1, Message: "nobody holds " + shown(p.Unassigned) + ", which the discussion names",
			Hints: []string{"loadout coord own AGENT PATH    to say whose each is", verb("implement", p.ThreadID) + "    shows the plan again"},
		}
	}
	for _, t := range p.Tasks {
		r, message, err := e.HandoffSend(ctx, engine.Request{
			Command: engine.AddTask{From: by, To: t.Agent, Text: event.Clip(t.Description, event.MaxDescription), Context: t.Context, Handoff: true},
			Key:     p.key(t.Agent),
		})
		if err != nil {
			return done, err
		}
		done.HandoffIDs = append(done.HandoffIDs, message.ID)
		if !r.Duplicate {
			done.HandoffsSent, done.Reused = done.HandoffsSent+1, false
		}
	}
	update := event.Update{Note: fmt.Sprintf("Implementation plan %s dispatched", p.PlanID), Next: event.Clip(p.Decision, event.MaxNext)}
	for _, t := range p.Tasks {
		update.Files = append(update.Files, t.Paths...)
	}
	_, err := e.Do(ctx, engine.Request{Command: engine.Report{Agent: by, Update: update}, Key: p.key("update")})
	return done, err
}

// key is the retry key of one write of the plan.
func (p *Plan) key(what string) string {
	sum := sha256.Sum256([]byte(what))
	const length = 6
	return "implement-" + p.PlanID + "-" + hex.EncodeToString(sum[:length])
}
