// Package pane says what a pane of the cockpit is. A pane is a rectangle with one view of the project: it is given a size, the focus,
// snapshots and intents, and it draws exactly its rectangle. It does no I/O and knows no keys: what it needs from outside it returns as
// an Action.
package pane

import (
	"context"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/theme"
)

// Snapshot is the project as the panes show it. Nobody changes it once it is handed out.
type Snapshot struct {
	State    *state.State
	Tasks    *Tasks          // the open ones of the state
	Waiting  []state.Waiting // what waits for a person, the weightiest first, then the oldest; none in the past
	Now      time.Time
	Actor    string // who the cockpit acts as
	FoldCase bool   // paths that differ in case alone are the same
	Live     map[string]engine.Liveness
	Halted   *engine.HaltedError // nil: the kill switch is off
	Drift    *engine.DriftReport // which files git shows as changed, nil while that is not known, and in the past
	Bridging Bridging            // about turns, empty in the past
	Past     bool                // the state as of At, not as of now
	At       int64
}

// FindWaiting finds what waits for a person. It takes a look at all that is open, so it is not for the update loop.
func (s *Snapshot) FindWaiting() []state.Waiting {
	v := engine.View{State: s.State, Now: s.Now, Halted: s.Halted, Live: func(agent string) engine.Liveness {
		a, _ := s.State.Agent(agent)
		return s.Live[a.Name]
	}}
	return v.Waiting()
}

// Stale reports whether an agent's session is known to be over, so that what it holds may be taken over.
func (s *Snapshot) Stale(agent string) bool {
	a, ok := s.State.Agent(agent)
	return ok && engine.Stale(a, s.Live[a.Name])
}

// Changes is what is new since the snapshot before.
type Changes struct {
	Events []event.Event // stored since, in log order
	Reset  bool          // the log is another one: forget everything loaded from it
}

// Pane is one pane.
type Pane interface {
	ID() string          // its name in commands and flags
	Title() string       // its name in the frame
	Scope() keymap.Scope // where its keys are looked up first

	SetSize(w, h int, zoomed bool) // the cells inside its frame
	SetFocus(focused bool)
	SetFilter(filter string) Action // only rows that match are shown; empty: all
	Filter() string

	Apply(Snapshot, Changes) Action
	Handle(keymap.Intent) Action
	Loaded(key string, value any, err error) Action

	View() []string   // exactly h lines of w cells
	Blank() bool      // it has nothing to show, so that others may have its place
	Status() string   // a few words for the frame: "3 of 120"
	Preview() bool    // its detail is visible beside the list
	Subject() Subject // what the selected row is about
}

// Subject is what the selected row is about, to fill forms and the clipboard.
type Subject struct {
	Path  string
	Claim *state.Claim
	Agent string
	Seq   int64 // an event, -1 for none
	Text  string
	Turn  string         // id of a turn
	Wait  *state.Waiting // what waits for a person, nil when it is something else
}

// Action is what a pane wants from outside. nil is nothing.
//
//sumtype:decl
type Action interface{ isAction() }

// Ignored says that an intent is not for this pane.
type Ignored struct{}

// Load asks for data. Run is called outside of the update loop; its result comes back to the pane's Loaded with the same Key, which
// tells results that are no longer wanted from those that are.
type Load struct {
	Key string
	Run func(ctx context.Context, source Source) (any, error)
}

// Travel asks to show the project as of an event.
type Travel struct{ Seq int64 }

// Reveal asks for the room that the detail of the selected row needs: an intent has changed what it shows.
type Reveal struct{}

// Say tells the person why an intent shows nothing.
type Say struct{ Text string }

func (Ignored) isAction() {}
func (Load) isAction()    {}
func (Travel) isAction()  {}
func (Reveal) isAction()  {}
func (Say) isAction()     {}

// Source is where panes load from.
type Source interface {
	Events(ctx context.Context, q engine.Query) (engine.EventsResult, error)
	ContractBody(ctx context.Context, name string, revision int64) (engine.ContractText, error)
	Diff(ctx context.Context, name string, from, to int64) (engine.ContractDiff, error)
}

// Look is how panes draw.
type Look struct {
	*theme.Theme
	Owners *theme.Owners
}
