package ownership

import (
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// Widths of columns, in cells.
const (
	maxAgent     = 18
	modeWidth    = 11 // "■ exclusive"
	sessionWidth = 7  // "! stale"
	driftWidth   = 9  // "≠ 12 drift"
	limitWidth   = 10 // "◷ 59m left"
	minReason    = 10
	minFile      = 16 // what is left for the name of a changed file

	narrow  = 44 // less has no words for modes, and no ages
	minPath = 30 // what must be left of a row before marks have words
)

// columns says which columns there are, and how wide.
type columns struct {
	agent                 int
	session, drift, limit bool // some row has the mark
}

// words reports whether the marks of a row of w cells are words and not only symbols.
func (m columns) words(w int) bool {
	need := minPath + m.agent + 1 + modeWidth + pane.AgeWidth
	if m.session {
		need += sessionWidth + 1
	}
	if m.drift {
		need += driftWidth + 1
	}
	if m.limit {
		need += limitWidth + 1
	}
	return w >= need
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

// Row draws a row.
func (p *rows) Row(i, w int) (left, right theme.Spans) {
	r := &p.rows[i]
	switch {
	case r.kind == ofUnclaimed:
		return p.heading(r, w), nil
	case r.claim != nil:
		right = p.claim(r.claim, w)
	case len(r.node.drift) > 0:
		right = p.change(r.node.drift, w)
	}
	tree := theme.S(p.branches(r), p.Border)
	style, tail := p.Text, ""
	if r.claim == nil && len(r.node.drift) == 0 || r.again {
		style = p.Dim
	}
	if r.closed {
		tail = fmt.Sprintf(" %s %d below", p.Closed, r.node.below())
	}
	room := w - tree.Width() - text.Width(tail) - right.Width() - 1
	label := text.TruncateMiddle(text.Line(r.label), max(room, 1), p.Ellipsis)
	left = theme.Spans{tree, theme.S(label, style), theme.S(tail, p.Dim)}
	if r.claim != nil {
		left = append(left, p.reason(r.claim, room-text.Width(label))...)
	}
	return left, right
}

// branches draws where in the tree a row is.
func (p *rows) branches(r *row) string {
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
	return tree.String()
}

// reason says why, where there is room beside the path.
func (p *rows) reason(c *state.Claim, room int) theme.Spans {
	if room < minReason+2 || c.Reason == "" {
		return nil
	}
	return theme.Spans{theme.S("  "+text.Truncate(text.Line(c.Reason), room-2, p.Ellipsis), p.Dim)}
}

// claim is holder, mode, marks and age; the narrower the pane, the fewer words.
func (p *rows) claim(c *state.Claim, w int) theme.Spans {
	owner := p.Owners.Style(c.Agent)
	mode, word := p.Exclusive, " exclusive"
	if c.Mode == event.Shared {
		mode, word = p.Shared, " shared   "
	}
	if w < narrow {
		word = ""
	}
	agent := text.FitMiddle(text.Line(c.Agent), min(p.columns.agent, max(w/3, 8)), p.Ellipsis)
	right := append(theme.Spans{theme.S(agent+" "+mode+word, owner)}, p.marks(c, w)...)
	if w < narrow {
		return right
	}
	return append(right, p.Age(p.snap.Now, c.Since))
}

// marks are what a person should know about a claim beyond its holder, each in its column: words where there is room, else symbols.
func (p *rows) marks(c *state.Claim, w int) theme.Spans {
	var spans theme.Spans
	inWords := p.columns.words(w)
	mark := func(column bool, glyph, word string, width int, style theme.Style) {
		switch {
		case !column:
			return
		case !inWords:
			width = 1
		case glyph != "":
			glyph += " " + word
		}
		spans = append(spans, theme.S(" "+text.Pad(glyph, width), style))
	}
	glyph, word, style := p.sessionOf(c.Agent)
	mark(p.columns.session, glyph, word, sessionWidth, style)

	glyph = ""
	n := len((*Pane)(p).foreignTo(c))
	if n > 0 {
		glyph = p.Drift
	}
	mark(p.columns.drift, glyph, fmt.Sprintf("%d drift", n), driftWidth, p.Warn)

	glyph, word, style = "", "", p.Dim
	if c.ExpiresAt != nil {
		glyph, word = p.Time, words.Left(p.snap.Now, *c.ExpiresAt)
		if c.ExpiresAt.Sub(p.snap.Now) < soon {
			style = p.Warn
		}
	}
	mark(p.columns.limit, glyph, word, limitWidth, style)
	return spans
}

// sessionOf says whether the session of a holder lives, as a symbol and a word; nothing where that is not known.
func (p *rows) sessionOf(agent string) (glyph, word string, style theme.Style) {
	switch a, _ := p.snap.State.Agent(agent); {
	case p.snap.Stale(agent):
		return p.Warning, "stale", p.Warn
	case p.snap.Live[a.Name].Live:
		return p.Live, "live", p.Good
	}
	return "", "", p.Text
}

// change is who changed a file, in which places, and how.
func (p *rows) change(list []engine.Drift, w int) theme.Spans {
	room := max(w-minFile, minFile)
	said := p.Drift + " " + text.Line(who(list[0]))
	if len(list) > 1 {
		said += fmt.Sprintf(" and %d more", len(list)-1)
	}
	if how := "  " + text.Line(list[0].Status); text.Width(said+how) <= room {
		said += how
	}
	return theme.Spans{theme.S(text.TruncateMiddle(said, room, p.Ellipsis), p.Warn)}
}

// heading stands above the changed files that nobody has claimed.
func (p *rows) heading(r *row, w int) theme.Spans {
	glyph := p.Open
	if r.closed {
		glyph = p.Closed
	}
	spans := theme.Spans{theme.S(fmt.Sprintf("%s %s claimed by nobody", glyph, words.Plural(p.drift.bare, "changed file")), p.Warn)}
	if how := theme.S("  u lists them", p.Dim); r.closed && spans.Width()+how.Width() <= w {
		spans = append(spans, how)
	}
	return spans
}
