package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/event"
)

// onTurns stores something about sessions or turns and says so: said takes name and sequence number. An empty name stands for the turns that
// it was about.
func (c *call) onTurns(ctx context.Context, do func(e *engine.Engine, by string) (engine.Receipt, error), said, name string) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	who, err := c.actingHalted(ctx, e, "") // an end is stored while all is halted; the rest is refused by what it does
	if err != nil {
		return err
	}
	r, err := do(e, who.name)
	if err != nil {
		return err
	}
	c.wrote = true
	c.noteReceipt(r)
	return c.answer(receipt(r), func() { c.printf(said, cmp.Or(name, turnsOf(&r)), r.Seq()) })
}

// turnsOf names the turns that a receipt is about.
func turnsOf(r *engine.Receipt) string {
	var list []event.Turn
	for i := range r.Events {
		body, err := r.Events[i].Body()
		if b, ok := body.(event.Turn); err == nil && ok {
			list = append(list, b)
		}
	}
	switch len(list) {
	case 0:
		return "no turn"
	case 1:
		return "turn " + list[0].Turn + " of " + list[0].Agent
	}
	return fmt.Sprintf("%d turns of %s", len(list), list[0].Agent)
}

type raiseCmd struct {
	Agent string `complete:"agent" arg:"" optional:"" name:"agent" help:"Only the cap on turns of this agent's session. Default: all sessions."`
	capFlags
}

func (raiseCmd) Help() string {
	return "A bridge that runs goes on at once.\n\n" + examples(
		"loadout coord agents raise --max-turns 40",
		"loadout coord agents raise codex --max-turns 30",
		"loadout coord agents raise --max-tokens 2000000 --max-cost 10",
	)
}

func (o *raiseCmd) run(ctx context.Context, c *call) error {
	limits, err := o.limits()
	if err != nil {
		return err
	}
	name := o.Agent
	if name == "" {
		name = "all sessions"
	}
	return c.onTurns(ctx, func(e *engine.Engine, by string) (engine.Receipt, error) {
		return bridge.Raise(ctx, e, o.Agent, by, limits)
	}, "caps of %s set (seq %d)\n", name)
}

type retryCmd struct {
	Turn string `arg:"" help:"The id of a turn, a beginning of it, or an agent: all of its turns that wait."`
}

func (retryCmd) Help() string {
	return "The turn is made by the bridge that runs, or by the next one.\n\n" + examples("loadout coord agents retry codex", "loadout coord agents retry k3f9")
}

func (o *retryCmd) run(ctx context.Context, c *call) error {
	return c.onTurns(ctx, func(e *engine.Engine, by string) (engine.Receipt, error) {
		return bridge.Retry(ctx, e, o.Turn, by)
	}, "%s to be made again (seq %d)\n", "")
}

type skipCmd struct {
	Turn string `arg:"" help:"The id of a turn, a beginning of it, or an agent: all of its turns that wait."`
}

func (skipCmd) Help() string {
	return examples("loadout coord agents skip codex", "loadout coord agents skip k3f9")
}

func (o *skipCmd) run(ctx context.Context, c *call) error {
	return c.onTurns(ctx, func(e *engine.Engine, by string) (engine.Receipt, error) {
		return bridge.Skip(ctx, e, o.Turn, by)
	}, "%s skipped (seq %d)\n", "")
}

type cancelTurnCmd struct {
	Turn string `arg:"" help:"The id of a turn, a beginning of it, or an agent."`
}

func (cancelTurnCmd) Help() string { return examples("loadout coord agents cancel codex") }

func (o *cancelTurnCmd) run(ctx context.Context, c *call) error {
	return c.onTurns(ctx, func(e *engine.Engine, by string) (engine.Receipt, error) {
		return bridge.CancelTurn(ctx, e, o.Turn, by)
	}, "%s cancelled (seq %d)\n", "")
}
