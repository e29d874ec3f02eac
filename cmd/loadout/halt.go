package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
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
	r, err := e.KillOnce(ctx, c.killer(ctx, e), reason, o.Key)
	if err != nil {
		return err
	}
	if err := bridge.Settle(ctx, e); err != nil { // who makes a turn ends it; this is for turns that nobody makes any more
		r.Notes = append(r.Notes, fmt.Sprintf("what turns left running whose process is gone could not be ended, or not be recorded: %v", err))
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

// killerWait is how long the log may take to tell who halts everything.
const killerWait = 300 * time.Millisecond

// killer is who sets the kill switch: the same as who acts, as far as that can be told at once. Stopping must not wait for it, is refused to
// nobody, and must work when the log cannot be read.
func (c *call) killer(ctx context.Context, e *engine.Engine) string {
	names := []string{c.As, c.Agent}
	if c.actor == nil {
		names = append(names, c.env(engine.EnvAgent))
	}
	for _, name := range names {
		if name != "" && !event.SameName(name, engine.Me) {
			return name
		}
	}
	brief, cancel := context.WithTimeout(ctx, killerWait)
	defer cancel()
	name, err := c.identify(brief, e, "")
	if err != nil {
		return event.User
	}
	return name
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
