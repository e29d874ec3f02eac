// Package agents is the pane that shows what waits for a person, and below it who takes part: whether each agent's session lives, how far
// it has read, what it holds, what it used, and what waits for it.
package agents

import (
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
)

// maxWaiting bounds what waits for a person while the pane shares the window, maxZoomed when it is zoomed; a filter finds the others.
const (
	maxWaiting = 5
	maxZoomed  = 1000
)

// order is how the agents are sorted.
type order int

const (
	byRank order = iota // people, then sessions that live, then the rest
	byName
	byUnread
	byAge // heard of last first
	orders
)

var orderNames = [orders]string{"", "by name", "by unread", "by last sign of life"}

// Pane is the agents pane.
type Pane struct {
	pane.Browser
	snap    pane.Snapshot
	all     []entry
	waiting []state.Waiting
	rows    []row // those that match the filter
	order   order
	columns columns
	focused bool
}

// row is something that waits for a person, or an agent, or a count of what is left out.
type row struct {
	wait  *state.Waiting
	agent *entry
	more  int
}

func (r *row) key() string {
	switch {
	case r.wait != nil:
		return fmt.Sprintf("%s %s %s", r.wait.Kind, r.wait.Agent, r.wait.ID)
	case r.agent != nil:
		return r.agent.Name
	}
	return ""
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

// Status counts what waits for a person, and the live sessions.
func (p *Pane) Status() string {
	var parts []string
	if n := len(p.waiting); n > 0 {
		parts = append(parts, fmt.Sprintf("%s %d for you", p.Warning, n))
	}
	live := 0
	for i := range p.all {
		if p.snap.Live[p.all[i].Name].Live {
			live++
		}
	}
	switch {
	case p.Filter() != "":
		parts = append(parts, fmt.Sprintf("%d of %d", p.agents(), len(p.all)))
	case live > 0:
		parts = append(parts, fmt.Sprintf("%d live", live))
	}
	if p.order != byRank {
		parts = append(parts, orderNames[p.order])
	}
	return strings.Join(parts, ", ")
}

// agents counts the rows that are agents.
func (p *Pane) agents() int {
	n := 0
	for i := range p.rows {
		if p.rows[i].agent != nil {
			n++
		}
	}
	return n
}

// SetFocus says whether keys go to the pane. Who comes to it finds what waits for a person selected.
func (p *Pane) SetFocus(focused bool) {
	if focused && !p.focused && len(p.waiting) > 0 {
		p.List.Home()
		p.Changed()
	}
	p.focused = focused
	p.Browser.SetFocus(focused)
}

// Apply takes a snapshot.
func (p *Pane) Apply(s pane.Snapshot, _ pane.Changes) pane.Action {
	p.snap = s
	p.all = collect(&p.snap)
	p.waiting = s.Waiting
	p.rebuild()
	return nil
}

// SetFilter shows only rows that match.
func (p *Pane) SetFilter(filter string) pane.Action {
	p.KeepFilter(filter)
	p.rebuild()
	return nil
}

// Loaded is never called: the pane loads nothing.
func (p *Pane) Loaded(string, any, error) pane.Action { return nil }

func (p *Pane) rebuild() {
	selected := ""
	if r := p.selected(); r != nil {
		selected = r.key()
	}
	sortEntries(&p.snap, p.all, p.order)
	p.rows = p.rows[:0:0]
	for i := range p.waiting {
		w := &p.waiting[i]
		if !pane.Matches(p.Filter(), w.Agent, w.Text, string(w.Kind)) {
			continue
		}
		if len(p.rows) == p.most() {
			p.rows = append(p.rows, row{more: len(p.waiting) - i})
			break
		}
		p.rows = append(p.rows, row{wait: w})
	}
	for i := range p.all {
		e := &p.all[i]
		if pane.Matches(p.Filter(), e.Name, e.Base, e.Human, p.word(e)) {
			p.rows = append(p.rows, row{agent: e})
		}
	}
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

// most is how much of what waits is listed.
func (p *Pane) most() int {
	if p.Zoomed() {
		return maxZoomed
	}
	return maxWaiting
}

// word is the agent's presence, to filter by.
func (p *Pane) word(e *entry) string {
	_, word, _ := (*rows)(p).presence(e)
	return word
}

func (p *Pane) selected() *row {
	if i := p.List.Cursor(); i >= 0 && i < len(p.rows) {
		return &p.rows[i]
	}
	return nil
}

// Handle moves, sorts and opens.
func (p *Pane) Handle(intent keymap.Intent) pane.Action {
	switch {
	case intent == keymap.Sort:
		p.order = (p.order + 1) % orders
		p.rebuild()
	case !p.Browse(intent):
		return pane.Ignored{}
	}
	return nil
}

// Subject is what waits, or the selected agent. Of an agent that waits for an answer of the person it is that question.
func (p *Pane) Subject() pane.Subject {
	r := p.selected()
	switch {
	case r == nil:
	case r.wait != nil:
		w := *r.wait
		s := pane.Subject{Agent: w.Agent, Seq: w.Seq, Text: w.Text, Wait: &w}
		if w.Kind == state.WaitClaim {
			s.Path, s.Claim = ".", &state.Claim{Agent: w.Agent, Path: w.Path, Since: w.Since}
		}
		return s
	case r.agent != nil:
		s := pane.Subject{Agent: r.agent.Name, Seq: -1, Text: r.agent.Name}
		for i := range p.waiting {
			if w := p.waiting[i]; w.Kind == state.WaitQuestion && w.Agent == r.agent.Name {
				s.Wait = &w
				break
			}
		}
		return s
	}
	return pane.Subject{Seq: -1}
}

// measure says which columns the shown rows need.
func (p *Pane) measure() columns {
	var c columns
	for i := range p.rows {
		switch e := p.rows[i].agent; {
		case e != nil:
			c.name = min(max(c.name, text.Width(text.Line(e.Name))), maxName)
			c.asked = max(c.asked, text.Width((*rows)(p).asked(e)))
			c.claims = max(c.claims, len(counted(len(e.claims), "claim")))
			c.tasks = max(c.tasks, len(counted(e.tasks, "task")))
			c.unread = max(c.unread, (*rows)(p).unread(e).Width())
			c.meter = max(c.meter, text.Width(meter(&e.meter)))
		case p.rows[i].wait != nil:
			c.waiter = min(max(c.waiter, text.Width(text.Line(p.rows[i].wait.Agent))), maxName)
		}
	}
	return c
}
