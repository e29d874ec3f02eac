// Package tui is the cockpit: it shows a project live on a terminal and acts on it through the engine. It keeps no truth of its own.
//
// There is one model. A goroutine follows the log, folds it, and leaves the newest state in a mailbox; the model takes it at most once a
// frame, hands panes a snapshot, and draws a frame only when something has changed. Everything that can wait, which is all I/O, runs in
// commands outside of the update loop and comes back as a message.
//
// A further pane is a package below pane and a line in newPanes; a further key is a line in package keymap.
package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/settings"
	"github.com/agentloadout/loadout/engine/state"
	_ "github.com/agentloadout/loadout/tui/noprobe" // before Bubble Tea
)

// Now is Options.At for the present.
const Now int64 = -1

// Options are what the cockpit needs. Engine is required; At must be Now or a sequence number.
type Options struct {
	Engine Engine
	Runner Runner // runs the verbs of the command line; nil: there is none
	Bridge Bridge // gives turns to sessions of agent programs; nil: it cannot be done from here
	// Settle ends what turns left running that nobody makes any more, for who halts everything; nil: there are none.
	Settle func(ctx context.Context) error

	Settings settings.Settings // the zero value sets nothing, not even the defaults

	Agent   string // who the cockpit acts as, default the person
	Theme   string // in place of the one of the settings
	ASCII   bool   // draw without box characters
	Mouse   bool   // listen to the mouse
	NoColor bool
	Colors  int    // 0: as the environment says; else 16, 256 or 1<<24
	Pane    string // the pane that has the focus first, default the first
	At      int64  // show the project as of this event; Now: live

	Discussion Discussion // held in this process: its pane fills the window, and shows what is being said; nil: none
	Stage      Discussion // the one that a verb of Runner holds, one after the other; its Live is never Over; nil: there is none

	In, Out *os.File // the terminal, for Run
	// HoldInterrupt keeps an interrupt (Ctrl-C) from ending ctx while another program has the terminal, until it is released; nil: nothing does.
	HoldInterrupt func() (release func())
	Environment   func(name string) string // default os.Getenv
	Clock         func() time.Time         // default time.Now

	fold func(engine.Delivery, *state.State) *state.State // default Delivery.Fold; deliveries that a test makes have no line numbers
}

func (o Options) withDefaults() (Options, error) {
	if o.Engine == nil {
		return o, errors.New("the cockpit needs an engine")
	}
	if o.At < Now {
		return o, &engine.UsageError{Message: fmt.Sprintf("%d is not the number of an event", o.At)}
	}
	if o.Agent == "" {
		o.Agent = event.User
	}
	if o.Environment == nil {
		o.Environment = os.Getenv
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Settle == nil {
		o.Settle = func(context.Context) error { return nil }
	}
	if o.HoldInterrupt == nil {
		o.HoldInterrupt = func() func() { return func() {} }
	}
	if o.fold == nil {
		o.fold = engine.Delivery.Fold
	}
	return o, nil
}

// Panes lists the names that Options.Pane takes.
func Panes() []string {
	return []string{"ownership", "contracts", "discussion", "bridge", "work", "gates", "timeline", "agents"}
}

func (m *model) unknownPane(id string) error {
	return &engine.UsageError{Message: fmt.Sprintf("no pane %s; there are %s", id, strings.Join(Panes(), ", "))}
}

// Run shows the cockpit until the person quits, ctx ends, or the terminal is gone, and gives the terminal back as it was. It needs a
// terminal for its input and its output. The error is nil when the person quit and ctx's when it ended.
func Run(ctx context.Context, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	if o.In == nil || o.Out == nil {
		return errors.New("the cockpit needs a terminal to run in")
	}
	if o.Environment("TERM") == "dumb" {
		return &engine.UsageError{
			Message: "this terminal cannot draw (TERM is dumb)",
			Hints:   []string{"loadout tui --plain    to read the same as text"},
		}
	}
	return run(ctx, o)
}
