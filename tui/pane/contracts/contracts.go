// Package contracts is the pane that shows the agreements between agents: the latest revision of each, who published it, and which
// revision each of its readers has acknowledged. Its detail has the body, the history, and the difference between revisions.
package contracts

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
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

// rows draws the pane's rows and its detail.
type rows Pane

// Empty says why there is no row.
func (p *rows) Empty() string {
	switch {
	case p.Filter() != "":
		return "No contract matches the filter."
	case p.snap.Past:
		return "There was no contract then."
	}
	return `No contracts yet. Agents publish them: loadout coord contract checkout-api --body "POST /api/checkout -> 201"`
}

// Row draws a contract with its readers.
func (p *rows) Row(i, w int) (left, right theme.Spans) {
	c := p.contracts[i]
	left = theme.Spans{
		theme.S(text.Fit(text.Line(c.Name), min(p.name, max(w/3, 12)), p.Ellipsis), p.Text),
		theme.S(text.Pad(fmt.Sprintf("  r%d", c.Revision), 7), p.Strong),
	}
	if w >= 60 {
		left = append(left, theme.S(text.Fit(text.Line(c.Publisher), p.publisher, p.Ellipsis)+"  ", p.Owners.Style(c.Publisher)))
		right = theme.Spans{theme.S(pane.Age(p.snap.Now, c.At), p.Dim)}
	}
	readers := p.readers(c)
	if left.Width()+readers.Width()+right.Width() >= w {
		readers = p.summary(c)
	}
	return append(left, readers...), right
}

// readers names who builds on the contract and the revision each has acknowledged.
func (p *rows) readers(c state.Contract) theme.Spans {
	var spans theme.Spans
	for _, r := range c.Readers {
		if len(spans) > 0 {
			spans = append(spans, theme.S("  ", p.Text))
		}
		spans = append(spans, theme.S(text.Line(r.Agent)+" ", p.Owners.Style(r.Agent)))
		spans = append(spans, p.mark(r)...)
	}
	if len(spans) == 0 {
		return theme.Spans{theme.S("no readers", p.Dim)}
	}
	return spans
}

// mark says how far a reader has read.
func (p *rows) mark(r state.Reader) theme.Spans {
	switch {
	case r.Behind == 0:
		return theme.Spans{theme.S(p.Yes, p.Good)}
	case r.Revision == 0:
		return theme.Spans{theme.S(p.No+" unread", p.Warn)}
	}
	return theme.Spans{theme.S(fmt.Sprintf("%s r%d", p.No, r.Revision), p.Warn)}
}

// summary is readers for a narrow pane.
func (p *rows) summary(c state.Contract) theme.Spans {
	yes, no := 0, 0
	for _, r := range c.Readers {
		if r.Behind == 0 {
			yes++
		} else {
			no++
		}
	}
	var spans theme.Spans
	if yes > 0 {
		spans = append(spans, theme.S(fmt.Sprintf("%s%d", p.Yes, yes), p.Good))
	}
	if no > 0 {
		if yes > 0 {
			spans = append(spans, theme.S(" ", p.Text))
		}
		spans = append(spans, theme.S(fmt.Sprintf("%s%d", p.No, no), p.Warn))
	}
	return spans
}

// Detail shows the selected contract.
func (p *rows) Detail(w int) []theme.Spans {
	pp := (*Pane)(p)
	c := pp.selected()
	if c == nil {
		return nil
	}
	revision := pp.shown(c)
	d := pane.NewDetail(p.Look, w)
	d.Title(fmt.Sprintf("%s r%d", c.Name, revision))
	p.about(d, c, revision)
	p.history(d, c, revision)
	r, ok := p.loaded[pp.key(c)]
	switch {
	case ok && r.err != nil:
		d.Heading("could not be read")
		d.Text(r.err.Error(), p.Bad)
	case !ok && (p.diff || revision != c.Revision):
		d.Gap()
		d.Text("reading"+p.Ellipsis, p.Dim)
	case p.diff:
		p.diffLines(d, r.diff)
	default:
		body := c.Body
		if revision != c.Revision {
			body = r.body.Body
		}
		d.Heading("body")
		if body == "" {
			d.Text("(empty)", p.Dim)
		}
		d.Text(body, p.Text)
	}
	return d.Lines()
}

func (p *rows) about(d *pane.Detail, c *state.Contract, revision int64) {
	for _, h := range c.History {
		if h.Revision == revision {
			d.Field("by", h.Publisher, p.Owners.Style(h.Publisher))
			d.Field("when", pane.Stamp(p.snap.Now, h.At)+", "+pane.Ago(p.snap.Now, h.At), p.Text)
			d.Field("format", h.Format, p.Text)
			d.Field("event", fmt.Sprintf("#%d", h.Seq), p.Dim)
		}
	}
	for i, r := range c.Readers {
		label := "readers"
		if i > 0 {
			label = " "
		}
		said := "has acknowledged its events"
		if r.Declared {
			said = "builds on it"
		}
		state := p.Yes + " up to date"
		style := p.Good
		if r.Behind > 0 {
			style = p.Warn
			state = fmt.Sprintf("%s on r%d, %s behind", p.No, r.Revision, pane.Count(r.Behind, "revision"))
			if r.Revision == 0 {
				state = p.No + " has read no revision"
			}
		}
		d.Field(label, strings.Join([]string{r.Agent, state, said}, "  "), style)
	}
}

// history names the revisions around the one that is shown.
func (p *rows) history(d *pane.Detail, c *state.Contract, revision int64) {
	if len(c.History) < 2 {
		return
	}
	at := 0
	for i, h := range c.History {
		if h.Revision == revision {
			at = i
		}
	}
	from := max(min(at-2, len(c.History)-5), 0)
	spans := theme.Spans{theme.S("history   ", p.Dim)}
	if from > 0 {
		spans = append(spans, theme.S(p.Ellipsis+" ", p.Dim))
	}
	for _, h := range c.History[from:min(from+5, len(c.History))] {
		style, label := p.Dim, fmt.Sprintf("r%d ", h.Revision)
		if h.Revision == revision {
			style, label = p.Accent, fmt.Sprintf("[r%d] ", h.Revision)
		}
		spans = append(spans, theme.S(label, style))
	}
	if from+5 < len(c.History) {
		spans = append(spans, theme.S(p.Ellipsis+" ", p.Dim))
	}
	d.Add(spans...)
}

func (p *rows) diffLines(d *pane.Detail, diff engine.ContractDiff) {
	from := fmt.Sprintf("r%d", diff.FromRevision)
	if diff.FromRevision == 0 {
		from = "nothing"
	}
	d.Heading(fmt.Sprintf("%s %s r%d: %s", from, p.Arrow, diff.ToRevision, diff.Summary))
	for _, h := range diff.Hunks {
		d.Marked("", fmt.Sprintf("@@ -%d,%d +%d,%d @@", h.FromLine, h.FromCount, h.ToLine, h.ToCount), p.Hunk)
		for _, l := range h.Lines {
			switch l.Kind {
			case engine.DiffAdded:
				d.Marked("+ ", l.Text, p.Added)
			case engine.DiffRemoved:
				d.Marked("- ", l.Text, p.Removed)
			case engine.DiffSame:
				d.Marked("  ", l.Text, p.Text)
			}
		}
	}
}
