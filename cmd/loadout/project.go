package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/providers"
)

// open finds the project and makes its engine, once for each call. lockWait 0 takes the engine's default.
func (c *call) open(lockWait time.Duration) (*engine.Engine, error) {
	if c.opened != nil {
		return c.opened, nil
	}
	project, err := engine.Discover(engine.Where{
		Flag: c.Project,
		Env:  c.env("LOADOUT_PROJECT"),
		Dir:  c.dir,
		Home: c.home,
	})
	if err != nil && (c.Project != "" || c.env("LOADOUT_PROJECT") != "") {
		return nil, &engine.UsageError{Message: err.Error(), Hints: []string{"loadout --help    says how the project is found"}}
	} else if err != nil {
		return nil, err
	}
	set, _ := c.settings(project) //nolint:errcheck // what is valid of them holds
	c.opened = engine.Open(project, engine.Options{
		Command:  "loadout " + c.name,
		Clock:    c.now,
		Env:      c.callerEnv,
		Host:     c.host,
		FS:       c.files,
		Dir:      c.dir,
		Reaper:   providers.Reaper{},
		LockWait: lockWait,

		CompactAbove: int64(set.Compaction.Above),
	})
	return c.opened, nil
}

// callerEnv is the environment in which the engine looks for who calls.
func (c *call) callerEnv(name string) string {
	if name == engine.EnvAgent && c.caller != "" {
		return c.caller
	}
	return c.env(name)
}

// paths turns typed paths, relative to the working directory, into stored ones, relative to the top of the project.
func (c *call) paths(e *engine.Engine, typed []string) ([]string, error) {
	stored := make([]string, 0, len(typed))
	for _, t := range typed {
		p, err := e.Project().Rel(c.dir, t)
		if err != nil && utf8.RuneCountInString(t) > event.MaxPath { // the system's words for that name no limit
			return nil, &engine.ValidationError{Field: "path", Reason: fmt.Sprintf("%q has more than %d characters", event.Clip(t, 40), event.MaxPath)}
		}
		if err != nil {
			return nil, &engine.ValidationError{Field: "path", Reason: strings.TrimPrefix(err.Error(), "path ")}
		}
		if clean, err := event.CleanPath(p); err == nil && strings.TrimSpace(p) != "" { // else the engine says what is wrong with it
			p = clean
		}
		stored = append(stored, p)
	}
	return stored, nil
}

// agent resolves a name that is only looked at: 'me' is the calling agent, every other name is itself.
func (c *call) agent(ctx context.Context, e *engine.Engine, name string) (string, error) {
	if !event.SameName(name, engine.Me) {
		return name, nil
	}
	return c.identify(ctx, e, cmp.Or(c.Agent, name))
}

// identify says who acts, see engine.Engine.Identify. In a cockpit that is who it acts as.
func (c *call) identify(ctx context.Context, e *engine.Engine, explicit string) (string, error) {
	named := func(name string) bool { return name != "" && !event.SameName(name, engine.Me) }
	switch {
	case c.actor == nil || named(explicit) || named(c.As):
		return e.Identify(ctx, explicit, c.As)
	case *c.actor != "":
		return *c.actor, nil
	case explicit == "" && c.As == "":
		return event.User, nil
	}
	return "", &engine.UsageError{
		Message: "this cockpit acts as a person, so me stands for no agent here",
		Hints:   []string{"name the agent instead of me", "loadout tui --agent AGENT    opens a cockpit that acts as it"},
	}
}

// reader resolves for whom a verb reads, which is a name that an agent can have. When that is who calls, reading is a sign of its life.
func (c *call) reader(ctx context.Context, e *engine.Engine, name string) (string, error) {
	agent, err := c.agent(ctx, e, name)
	if err != nil {
		return "", err
	}
	if err := event.CheckName(agent); err != nil {
		return "", err
	}
	if caller, err := c.identify(ctx, e, c.Agent); err == nil && event.SameName(caller, agent) {
		e.Beat(ctx, agent)
	}
	return agent, nil
}

// actor is whom a write is stored as, and who really acts.
type actor struct {
	name string
	by   string // empty unless a person acts as an agent
}

// acting resolves who writes. The kill switch comes before whatever else may be wrong. named is the agent that the verb names: 'me' or
// "" stands for the caller. When a person acts as an agent with --as, the record says so.
func (c *call) acting(ctx context.Context, e *engine.Engine, named string) (actor, error) {
	halted, err := e.Halted()
	if err != nil {
		return actor{}, err
	}
	if halted != nil {
		return actor{}, halted
	}
	return c.actingHalted(ctx, e, named)
}

// actingHalted is acting for a write that the kill switch lets through.
func (c *call) actingHalted(ctx context.Context, e *engine.Engine, named string) (actor, error) {
	if named == "" || event.SameName(named, engine.Me) {
		named = cmp.Or(c.Agent, named)
	} else if c.As != "" && !event.SameName(c.As, engine.Me) && !event.SameName(named, c.As) {
		return actor{}, &engine.UsageError{Message: fmt.Sprintf("the verb names %s, --as names %s", named, c.As)}
	}
	name, err := c.identify(ctx, e, named)
	if err != nil || c.As == "" && c.actor == nil {
		return actor{name: name}, err
	}
	return c.behind(ctx, e, name)
}

// behind is an actor whose name a person may be using.
func (c *call) behind(ctx context.Context, e *engine.Engine, name string) (actor, error) {
	caller := event.User // who sits at a cockpit
	if c.actor == nil {
		var err error
		if caller, err = e.Identify(ctx, "", ""); err != nil {
			return actor{}, err
		}
	}
	who := actor{name: name}
	if event.SameName(caller, event.User) && !event.SameName(name, event.User) {
		who.by = event.User
	}
	return who, nil
}
