package tui

import (
	"context"
	"io"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/pane"
)

// Engine is the part of the engine that the cockpit uses. *engine.Engine is one.
type Engine interface {
	pane.Source
	Project() engine.Project
	View(ctx context.Context) (*engine.View, error)
	FollowFrom(ctx context.Context, v *engine.View, fn func(engine.Delivery) error) error
	Drift(ctx context.Context) (engine.DriftReport, error)
	StateAt(ctx context.Context, seq int64) (*state.State, error)
	Do(ctx context.Context, r engine.Request) (engine.Receipt, error)
	Kill(ctx context.Context, by, reason string) (engine.Receipt, error)
	Resume(ctx context.Context, by string) (engine.Receipt, error)
	BridgeHolder(ctx context.Context) (*engine.LockedError, error)
}

var _ Engine = (*engine.Engine)(nil)

// Discussion is one that is held in this process. *discuss.Discussion is one.
type Discussion interface {
	// Live is how it stands now.
	Live() discuss.Live
	// Changed has a token whenever Live is another than before.
	Changed() <-chan struct{}
}

// Runner runs the headless verbs inside of the cockpit, for its command line.
type Runner interface {
	// Run runs a verb and writes what it prints to out. A refusal is returned, and not printed.
	Run(ctx context.Context, argv []string, out io.Writer) error
	// Complete lists what the last word of an unfinished line could become. It must be quick.
	Complete(line string) []string
	// InPast reports whether a line may be run while the past is shown: it changes nothing, or works the kill switch.
	InPast(argv []string) bool
}
