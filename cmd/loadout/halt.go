package main

import (
	"context"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

type killCmd struct {
	Reason []string `arg:"" type:"words" help:"Why; everybody who is refused sees it."`
	writing
}

func (killCmd) Help() string {
	return examples(
		"loadout kill 'two agents fight over src/api'",
		"loadout daemon kill wrong branch --json",
	)
}

func (o *killCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	reason := strings.Join(o.Reason, " ")
	r, err := e.KillOnce(ctx, c.killer(), reason, o.Key)
	if err != nil {
		return err
	}
	c.noteReceipt(r)
	reason = engine.Redact(strings.TrimSpace(reason))
	on := true
	if halted, err := e.Halted(); err == nil && r.Duplicate {
		if on = halted != nil; on {
			reason = halted.Reason // what holds is what was said the first time
		}
	}
	extra := struct {
		Halted bool   `json:"halted"`
		Reason string `json:"reason"`
	}{on, reason}
	return c.answer(receipt(r, extra), func() {
		switch {
		case !on:
			c.printf("Not halted: the kill switch was set by the first try and lifted since.\n")
			return
		case r.Duplicate:
			c.printf("Halted already.\n")
		default:
			c.printf("Halted: every write is refused from now on.\n  reason: %s\n", reason)
		}
		c.printf("  resume with: loadout resume\n")
	})
}

// killer is who sets the kill switch, as far as it can be told without reading the log: stopping must not wait for that, and must work
// when the log cannot be read.
func (c *call) killer() string {
	for _, name := range []string{c.As, c.Agent, c.env(engine.EnvAgent)} {
		if name != "" && !event.SameName(name, engine.Me) {
			return name
		}
	}
	return event.User
}

type resumeCmd struct{ writing }

func (resumeCmd) Help() string { return examples("loadout resume", "loadout daemon resume --json") }

func (o *resumeCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	who, err := c.actingHalted(ctx, e, "")
	if err != nil {
		return err
	}
	r, err := e.ResumeOnce(ctx, who.name, o.Key)
	if err != nil {
		return err
	}
	c.noteReceipt(r)
	halted, err := e.Halted()
	extra := struct {
		Halted bool `json:"halted"`
	}{err != nil || halted != nil}
	return c.answer(receipt(r, extra), func() {
		switch {
		case extra.Halted:
			c.printf("Halted: the kill switch was lifted by the first try and set since.\n")
		case r.Duplicate:
			c.printf("Kill switch was not active.\n")
		default:
			c.printf("Resumed: writes are accepted again.\n")
		}
	})
}
