package main

import (
	"context"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
)

type taskCmd struct {
	To      string   `complete:"party" arg:"" help:"Who should do it; * for whoever is first."`
	Text    []string `arg:"" type:"words" help:"What to do."`
	From    string   `complete:"agent" placeholder:"AGENT" help:"Who asks; default: who acts, else user."`
	Context string   `placeholder:"TEXT" help:"What one must know."`
	Needs   []string `complete:"task" type:"names" placeholder:"ID" help:"Tasks that must be done first: several words, repeated, or with commas."`
	writing
}

func (taskCmd) Help() string {
	return examples(
		"loadout coord task codex Implement the checkout form",
		"loadout coord task '*' 'Write tests for /api/checkout' --from claude-code --needs k3v9 p2m7",
		"loadout coord task codex 'Deploy' --key deploy-42 --json",
	)
}

func (o *taskCmd) run(ctx context.Context, c *call) error {
	return c.send(ctx, o.writing, o.From, o.To, func(from, to string) engine.Command {
		return engine.AddTask{From: from, To: to, Text: strings.Join(o.Text, " "), Context: o.Context, Needs: o.Needs}
	}, "Task")
}

type askCmd struct {
	To      string   `complete:"party" arg:"" help:"Whom to ask; * for everybody."`
	Text    []string `arg:"" type:"words" help:"The question."`
	From    string   `complete:"agent" placeholder:"AGENT" help:"Who asks; default: who acts, else user."`
	Context string   `placeholder:"TEXT" help:"What one must know to answer."`
	writing
}

func (askCmd) Help() string {
	return examples(
		"loadout coord ask claude-code 'Cents or decimal amounts?' --from codex",
		"loadout coord ask user 'May I drop the old endpoint?' --from me",
	)
}

func (o *askCmd) run(ctx context.Context, c *call) error {
	return c.send(ctx, o.writing, o.From, o.To, func(from, to string) engine.Command {
		return engine.Ask{From: from, To: to, Text: strings.Join(o.Text, " "), Context: o.Context}
	}, "Question")
}

// send stores what one asks of another.
func (c *call) send(ctx context.Context, w writing, from, to string, make func(from, to string) engine.Command, what string) error {
	e, err := c.open(w.LockWait)
	if err != nil {
		return err
	}
	to, err = c.agent(ctx, e, to)
	if err != nil {
		return err
	}
	r, _, err := c.write(ctx, w, from, func(from string) engine.Command { return make(from, to) })
	if err != nil {
		return err
	}
	return c.answer(receipt(r), func() {
		for i := range r.Events {
			c.printf("%s %s for %s (seq %d)\n", what, r.Events[i].ID, r.Events[i].To, r.Events[i].Seq)
		}
	})
}

type answerCmd struct {
	ID   string   `complete:"question" arg:"" name:"id" help:"The question: its id, a unique beginning of it, or #SEQ."`
	Text []string `arg:"" type:"words" help:"The answer."`
	From string   `complete:"agent" placeholder:"AGENT" help:"Who answers; default: who acts, else user."`
	writing
}

func (answerCmd) Help() string {
	return examples("loadout coord answer k3v9q2m7 'Cents' --from claude-code")
}

func (o *answerCmd) run(ctx context.Context, c *call) error {
	return c.settle(ctx, o.writing, o.From, func(from string) engine.Command {
		return engine.Answer{From: from, ID: o.ID, Text: strings.Join(o.Text, " ")}
	}, "Answered")
}

type doneCmd struct {
	ID       string `complete:"task" arg:"" name:"id" help:"The task: its id, a unique beginning of it, or #SEQ."`
	From     string `complete:"agent" placeholder:"AGENT" help:"Who did it; default: who acts, else user."`
	Evidence string `placeholder:"TEXT" help:"What shows that it is done."`
	Failed   bool   `help:"It failed; --evidence says why."`
	writing
}

func (doneCmd) Help() string {
	return examples(
		"loadout coord done k3v9q2m7 --from codex --evidence 'npm test: 12 passed'",
		"loadout coord done '#14' --from me --failed --evidence 'the sandbox has no network'",
	)
}

func (o *doneCmd) run(ctx context.Context, c *call) error {
	verb := "Done"
	if o.Failed {
		verb = "Failed"
	}
	return c.settle(ctx, o.writing, o.From, func(from string) engine.Command {
		return engine.Finish{From: from, ID: o.ID, Evidence: o.Evidence, Failed: o.Failed}
	}, verb)
}

type cancelCmd struct {
	ID     string `complete:"open" arg:"" name:"id" help:"The task or question: its id, a unique beginning of it, or #SEQ."`
	From   string `complete:"agent" placeholder:"AGENT" help:"Who withdraws it; default: who acts, else user."`
	Reason string `placeholder:"TEXT" help:"Why."`
	writing
}

func (cancelCmd) Help() string {
	return examples("loadout coord cancel k3v9q2m7 --reason 'not needed any more'")
}

func (o *cancelCmd) run(ctx context.Context, c *call) error {
	return c.settle(ctx, o.writing, o.From, func(from string) engine.Command {
		return engine.Cancel{From: from, ID: o.ID, Reason: o.Reason}
	}, "Cancelled")
}

// settle stores what ends a task or question.
func (c *call) settle(ctx context.Context, w writing, from string, make func(from string) engine.Command, verb string) error {
	r, _, err := c.write(ctx, w, from, make)
	if err != nil {
		return err
	}
	return c.answer(receipt(r), func() {
		for i := range r.Events {
			c.printf("%s: %s (seq %d)\n", verb, r.Events[i].Resolves, r.Events[i].Seq)
		}
	})
}

type nextCmd struct {
	Taker string `complete:"agent" arg:"" name:"agent" help:"Who takes it."`
	writing
}

func (nextCmd) Help() string {
	return examples(
		"loadout coord next codex",
		"loadout coord next me --json",
	)
}

func (o *nextCmd) run(ctx context.Context, c *call) error {
	r, agent, err := c.write(ctx, o.writing, o.Taker, func(agent string) engine.Command { return engine.Next{Agent: agent} })
	if err != nil {
		return err
	}
	task := takenTask(ctx, c.opened, r)
	extra := struct {
		Task *state.Task `json:"task"`
	}{task}
	return c.answer(receipt(r, extra), func() {
		if task == nil {
			c.printf("Nothing is ready for %s (%s).\n", agent, words.AsOf(r.Head))
			return
		}
		c.printf("%s takes [%s] from %s (seq %d)\n", agent, task.ID, task.From, r.Seq())
		c.block("  ", task.Description)
		if task.Context != "" {
			c.printf("  context:\n")
			c.block("    ", task.Context)
		}
		c.printf("when finished: loadout coord done %s --from %s --evidence TEXT\n", words.ShellWord(task.ID), words.ShellWord(agent))
	})
}

// takenTask is the task that a receipt of Next proves to be taken, nil for none. Should the state be unreadable now, what the
// receipt says has to do.
func takenTask(ctx context.Context, e *engine.Engine, r engine.Receipt) *state.Task {
	if len(r.Events) == 0 {
		return nil
	}
	taken := &r.Events[len(r.Events)-1]
	if view, err := e.View(ctx); err == nil {
		if task, ok := view.State.Task(taken.Resolves); ok {
			return &task
		}
	}
	return &state.Task{
		ID: taken.Resolves, From: taken.To, To: taken.From, Description: taken.Description,
		Status: state.TaskTaken, TakenBy: taken.From,
	}
}
