package discussion

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/text/markdown"
	"github.com/agentloadout/loadout/tui/theme"
)

const nothing = "No design discussion is recorded. S starts one; loadout coord discuss start does the same in another terminal, and is " +
	"shown here as it is held."

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
		right := theme.Spans{theme.S(fmt.Sprintf("%d %s %s ", t.Statements, p.Dot, words.Age(p.snap.Now, t.Updated)), p.Dim)}
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
	case discuss.StatusOpen:
		return p.Live, p.Accent
	case discuss.StatusFailed:
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
	key := rendering{s.Seq, p.textWidth()}
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
	when := s.At.In(p.snap.Now.Location()).Format("15:04:05")
	name := text.TruncateMiddle(text.Line(s.From), max(key.w-text.Width(what)-len(when)-4, 8), p.Ellipsis)
	gap := max(key.w-text.Width(name)-text.Width(what)-len(when)-2, 1)
	d.Add(theme.S(name+"  ", p.Owners.Style(s.From)), theme.S(what, p.Dim), theme.S(text.Blank(gap)+when, p.Dim))
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
func (p *Pane) content(d *pane.Detail, s discuss.Statement, key rendering) {
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
func (p *Pane) decision(d *pane.Detail, s discuss.Statement, key rendering) {
	d.Add(theme.S(strings.Repeat(p.Horizontal, key.w), p.Good))
	d.Marked(p.Yes+" ", s.Title, p.Strong)
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
			d.Marked(p.Dot+" ", text.Line(item), part.style)
		}
	}
	d.Add(theme.S(strings.Repeat(p.Horizontal, key.w), p.Good))
}

// runningCard says who is about to speak, for how long the others wait, and what was said so far where it is this process that listens.
func (p *Pane) runningCard() []theme.Spans {
	d := pane.NewDetail(p.Look, p.textWidth())
	live := p.streamed()
	turn, lost := p.asked()
	switch {
	case live != nil:
		what := fmt.Sprintf("%s %s %s %s ", live.Step.Role, p.Dot, live.Step.Kind, p.spinner())
		d.Add(theme.S(text.Line(live.Agent)+"  ", p.Owners.Style(live.Agent)), theme.S(what, p.Accent),
			theme.S(p.waited(live.Since, live.Timeout), p.Dim))
		if live.Tool != "" {
			d.Marked(p.Warning+" ", "it wants to use "+live.Tool, p.Warn)
		}
		d.Text(live.Text, p.Text)
	case lost:
		d.Add(theme.S(text.Line(turn.Agent)+"  ", p.Owners.Style(turn.Agent)), theme.S("was asked, and the process that waited is gone", p.Warn))
	case turn != nil:
		d.Add(theme.S(text.Line(turn.Agent)+"  ", p.Owners.Style(turn.Agent)), theme.S(p.Live+" is answering ", p.Accent),
			theme.S(p.waited(*turn.Started, p.timeout()), p.Dim))
	}
	return d.Lines()
}

// waited is how long a turn has run, of how long it may.
func (p *Pane) waited(since time.Time, timeout time.Duration) string {
	if timeout <= 0 {
		return clock(p.snap.Now.Sub(since))
	}
	return clock(p.snap.Now.Sub(since)) + " of " + clock(timeout)
}

// spinner turns with the time.
func (p *Pane) spinner() string {
	faces := []rune(p.Spin)
	return string(faces[int(uint64(p.snap.Now.UnixMilli()/pace.Milliseconds())%uint64(len(faces)))]) //nolint:gosec // also before 1970
}

// clock writes a duration as 01:05.
func clock(d time.Duration) string {
	d = max(d, 0)
	return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
