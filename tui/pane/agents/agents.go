// Package agents is the pane that shows who takes part: whether each agent's session lives, how far it has read, what it holds, and what
// waits for it.
package agents

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// Pane is the agents pane.
type Pane struct {
	pane.Browser
	snap  pane.Snapshot
	all   []entry
	rows  []entry // those that match the filter
	name  int     // cells of the name column
	waits bool    // some question waits, which needs a column
}

// entry is an agent with what concerns it.
type entry struct {
	state.Agent
	claims []state.Claim
	waits  []state.Task // questions for it that nobody has answered
	tasks  []state.Task // open tasks that it has taken or that are addressed to it
}

// New makes the pane.
func New(look pane.Look) *Pane {
	p := &Pane{}
	p.Browser = pane.NewBrowser(look, (*rows)(p), false)
	return p
}

// ID is the pane's name in commands.
func (p *Pane) ID() string { return "agents" }

// Title is the pane's name in its frame.
func (p *Pane) Title() string { return "Agents" }

// Scope is where the pane's keys are.
func (p *Pane) Scope() keymap.Scope { return keymap.Agents }

// Status counts the live sessions.
func (p *Pane) Status() string {
	if p.Filter() != "" {
		return fmt.Sprintf("%d of %d", len(p.rows), len(p.all))
	}
	live := 0
	for _, e := range p.all {
		if p.snap.Live[e.Name].Live {
			live++
		}
	}
	if live == 0 {
		return ""
	}
	return fmt.Sprintf("%d live", live)
}

// Apply takes a snapshot.
func (p *Pane) Apply(s pane.Snapshot, _ pane.Changes) pane.Action {
	p.snap = s
	p.all = collect(s)
	p.rebuild()
	return nil
}

// collect gathers what concerns each agent. This program itself is no agent.
func collect(s pane.Snapshot) []entry {
	var all []entry
	index := map[string]int{}
	for _, a := range s.State.Agents() {
		if a.Name == event.Loadout {
			continue
		}
		all = append(all, entry{Agent: a})
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(cmp.Compare(rank(s, a), rank(s, b)), cmp.Compare(a.Name, b.Name))
	})
	for i := range all {
		index[all[i].Name] = i
	}
	for _, c := range s.State.Claims() {
		if i, ok := index[c.Agent]; ok {
			all[i].claims = append(all[i].claims, c)
		}
	}
	for _, t := range s.State.Pending() {
		to := t.To
		if t.TakenBy != "" {
			to = t.TakenBy
		}
		i, ok := index[to]
		switch {
		case !ok:
		case t.Question:
			all[i].waits = append(all[i].waits, t)
		default:
			all[i].tasks = append(all[i].tasks, t)
		}
	}
	return all
}

// rank sorts people first, then live sessions, then names that only act, then sessions that are over.
func rank(s pane.Snapshot, e entry) int {
	live := s.Live[e.Name]
	switch {
	case e.Name == event.User:
		return 0
	case live.Live:
		return 1
	case e.Ended != nil || live.Known:
		return 3
	}
	return 2
}

// SetFilter shows only agents that match.
func (p *Pane) SetFilter(filter string) pane.Action {
	p.KeepFilter(filter)
	p.rebuild()
	return nil
}

// Loaded is never called: the pane loads nothing.
func (p *Pane) Loaded(string, any, error) pane.Action { return nil }

func (p *Pane) rebuild() {
	var selected string
	if e := p.selected(); e != nil {
		selected = e.Name
	}
	p.rows = p.rows[:0:0]
	p.name, p.waits = 0, false
	for _, e := range p.all {
		if pane.Matches(p.Filter(), e.Name, e.Base, e.Human) {
			p.rows = append(p.rows, e)
			p.waits = p.waits || len(e.waits) > 0
			p.name = min(max(p.name, text.Width(text.Line(e.Name))), 24)
		}
	}
	p.List.SetLen(len(p.rows))
	for i, e := range p.rows {
		if e.Name == selected {
			p.List.Reselect(i)
		}
	}
	p.Changed()
}

func (p *Pane) selected() *entry {
	if i := p.List.Cursor(); i >= 0 && i < len(p.rows) {
		return &p.rows[i]
	}
	return nil
}

// Handle moves and opens.
func (p *Pane) Handle(intent keymap.Intent) pane.Action {
	if !p.Browse(intent) {
		return pane.Ignored{}
	}
	return nil
}

// Subject is the selected agent.
func (p *Pane) Subject() pane.Subject {
	e := p.selected()
	if e == nil {
		return pane.Subject{Seq: -1}
	}
	return pane.Subject{Agent: e.Name, Seq: -1, Text: e.Name}
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
func (p *rows) presence(e entry) (mark, word string, style theme.Style) {
	live := p.snap.Live[e.Name]
	switch {
	case live.Live:
		return p.Live, "live", p.Good
	case e.Ended != nil:
		return p.Gone, "ended", p.Dim
	case live.Known:
		return p.Gone, "lost", p.Warn
	case p.snap.Past && e.Registered: // whether it lived then is not on record
		return p.Idle, "joined", p.Text
	}
	if e.Name == p.snap.Actor {
		return p.Idle, "you", p.Text
	}
	return p.Idle, "seen", p.Dim
}

// Row draws an agent.
func (p *rows) Row(i, w int) (left, right theme.Spans) {
	e := p.rows[i]
	mark, word, style := p.presence(e)
	left = theme.Spans{
		theme.S(mark+" ", style),
		theme.S(text.Fit(text.Line(e.Name), min(p.name, max(w/3, 8)), p.Ellipsis), p.Owners.Style(e.Name)),
	}
	if w >= 44 {
		left = append(left, theme.S("  "+text.Pad(word, 6), style))
	}
	if p.waits {
		left = append(left, theme.S(p.waiting(len(e.waits), w), p.Warn))
	}
	if w >= 62 {
		left = append(left, theme.S(column(len(e.claims), "claim", 9), p.Text))
	}
	if w >= 72 {
		left = append(left, theme.S(column(len(e.tasks), "task", 8), p.Text))
	}
	right = theme.Spans{p.unread(e)}
	if w >= 36 && e.LastAt != nil {
		age := pane.Age(p.snap.Now, *e.LastAt)
		right = append(right, theme.S(text.Blank(5-text.Width(age))+age, p.Dim))
	}
	return left, right
}

// waiting says how many questions wait for an answer.
func (p *rows) waiting(n, w int) string {
	said, width := pane.Count(n, "question"), 14
	if w < 76 {
		said, width = fmt.Sprintf("%d waits", n), 10
	}
	if n == 0 {
		return text.Blank(width + 2)
	}
	return "  " + text.Pad(p.Warning+" "+said, width)
}

func column(n int, noun string, w int) string {
	if n == 0 {
		return text.Blank(w + 2)
	}
	return "  " + text.Pad(pane.Count(n, noun), w)
}

func (p *rows) unread(e entry) theme.Span {
	if e.Unread.Count == 0 {
		return theme.S(p.Yes+" read", p.Dim)
	}
	about := ""
	if !e.Unread.Exact {
		about = "<="
	}
	return theme.S(fmt.Sprintf("%s%d unread", about, e.Unread.Count), p.Text)
}

// Detail tells everything about the selected agent.
func (p *rows) Detail(w int) []theme.Spans {
	e := (*Pane)(p).selected()
	if e == nil {
		return nil
	}
	d := pane.NewDetail(p.Look, w)
	d.Title(e.Name)
	mark, word, style := p.presence(*e)
	d.Field("session", mark+" "+word, style)
	read := fmt.Sprintf("#%d of #%d", e.Cursor, p.snap.State.Head())
	if e.Cursor < 0 {
		read = "nothing acknowledged"
	}
	d.Field("read to", read, p.Text)
	d.Field("unread", p.unread(*e).Text, p.unread(*e).Style)
	p.holdings(d, *e)
	p.session(d, *e)
	return d.Lines()
}

// session is what is known about the session itself.
func (p *rows) session(d *pane.Detail, e entry) {
	d.Heading("session")
	d.Field("program", e.Base, p.Text)
	d.Field("person", e.Human, p.Text)
	if e.Since != nil {
		d.Field("since", pane.Stamp(p.snap.Now, *e.Since)+", "+pane.Ago(p.snap.Now, *e.Since), p.Text)
	}
	if beat := p.snap.Live[e.Name].LastBeat; !beat.IsZero() {
		d.Field("heard of", pane.Ago(p.snap.Now, beat), p.Text)
	}
	if e.PID != 0 {
		d.Field("process", fmt.Sprintf("%d on %s", e.PID, e.Host), p.Dim)
	}
	if e.LastAt != nil {
		d.Field("last", fmt.Sprintf("#%d, %s", e.LastSeq, pane.Ago(p.snap.Now, *e.LastAt)), p.Text)
	}
}

func (p *rows) holdings(d *pane.Detail, e entry) {
	if len(e.waits) > 0 {
		d.Heading("waits for an answer of " + e.Name)
		for _, t := range e.waits {
			d.Field(t.From, pane.Age(p.snap.Now, t.At)+"  "+t.Description, p.Warn)
		}
	}
	if len(e.tasks) > 0 {
		d.Heading("tasks")
		for _, t := range e.tasks {
			d.Field(string(t.Status), t.Description, p.Text)
		}
	}
	if len(e.claims) > 0 {
		d.Heading("holds")
		for _, c := range e.claims {
			d.Field(string(c.Mode), c.Path, p.Text)
		}
	}
	behind := false
	for _, c := range p.snap.State.Contracts() {
		for _, r := range c.Readers {
			if !event.SameName(r.Agent, e.Name) || r.Behind == 0 {
				continue
			}
			if !behind {
				d.Heading("has not read")
				behind = true
			}
			d.Field(fmt.Sprintf("r%d", c.Revision), fmt.Sprintf("%s (read r%d)", c.Name, r.Revision), p.Warn)
		}
	}
}
