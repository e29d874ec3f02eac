// Package contracts is the pane that shows the agreements between agents: the latest revision of each, who published it, and which
// revision each of its readers has acknowledged. Its detail has the body, the history, and the difference between revisions.
package contracts

import (
	"context"
	"fmt"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
)

// maxLoaded bounds the bodies and differences that are kept.
const maxLoaded = 64

// Pane is the contracts pane.
type Pane struct {
	pane.Browser
	snap      pane.Snapshot
	all       []state.Contract
	contracts []state.Contract // those that match the filter
	name      int              // cells of the name column
	publisher int              // cells of the publisher column

	revision int64 // shown in the detail, 0: the latest
	diff     bool  // the detail shows what the revision changed
	loaded   map[string]result
	pending  string
}

// result is what a Load brought.
type result struct {
	body engine.ContractText
	diff engine.ContractDiff
	err  error
}

// New makes the pane.
func New(look pane.Look) *Pane {
	p := &Pane{loaded: map[string]result{}}
	p.Browser = pane.NewBrowser(look, (*rows)(p), false)
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
	if p.Filter() != "" {
		return fmt.Sprintf("%d of %d", len(p.contracts), len(p.all))
	}
	unread := 0
	for _, c := range p.all {
		for _, r := range c.Readers {
			if r.Behind > 0 {
				unread++
				break
			}
		}
	}
	if unread > 0 {
		return fmt.Sprintf("%d not read by all", unread)
	}
	return ""
}

// Apply takes a snapshot.
func (p *Pane) Apply(s pane.Snapshot, c pane.Changes) pane.Action {
	p.snap = s
	p.all = s.State.Contracts()
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
	var selected string
	if c := p.selected(); c != nil {
		selected = c.Name
	}
	p.contracts = p.contracts[:0:0]
	p.name, p.publisher = 0, 0
	for _, c := range p.all {
		if pane.Matches(p.Filter(), c.Name, c.Publisher, c.Format) {
			p.contracts = append(p.contracts, c)
			p.name = max(p.name, text.Width(text.Line(c.Name)))
			p.publisher = min(max(p.publisher, text.Width(text.Line(c.Publisher))), 16)
		}
	}
	p.List.SetLen(len(p.contracts))
	for i, c := range p.contracts {
		if c.Name == selected {
			p.List.Reselect(i)
		}
	}
	if c := p.selected(); c == nil || c.Name != selected {
		p.revision = 0
	}
	p.Changed()
}

func (p *Pane) selected() *state.Contract {
	if i := p.List.Cursor(); i >= 0 && i < len(p.contracts) {
		return &p.contracts[i]
	}
	return nil
}

// Handle moves, opens, and chooses what the detail shows.
func (p *Pane) Handle(intent keymap.Intent) pane.Action {
	before := p.List.Cursor()
	switch intent {
	case keymap.Diff:
		p.diff = !p.diff
	case keymap.OlderRevision:
		p.step(-1)
	case keymap.NewerRevision:
		p.step(1)
	default:
		if !p.Browse(intent) {
			return pane.Ignored{}
		}
	}
	if p.List.Cursor() != before {
		p.revision = 0
	}
	p.Changed()
	return p.want()
}

// step chooses the revision before or after the one shown.
func (p *Pane) step(d int) {
	c := p.selected()
	if c == nil {
		return
	}
	at := len(c.History) - 1
	for i, r := range c.History {
		if r.Revision == p.revision {
			at = i
		}
	}
	if at = max(min(at+d, len(c.History)-1), 0); at < len(c.History) {
		p.revision = c.History[at].Revision
	}
}

// shown is the revision that the detail shows.
func (p *Pane) shown(c *state.Contract) int64 {
	if p.revision == 0 {
		return c.Revision
	}
	return p.revision
}

// before is the revision that a revision replaced, 0 for the first.
func before(c *state.Contract, revision int64) int64 {
	var older int64
	for _, r := range c.History {
		if r.Revision < revision && r.Revision > older {
			older = r.Revision
		}
	}
	return older
}

// want asks for what the detail shows and has not loaded yet.
func (p *Pane) want() pane.Action {
	c := p.selected()
	if c == nil || !p.DetailShown() {
		return nil
	}
	name, revision := c.Name, p.shown(c)
	key := p.key(c)
	if _, ok := p.loaded[key]; ok || key == p.pending {
		return nil
	}
	if p.diff {
		p.pending = key
		return pane.Load{Key: key, Run: func(ctx context.Context, s pane.Source) (any, error) {
			return s.Diff(ctx, name, before(c, revision), revision)
		}}
	}
	if revision == c.Revision {
		return nil
	}
	p.pending = key
	return pane.Load{Key: key, Run: func(ctx context.Context, s pane.Source) (any, error) {
		return s.ContractBody(ctx, name, revision)
	}}
}

func (p *Pane) key(c *state.Contract) string {
	return fmt.Sprintf("%v %d %s", p.diff, p.shown(c), c.Name)
}

// Loaded takes a body or a difference.
func (p *Pane) Loaded(key string, value any, err error) pane.Action {
	if key != p.pending {
		return nil // of a log that is gone, or not wanted any more
	}
	p.pending = ""
	if len(p.loaded) >= maxLoaded {
		clear(p.loaded)
	}
	r := result{err: err}
	switch v := value.(type) {
	case engine.ContractText:
		r.body = v
	case engine.ContractDiff:
		r.diff = v
	}
	p.loaded[key] = r
	p.Changed()
	return p.want()
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
