package main

import (
	"context"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

type killCmd struct {
	Reason []string `arg:"" type:"words" help:"Why; everybody who is refused sees it."`
}

func (killCmd) Help() string {
	return examples(
		"loadout kill 'two agents fight over src/api'",
		"loadout daemon kill wrong branch --json",
	)
}

func (o *killCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	reason := strings.Join(o.Reason, " ")
	r, err := e.Kill(ctx, c.killer(), reason)
	if err != nil {
		return err
	}
	c.noteReceipt(r)
	reason = engine.Redact(strings.TrimSpace(reason))
	if halted, err := e.Halted(); err == nil && halted != nil && r.Duplicate {
		reason = halted.Reason // what holds is what was said the first time
	}
	extra := struct {
		Halted bool   `json:"halted"`
		Reason string `json:"reason"`
	}{true, reason}
	return c.answer(receipt(r, extra), func() {
		if r.Duplicate {
			c.printf("Halted already.\n")
		} else {
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

type resumeCmd struct{}

func (resumeCmd) Help() string { return examples("loadout resume", "loadout daemon resume --json") }

func (*resumeCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	who, err := c.acting(ctx, e, "")
	if err != nil {
		return err
	}
	r, err := e.Resume(ctx, who.name)
	if err != nil {
		return err
	}
	c.noteReceipt(r)
	extra := struct {
		Halted bool `json:"halted"`
	}{false}
	return c.answer(receipt(r, extra), func() {
		if r.Duplicate {
			c.printf("Kill switch was not active.\n")
			return
		}
		c.printf("Resumed: writes are accepted again.\n")
	})
}
