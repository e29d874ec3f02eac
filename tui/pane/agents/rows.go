package agents

import (
	"fmt"

	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// Widths of columns, in cells.
const (
	maxName   = 24
	wordWidth = 6  // "joined"
	kindWidth = 8  // "question"
	withAge   = 36 // less has no ages
	withKind  = 44 // less has no words for what waits
)

// columns says how wide the columns must be, 0 for one that nobody needs.
type columns struct {
	name, waiter  int
	asked, claims int
	tasks, meter  int
	unread        int
}

// rows draws the pane's rows and its detail.
type rows Pane

// Empty says why there is no row.
func (p *rows) Empty() string {
	if p.Filter() != "" {
		return "No agent matches the filter."
	}
	return "Nobody has taken part yet. Sessions register themselves, or: loadout agent register --base claude-code"
}

// presence is whether an agent's session lives, as a mark and a word.
func (p *rows) presence(e *entry) (mark, word string, style theme.Style) {
	live := p.snap.Live[e.Name]
	switch {
	case live.Live:
		return p.Live, "live", p.Good
	case e.Ended != nil:
		return p.Gone, "ended", p.Dim
	case live.Idle:
		return p.Idle, "known", p.Dim
	case live.Known:
		return p.Gone, "stale", p.Warn
	case p.snap.Past && e.Registered: // whether it lived then is not on record
		return p.Idle, "joined", p.Text
	case e.Name == p.snap.Actor:
		return p.Idle, "you", p.Text
	}
	return p.Idle, "seen", p.Dim
}

// Row draws what waits, or an agent.
func (p *rows) Row(i, w int) (left, right theme.Spans) {
	r := &p.rows[i]
	switch {
	case r.wait != nil:
		return p.wait(r.wait, w)
	case r.agent != nil:
		return p.agent(r.agent, w)
	}
	how := "z shows them"
	if p.Zoomed() {
		how = "/ finds them"
	}
	return theme.Spans{theme.S(fmt.Sprintf("  and %d more wait for you; %s", r.more, how), p.Warn)}, nil
}

// wait is one thing that waits for a person, with its age.
func (p *rows) wait(r *state.Waiting, w int) (left, right theme.Spans) {
	left = theme.Spans{theme.S(p.Warning+" ", p.Warn)}
	if w >= withKind {
		left = append(left, theme.S(text.Pad(string(r.Kind), kindWidth+1), p.Warn))
	}
	name := text.FitMiddle(text.Line(r.Agent), min(p.columns.waiter, max(w/4, 8)), p.Ellipsis)
	left = append(left, theme.S(name+"  ", p.Owners.Style(r.Agent)), theme.S(text.Line(r.Text), p.Strong))
	return left, theme.Spans{p.Age(p.snap.Now, r.Since)}
}

func (p *rows) agent(e *entry, w int) (left, right theme.Spans) {
	mark, word, style := p.presence(e)
	left = theme.Spans{
		theme.S(mark+" ", style),
		theme.S(text.FitMiddle(text.Line(e.Name), min(p.columns.name, max(w/3, 8)), p.Ellipsis), p.Owners.Style(e.Name)),
	}
	unread := p.unread(e)
	right = theme.Spans{theme.S(text.Blank(p.columns.unread-unread.Width()), p.Dim), unread}
	if w >= withAge {
		right = append(right, p.Age(p.snap.Now, e.heard))
	}
	cells := [...]struct {
		said  string
		width int
		style theme.Style
		shown bool
	}{
		{word, wordWidth, style, false},
		{p.asked(e), p.columns.asked, p.Warn, false},
		{counted(len(e.claims), "claim"), p.columns.claims, p.Text, false},
		{meter(&e.meter), p.columns.meter, p.Dim, false},
		{counted(e.tasks, "task"), p.columns.tasks, p.Text, false},
	}
	room := w - left.Width() - right.Width() - 1
	for _, i := range [len(cells)]int{1, 2, 0, 4, 3} { // the most important first; the word only repeats the mark
		if c := &cells[i]; c.width > 0 && room >= c.width+2 {
			c.shown = true
			room -= c.width + 2
		}
	}
	for _, c := range cells {
		if c.shown {
			left = append(left, theme.S("  "+text.Pad(c.said, c.width), c.style))
		}
	}
	return left, right
}

// asked says how many questions wait for the agent's answer.
func (p *rows) asked(e *entry) string {
	if e.asked == 0 {
		return ""
	}
	return fmt.Sprintf("%s %d asked", p.Warning, e.asked)
}

// counted is a number of things, nothing for none.
func counted(n int, noun string) string {
	if n == 0 {
		return ""
	}
	return words.Plural(n, noun)
}

// meter says what turns of an agent were made and what they used; nothing for an agent without any.
func meter(m *state.Meter) string {
	if m.Turns == 0 {
		return ""
	}
	said := words.Plural(m.Turns, "turn")
	if used := pane.Usage(m.Usage); used != "" {
		said += " " + used
	}
	return said
}

func (p *rows) unread(e *entry) theme.Span {
	if e.Unread.Count == 0 {
		return theme.S(p.Yes+" read", p.Dim)
	}
	about := ""
	if !e.Unread.Exact {
		about = "<="
	}
	return theme.S(fmt.Sprintf("%s%d unread", about, e.Unread.Count), p.Text)
}
