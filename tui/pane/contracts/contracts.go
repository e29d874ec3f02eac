// Package contracts is the pane that shows the agreements between agents: the latest revision of each, who published it, and which
// revision each of its readers has acknowledged. Its detail has the body, the history, and the difference between revisions.
package contracts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
)

// listShare is the percentage of a wide pane that the list takes; the rest shows bodies and differences.
const listShare = 36

// order is how the contracts are sorted.
type order int

const (
	byName   order = iota
	byAge          // the newest revision first
	byUnread       // those that most readers have not read first
	orders
)

var orderNames = [orders]string{"", "by age", "by unread"}

// Pane is the contracts pane.
type Pane struct {
	pane.Browser
	snap      pane.Snapshot
	all       []state.Contract
	contracts []state.Contract // those that match the filter
	name      int              // cells of the name column
	publisher int              // cells of the publisher column
	// readersWidth is the cells that the longest row of readers takes.
	readersWidth int

	order order

	revision int64 // shown in the detail, 0: the latest
	base     int64 // that it is compared with, 0: the one before
	diff     bool  // the detail shows how they differ
	unified  bool  // one below the other even where there is room for both sides
	narrow   bool  // there was no room for both sides
	asked    bool  // for both sides, without the room
	loaded   map[string]result
	pending  string
}

// New makes the pane.
func New(look pane.Look) *Pane {
	p := &Pane{loaded: map[string]result{}}
	p.Browser = pane.NewBrowser(look, (*rows)(p), false)
	p.ListShare = listShare
	return p
}

// ID is the pane's name in commands.
func (p *Pane) ID() string { return "contracts" }

// Title is the pane's name in its frame.
func (p *Pane) Title() string { return "Contracts" }

// Scope is where the pane's keys are.
func (p *Pane) Scope() keymap.Scope { return keymap.Contracts }

// Status counts the contracts and those that somebody has not read.
func (p *Pane) Status() string {
	var parts []string
	unread := 0
	for i := range p.all {
		if behind(&p.all[i]) > 0 {
			unread++
		}
	}
	switch {
	case p.Filter() != "":
		parts = append(parts, fmt.Sprintf("%d of %d", len(p.contracts), len(p.all)))
	case unread > 0:
		parts = append(parts, fmt.Sprintf("%d not read by all", unread))
	}
	if p.order != byName {
		parts = append(parts, orderNames[p.order])
	}
	return strings.Join(parts, ", ")
}

// behind counts the readers that have not acknowledged the latest revision.
func behind(c *state.Contract) int {
	n := 0
	for i := range c.Readers {
		if c.Readers[i].Behind > 0 {
			n++
		}
	}
	return n
}

// Apply takes a snapshot.
func (p *Pane) Apply(s pane.Snapshot, c pane.Changes) pane.Action {
	if s.State != p.snap.State { // a state does not change, and who has read what takes long to find out where there are many
		p.all = s.State.Contracts()
	}
	p.snap = s
	if c.Reset {
		clear(p.loaded)
		p.pending = ""
	}
	p.rebuild()
	return p.want()
}

// SetFilter shows only contracts that match.
func (p *Pane) SetFilter(filter string) pane.Action {
	p.KeepFilter(filter)
	p.rebuild()
	return p.want()
}

func (p *Pane) rebuild() {
	selected := p.selectedName()
	p.contracts = p.contracts[:0:0]
	p.name, p.publisher, p.readersWidth = 0, 0, 0
	for _, c := range p.all {
		if p.matches(&c) {
			p.contracts = append(p.contracts, c)
			p.name = max(p.name, text.Width(text.Line(c.Name)))
			p.publisher = min(max(p.publisher, text.Width(text.Line(c.Publisher))), 16)
			if p.readersWidth < withPublisher { // more makes no difference, and there may be hundreds of readers
				p.readersWidth = max(p.readersWidth, (*rows)(p).readers(&c, true).Width())
			}
		}
	}
	p.sort()
	p.List.SetLen(len(p.contracts))
	for i, c := range p.contracts {
		if c.Name == selected {
			p.List.Reselect(i)
		}
	}
	if p.selectedName() != selected {
		p.revision, p.base = 0, 0
	}
	p.Changed()
}

// matches reports whether a contract is shown: its words match, its text, or who reads it.
func (p *Pane) matches(c *state.Contract) bool {
	if p.Filter() == "" {
		return true
	}
	said := []string{c.Name, c.Publisher, c.Format, c.Body}
	for _, r := range c.Readers {
		said = append(said, r.Agent)
	}
	if behind(c) > 0 {
		said = append(said, "unread")
	}
	return pane.Matches(p.Filter(), said...)
}

func (p *Pane) sort() {
	slices.SortStableFunc(p.contracts, func(a, b state.Contract) int {
		first := 0
		switch p.order {
		case byAge:
			first = b.At.Compare(a.At)
		case byUnread:
			first = cmp.Compare(behind(&b), behind(&a))
		case byName, orders:
		}
		return cmp.Or(first, strings.Compare(event.FoldName(a.Name), event.FoldName(b.Name)))
	})
}

func (p *Pane) selected() *state.Contract {
	if i := p.List.Cursor(); i >= 0 && i < len(p.contracts) {
		return &p.contracts[i]
	}
	return nil
}

func (p *Pane) selectedName() string {
	if c := p.selected(); c != nil {
		return c.Name
	}
	return ""
}

// Handle moves, sorts, opens, and chooses what the detail shows.
func (p *Pane) Handle(intent keymap.Intent) pane.Action {
	before := p.selectedName()
	switch {
	case p.choose(intent):
		if !p.DetailShown() && p.selected() != nil {
			return pane.Reveal{}
		}
	case intent == keymap.Sort:
		p.order = (p.order + 1) % orders
		p.rebuild()
	case !p.Browse(intent):
		return pane.Ignored{}
	}
	if p.selectedName() != before {
		p.revision, p.base = 0, 0
	}
	p.Changed()
	return p.want()
}

// choose changes what the detail shows. It reports false for intents that do not. What cannot be seen is not toggled, but shown.
func (p *Pane) choose(intent keymap.Intent) bool {
	seen := p.DetailShown()
	switch intent {
	case keymap.Diff:
		p.diff = !p.diff || !seen
	case keymap.OlderRevision:
		p.step(-1)
	case keymap.NewerRevision:
		p.step(1)
	case keymap.OlderBase:
		p.stepBase(-1)
	case keymap.NewerBase:
		p.stepBase(1)
	case keymap.Columns:
		switch {
		case !seen || !p.diff:
		case p.narrow:
			p.asked = !p.asked
		default:
			p.unified = !p.unified
		}
		p.diff = true
	default:
		return false
	}
	return true
}

// Subject is the selected contract; its copy is the body.
func (p *Pane) Subject() pane.Subject {
	c := p.selected()
	if c == nil {
		return pane.Subject{Seq: -1}
	}
	s := pane.Subject{Seq: c.Seq, Agent: c.Publisher, Text: c.Body}
	if r, ok := p.loaded[p.key(c)]; ok && r.err == nil {
		if s.Text = r.body.Body; p.diff {
			s.Text = r.diff.Unified()
		}
	}
	return s
}
