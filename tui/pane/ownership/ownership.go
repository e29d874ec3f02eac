// Package ownership is the pane that shows who holds which path: a tree of the claimed paths with holder, mode, age and reason, marked
// where files changed in the working tree of somebody else; and the changed files that nobody has claimed.
package ownership

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
)

// soon is how near the end of a claim must be to be counted by the second.
const soon = 2 * time.Minute

// order is how the rows are sorted.
type order int

const (
	byPath order = iota // as a tree
	byAge               // the newest first
	byAgent
	orders
)

var orderNames = [orders]string{"", "by age", "by agent"}

// Pane is the ownership pane.
type Pane struct {
	pane.Browser
	snap      pane.Snapshot
	claims    []state.Claim
	shown     []state.Claim // those that match the filter
	drift     drift
	rows      []row
	order     order
	closed    map[string]bool
	unclaimed bool // the changed files that nobody has claimed are listed
	columns   columns
}

// New makes the pane.
func New(look pane.Look) *Pane {
	p := &Pane{closed: map[string]bool{}}
	p.Browser = pane.NewBrowser(look, (*rows)(p), false)
	return p
}

// ID is the pane's name in commands.
func (p *Pane) ID() string { return "ownership" }

// Title is the pane's name in its frame.
func (p *Pane) Title() string { return "Ownership" }

// Scope is where the pane's keys are.
func (p *Pane) Scope() keymap.Scope { return keymap.Ownership }

// Status counts the claims, and the files that changed elsewhere.
func (p *Pane) Status() string {
	var parts []string
	switch {
	case p.Filter() != "":
		parts = append(parts, fmt.Sprintf("%d of %s", len(p.shown), words.Plural(len(p.claims), "claim")))
	case len(p.claims) > 0:
		parts = append(parts, words.Plural(len(p.claims), "claim"))
	}
	if p.drift.files > 0 {
		parts = append(parts, fmt.Sprintf("%s %d drift", p.Drift, p.drift.files))
	}
	if p.order != byPath {
		parts = append(parts, orderNames[p.order])
	}
	return strings.Join(parts, ", ")
}

// Apply takes a snapshot.
func (p *Pane) Apply(s pane.Snapshot, _ pane.Changes) pane.Action {
	old, claims := p.snap, p.claims
	if p.snap = s; s.State != old.State {
		p.claims = s.State.Claims()
	}
	// Most news are about something else. A tree of thousands of claims is not built for them; the filter looks at more than claims.
	if old.State == nil || p.Filter() != "" || s.Drift != old.Drift || s.FoldCase != old.FoldCase || !slices.EqualFunc(claims, p.claims, same) {
		p.rebuild()
		return nil
	}
	p.columns = p.measure()
	p.Changed()
	return nil
}

// same reports whether two claims show the same.
func same(a, b state.Claim) bool {
	until := func(c *state.Claim) time.Time {
		if c.ExpiresAt == nil {
			return time.Time{}
		}
		return *c.ExpiresAt
	}
	return a.Path == b.Path && a.Agent == b.Agent && a.Mode == b.Mode && a.Reason == b.Reason && a.Seq == b.Seq && a.Fence == b.Fence &&
		a.Since.Equal(b.Since) && until(&a).Equal(until(&b))
}

// SetFilter shows only claims and changes that match.
func (p *Pane) SetFilter(filter string) pane.Action {
	p.KeepFilter(filter)
	p.rebuild()
	return nil
}

// Loaded is never called: the pane loads nothing.
func (p *Pane) Loaded(string, any, error) pane.Action { return nil }

// rebuild makes the rows anew and keeps the selected one selected.
func (p *Pane) rebuild() {
	var selected string
	if r := p.selected(); r != nil {
		selected = r.key()
	}
	p.drift = sortDrift(&p.snap, p.claims, p.Filter())
	p.shown = p.shown[:0:0]
	for i := range p.claims {
		if p.matches(&p.claims[i]) {
			p.shown = append(p.shown, p.claims[i])
		}
	}
	if p.order == byPath {
		p.rows = buildTree(p.shown, p.drift.inTree).rows(p.closed)
	} else {
		p.rows = p.flat()
	}
	p.addUnclaimed()
	p.columns = p.measure()
	p.List.SetLen(len(p.rows))
	for i := range p.rows {
		if p.rows[i].key() == selected {
			p.List.Reselect(i)
			break
		}
	}
	p.Changed()
}

// matches reports whether a claim is shown: its words match, or those of its state.
func (p *Pane) matches(c *state.Claim) bool {
	if p.Filter() == "" {
		return true
	}
	said := []string{c.Path, c.Agent, string(c.Mode), c.Reason}
	if p.snap.Stale(c.Agent) {
		said = append(said, "stale")
	}
	if len(p.foreignTo(c)) > 0 {
		said = append(said, "drift")
	}
	return pane.Matches(p.Filter(), said...)
}

// flat lists the claims in an order that makes no tree.
func (p *Pane) flat() []row {
	sorted := slices.Clone(p.shown)
	slices.SortStableFunc(sorted, func(a, b state.Claim) int {
		if p.order == byAge {
			return b.Since.Compare(a.Since)
		}
		return cmp.Or(strings.Compare(event.FoldName(a.Agent), event.FoldName(b.Agent)), strings.Compare(a.Path, b.Path))
	})
	list := make([]row, 0, len(sorted))
	for i := range sorted {
		n := &node{path: sorted[i].Path, claims: sorted[i : i+1]}
		list = append(list, row{node: n, claim: &n.claims[0], label: n.path})
	}
	return list
}

// addUnclaimed adds the changed files that nobody has claimed, below a heading.
func (p *Pane) addUnclaimed() {
	if p.drift.bare == 0 || p.Filter() != "" && len(p.drift.unclaimed) == 0 {
		return
	}
	open := p.unclaimed || p.Filter() != ""
	p.rows = append(p.rows, row{node: &node{}, kind: ofUnclaimed, closed: !open})
	for i := range p.drift.unclaimed {
		if !open {
			return
		}
		d := p.drift.unclaimed[i : i+1]
		p.rows = append(p.rows, row{
			node: &node{path: d[0].Path, drift: d}, kind: ofChange, label: d[0].Path, trunk: []bool{false}, last: i == len(p.drift.unclaimed)-1,
		})
	}
}

func (p *Pane) selected() *row {
	if i := p.List.Cursor(); i >= 0 && i < len(p.rows) {
		return &p.rows[i]
	}
	return nil
}

// Handle moves, sorts, opens and folds.
func (p *Pane) Handle(intent keymap.Intent) pane.Action {
	r := p.selected()
	switch {
	case intent == keymap.Collapse && r != nil:
		p.fold(r)
	case intent == keymap.Expand && r != nil:
		p.unfold(r)
	case intent == keymap.Collapse, intent == keymap.Expand:
	case intent == keymap.Unclaimed && p.drift.bare == 0:
		return pane.Say{Text: p.noneUnclaimed()}
	case intent == keymap.Unclaimed:
		p.unclaimed = !p.unclaimed
		p.rebuild()
	case intent == keymap.Sort:
		p.order = (p.order + 1) % orders
		p.rebuild()
	case !p.Browse(intent):
		return pane.Ignored{}
	}
	return nil
}

// noneUnclaimed says why there is no changed file that nobody has claimed.
func (p *Pane) noneUnclaimed() string {
	switch {
	case p.snap.Past:
		return "which files changed is known of now alone"
	case p.snap.Drift == nil:
		return "git has not told yet which files changed"
	case !p.snap.Drift.Git:
		return "the project is in no git repository, so nobody knows which files changed"
	}
	return "every changed file is claimed by somebody"
}

// fold hides what is below the row, or goes to the row above it in the tree.
func (p *Pane) fold(r *row) {
	switch {
	case r.kind == ofUnclaimed:
		p.unclaimed = false
		p.rebuild()
		return
	case r.kind == ofPath && p.order == byPath && len(r.node.children) > 0 && !p.closed[r.node.path]:
		p.closed[r.node.path] = true
		p.rebuild()
		return
	}
	for i := p.List.Cursor() - 1; i >= 0; i-- {
		above := &p.rows[i]
		if r.kind == ofChange && above.kind == ofUnclaimed ||
			r.kind == ofPath && p.order == byPath && !above.again && strings.HasPrefix(r.node.path, above.node.path+"/") {
			p.List.Select(i)
			p.Changed()
			return
		}
	}
}

func (p *Pane) unfold(r *row) {
	if r.kind == ofUnclaimed {
		p.unclaimed = true
	}
	delete(p.closed, r.node.path)
	p.rebuild()
}

// Subject is the selected path.
func (p *Pane) Subject() pane.Subject {
	r := p.selected()
	if r == nil || r.kind == ofUnclaimed {
		return pane.Subject{Seq: -1}
	}
	s := pane.Subject{Path: cmp.Or(r.node.path, "."), Seq: -1, Claim: r.claim}
	s.Text = s.Path
	if r.claim != nil {
		s.Agent = r.claim.Agent
	}
	return s
}

// NextChange is when what the pane shows changes by time alone, faster than by the minute.
func (p *Pane) NextChange() time.Duration {
	for _, c := range p.claims {
		if left := c.ExpiresAt; left != nil && left.After(p.snap.Now) && left.Sub(p.snap.Now) < soon {
			return time.Second
		}
	}
	return 0
}

// measure says how wide the columns must be for what is shown.
func (p *Pane) measure() columns {
	var m columns
	seen := map[string]bool{}
	for i := range p.shown {
		c := &p.shown[i]
		if !seen[c.Agent] {
			seen[c.Agent] = true
			m.agent = min(max(m.agent, text.Width(text.Line(c.Agent))), maxAgent)
			session, _, _ := (*rows)(p).sessionOf(c.Agent)
			m.session = m.session || session != ""
		}
		m.drift = m.drift || len(p.foreignTo(c)) > 0
		m.limit = m.limit || c.ExpiresAt != nil
	}
	return m
}
