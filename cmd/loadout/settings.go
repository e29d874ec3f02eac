package main

import (
	"errors"
	"runtime"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/settings"
)

// settings are what the person and the project have set. With an error they are what is valid of it: a slip in a file must not stop
// verbs that agents depend on, so only callers that a person watches refuse it.
func (c *call) settings(p engine.Project) (settings.Settings, error) {
	s, err := c.readSettings(p)
	var invalid *settings.InvalidError
	if !errors.As(err, &invalid) {
		return s, err
	}
	refusal := &engine.UsageError{Message: invalid.Problems[0].String()}
	for _, p := range invalid.Problems[1:] {
		refusal.Hints = append(refusal.Hints, p.String())
	}
	return s, refusal
}

// readSettings is settings with an error that names every fault.
func (c *call) readSettings(p engine.Project) (settings.Settings, error) {
	return settings.Load(settings.UserPath(runtime.GOOS, c.home, c.env), p.Dir)
}
