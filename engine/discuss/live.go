package discuss

import (
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/event"
)

// Kind is what a Progress tells.
type Kind string

// The kinds of Progress.
const (
	KindOpened   Kind = "opened"   // the discussion is on record: Agents take part
	KindStarted  Kind = "started"  // a turn is about to be submitted
	KindNotice   Kind = "notice"   // something that a person may want to know: Text
	KindSaid     Kind = "said"     // Statement was stored
	KindFailed   Kind = "failed"   // the discussion stopped and is closed as failed: Text says why
	KindFinished Kind = "finished" // it is closed with a decision
)

// Progress is one step of a discussion. Its texts are to be cleaned before they are shown.
type Progress struct {
	Kind      Kind
	Agents    []string // the proposer first
	Agent     string   // whose turn it is
	Step      Step
	Text      string
	Statement *Statement
	Scripted  bool // no model answers
}

// Live is a discussion as it is held in this process, beyond what the log tells.
type Live struct {
	Thread   string
	Rounds   int
	Done     int    // statements that were stored
	Agent    string // whose turn runs, empty: nobody's
	Step     Step
	Text     string // what it has answered so far: its end, not safe to show
	Tool     string // what it tried to use last
	Scripted bool
	Since    time.Time     // when the turn was started
	Timeout  time.Duration // how long it may take
	Over     bool
	Err      error // why it is over before it was decided
}

// maxLive bounds how much of an answer is kept while it streams in, in bytes: its end.
const maxLive = 32 << 10

// Live is how the discussion stands now.
func (d *Discussion) Live() Live {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.live
}

// Changed has a token whenever Live is another than before.
func (d *Discussion) Changed() <-chan struct{} { return d.options.Changed }

func (d *Discussion) change(fn func(*Live)) {
	d.mu.Lock()
	fn(&d.live)
	d.mu.Unlock()
	select {
	case d.options.Changed <- struct{}{}:
	default:
	}
}

// watch makes the steps of a turn visible.
func (d *Discussion) watch(p bridge.Progress) {
	switch p.Kind {
	case bridge.KindText:
		d.change(func(l *Live) {
			if l.Text += p.Text; len(l.Text) > maxLive {
				l.Text = strings.ToValidUTF8(l.Text[len(l.Text)-maxLive:], "")
			}
		})
	case bridge.KindTool:
		d.change(func(l *Live) { l.Tool = p.Text })
	case bridge.KindNotice, bridge.KindUncertain:
		d.options.Report(Progress{Kind: KindNotice, Agent: p.Agent, Text: p.Text})
	case bridge.KindSession, bridge.KindActive, bridge.KindStarted, bridge.KindFinished, bridge.KindFailed, bridge.KindCancelled,
		bridge.KindHeld, bridge.KindStopped, bridge.KindClosed:
	}
}

// turnBegins and turnEnds bracket what Live tells of a turn.
func (d *Discussion) turnBegins(step Step, now time.Time) {
	side := &d.sides[step.Who]
	d.options.Report(Progress{Kind: KindStarted, Agent: side.agent, Step: step, Scripted: side.provider.Scripted()})
	d.change(func(l *Live) {
		l.Agent, l.Step, l.Text, l.Tool, l.Scripted = side.agent, step, "", "", side.provider.Scripted()
		l.Since, l.Timeout = now, d.terms.Timeout
	})
}

func (d *Discussion) turnEnds() {
	d.change(func(l *Live) { l.Agent, l.Text, l.Tool, l.Done = "", "", "", len(d.said) })
}

// tellSaid reports a statement that was stored.
func (d *Discussion) tellSaid(s Statement) {
	d.options.Report(Progress{Kind: KindSaid, Agent: s.From, Statement: &s, Scripted: d.scripted(s.From)})
}

func (d *Discussion) scripted(agent string) bool {
	for i := range d.sides {
		if event.SameName(d.sides[i].agent, agent) {
			return d.sides[i].provider.Scripted()
		}
	}
	return false
}
