// Package ownership is the pane that shows who holds which path: a tree of the claimed paths with holder, mode, age and reason.
package ownership

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// Widths of columns.
const (
	maxAgent = 18
	modeWide = 11 // "■ exclusive"
	ageWide  = 4
)

// Pane is the ownership pane.
type Pane struct {
	pane.Browser
	snap   pane.Snapshot
	claims []state.Claim
	rows   []row
	closed map[string]bool
	agent  int  // cells of the holder column
	marks  bool // some claim lapses or is stale, which needs a column
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

// Status counts the claims.
func (p *Pane) Status() string {
	if p.Filter() != "" {
		return fmt.Sprintf("%d of %s", p.matching(), pane.Count(len(p.claims), "claim"))
	}
	if len(p.claims) == 0 {
		return ""
	}
	return pane.Count(len(p.claims), "claim")
}

func (p *Pane) matching() int {
	n := 0
	for _, c := range p.claims {
		if pane.Matches(p.Filter(), c.Path, c.Agent, string(c.Mode), c.Reason) {
			n++
		}
	}
	return n
}

// Apply takes a snapshot.
func (p *Pane) Apply(s pane.Snapshot, _ pane.Changes) pane.Action {
	p.snap = s
	p.claims = s.State.Claims()
	p.rebuild()
	return nil
}

// SetFilter shows only claims that match.
func (p *Pane) SetFilter(filter string) pane.Action {
	p.KeepFilter(filter)
	p.rebuild()
	return nil
}

// Loaded is never called: the pane loads nothing.
func (p *Pane) Loaded(string, any, error) pane.Action { return nil }

// rebuild makes the rows anew and keeps the selected path selected.
func (p *Pane) rebuild() {
	var selected string
	if r := p.selected(); r != nil {
		selected = key(*r)
	}
	shown := make([]state.Claim, 0, len(p.claims))
	p.agent, p.marks = 0, false
	for _, c := range p.claims {
		if !pane.Matches(p.Filter(), c.Path, c.Agent, string(c.Mode), c.Reason) {
			continue
		}
		shown = append(shown, c)
		p.agent = max(p.agent, text.Width(text.Line(c.Agent)))
		p.marks = p.marks || c.ExpiresAt != nil || p.snap.Stale(c.Agent)
	}
	p.agent = min(p.agent, maxAgent)
	p.rows = buildTree(shown).rows(p.closed)
	p.List.SetLen(len(p.rows))
	for i, r := range p.rows {
		if key(r) == selected {
			p.List.Reselect(i)
			break
		}
	}
	p.Changed()
}

func key(r row) string {
	if r.claim == nil {
		return r.node.path
	}
	return r.node.path + "\x00" + r.claim.Agent
}

func (p *Pane) selected() *row {
	if i := p.List.Cursor(); i >= 0 && i < len(p.rows) {
		return &p.rows[i]
	}
	return nil
}

// Handle moves, opens and folds.
func (p *Pane) Handle(intent keymap.Intent) pane.Action {
	r := p.selected()
	switch {
	case intent == keymap.Collapse && r != nil:
		p.fold(r)
	case intent == keymap.Expand && r != nil:
		delete(p.closed, r.node.path)
		p.rebuild()
	case intent == keymap.Collapse, intent == keymap.Expand:
	case !p.Browse(intent):
		return pane.Ignored{}
	}
	return nil
}

// fold hides what is below the row, or goes to the row above it in the tree.
func (p *Pane) fold(r *row) {
	if len(r.node.children) > 0 && !p.closed[r.node.path] {
		p.closed[r.node.path] = true
		p.rebuild()
		return
	}
	for i := p.List.Cursor() - 1; i >= 0; i-- {
		if above := p.rows[i]; !above.again && strings.HasPrefix(r.node.path, above.node.path+"/") {
			p.List.Select(i)
			p.Changed()
			return
		}
	}
}

// Subject is the selected path.
func (p *Pane) Subject() pane.Subject {
	r := p.selected()
	if r == nil {
		return pane.Subject{Seq: -1}
	}
	s := pane.Subject{Path: r.node.path, Seq: -1, Text: r.node.path, Claim: r.claim}
	if s.Path == "" {
		s.Path, s.Text = ".", "."
	}
	if r.claim != nil {
		s.Agent = r.claim.Agent
	}
	return s
}

// NextChange is when what the pane shows changes by time alone, faster than by the minute.
func (p *Pane) NextChange() time.Duration {
	for _, c := range p.claims {
		if left := c.ExpiresAt; left != nil && left.After(p.snap.Now) && left.Sub(p.snap.Now) < 2*time.Minute {
			return time.Second
		}
	}
	return 0
}

// rows draws the pane's rows and its detail.
type rows Pane

// Empty says why there is no row.
func (p *rows) Empty() string {
	switch {
	case p.Filter() != "":
		return "No claim matches the filter."
	case p.snap.Past:
		return "Nobody held anything then."
	}
	return "Nobody holds anything. Press c to claim a path, or let an agent run: loadout coord own me src/api"
}

// Row draws a row of the tree.
func (p *rows) Row(i, w int) (left, right theme.Spans) {
	r := p.rows[i]
	var tree strings.Builder
	for i, more := range r.trunk {
		switch {
		case i == 0: // nor does what is right below it
		case more:
			tree.WriteString(p.Trunk)
		default:
			tree.WriteString("  ")
		}
	}
	switch {
	case len(r.trunk) == 0: // the top level needs no branches
	case r.again && r.last:
		tree.WriteString("  ")
	case r.again:
		tree.WriteString(p.Trunk)
	case r.last:
		tree.WriteString(p.LastBranch)
	default:
		tree.WriteString(p.Branch)
	}
	left = theme.Spans{theme.S(tree.String(), p.Border)}
	switch {
	case r.claim == nil, r.again:
		left = append(left, theme.S(text.Line(r.label), p.Dim))
	default:
		left = append(left, theme.S(text.Line(r.label), p.Text))
	}
	if r.closed {
		left = append(left, theme.S(fmt.Sprintf(" %s %d below", p.Closed, r.node.below()), p.Dim))
	}
	if r.claim == nil {
		return left, nil
	}
	return left, p.columns(*r.claim, w)
}

// columns are holder, mode, mark and age; the narrower the pane, the fewer words.
func (p *rows) columns(c state.Claim, w int) theme.Spans {
	mode := p.Exclusive + " exclusive"
	if c.Mode == event.Shared {
		mode = p.Shared + " shared"
	}
	agent := text.Fit(text.Line(c.Agent), p.agent, p.Ellipsis)
	owner := p.Owners.Style(c.Agent)
	if w < 44 {
		right := theme.Spans{theme.S(agent, owner), theme.S(" "+mode[:len(p.Exclusive)], owner)}
		if p.marks {
			right = append(right, theme.S(text.Pad(p.short(c), 2), p.Warn))
		}
		return right
	}
	right := theme.Spans{theme.S(agent, owner), theme.S(" "+text.Fit(mode, modeWide, ""), owner)}
	if note, style := p.note(c); p.marks && w >= 64 {
		right = append(right, theme.S(" "+text.Fit(note, 12, p.Ellipsis), style))
	} else if p.marks {
		right = append(right, theme.S(text.Pad(p.short(c), 2), p.Warn))
	}
	if w >= 100 {
		right = append(right, theme.S(" "+text.Fit(text.Line(c.Reason), (w-60)/2, p.Ellipsis), p.Dim))
	}
	age := pane.Age(p.snap.Now, c.Since)
	return append(right, theme.S(text.Blank(ageWide+1-text.Width(age))+age, p.Dim))
}

// note is what a person should know about a claim beyond its holder: that the holder is gone, or how long it still holds.
func (p *rows) note(c state.Claim) (string, theme.Style) {
	switch {
	case p.snap.Stale(c.Agent):
		return p.Warning + " stale", p.Warn
	case c.ExpiresAt == nil:
		return "", p.Text
	case c.ExpiresAt.Sub(p.snap.Now) < 2*time.Minute:
		return p.Time + " " + pane.Left(p.snap.Now, *c.ExpiresAt), p.Warn
	}
	return p.Time + " " + pane.Left(p.snap.Now, *c.ExpiresAt), p.Dim
}

// short is the note as a symbol.
func (p *rows) short(c state.Claim) string {
	switch {
	case p.snap.Stale(c.Agent):
		return " " + p.Warning
	case c.ExpiresAt != nil:
		return " " + p.Time
	}
	return ""
}

// Detail tells everything about the selected claim, and what overlaps it.
func (p *rows) Detail(w int) []theme.Spans {
	r := (*Pane)(p).selected()
	if r == nil {
		return nil
	}
	path := r.node.path
	if path == "" {
		path = "."
	}
	d := pane.NewDetail(p.Look, w)
	d.Title(path)
	for _, c := range r.node.claims {
		d.Gap()
		d.Field("holder", c.Agent, p.Owners.Style(c.Agent))
		d.Field("mode", string(c.Mode), p.Text)
		d.Field("since", pane.Stamp(p.snap.Now, c.Since)+", "+pane.Ago(p.snap.Now, c.Since), p.Text)
		if note, style := p.note(c); note != "" {
			d.Field("state", note, style)
		}
		d.Field("reason", c.Reason, p.Text)
		d.Field("fence", strconv.FormatInt(c.Fence, 10), p.Dim)
		d.Field("event", fmt.Sprintf("#%d", c.Seq), p.Dim)
	}
	if len(r.node.claims) == 0 {
		d.Text("Nobody holds this directory as a whole.", p.Dim)
	}
	var near []state.Claim
	for _, c := range p.snap.State.Overlapping(path, p.snap.FoldCase) {
		if c.Path != path {
			near = append(near, c)
		}
	}
	if len(near) > 0 {
		d.Heading("also around it")
		for _, c := range near {
			d.Field(c.Agent, c.Path+"  "+string(c.Mode), p.Text)
		}
	}
	return d.Lines()
}
