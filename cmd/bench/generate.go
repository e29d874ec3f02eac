package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// generator makes a plausible log: a few agents claim and release paths, publish contracts, give each other tasks, decide,
// report and acknowledge. The same seed makes the same log.
type generator struct {
	random    *rand.Rand
	start     time.Time
	holders   map[string]string // path → agent
	revisions map[string]int64  // contract → latest revision
	tasks     []string          // ids of open tasks and questions
}

var agents = []string{"claude-code", "claude-code-2", "codex", "codex-2", "gemini"}

const (
	paths     = 60
	contracts = 40
	maxOpen   = 25 // open tasks
)

// generate writes a log of n events into the project and returns its path. A log that is there already is kept.
func generate(project string, n int64) (string, error) {
	path := filepath.Join(project, ".handoff", "coordination.jsonl")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	g := generator{
		random:    rand.New(rand.NewPCG(1, 2)),
		start:     time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC),
		holders:   map[string]string{},
		revisions: map[string]int64{},
	}
	w := bufio.NewWriterSize(f, 1<<20)
	var line []byte
	for seq := range n {
		e, err := g.next(seq)
		if err != nil {
			return "", fmt.Errorf("event %d: %w", seq, err)
		}
		line = append(e.AppendLine(line[:0]), '\n')
		if _, err := w.Write(line); err != nil {
			return "", err
		}
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	return path, f.Close()
}

// next makes the event with the given number.
func (g *generator) next(seq int64) (event.Event, error) {
	e, err := g.draw(seq)
	e.Seq = seq
	e.ID = fmt.Sprintf("%012x", seq)
	e.Timestamp = g.start.Add(time.Duration(seq) * 900 * time.Millisecond).Format(event.TimeFormat)
	return e, err
}

func (g *generator) draw(seq int64) (event.Event, error) {
	agent := g.pick()
	switch n := g.random.IntN(100); {
	case n < 40:
		note := "Wired the handler to the store and covered the refusal with a test"
		return event.New(agent, event.Broadcast, note, event.Update{Note: note, Files: []string{g.path()}, Next: "review"})
	case n < 60:
		last := max(seq-1-g.random.Int64N(20), 0)
		return event.New(agent, event.Broadcast, fmt.Sprintf("Acknowledged through seq %d", last), event.Ack{EventSeq: last})
	case n < 80:
		return g.ownership(agent)
	case n < 95:
		return g.task(seq, agent)
	case n < 97:
		g.tasks = append(g.tasks, fmt.Sprintf("%012x", seq))
		return event.New(agent, g.pick(), "Cents or decimal amounts in the invoice?", event.Question{})
	case n < 99:
		return g.contract(agent)
	}
	return event.New(agent, event.Broadcast, "Use cents", event.Decision{Title: "Use cents", Rationale: "No rounding, no locale."})
}

// ownership claims a free path or releases a held one.
func (g *generator) ownership(agent string) (event.Event, error) {
	path := g.path()
	if holder, held := g.holders[path]; held {
		delete(g.holders, path)
		return event.New(holder, event.Broadcast, holder+" releases: "+path,
			event.Ownership{Paths: []string{path}, Mode: event.Release})
	}
	g.holders[path] = agent
	return event.New(agent, event.Broadcast, agent+" claims: "+path,
		event.Ownership{Paths: []string{path}, Mode: event.Exclusive, Reason: "backend"})
}

// task adds one, or settles one when enough are open.
func (g *generator) task(seq int64, agent string) (event.Event, error) {
	if len(g.tasks) < maxOpen && g.random.IntN(2) == 0 {
		g.tasks = append(g.tasks, fmt.Sprintf("%012x", seq))
		e, err := event.New(event.User, agent, "Build the invoice endpoint and its tests", event.Task{})
		e.Context = "The contract is invoice-api; keep the old route until the web client has moved."
		return e, err
	}
	if len(g.tasks) == 0 {
		return event.New(agent, event.Broadcast, "Half way", event.Status{})
	}
	i := g.random.IntN(len(g.tasks))
	e, err := event.New(agent, event.Broadcast, "Endpoint finished", event.Done{Evidence: "go test ./..."})
	e.Resolves = g.tasks[i]
	g.tasks[i] = g.tasks[len(g.tasks)-1]
	g.tasks = g.tasks[:len(g.tasks)-1]
	return e, err
}

func (g *generator) contract(agent string) (event.Event, error) {
	name := fmt.Sprintf("invoice-api-%d", g.random.IntN(contracts))
	g.revisions[name]++
	return event.New(agent, event.Broadcast, fmt.Sprintf("Contract '%s' rev%d", name, g.revisions[name]), event.Contract{
		Name: name, Revision: g.revisions[name], Body: "POST /api/invoices -> 201 { id: string, cents: number }",
	})
}

func (g *generator) pick() string { return agents[g.random.IntN(len(agents))] }

func (g *generator) path() string { return fmt.Sprintf("src/module%02d/api", g.random.IntN(paths)) }
