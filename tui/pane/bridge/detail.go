package bridge

import (
	"fmt"
	"strings"

	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/theme"
)

func (p *Pane) bridgeDetail(d *pane.Detail, b state.Bridge, said string, style theme.Style) {
	d.Title("bridge")
	d.Field("state", said, style)
	if h := p.snap.Bridging.Holder; h != nil && !p.snap.Bridging.Here {
		d.Field("since", pane.Stamp(p.snap.Now, h.Owner.Since)+", "+words.Ago(p.snap.Now, h.Owner.Since), p.Text)
	} else if !b.Since.IsZero() {
		d.Field("since", pane.Stamp(p.snap.Now, b.Since)+", "+words.Ago(p.snap.Now, b.Since), p.Text)
	}
	d.Field("sessions", strings.Join(b.Agents, ", "), p.Text)
	for i, note := range p.snap.Bridging.Notes {
		if i == 0 {
			d.Heading("what it says")
		}
		d.Field(note.At.In(p.snap.Now.Location()).Format("15:04:05"), strings.TrimSpace(note.Agent+" "+note.Text), p.Text)
	}
}

func (p *Pane) sessionDetail(d *pane.Detail, x state.Session, word string, style theme.Style, queued waits) {
	d.Title(x.Agent)
	d.Field("state", word, style)
	d.Field("program", x.Provider, p.Text)
	if x.Scripted {
		d.Field("answers", "from a script, no model", p.Warn)
	}
	d.Field("session", x.ID, p.Dim)
	d.Field("folder", queued.folder, p.Text)
	d.Field("stale", queued.stale, p.Warn)
	d.Field("since", pane.Stamp(p.snap.Now, x.Attached)+", "+words.Ago(p.snap.Now, x.Attached), p.Text)
	d.Field("queue", queued.words(), p.Text)
	d.Field("turns", fmt.Sprintf("%d of %s", x.Turns, limit(x.MaxTurns)), p.Text)
	d.Field("used", cost(x.Usage), p.Text)
	d.Field("in total", cost(x.Total), p.Text)
	d.Field("dealt with", fmt.Sprintf("everything up to #%d", x.Cursor), p.Text)
	m := p.snap.State.Meter(x.Agent)
	d.Field("delivered", fmt.Sprintf("%d events, %d woke nobody, %d repeated another", m.Delivered, m.Passive, m.Duplicate), p.Text)
	d.Field("failed", words.Plural(m.Failed, "turn"), p.Text)
}

func limit(n int64) string {
	if n == 0 {
		return "any number"
	}
	return plain(n)
}

// turnDetail ends with what the turn's program has said, when this process made the turn.
func (p *Pane) turnDetail(d *pane.Detail, t state.Turn) {
	_, word, style := p.stands(t)
	d.Title("turn " + t.ID)
	d.Field("state", word, style)
	d.Field("cause", t.Cause, p.Warn)
	d.Field("agent", t.Agent, p.Owners.Style(t.Agent))
	d.Field("program", t.Provider, p.Text)
	if t.Scripted {
		d.Field("answers", "from a script, no model", p.Warn)
	}
	d.Field("session", t.Session, p.Dim)
	d.Field("for", trigger(t), p.Text)
	for _, seq := range t.Seqs {
		d.Field(" ", fmt.Sprintf("#%d", seq), p.Text)
	}
	d.Field("queued", pane.Stamp(p.snap.Now, t.Queued)+", "+words.Ago(p.snap.Now, t.Queued), p.Text)
	d.Field("took", p.took(t), p.Text)
	d.Field("used", cost(t.Usage), p.Text)
	d.Field("paid for", t.Spent, p.Text)
	if t.Attempt > 1 {
		d.Field("attempt", plain(t.Attempt), p.Text)
	}
	if t.Depth > 0 {
		d.Field("caused by", words.Plural(t.Depth, "bridged turn")+" before it", p.Dim)
	}
	live, ok := p.snap.Bridging.Live[t.ID]
	if !ok {
		return
	}
	d.Heading("what it says")
	if live.Cut {
		d.Text("(only the end of a long answer)", p.Dim)
	}
	d.Text(live.Text, p.Text)
	if live.Doing != "" {
		d.Text("uses "+live.Doing+p.Ellipsis, p.Accent)
	}
}
