package main

import (
	"cmp"
	"context"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui"
)

// cockpitBridge gives turns from the cockpit with the programs of this machine, by the same calls as the verbs.
type cockpitBridge struct {
	call    *call
	engine  *engine.Engine
	options bridge.Options
}

// cockpitBridge is what the cockpit gives turns with. by is who acts, empty: the person.
func (c *call) cockpitBridge(ctx context.Context, by string) (tui.Bridge, error) {
	e, err := c.open(0)
	if err != nil {
		return nil, err
	}
	options, err := (&turning{}).options(ctx, c, e)
	if err != nil {
		return nil, err
	}
	options.By = cmp.Or(by, event.User)
	return &cockpitBridge{c, e, options}, nil
}

// reporting are the options of turns whose steps are told to report.
func (b *cockpitBridge) reporting(report func(bridge.Progress)) bridge.Options {
	o := b.options
	o.Report = report
	return o
}

func (b *cockpitBridge) Programs() []tui.Program {
	list := make([]tui.Program, len(b.options.Providers))
	for i, p := range b.options.Providers {
		list[i] = tui.Program{Name: p.Name(), Scripted: p.Scripted()}
	}
	return list
}

func (b *cockpitBridge) Describe(program, agent string) (string, error) {
	for _, p := range b.options.Providers {
		if p.Name() == program {
			return p.Describe(b.options.Permissions(program, agent))
		}
	}
	return "", &engine.NotFoundError{Kind: "agent program", Name: program}
}

func (b *cockpitBridge) Plan(ctx context.Context, s bridge.Sessions) ([]bridge.Planned, error) {
	return bridge.Plan(ctx, b.engine, s, b.options)
}

func (b *cockpitBridge) Start(ctx context.Context, s bridge.Sessions, report func(bridge.Progress)) (tui.RunningBridge, error) {
	running, err := bridge.Start(ctx, b.engine, s, b.reporting(report))
	if err != nil {
		return nil, err // not a typed nil
	}
	return running, nil
}

func (b *cockpitBridge) Attach(ctx context.Context, ref bridge.Ref, dir string) (string, error) {
	var err error
	if ref.Session != "" || dir != "" { // an agent works where it did
		if dir, err = b.call.folder(dir); err != nil {
			return "", err
		}
	}
	s, err := bridge.Attach(ctx, b.engine, ref, dir, nil, b.options)
	return s.Agent, err
}

func (b *cockpitBridge) Open(ctx context.Context, program, dir, text string, report func(bridge.Progress)) (string, error) {
	dir, err := b.call.folder(dir)
	if err != nil {
		return "", err
	}
	opened, err := bridge.Open(ctx, b.engine, program, dir, text, b.reporting(report))
	return opened.Session.Agent, err
}

func (b *cockpitBridge) Send(ctx context.Context, agent, text string, report func(bridge.Progress)) error {
	_, err := bridge.Send(ctx, b.engine, agent, text, b.reporting(report))
	return err
}

func (b *cockpitBridge) Forget(ctx context.Context, agent string) (engine.Receipt, error) {
	return bridge.Forget(ctx, b.engine, agent, b.options.By)
}

func (b *cockpitBridge) Raise(ctx context.Context, agent string, limits bridge.Limits) (engine.Receipt, error) {
	return bridge.Raise(ctx, b.engine, agent, b.options.By, limits)
}

func (b *cockpitBridge) Cancel(ctx context.Context, turn string) (engine.Receipt, error) {
	return bridge.CancelTurn(ctx, b.engine, turn, b.options.By)
}

func (b *cockpitBridge) Retry(ctx context.Context, turn string) (engine.Receipt, error) {
	return bridge.Retry(ctx, b.engine, turn, b.options.By)
}

func (b *cockpitBridge) Skip(ctx context.Context, turn string) (engine.Receipt, error) {
	return bridge.Skip(ctx, b.engine, turn, b.options.By)
}
