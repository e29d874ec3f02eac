// Package gates is the pane that shows acceptance gates: the ledgers with what is met, unmet and abandoned, and the waves in which agents
// were launched.
package gates

import (
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// Sizes in cells.
const (
	nameWidth = 24
	barWidth  = 10
	wide      = 56 // of a row, from which it has a bar
)

const nothing = "No ledger of gates was checked, and no wave was launched. Both show here as the log has them."

// Pane is the gates pane.
type Pane struct {
	*pane.Listing
	snap       pane.Snapshot
	unmet, met int64
}

// New makes the pane.
func New(look pane.Look) *Pane {
	return &Pane{Listing: pane.NewListing(look, "ledger or wave", nothing)}
}

// ID is the pane's name in commands.
func (p *Pane) ID() string { return "gates" }

// Title is the pane's name in its frame.
func (p *Pane) Title() string { return "Gates" }

// Scope is where the pane's keys are.
func (p *Pane) Scope() keymap.Scope { return keymap.Gates }

// Status counts the gates of all ledgers.
func (p *Pane) Status() string {
	switch s := p.Filtered(); {
	case s != "":
		return s
	case p.met+p.unmet == 0:
		return ""
	case p.unmet == 0:
		return "all met"
	}
	return fmt.Sprintf("%d unmet", p.unmet)
}

// Apply takes a snapshot.
func (p *Pane) Apply(s pane.Snapshot, _ pane.Changes) pane.Action {
	p.snap, p.met, p.unmet = s, 0, 0
	waves := s.State.Waves()
	var entries []pane.Entry
	for i := len(waves) - 1; i >= 0; i-- {
		entries = append(entries, p.wave(waves[i]))
	}
	for _, l := range s.State.Ledgers() {
		p.met += l.Met
		p.unmet += l.Unmet
		entries = append(entries, p.ledger(l))
	}
	p.Show(entries)
	return nil
}

// name is a name with its scope, as in paths.
func name(scope, s string) string { return strings.TrimPrefix(scope+"/"+s, "/") }

// row is a mark, a name, how far it is, and words.
func (p *Pane) row(w int, mark string, style theme.Style, name string, done, all int64, word, age string) (left, right theme.Spans) {
	name = text.TruncateMiddle(text.Line(name), min(nameWidth, max(w/2, 6)), p.Ellipsis)
	if w < wide {
		return theme.Spans{theme.S(mark+" ", style), theme.S(name+" ", p.Strong), theme.S(word, style)}, theme.Spans{theme.S(age, p.Dim)}
	}
	left = theme.Spans{theme.S(mark+" ", style), theme.S(text.Pad(name, nameWidth)+" ", p.Strong)}
	left = append(left, pane.Bar(p.Look, barWidth, done, all, style)...)
	return append(left, theme.S(" "+word, style)), theme.Spans{theme.S(age, p.Dim)}
}

func (p *Pane) ledger(l state.Ledger) pane.Entry {
	all := l.Met + l.Unmet + l.Abandoned
	find := []string{"ledger", l.Scope, l.Ledger, l.By}
	for _, g := range l.Gates {
		find = append(find, g.ID, g.Title, string(g.State))
	}
	return pane.Entry{
		Key:   "ledger " + name(l.Scope, l.Ledger),
		Words: find,
		Row: func(w int) (left, right theme.Spans) {
			mark, style := p.Yes, p.Good
			if l.Unmet > 0 || l.Invalid != "" {
				mark, style = p.No, p.Warn
			}
			return p.row(w, mark, style, name(l.Scope, l.Ledger), l.Met, all, p.counts(l), words.Age(p.snap.Now, l.At))
		},
		Detail: func(d *pane.Detail) {
			d.Title(name(l.Scope, l.Ledger))
			d.Field("gates", p.counts(l), p.Text)
			d.Field("checked by", l.By, p.Owners.Style(l.By))
			d.Field("when", pane.Stamp(p.snap.Now, l.At)+", "+words.Ago(p.snap.Now, l.At), p.Text)
			d.Field("event", fmt.Sprintf("#%d", l.Seq), p.Dim)
			d.Field("unreadable", l.Invalid, p.Bad)
			d.Gap()
			for _, g := range l.Gates {
				p.gate(d, g)
			}
			if left := all - int64(len(l.Gates)); left > 0 && len(l.Gates) > 0 {
				d.Text(fmt.Sprintf("%d more are in the ledger", left), p.Dim)
			}
		},
		Subject: pane.Subject{Agent: l.By, Seq: l.Seq, Text: name(l.Scope, l.Ledger)},
	}
}

func (p *Pane) counts(l state.Ledger) string {
	if l.Invalid != "" {
		return "cannot be read"
	}
	s := fmt.Sprintf("%d met", l.Met)
	if l.Unmet > 0 {
		s += fmt.Sprintf(", %d unmet", l.Unmet)
	}
	if l.Abandoned > 0 {
		s += fmt.Sprintf(", %d abandoned", l.Abandoned)
	}
	return s
}

// gate is one gate in the detail: unmet ones say why.
func (p *Pane) gate(d *pane.Detail, g event.GateLine) {
	mark, style, why := p.No, p.Warn, ""
	switch g.State {
	case event.GateMet:
		mark, style = p.Yes, p.Good
	case event.GateAbandoned:
		mark, style, why = p.Gone, p.Dim, "abandoned"
	case event.GateStale:
		why = "its evidence is of an older form of it"
	case event.GateNoEvidence:
		why = "ticked without evidence"
	case event.GateUnmet:
	}
	if g.Reason != "" {
		why = strings.TrimPrefix(why+": "+g.Reason, ": ")
	}
	d.Marked(mark+" ", g.ID+"  "+g.Title, style)
	if why != "" {
		d.Marked("    ", why, p.Dim)
	}
}

func (p *Pane) wave(v state.Wave) pane.Entry {
	started, returned := v.Returned()
	word := fmt.Sprintf("%s %d/%d started, %d returned", v.State, started, len(v.Leaves), returned)
	find := []string{"wave", v.Scope, v.Wave.Wave, string(v.State)}
	for _, leaf := range v.Leaves {
		find = append(find, leaf.Leaf, leaf.Handle)
	}
	return pane.Entry{
		Key:   "wave " + name(v.Scope, v.Wave.Wave),
		Words: find,
		Row: func(w int) (left, right theme.Spans) {
			mark, style := p.Live, p.Accent
			switch v.State {
			case event.WaveComplete:
				mark, style = p.Yes, p.Good
			case event.WaveAbandoned:
				mark, style = p.Gone, p.Dim
			case event.WaveOpen, event.WaveSealed:
			}
			return p.row(w, mark, style, "wave "+name(v.Scope, v.Wave.Wave), int64(returned), int64(len(v.Leaves)), word, words.Age(p.snap.Now, v.At))
		},
		Detail: func(d *pane.Detail) {
			d.Title("wave " + name(v.Scope, v.Wave.Wave))
			d.Field("state", word, p.Text)
			d.Field("reason", v.Reason, p.Text)
			d.Field("by", v.By, p.Owners.Style(v.By))
			d.Field("when", pane.Stamp(p.snap.Now, v.At)+", "+words.Ago(p.snap.Now, v.At), p.Text)
			d.Field("event", fmt.Sprintf("#%d", v.Seq), p.Dim)
			d.Gap()
			for _, leaf := range v.Leaves {
				p.leaf(d, leaf)
			}
		},
		Subject: pane.Subject{Agent: v.By, Seq: v.Seq, Text: v.Wave.Wave},
	}
}

func (p *Pane) leaf(d *pane.Detail, leaf event.WaveLeaf) {
	mark, style, word := p.Idle, p.Dim, "not started"
	if t, ok := event.ParseTime(leaf.Started); ok {
		mark, style, word = p.Live, p.Accent, "started "+words.Ago(p.snap.Now, t)
	}
	if t, ok := event.ParseTime(leaf.Returned); ok {
		mark, style, word = p.Yes, p.Good, "returned "+words.Ago(p.snap.Now, t)
	}
	d.Marked(mark+" ", leaf.Leaf+"  "+strings.TrimSpace(word+"  "+leaf.Handle), style)
}
