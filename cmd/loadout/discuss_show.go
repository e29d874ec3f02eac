package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/words"
)

// maxTopicShown is how many cells of a topic a list shows.
const maxTopicShown = 100

type discussListCmd struct{ bounded }

func (discussListCmd) Help() string {
	return examples("loadout coord discuss list", "loadout coord discuss list --json")
}

func (o *discussListCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	rows, omitted, err := discuss.List(ctx, e, c.most(o.All))
	if err != nil {
		return err
	}
	answer := struct {
		Discussions []discuss.Row `json:"discussions"`
		Omitted     int           `json:"omitted"`
	}{rows, omitted}
	return c.answer(answer, func() {
		if len(rows) == 0 {
			c.printf("No design discussions recorded.\n")
		}
		for _, r := range rows {
			c.printf("%s  %s  %s ↔ %s  %s\n", r.ThreadID, c.statusText(r.Status), r.Participants[0], r.Participants[1], clip(r.Topic, maxTopicShown))
			if r.FinalDecision != "" && r.Status == discuss.StatusClosed {
				c.printf("    %s\n", r.FinalDecision)
			}
		}
		c.more(omitted, "discussion", "coord discuss list --all")
	})
}

func (c *call) statusText(status string) styled {
	switch status {
	case discuss.StatusClosed:
		return c.green(status)
	case discuss.StatusFailed:
		return c.red(status)
	}
	return styled(status)
}

type discussShowCmd struct {
	ID string `arg:"" complete:"thread" help:"The discussion: its id, or a unique beginning of it."`
}

func (discussShowCmd) Help() string {
	return examples("loadout coord discuss show k3v9q2m7w4xa", "loadout coord discuss show k3v9 --json")
}

func (o *discussShowCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	if err := bridge.Settle(ctx, e); err != nil { // what is there can be read all the same
		c.note("note: what became of turns whose process is gone cannot be recorded: %s", err)
	}
	t, err := discuss.Load(ctx, e, o.ID)
	if err != nil {
		return err
	}
	return c.answer(t, func() {
		c.printf("Discussion %s (%s)\n", t.ThreadID, c.statusText(t.Status))
		c.printf("Topic: %s\nParticipants: %s ↔ %s\n", t.Topic, t.Participants[0], t.Participants[1])
		if t.Rounds > 0 {
			c.printf("Statements: %d of %d\n", t.Said, discuss.Turns(t.Rounds))
		}
		for i := range t.Statements {
			if s := &t.Statements[i]; s.Kind != event.KindStarted && s.Kind != event.KindSummary && s.Kind != event.KindClosed {
				c.printf("\n")
				c.printStatement(s, strings.HasPrefix(s.Content, scriptedLabel))
			}
		}
		for _, turn := range t.Unknown() {
			c.printf("\nTurn %s of %s %s: it may have been paid for and left no statement.\n", turn.ID, turn.Agent, unknownSince(turn))
		}
		if running := t.Running(); running != nil {
			c.printf("\n%s has been asked for the next statement.\n", running.Agent)
		}
		c.printOutcome(&t)
		if t.Status != discuss.StatusClosed && t.Running() == nil {
			c.printf("\nGo on with: loadout coord discuss resume %s\n", words.ShellWord(t.ThreadID))
		}
	})
}

// printOutcome prints what a discussion came to, or why it stopped.
func (c *call) printOutcome(t *discuss.Thread) {
	conclusion := t.Conclusion()
	switch {
	case conclusion != nil:
		c.printf("\nOutcome\n  Decision: %s\n", c.bold(conclusion.Decision))
		if conclusion.Rationale != "" {
			c.printf("  Why:\n")
			c.block("    ", conclusion.Rationale)
		}
		for _, l := range conclusion.Lists() {
			c.printf("  %s: %s\n", l.Head, strings.Join(l.Items, "; "))
		}
	case t.Status == discuss.StatusFailed:
		c.printf("\nOutcome\n  Failure: %s\n", t.Failure)
	}
}

type discussExportCmd struct {
	ID     string `arg:"" complete:"thread" help:"The discussion: its id, or a unique beginning of it."`
	Format string `enum:"md,json,html" default:"md" placeholder:"FORMAT" help:"md, json or html; default md. The page of html loads nothing."`
}

func (discussExportCmd) Help() string {
	return "The document goes to stdout.\n\n" + examples(
		"loadout coord discuss export k3v9",
		"loadout coord discuss export k3v9 --format html",
	)
}

func (o *discussExportCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	t, err := discuss.Load(ctx, e, o.ID)
	if err != nil {
		return err
	}
	if o.Format == "json" {
		return c.answer(t, func() { c.err = cmp.Or(c.err, writeJSON(c.stdout, t)) })
	}
	document := discuss.Markdown(&t)
	if o.Format == "html" {
		document = discuss.HTML(&t)
	}
	answer := struct {
		ThreadID string `json:"threadId"`
		Format   string `json:"format"`
		Document string `json:"document"`
	}{t.ThreadID, o.Format, document}
	return c.answer(answer, func() { c.printf("%s", styled(document)) }) // made safe where it was written
}

type discussImplementCmd struct {
	ID  string `arg:"" complete:"thread" help:"The discussion: its id, or a unique beginning of it."`
	Yes bool   `help:"Send the tasks, instead of only showing them."`

	LockWait time.Duration `placeholder:"TIME" help:"How long to wait for the lock, default 10s."`
}

func (discussImplementCmd) Help() string {
	return "Who holds a path that the discussion names gets a task for it. Without --yes nothing is written. The same plan is sent once.\n\n" +
		examples("loadout coord discuss implement k3v9", "loadout coord discuss implement k3v9 --yes --json")
}

func (o *discussImplementCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	var who actor
	if o.Yes {
		if who, err = c.acting(ctx, e, ""); err != nil {
			return err
		}
	}
	t, err := discuss.Load(ctx, e, o.ID)
	if err != nil {
		return err
	}
	v, err := e.View(ctx)
	if err != nil {
		return err
	}
	plan, err := discuss.MakePlan(&t, v.State, v.FoldCase)
	if err != nil {
		return err
	}
	done := discuss.Implemented{Plan: plan, HandoffIDs: []string{}}
	if o.Yes {
		if done, err = discuss.Implement(ctx, e, plan, who.name); err != nil {
			return err
		}
		c.wrote = done.HandoffsSent > 0
	}
	answer := struct {
		discuss.Implemented
		DryRun bool `json:"dryRun"`
	}{done, !o.Yes}
	return c.answer(answer, func() { c.printPlan(&done, o.Yes) })
}

func (c *call) printPlan(done *discuss.Implemented, sent bool) {
	p := &done.Plan
	c.printf("Plan %s for: %s\n", p.PlanID, c.bold(p.Decision))
	for i, t := range p.Tasks {
		c.printf("\n%s: %s\n", c.bold(t.Agent), t.Description)
		for _, path := range t.Paths {
			c.printf("  %s\n", path)
		}
		if sent {
			c.printf("  task %s\n", done.HandoffIDs[i])
		}
	}
	send := "Send"
	if len(p.Unassigned) > 0 {
		c.printf("\nNobody holds: %s\n  claim them first: loadout coord own AGENT PATH\n", strings.Join(p.Unassigned, ", "))
		send = "When somebody holds all of that, send"
	}
	switch {
	case !sent:
		c.printf("\nNothing was sent. %s the tasks with: loadout coord discuss implement %s --yes\n", send, words.ShellWord(p.ThreadID))
	case done.Reused:
		c.printf("\nAll of it was sent before; nothing was written now.\n")
	default:
		c.printf("\n%s sent.\n", words.Plural(done.HandoffsSent, "task"))
	}
}
