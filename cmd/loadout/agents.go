package main

import (
	"context"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/words"
)

// agentCmd groups the verbs about sessions.
type agentCmd struct {
	Register registerCmd `cmd:"" help:"Give this session a name that no other live session has."`
	List     agentsCmd   `cmd:"" help:"Who takes part, whose session lives, who has read what."`
	Rename   renameCmd   `cmd:"" help:"Give an agent another name, with everything it holds."`
	End      endCmd      `cmd:"" help:"End a session: its tasks become open again, its claims stale."`
	Forget   forgetCmd   `cmd:"" help:"Remove a name that holds nothing."`
}

type registerCmd struct {
	Base    string `placeholder:"PROGRAM" help:"The program; names are PROGRAM, PROGRAM-2, … Default: the agent program above this one."`
	Name    string `placeholder:"NAME" help:"This very name, refused if a live session has it."`
	Human   string `placeholder:"NAME" help:"Whose session it is."`
	Session string `placeholder:"ID" help:"The program's own id of the session."`
	PID     *int   `name:"pid" placeholder:"N" help:"The process whose life is the session's; default: the agent program above this one."`
	writing
}

func (registerCmd) Help() string {
	return examples(
		"loadout agent register --base claude-code --human kim",
		"export LOADOUT_AGENT=$(loadout agent register --base codex --pid $PPID)",
	)
}

func (o *registerCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	register, err := e.Registration(engine.Register{
		Base: o.Base, Name: o.Name, Human: o.Human, Session: o.Session,
	}, o.PID)
	if err != nil {
		return err
	}
	r, err := e.Do(ctx, engine.Request{Command: register, Key: o.Key})
	if err != nil {
		return err
	}
	c.noteReceipt(r)
	extra := struct {
		Name string `json:"name"`
	}{r.Agent}
	// The name alone is the answer, so that a shell can take it: export LOADOUT_AGENT=$(loadout agent register).
	return c.answer(receipt(r, extra), func() {
		c.printf("%s\n", r.Agent)
		if !r.Duplicate {
			c.note("registered as %s (seq %d); set %s to it, and 'me' stands for it", r.Agent, r.Seq(), engine.EnvAgent)
		}
	})
}

type agentsCmd struct {
	All bool `help:"Everybody, however many they are, and also names whose session has ended."`
}

func (agentsCmd) Help() string {
	return examples(
		"loadout agent list",
		"loadout agent list --all --json",
	)
}

func (o *agentsCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	view, err := e.View(ctx)
	if err != nil {
		return err
	}
	shown, hidden := []agentStatus{}, 0
	for _, a := range agentsOf(view) {
		if a.Ended != nil && !o.All {
			hidden++
			continue
		}
		shown = append(shown, a)
	}
	shown, omitted := keep(shown, c.most(o.All), (*agentStatus).weight)
	answer := struct {
		Agents  []agentStatus `json:"agents"`
		HighSeq int64         `json:"highSeq"`
		Omitted int           `json:"omitted"`
	}{shown, view.State.Head(), hidden + omitted}
	return c.answer(answer, func() {
		if len(shown) == 0 {
			c.printf("No agents yet (%s).\n", words.AsOf(view.State.Head()))
		}
		for _, a := range shown {
			c.printAgent(a, view.State.Head())
			if a.Human != "" {
				c.printf("    for %s\n", a.Human)
			}
		}
		c.more(omitted, "agent", "agent list --all")
		if hidden > 0 {
			c.printf("%s left out whose session has ended: loadout agent list --all\n", words.Plural(hidden, "name"))
		}
	})
}

type endCmd struct {
	Name   string `complete:"agent" arg:"" help:"Whose session."`
	Reason string `placeholder:"TEXT" help:"Why."`
	writing
}

func (endCmd) Help() string {
	return examples(
		"loadout agent end me",
		"loadout agent end codex --as codex --reason 'it runs away in another terminal'",
	)
}

func (o *endCmd) run(ctx context.Context, c *call) error {
	return c.manage(ctx, o.writing, o.Name, func(name string) engine.Command {
		return engine.EndAgent{Name: name, Reason: o.Reason}
	}, "session of %s ended (seq %d)\n")
}

type forgetCmd struct {
	Name string `complete:"agent" arg:"" help:"The name."`
	writing
}

func (forgetCmd) Help() string { return examples("loadout agent forget claude-code-2") }

func (o *forgetCmd) run(ctx context.Context, c *call) error {
	return c.manage(ctx, o.writing, o.Name, func(name string) engine.Command {
		return engine.ForgetAgent{Name: name}
	}, "%s forgotten (seq %d)\n")
}

type renameCmd struct {
	Old string `complete:"agent" arg:"" name:"name" help:"The agent."`
	New string `arg:"" name:"new" help:"Its new name."`
	writing
}

func (renameCmd) Help() string {
	return examples("loadout agent rename me backend", "loadout agent rename claude-code-2 backend --as claude-code-2")
}

func (o *renameCmd) run(ctx context.Context, c *call) error {
	return c.manage(ctx, o.writing, o.Old, func(name string) engine.Command {
		return engine.RenameAgent{Old: name, New: o.New}
	}, "%s has a new name (seq %d)\n")
}

// manage stores something about an agent's session. That is for the session itself; who means another one's says so with --as.
func (c *call) manage(ctx context.Context, w writing, named string, make func(name string) engine.Command, said string) error {
	r, agent, err := c.write(ctx, w, named, make)
	if err != nil {
		return err
	}
	return c.answer(receipt(r), func() { c.printf(said, agent, r.Seq()) })
}
