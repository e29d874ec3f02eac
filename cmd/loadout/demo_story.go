package main

import (
	"context"
	"os"
	"strconv"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

// The two agents of the demonstration. They follow a script; no model is asked and nothing is spent.
const (
	demoBackend  = "claude-code"
	demoFrontend = "codex"
)

// play tells the story once. It can be told again in the same project: what it claims it releases, what it asks is answered.
func (s *story) play(ctx context.Context) error {
	first := len(s.steps) == 0
	s.ctx, s.err, s.steps = ctx, nil, s.steps[:0]
	if first {
		s.arrive()
	}
	s.claim()
	if first {
		s.debate()
	}
	s.collide()
	s.agree()
	s.handOver()
	s.halt()
	s.finish()
	return s.err
}

// arrive gives each agent a name of its own that lives as long as the demonstration.
func (s *story) arrive() {
	pid := strconv.Itoa(os.Getpid())
	for _, base := range []string{demoBackend, demoFrontend} {
		s.do(event.User, base+" (a scripted stand-in) arrives and gets a name of its own", exitDone,
			"agent", "register", "--base", base, "--human", "scripted stand-in", "--pid", pid)
	}
}

// claim divides the project between the agents.
func (s *story) claim() {
	s.do(demoBackend, "claude-code takes the API for half an hour", exitDone,
		"coord", "own", "me", "src/api", "--ttl", "30m", "--reason", "checkout endpoint")
	s.do(demoFrontend, "codex takes the front end", exitDone,
		"coord", "own", "me", "src/web", "--reason", "checkout page")
}

// debate has two more sessions compare approaches before a line is written. They get the next names of their programs.
func (s *story) debate() {
	s.do(event.User, "before a line is written, another session of each (scripted, too) compares approaches with the other", exitDone,
		"coord", "discuss", "start", "REST or GraphQL for checkout?", "--agents", demoBackend+","+demoFrontend,
		"--rounds", "2", "--max-turns", "5", "--thread-id", demoThread, "--plain", "--yes")
	s.do(event.User, "what was decided", exitDone, "coord", "discuss", "list")
	s.do(event.User, "and as tasks for those who hold the paths that it names", exitDone, "coord", "discuss", "implement", demoThread)
}

// collide shows a refusal that says what to do next, and a question to the holder.
func (s *story) collide() {
	s.do(demoFrontend, "codex wants a file inside the API: refused, with who holds it and what helps", exitConflict,
		"coord", "own", "me", "src/api/checkout.ts")
	s.do(demoFrontend, "so codex asks", exitDone,
		"coord", "ask", demoBackend, "Which fields does POST /api/checkout answer with?", "--from", "me")
	question := s.last()
	s.do(demoBackend, "and claude-code answers", exitDone,
		"coord", "answer", question.ID, "An id and the total, in cents. The contract follows.", "--from", "me")
}

// agree shows a contract in two revisions, its reader, and an acknowledgement.
func (s *story) agree() {
	s.do(demoBackend, "claude-code publishes what both build on", exitDone,
		"coord", "contract", "checkout-api", "--agent", demoBackend, "--format", "text",
		"--body", "POST /api/checkout -> 201 { id: string }")
	s.do(demoFrontend, "codex declares that it builds on it", exitDone,
		"coord", "contract", "checkout-api", "--consume", demoFrontend)
	s.do(demoFrontend, "reads what is new for it", exitDone, "coord", "snapshot", "me")
	s.do(demoFrontend, "and acknowledges it", exitDone, "coord", "ack", "me", strconv.FormatInt(s.last().Seq, 10))
	s.do(demoBackend, "the next revision says who still builds on the old one", exitDone,
		"coord", "contract", "checkout-api", "--agent", demoBackend, "--format", "text",
		"--body", "POST /api/checkout -> 201 { id: string, totalCents: number }")
	s.do(demoFrontend, "codex looks at what changed", exitDone, "coord", "diff", "checkout-api")
	s.do(demoFrontend, "acknowledges", exitDone, "coord", "ack", "me", strconv.FormatInt(s.last().Seq, 10))
	s.do(demoFrontend, "and a decision is recorded", exitDone,
		"coord", "decide", "me", "Amounts are whole cents", "--rationale", "no rounding between API and page")
}

// handOver shows tasks: given, taken once, worked on, done.
func (s *story) handOver() {
	s.do(demoBackend, "claude-code hands the page over", exitDone,
		"handoff", demoFrontend, "Implement the checkout page", "--context", "consume checkout-api", "--from", demoBackend)
	s.do(demoFrontend, "codex takes the next task that is ready for it", exitDone, "coord", "next", "me")
	take := s.last()
	s.do(demoFrontend, "reports progress", exitDone,
		"coord", "update", "me", "--note", "page renders", "--files", "src/web/checkout.tsx", "--next", "error states")
	if task := s.taken(take.Seq); task != "" {
		s.do(demoFrontend, "and finishes", exitDone, "coord", "done", task, "--from", "me", "--evidence", "12 tests pass")
	}
}

// taken is the id of the task that the event with this number took.
func (s *story) taken(seq int64) string {
	if s.err != nil {
		return ""
	}
	events, err := s.engine.Events(s.ctx, engine.Query{After: seq - 1, Max: 1})
	if err != nil || len(events.Events) != 1 || events.Events[0].Type != event.TypeTask {
		return ""
	}
	return events.Events[0].Resolves
}

// halt shows the kill switch.
func (s *story) halt() {
	s.do(event.User, "the person stops everything", exitDone, "kill", "a look at the plan first")
	s.do(demoFrontend, "nobody can write now", exitHalted, "coord", "update", "me", "--note", "one more thing")
	s.do(event.User, "and lets it go on", exitDone, "resume")
}

// finish shows a release that lets the other agent in, and what is left.
func (s *story) finish() {
	s.do(demoBackend, "claude-code releases the API", exitDone, "coord", "release", "me", "src/api")
	s.do(demoFrontend, "now codex gets the file", exitDone, "coord", "own", "me", "src/api/checkout.ts")
	s.do(event.User, "what holds now, at a glance", exitDone, "status")
	s.do(demoFrontend, "the handover card for whoever comes next", exitDone, "coord", "card", "me")
	s.do(demoFrontend, "codex releases everything", exitDone, "coord", "release", "me", "src/api/checkout.ts", "src/web")
}
