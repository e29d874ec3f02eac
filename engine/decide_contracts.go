package engine

import (
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/suggest"
	"github.com/agentloadout/loadout/engine/words"
)

// decidePublish stores the next revision of a contract.
func decidePublish(v View, c Publish) ([]event.Event, error) {
	latest, known := v.State.Contract(strings.TrimSpace(c.Name))
	if c.Base != nil && *c.Base < 0 {
		return nil, &ValidationError{Field: "base", Reason: "is below 0"}
	}
	if c.Base != nil && *c.Base != latest.Revision {
		return nil, staleRevision(v, c, latest, known, *c.Base,
			fmt.Sprintf("it was to follow revision %d", *c.Base))
	}
	revision := latest.Revision + 1
	if c.Revision != nil {
		revision = *c.Revision
		if revision < 1 {
			return nil, &ValidationError{Field: "revision", Reason: "is below 1"}
		}
		if known && revision <= latest.Revision {
			return nil, staleRevision(v, c, latest, known, revision, fmt.Sprintf("revision %d is not above it", revision))
		}
	}
	return draft1(publishEvent(c, revision))
}

func publishEvent(c Publish, revision int64) (event.Event, error) {
	name := strings.TrimSpace(c.Name)
	return newEvent(c.Agent, event.Broadcast, fmt.Sprintf("Contract '%s' rev%d", name, revision),
		event.Contract{Name: name, Revision: revision, Body: c.Body, Format: strings.TrimSpace(c.Format)})
}

func staleRevision(v View, c Publish, latest state.Contract, known bool, want int64, why string) error {
	refusal := &ConflictError{Kind: ConflictRevision, Want: want, Have: latest.Revision}
	if !known {
		refusal.Message = fmt.Sprintf("there is no contract %s yet; %s", told(c.Name), why)
		refusal.Hints = []string{"the same without --base, or with --base 0    to publish the first revision"}
		return refusal
	}
	refusal.Message = fmt.Sprintf("the latest revision of %s is %d, by %s since %s; %s",
		told(latest.Name), latest.Revision, told(latest.Publisher), words.Since(v.Now, latest.At), why)
	refusal.Hints = []string{
		fmt.Sprintf("loadout coord contract %s    to read it", word(latest.Name)),
		fmt.Sprintf("loadout coord diff %s    to see what it changed", word(latest.Name)),
		fmt.Sprintf("the same with --base %d    when yours builds on it", latest.Revision),
	}
	return refusal
}

// decideReport publishes progress, and what the agent builds on.
func decideReport(v View, c Report) ([]event.Event, error) {
	if err := v.knowsContracts(c.Consumes); err != nil {
		return nil, err
	}
	return draft1(reportEvent(c))
}

// decideConsume declares what an agent builds on.
func decideConsume(v View, c Consume) ([]event.Event, error) {
	if len(c.Names) == 0 {
		return nil, &ValidationError{Field: "names", Reason: "is empty: which contract?"}
	}
	return decideReport(v, c.report())
}

func (c Consume) report() Report {
	return Report{Agent: c.Agent, Update: event.Update{Consumes: c.Names}}
}

// knowsContracts refuses the name of a contract that does not exist.
func (v View) knowsContracts(names []string) error {
	for _, name := range names {
		if _, ok := v.State.Contract(strings.TrimSpace(name)); !ok {
			return noContract(v.State, name)
		}
	}
	return nil
}

func reportEvent(c Report) (event.Event, error) {
	var parts []string
	if note := strings.TrimSpace(c.Note); note != "" {
		parts = append(parts, note)
	}
	if n := len(c.Files); n > 0 && len(parts) == 0 {
		parts = append(parts, words.Plural(n, "file"))
	}
	if n := len(c.Blockers); n > 0 {
		parts = append(parts, words.Plural(n, "blocker"))
	}
	if len(c.Consumes) > 0 {
		parts = append(parts, "builds on "+strings.Join(c.Consumes, ", "))
	}
	if len(parts) == 0 {
		parts = []string{"Progress update"}
	}
	return newEvent(c.Agent, event.Broadcast, said("%s", strings.Join(parts, "; ")), c.Update)
}

// noContract says that a contract does not exist, and which one could be meant.
func noContract(s *state.State, name string) error {
	contracts := s.Contracts()
	names := make([]string, len(contracts))
	for i := range contracts {
		names[i] = contracts[i].Name
	}
	return &NotFoundError{
		Kind: "contract", Name: told(name), Suggestions: suggest.Closest(name, names),
		Hints: []string{"loadout coord contract    to list them"},
	}
}

// decideDecision records a decision.
func decideDecision(v View, c Decide) ([]event.Event, error) {
	if c.Supersedes == "" {
		return draft1(decisionEvent(c, ""))
	}
	found := v.State.FindDecisions(c.Supersedes)
	switch {
	case len(found) == 0:
		var titles []string
		for _, d := range v.State.Decisions() {
			titles = append(titles, d.Title)
		}
		return nil, &NotFoundError{
			Kind: "decision", Name: told(c.Supersedes), Suggestions: suggest.Closest(c.Supersedes, titles),
			Hints: []string{"loadout coord status    to list them"},
		}
	case len(found) > 1:
		return nil, ambiguous("decision", c.Supersedes, len(found))
	case found[0].SupersededBy != "":
		old := found[0]
		return nil, &ConflictError{
			Kind:    ConflictDecision,
			Message: fmt.Sprintf("decision %q is superseded already, by %s", told(old.Title), decisionText(v.State, old.SupersededBy)),
			Want:    old.Seq, Have: -1,
			Hints: []string{fmt.Sprintf("the same with --supersedes %s    to supersede that one", word(old.SupersededBy))},
		}
	}
	return draft1(decisionEvent(c, found[0].ID))
}

func decisionEvent(c Decide, supersedes string) (event.Event, error) {
	return newEvent(c.Agent, event.Broadcast, c.Title,
		event.Decision{Title: c.Title, Rationale: c.Rationale, Supersedes: supersedes})
}

func decisionText(s *state.State, id string) string {
	if d, ok := s.Decision(id); ok {
		return fmt.Sprintf("%q of %s", told(d.Title), told(d.From))
	}
	return told(id)
}

func ambiguous(kind, name string, n int) error {
	return &ValidationError{
		Field: kind, Reason: fmt.Sprintf("%s stands for %d of them; give more of its id", told(name), n),
		Hints: []string{"loadout coord status --all --json    lists whole ids"},
	}
}

// decideAck moves an agent's cursor forward.
func decideAck(v View, c Ack) ([]event.Event, error) {
	if c.Seq < 0 {
		return nil, &ValidationError{Field: "seq", Reason: "is negative"}
	}
	if head := v.State.Head(); c.Seq > head {
		refusal := &ConflictError{
			Kind: ConflictAck, Want: c.Seq, Have: head,
			Message: fmt.Sprintf("nothing is stored yet with number %d: the newest event is %d", c.Seq, head),
			Hints:   []string{fmt.Sprintf("loadout coord ack %s %d    for all there is", word(c.Agent), head)},
		}
		if head < 0 {
			refusal.Message, refusal.Hints = fmt.Sprintf("nothing is stored yet with number %d: the log is empty", c.Seq), nil
		}
		return nil, refusal
	}
	if reader, ok := v.State.Agent(c.Agent); ok && reader.Cursor >= c.Seq {
		return nil, nil
	}
	return draft1(ackEvent(c))
}

func ackEvent(c Ack) (event.Event, error) {
	return newEvent(c.Agent, event.Broadcast, fmt.Sprintf("Acknowledged through seq %d", c.Seq), event.Ack{EventSeq: c.Seq, Note: c.Note})
}

// agentNames lists everybody known, for suggestions.
func agentNames(s *state.State) []string {
	agents := s.Agents()
	names := make([]string, len(agents))
	for i := range agents {
		names[i] = agents[i].Name
	}
	return names
}
