package discussion

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/text/markdown"
	"github.com/agentloadout/loadout/tui/theme"
)

const nothing = "No design discussion is recorded. This pane shows each one as it is held; loadout coord discuss start, which holds one, " +
	"is not in this build yet."

// View draws the pane.
func (p *Pane) View() []string {
	switch {
	case len(p.threads) == 0:
		return p.viewEmpty()
	case p.Preview():
		w := p.listWidth()
		left, right := p.viewList(w), p.viewTranscript(p.w-w-1)
		for i := range left {
			left[i] += p.Border.Paint(p.Vertical) + right[i]
		}
		return left
	case p.inside:
		return p.viewTranscript(p.w)
	}
	return p.viewList(p.w)
}

func (p *Pane) viewEmpty() []string {
	why := "Reading the log."
	switch {
	case p.filter != "":
		why = "No thread matches the filter."
	case p.started:
		why = nothing
	}
	var lines []theme.Spans
	for _, line := range text.Wrap(why, max(p.w-2, 1)) {
		lines = append(lines, theme.Spans{theme.S(line, p.Dim)})
	}
	return p.fill(lines, p.w)
}

// fill makes exactly h lines of w cells.
func (p *Pane) fill(lines []theme.Spans, w int) []string {
	out := make([]string, 0, p.h)
	for _, line := range lines[:min(len(lines), p.h)] {
		out = append(out, p.Row(w, theme.Style{}, append(theme.Spans{theme.S(" ", theme.Style{})}, line...), nil))
	}
	for len(out) < p.h {
		out = append(out, text.Blank(w))
	}
	return out
}

func (p *Pane) viewList(w int) []string {
	out := make([]string, 0, p.h)
	from, to := p.list.Visible()
	for i := from; i < to; i++ {
		t := p.threads[i]
		base, mark := theme.Style{}, theme.S(" ", theme.Style{})
		if i == p.list.Cursor() && (p.focus || p.Preview()) {
			base, mark = p.Selected, theme.S(p.Pointer, p.Focus)
			if p.inside {
				mark.Style = p.Dim
			}
		}
		glyph, style := p.status(t)
		left := theme.Spans{mark, theme.S(glyph+" ", style), theme.S(text.Line(t.Topic), p.Text)}
		right := theme.Spans{theme.S(fmt.Sprintf("%d %s %s ", t.Statements, p.Dot, pane.Age(p.snap.Now, t.Updated)), p.Dim)}
		out = append(out, p.Row(w, base, left, right))
	}
	for len(out) < p.h {
		out = append(out, text.Blank(w))
	}
	return out
}

// status is how a thread stands, as a mark.
func (p *Pane) status(t state.Thread) (glyph string, style theme.Style) {
	switch t.Status {
	case "open":
		return p.Live, p.Accent
	case "failed":
		return p.No, p.Bad
	}
	return p.Yes, p.Good
}

func (p *Pane) viewTranscript(w int) []string {
	switch {
	case p.reads.on && len(p.statements) == 0:
		return p.fill([]theme.Spans{{theme.S("Reading the statements.", p.Dim)}}, w)
	case p.filter != "" && len(p.shown) == 0:
		return p.fill([]theme.Spans{{theme.S("No statement matches the filter.", p.Dim)}}, w)
	}
	return p.fill(p.script.visible(), w)
}

// card is a statement in lines: who, in what part, when, and what.
func (p *Pane) card(i int) []theme.Spans {
	if i >= len(p.shown) {
		return p.runningCard()
	}
	s := p.shown[i]
	key := rendering{s.seq, p.textWidth()}
	if lines, ok := p.cards[key]; ok {
		return lines
	}
	d := pane.NewDetail(p.Look, key.w)
	what := string(s.Kind)
	if s.Role != "system" {
		what = s.Role + " " + p.Dot + " " + what
	}
	if s.Round > 0 {
		what += fmt.Sprintf(" %s round %d", p.Dot, s.Round)
	}
	when := s.at.In(p.snap.Now.Location()).Format("15:04:05")
	name := text.TruncateMiddle(text.Line(s.from), max(key.w-text.Width(what)-len(when)-4, 8), p.Ellipsis)
	gap := max(key.w-text.Width(name)-text.Width(what)-len(when)-2, 1)
	d.Add(theme.S(name+"  ", p.Owners.Style(s.from)), theme.S(what, p.Dim), theme.S(text.Blank(gap)+when, p.Dim))
	switch s.Kind {
	case event.KindSummary:
		p.decision(d, s, key)
	case event.KindClosed:
		style := p.Good
		if s.Outcome == "failed" {
			style = p.Bad
		}
		d.Marked("", strings.TrimSpace(s.Outcome+": "+s.Content), style)
	case event.KindStarted:
		d.Marked("", s.Content, p.Strong)
		d.Field("between", strings.Join(s.Participants, " and "), p.Text)
	case event.KindProposal, event.KindCritique, event.KindRevision:
		p.content(d, s, key)
	}
	d.Gap()
	p.cards[key] = d.Lines()
	return p.cards[key]
}

// content is what somebody said, rendered, or as it was written. Short texts are rendered here: it takes less than drawing them, and after
// a change of size nothing else would.
func (p *Pane) content(d *pane.Detail, s statement, key rendering) {
	lines, ok := p.rendered[key]
	if !ok && !p.raw && len(s.Content) <= maxAtOnce {
		lines, ok = markdown.Render(p.Theme, s.Content, key.w), true
		p.rendered[key] = lines
	}
	if ok && !p.raw {
		for _, line := range lines {
			d.Add(line...)
		}
		return
	}
	d.Text(s.Content, p.Text)
}

// decision is the card of what was decided.
func (p *Pane) decision(d *pane.Detail, s statement, key rendering) {
	d.Add(theme.S(strings.Repeat(p.Horizontal, key.w), p.Good))
	d.Marked(p.Yes+" ", s.title, p.Strong)
	d.Heading("why")
	p.content(d, s, key)
	for _, part := range []struct {
		head  string
		items []string
		style theme.Style
	}{{"alternatives", s.Alternatives, p.Text}, {"unresolved", s.Unresolved, p.Warn}} {
		if len(part.items) == 0 {
			continue
		}
		d.Heading(part.head)
		for _, item := range part.items {
			d.Marked(p.Dot+" ", item, part.style)
		}
	}
	d.Add(theme.S(strings.Repeat(p.Horizontal, key.w), p.Good))
}

// runningCard says who is about to speak, and for how long the others wait.
func (p *Pane) runningCard() []theme.Spans {
	turn := p.running()
	if turn == nil {
		return nil
	}
	waited := ""
	if turn.Started != nil {
		waited = clock(p.snap.Now.Sub(*turn.Started))
	}
	return []theme.Spans{{
		theme.S(text.Line(turn.Agent)+"  ", p.Owners.Style(turn.Agent)), theme.S(p.Live+" is answering ", p.Accent), theme.S(waited, p.Dim),
	}}
}

// clock writes a duration as 01:05.
func clock(d time.Duration) string {
	d = max(d, 0)
	return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
