package pane

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
)

// Bridging is what is known about turns beyond the log. Nobody changes it once it is handed out.
type Bridging struct {
	Known  bool                // it was asked whether a bridge runs
	Here   bool                // this process runs it
	Holder *engine.LockedError // who runs a bridge or discussion, this process included; nil: nobody
	Lost   []string            // ids of turns that the log shows as running though their process is gone
	Live   map[string]LiveTurn // turns that this process makes or made, by id
	Notes  []BridgeNote        // what the log does not tell, the newest last
}

// Runs reports whether a turn runs, and not only the log says so.
func (b *Bridging) Runs(t *state.Turn) bool {
	return t.Status == state.TurnRunning && !slices.Contains(b.Lost, t.ID)
}

// LiveTurn is what the program of a turn has said.
type LiveTurn struct {
	Text     string        // cleaned, its end; the whole answer once it is over
	Cut      bool          // there was more
	Doing    string        // the tool that it uses, cleaned
	Deadline time.Duration // how long the turn may take
	Over     bool
}

// BridgeNote is a word of a bridge, cleaned.
type BridgeNote struct {
	At    time.Time
	Agent string // whom it is about, empty: all
	Text  string
}

// Clock writes a duration as minutes and seconds: 00:14, 72:05.
func Clock(d time.Duration) string {
	s := int(max(d, 0).Seconds())
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}
