package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

type decideCmd struct {
	Author     string   `complete:"agent" arg:"" name:"agent" help:"Who decides."`
	Title      []string `arg:"" type:"words" help:"The decision in one line."`
	Rationale  string   `placeholder:"TEXT" help:"Why."`
	Supersedes string   `complete:"decision" placeholder:"ID" help:"The older decision that this one replaces: its id, a unique beginning of it, or #SEQ."`
	writing
}

func (decideCmd) Help() string {
	return examples(
		"loadout coord decide codex 'Amounts are in cents' --rationale 'no rounding'",
		"loadout coord decide me 'Amounts are in decimal' --supersedes k3v9q2m7",
	)
}

func (o *decideCmd) run(ctx context.Context, c *call) error {
	r, _, err := c.write(ctx, o.writing, o.Author, func(agent string) engine.Command {
		return engine.Decide{Agent: agent, Title: strings.Join(o.Title, " "), Rationale: o.Rationale, Supersedes: o.Supersedes}
	})
	if err != nil {
		return err
	}
	return c.answer(receipt(r), func() {
		for i := range r.Events {
			c.printf("Decision recorded: %s (seq %d, id %s)\n", r.Events[i].Description, r.Events[i].Seq, r.Events[i].ID)
		}
	})
}

type updateCmd struct {
	Author   string   `complete:"agent" arg:"" name:"agent" help:"Who reports."`
	Note     string   `placeholder:"TEXT" help:"What was done."`
	Files    []string `complete:"path" type:"words" placeholder:"PATH" help:"Files that it is about: several words, or repeated."`
	Blockers []string `type:"words" placeholder:"TEXT" help:"What is in the way: several words, or repeated."`
	Next     string   `placeholder:"TEXT" help:"What comes next."`
	Command  []string `type:"words" placeholder:"TEXT" help:"Commands that were run, each with how it ended if you add ' -> EXIT [SUMMARY]'."`
	writing
}

func (updateCmd) Help() string {
	return "A flag that takes several words takes each up to the next flag, also one that begins with a dash; for one that begins with two, " +
		"repeat the flag: --files a --files --b.\n\n" + examples(
		"loadout coord update codex --note 'Form validated' --files web/form.tsx web/form.css --next styling",
		"loadout coord update me --command 'npm test -> 0 12 passed' --blockers 'no staging key'",
	)
}

func (o *updateCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	files, err := c.paths(e, o.Files)
	if err != nil {
		return err
	}
	update := event.Update{Note: o.Note, Files: files, Blockers: o.Blockers, Next: o.Next}
	for _, text := range o.Command {
		update.Commands = append(update.Commands, commandRun(text))
	}
	r, _, err := c.write(ctx, o.writing, o.Author, func(agent string) engine.Command {
		return engine.Report{Agent: agent, Update: update}
	})
	if err != nil {
		return err
	}
	return c.answer(receipt(r), func() { c.printf("Update published (seq %d)\n", r.Seq()) })
}

// commandRun reads "COMMAND -> EXIT [SUMMARY]". Text without such an end is the command as it is.
func commandRun(text string) event.CommandRun {
	i := strings.LastIndex(text, " -> ")
	if i < 0 {
		return event.CommandRun{Command: text}
	}
	exit, summary, _ := strings.Cut(strings.TrimSpace(text[i+len(" -> "):]), " ")
	code, err := strconv.ParseInt(exit, 10, 32)
	if err != nil {
		return event.CommandRun{Command: text}
	}
	return event.CommandRun{Command: text[:i], ExitCode: &code, Summary: strings.TrimSpace(summary)}
}
