package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/agentloadout/loadout/cmd/loadout/connect"
	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/settings"
)

type guardCmd struct {
	Mode   string `placeholder:"WORD" help:"deny, ask or warn: what becomes of an edit of a path that another agent owns."`
	Halted string `placeholder:"WORD" help:"deny, ask or warn: what becomes of an edit while the kill switch is on."`
	Claim  *bool  `placeholder:"BOOL" negatable:"" help:"Claim what nobody owns for the agent that edits it, for half an hour; --no-claim: no more."`
}

func (guardCmd) Help() string {
	return "Set in the project's .handoff/settings.json; for a person. The hooks of connected programs go by it: loadout connect.\n\n" + examples(
		"loadout coord guard",
		"loadout coord guard --mode ask",
		"loadout coord guard --claim",
	)
}

func (o *guardCmd) run(_ context.Context, c *call) error {
	for _, mode := range []string{o.Mode, o.Halted} {
		if mode != "" && mode != "deny" && mode != "ask" && mode != "warn" {
			return &engine.UsageError{Message: fmt.Sprintf("%q is none of deny, ask, warn", mode)}
		}
	}
	e, err := c.open(0)
	if err != nil {
		return err
	}
	if o.Mode != "" || o.Halted != "" || o.Claim != nil {
		if err := o.set(e); err != nil {
			return err
		}
	}
	set, err := c.settings(e.Project())
	if err != nil {
		return err
	}
	g := set.Guard
	return c.answer(g, func() {
		c.printf("An edit of what another agent owns exclusively: %s\nAn edit while the kill switch is on: %s\n", g.Mode, g.Halted)
		c.printf("An edit of what nobody owns: %s\n", map[bool]string{true: "claims it for half an hour", false: "is let through"}[g.Claim])
	})
}

// set writes what the flags say into the project's settings. An agent cannot loosen the guard on itself.
func (o *guardCmd) set(e *engine.Engine) error {
	if e.UnderAgent() {
		return &engine.ConflictError{
			Kind: engine.ConflictIdentity, Want: -1, Have: -1,
			Message: "the guard is set by a person, not by an agent", Hints: []string{"ask your user to run it"},
		}
	}
	if err := e.MakeDir(); err != nil {
		return err
	}
	values := map[string]any{}
	for key, value := range map[string]string{"mode": o.Mode, "halted": o.Halted} {
		if value != "" {
			values[key] = value
		}
	}
	if o.Claim != nil {
		values["claim"] = *o.Claim
	}
	path := filepath.Join(e.Project().Dir, settings.ProjectFile)
	if err := connect.SetJSON(path, "guard", values); err != nil {
		return &engine.ValidationError{Field: path, Reason: "is left as it is: " + err.Error()}
	}
	return nil
}
