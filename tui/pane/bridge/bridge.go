// Package bridge is the pane that shows the turns that Loadout starts by itself: sessions, their queues, and what each turn cost.
package bridge

import (
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/theme"
)

// Pane is the bridge pane.
type Pane struct {
	pane.Browser
	snap pane.Snapshot
}

// New makes the pane.
func New(look pane.Look) *Pane {
	p := &Pane{}
	p.Browser = pane.NewBrowser(look, (*rows)(p), false)
	return p
}

// ID is the pane's name in commands.
func (p *Pane) ID() string { return "bridge" }

// Title is the pane's name in its frame.
func (p *Pane) Title() string { return "Bridge" }

// Scope is where the pane's keys are.
func (p *Pane) Scope() keymap.Scope { return keymap.Bridge }

// Status has nothing to say while there is no row.
func (p *Pane) Status() string { return "" }

// Apply takes a snapshot.
func (p *Pane) Apply(s pane.Snapshot, _ pane.Changes) pane.Action {
	p.snap = s
	p.Changed()
	return nil
}

// SetFilter shows only rows that match.
func (p *Pane) SetFilter(filter string) pane.Action {
	p.KeepFilter(filter)
	p.Changed()
	return nil
}

// Loaded is never called: the pane loads nothing.
func (p *Pane) Loaded(string, any, error) pane.Action { return nil }

// Handle moves and opens.
func (p *Pane) Handle(intent keymap.Intent) pane.Action {
	if !p.Browse(intent) {
		return pane.Ignored{}
	}
	return nil
}

// Subject is nothing while there is no row.
func (p *Pane) Subject() pane.Subject { return pane.Subject{Seq: -1} }

// rows draws the pane's rows and its detail.
type rows Pane

// Empty says why there is no row.
func (p *rows) Empty() string {
	return "No session is bridged. This build does not start turns by itself yet; when it does, loadout agents bridge fills this pane."
}

// Row is never called: there is no row.
func (p *rows) Row(int, int) (left, right theme.Spans) { return nil, nil }

// Detail is never called: there is no row.
func (p *rows) Detail(int) []theme.Spans { return nil }
