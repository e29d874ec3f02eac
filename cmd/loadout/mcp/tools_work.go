package mcp

import (
	"context"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

type claimTaskIn struct {
	Agent, TaskID, Description, Reason string
	OwnPaths                           []string
}

type claimTaskOut struct {
	stored
	Claims []state.Claim `json:"claims"`
	Task   *state.Task   `json:"task,omitempty"`
}

func claimTask() tool {
	return handled(tool{
		name: "claim_task", title: "Claim a task and its files", effect: adds,
		about: "Before you edit: claim the files or folders that you will change, exclusively, and say what you work on. With taskId you take " +
			"a task that exists; with description alone a new one is made and taken. Both are stored, or neither. If somebody else holds a path " +
			"the call is refused and says who, since when, why, and what helps.",
		input: object(agentArgument(),
			optional("taskId", text(1, event.MaxName, "The task to take: its id, a unique beginning of it, or #SEQ.")),
			optional("description", text(1, event.MaxDescription, "What you work on. Needed without taskId.")),
			optional("ownPaths", list(text(1, event.MaxPath, "A file or folder; what lies below is claimed too."), 1, event.MaxPaths,
				"Paths to claim, relative to the folder of this server, or absolute. All or none.")),
			optional("reason", text(1, event.MaxReason, "Why you need the paths: who is refused sees it. Needed to take over what an ended session left."))),
	}, func(ctx context.Context, s *Server, in claimTaskIn) ([]string, claimTaskOut, error) {
		var out claimTaskOut
		if in.TaskID == "" && in.Description == "" {
			return nil, out, &engine.ValidationError{Field: "description", Reason: "is needed without taskId: say what you work on"}
		}
		agent, err := s.actor(ctx, in.Agent)
		if err != nil {
			return nil, out, err
		}
		paths, err := s.paths(in.OwnPaths)
		if err != nil {
			return nil, out, err
		}
		r, about, err := s.write(ctx, engine.ClaimTask{
			Agent: agent, ID: in.TaskID, Text: in.Description, Paths: paths, Typed: s.folder(), Reason: in.Reason,
		}, agent)
		if err != nil {
			return nil, out, err
		}
		out = claimTaskOut{stored: about, Claims: s.claimsAt(ctx, agent, paths)}
		var p page
		if len(paths) > 0 {
			p.linef("Claimed ownership: %s", strings.Join(paths, ", "))
		}
		if ev, ok := eventOf(r, event.TypeTask); ok {
			out.Task = s.taskOf(ctx, &ev)
			p.linef("Task %s (seq %d): %s", out.Task.ID, ev.Seq, out.Task.Description)
		}
		if in.TaskID != "" {
			p.linef("%s", untrusted)
		}
		return p.said(about), out, nil
	})
}

// taskOf is the task that an event makes or takes.
func (s *Server) taskOf(ctx context.Context, ev *event.Event) *state.Task {
	id := ev.Resolves
	if id == "" {
		id = ev.ID
	}
	if v, err := s.engine.View(ctx); err == nil {
		if t, ok := v.State.Task(id); ok {
			return &t
		}
	}
	return &state.Task{ID: id, Seq: ev.Seq, From: ev.From, To: ev.To, Description: ev.Description, At: ev.Time(), Status: state.TaskTaken, TakenBy: ev.From}
}

// claimsAt is what an agent holds on exactly these paths: beside an answer that is given in any case.
func (s *Server) claimsAt(ctx context.Context, agent string, paths []string) []state.Claim {
	claims := []state.Claim{}
	v, err := s.engine.View(ctx)
	if err != nil {
		return claims
	}
	wanted := map[string]bool{}
	for _, p := range paths {
		wanted[p] = true
	}
	for _, c := range v.State.ClaimsOf(agent) {
		if wanted[c.Path] {
			claims = append(claims, c)
		}
	}
	return claims
}

// folder is the folder that typed paths are relative to, in stored form; "" for the top, and outside of the project.
func (s *Server) folder() string {
	folder, err := s.engine.Project().Rel(s.options.Dir, ".")
	if err != nil {
		return ""
	}
	return folder
}

type requestTaskIn struct {
	Agent, To, Description, Context string
	Needs                           []string
}

func requestTask() tool {
	return handled(tool{
		name: "request_task", title: "Give work to an agent", effect: adds,
		about: "Ask another agent for work, or * for whoever takes it first. It sees the task in its snapshot and takes it with claim_task.",
		input: object(agentArgument(),
			required("to", text(1, event.MaxName, "The agent that should do it; * for whoever is first.")),
			required("description", text(1, event.MaxDescription, "What to do.")),
			optional("context", text(0, event.MaxContext, "What one must know to do it.")),
			optional("needs", list(text(1, event.MaxName, "The id of a task."), 1, event.MaxNeeds, "Tasks that must be done first."))),
	}, func(ctx context.Context, s *Server, in requestTaskIn) ([]string, stored, error) {
		return s.writeAs(ctx, in.Agent, func(agent string) engine.Command {
			return engine.AddTask{From: agent, To: in.To, Text: in.Description, Context: in.Context, Needs: in.Needs}
		}, func(p *page, ev *event.Event) { p.linef("Task %s for %s (seq %d)", ev.ID, ev.To, ev.Seq) })
	})
}

type finishTaskIn struct {
	Agent, TaskID, Evidence string
	Failed                  bool
}

func finishTask() tool {
	return handled(tool{
		name: "finish_task", title: "Finish a task", effect: settles,
		about: "Settle a task that you took as done, or as failed. Say what shows it. Your claims stay: release_ownership ends them.",
		input: object(agentArgument(),
			required("taskId", text(1, event.MaxName, "The task: its id, a unique beginning of it, or #SEQ.")),
			optional("evidence", text(0, event.MaxEvidence, "What shows that it is done, such as a command and its result; or why it failed.")),
			optional("failed", flag("It cannot be done; evidence says why."))),
	}, func(ctx context.Context, s *Server, in finishTaskIn) ([]string, stored, error) {
		verb := "Done"
		if in.Failed {
			verb = "Failed"
		}
		return s.writeAs(ctx, in.Agent, func(agent string) engine.Command {
			return engine.Finish{From: agent, ID: in.TaskID, Evidence: in.Evidence, Failed: in.Failed}
		}, func(p *page, ev *event.Event) { p.linef("%s: %s (seq %d)", verb, ev.Resolves, ev.Seq) })
	})
}

type cancelTaskIn struct {
	Agent, TaskID, Reason string
}

func cancelTask() tool {
	return handled(tool{
		name: "cancel_task", title: "Withdraw a task or question", effect: ends,
		about: "Withdraw a task or a question that you asked for and that is not needed any more.",
		input: object(agentArgument(),
			required("taskId", text(1, event.MaxName, "The task or question: its id, a unique beginning of it, or #SEQ.")),
			optional("reason", text(0, event.MaxDescription, "Why."))),
	}, func(ctx context.Context, s *Server, in cancelTaskIn) ([]string, stored, error) {
		return s.writeAs(ctx, in.Agent, func(agent string) engine.Command {
			return engine.Cancel{From: agent, ID: in.TaskID, Reason: in.Reason}
		}, func(p *page, ev *event.Event) { p.linef("Cancelled: %s (seq %d)", ev.Resolves, ev.Seq) })
	})
}

type askIn struct {
	Agent, To, Question, Context string
}

func ask() tool {
	return handled(tool{
		name: "ask", title: "Ask an agent or a person", effect: adds,
		about: "Ask another agent, or user for a person: for a path that it holds, about a contract, for a decision. The answer arrives as an event " +
			"to you; subscribe or snapshot shows it.",
		input: object(agentArgument(),
			required("to", text(1, event.MaxName, "Whom to ask: an agent, user for a person, * for everybody.")),
			required("question", text(1, event.MaxDescription, "The question.")),
			optional("context", text(0, event.MaxContext, "What one must know to answer."))),
	}, func(ctx context.Context, s *Server, in askIn) ([]string, stored, error) {
		return s.writeAs(ctx, in.Agent, func(agent string) engine.Command {
			return engine.Ask{From: agent, To: in.To, Text: in.Question, Context: in.Context}
		}, func(p *page, ev *event.Event) { p.linef("Question %s for %s (seq %d)", ev.ID, ev.To, ev.Seq) })
	})
}

type answerIn struct {
	Agent, QuestionID, Answer string
}

func answerQuestion() tool {
	return handled(tool{
		name: "answer", title: "Answer a question", effect: settles,
		about: "Answer a question that was asked of you. snapshot lists those that are open.",
		input: object(agentArgument(),
			required("questionId", text(1, event.MaxName, "The question: its id, a unique beginning of it, or #SEQ.")),
			required("answer", text(1, event.MaxDescription, "The answer."))),
	}, func(ctx context.Context, s *Server, in answerIn) ([]string, stored, error) {
		return s.writeAs(ctx, in.Agent, func(agent string) engine.Command {
			return engine.Answer{From: agent, ID: in.QuestionID, Text: in.Answer}
		}, func(p *page, ev *event.Event) { p.linef("Answered: %s (seq %d)", ev.Resolves, ev.Seq) })
	})
}

type decideIn struct {
	Agent, Title, Rationale, Supersedes string
}

func decide() tool {
	return handled(tool{
		name: "decide", title: "Record a decision", effect: adds,
		about: "Record a decision that others must know, in one line, with its reasons. Name the older decision that it replaces.",
		input: object(agentArgument(),
			required("title", text(1, event.MaxTitle, "The decision in one line.")),
			optional("rationale", text(0, event.MaxRationale, "Why.")),
			optional("supersedes", text(1, event.MaxName, "The older decision that this one replaces: its id, a unique beginning of it, or #SEQ."))),
	}, func(ctx context.Context, s *Server, in decideIn) ([]string, stored, error) {
		return s.writeAs(ctx, in.Agent, func(agent string) engine.Command {
			return engine.Decide{Agent: agent, Title: in.Title, Rationale: in.Rationale, Supersedes: in.Supersedes}
		}, func(p *page, ev *event.Event) {
			p.linef("Decision %s recorded (seq %d): %s", ev.ID, ev.Seq, ev.Description)
		})
	})
}

// writeAs stores what make says in the name of who acts, and tells each event that was stored.
func (s *Server) writeAs(ctx context.Context, named string, make func(agent string) engine.Command, tell func(*page, *event.Event)) ([]string, stored, error) {
	agent, err := s.actor(ctx, named)
	if err != nil {
		return nil, stored{}, err
	}
	r, about, err := s.write(ctx, make(agent), agent)
	if err != nil {
		return nil, stored{}, err
	}
	var p page
	for i := range r.Events {
		tell(&p, &r.Events[i])
	}
	return p.said(about), about, nil
}
