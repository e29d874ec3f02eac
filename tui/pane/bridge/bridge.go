// Package bridge is the pane that shows the turns that Loadout starts by itself: whether a bridge runs and where, the sessions with their
// queues and caps, and each turn with what triggered it, how it stands, what it says, how long it took and what it cost.
package bridge

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
)

const nothing = "No session takes part. Press o to start one of an agent program, or + for one that there is; then B starts the bridge, " +
	"which tells each what the others do, as turns."

// Pane is the bridge pane.
type Pane struct {
	*pane.Listing
	snap    pane.Snapshot
	running int
	waiting int
	name    int // cells of the column of names
	queue   queue
}

// New makes the pane.
func New(look pane.Look) *Pane {
	return &Pane{Listing: pane.NewListing(look, "session or turn", nothing)}
}

// ID is the pane's name in commands.
func (p *Pane) ID() string { return "bridge" }

// Title is the pane's name in its frame.
func (p *Pane) Title() string { return "Bridge" }

// Scope is where the pane's keys are.
func (p *Pane) Scope() keymap.Scope { return keymap.Bridge }

// Status says first what waits for a person, then what runs.
func (p *Pane) Status() string {
	if s := p.Filtered(); s != "" {
		return s
	}
	var parts []string
	if p.waiting > 0 {
		parts = append(parts, fmt.Sprintf("%s %d for you", p.Warning, p.waiting))
	}
	if p.running > 0 {
		parts = append(parts, fmt.Sprintf("%d running", p.running))
	}
	if p.snap.Bridging.Here {
		parts = append(parts, "runs here")
	}
	return strings.Join(parts, ", ")
}

// NextChange is how soon a clock goes on, 0 when none runs.
func (p *Pane) NextChange() time.Duration {
	if p.running == 0 {
		return 0
	}
	next := time.Second
	for _, t := range p.snap.State.OpenTurns() {
		if p.snap.Bridging.Runs(&t) && t.Started != nil {
			next = min(next, time.Second-p.snap.Now.Sub(*t.Started)%time.Second)
		}
	}
	return next
}

// Apply takes a snapshot.
func (p *Pane) Apply(s pane.Snapshot, c pane.Changes) pane.Action {
	p.snap = s
	if c.Reset {
		p.queue = queue{serial: p.queue.serial + 1}
	}
	p.rebuild()
	return p.count()
}

// Loaded takes what waits for the sessions.
func (p *Pane) Loaded(key string, value any, err error) pane.Action {
	if key != p.queue.key() {
		return nil
	}
	p.queue.loading = false
	if found, ok := value.(map[string]waits); ok && err == nil {
		p.queue.found = found
		p.rebuild()
	} else if p.queue.found == nil {
		p.queue.found = map[string]waits{} // it is asked again when the log has gone on
	}
	return p.count()
}

// rebuild makes the rows.
func (p *Pane) rebuild() {
	s := p.snap
	p.running, p.waiting, p.name = 0, 0, 0
	named := func(agent string) { p.name = min(max(p.name, text.Width(text.Line(agent))), maxName) }
	turns, sessions := s.State.Turns(), s.State.Sessions()
	queued := map[string]waits{}
	byID := make(map[string]*state.Turn, len(turns))
	for i := range turns {
		t := &turns[i]
		byID[t.ID] = t
		named(t.Agent)
		switch {
		case s.Bridging.Runs(t):
			p.running++
		case t.Status == state.TurnQueued:
			w := queued[event.FoldName(t.Agent)]
			w.events += int(t.Events)
			queued[event.FoldName(t.Agent)] = w
		case t.Waits():
			p.waiting++
		}
	}
	var entries []pane.Entry
	add := func(wanted func(*state.Turn) bool) {
		for i := len(turns) - 1; i >= 0; i-- {
			if wanted(&turns[i]) {
				entries = append(entries, p.turn(turns[i]))
			}
		}
	}
	add((*state.Turn).Waits)
	if len(sessions) > 0 || len(turns) > 0 || s.Bridging.Holder != nil {
		entries = append(entries, p.bridge())
	}
	var resting []state.Session
	for _, x := range sessions {
		if s.State.Rests(x) {
			resting = append(resting, x)
			continue
		}
		named(x.Agent)
		name := event.FoldName(x.Agent)
		w := queued[name]
		if !s.Past {
			behind := p.queue.found[name]
			behind.events += w.events
			w = behind
		}
		entries = append(entries, p.session(x, byID[x.Running], w))
		if t := byID[x.Running]; t != nil && s.Bridging.Live[t.ID] != (pane.LiveTurn{}) {
			entries = append(entries, p.says(*t))
		}
	}
	if len(resting) > 0 {
		entries = append(entries, p.resting(resting))
	}
	for _, c := range s.State.Caps() {
		if c.Agent == "" && c.Limit > 0 {
			entries = append(entries, p.bound(c))
		}
	}
	add(func(t *state.Turn) bool { return !t.Waits() })
	p.Show(entries)
}
