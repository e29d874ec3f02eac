package bridge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// Sizes in cells.
const (
	maxName  = 16
	barWidth = 10
	wide     = 60 // of a row, from which it has a bar, and what a turn took and used
	clocked  = 48 // of a row, from which it has a turn's deadline
)

// gone is how a turn stands that runs only by the log.
const gone = "its process is gone"

// row is a mark, whose it is, words, and what is at the right edge.
func (p *Pane) row(w int, mark string, style theme.Style, agent string, middle theme.Spans, right string) (left, r theme.Spans) {
	name := text.FitMiddle(text.Line(agent), min(p.name, max(w/3, 8)), p.Ellipsis)
	left = theme.Spans{theme.S(mark+" ", style), theme.S(name+"  ", p.Owners.Style(agent))}
	return append(left, middle...), theme.Spans{theme.S(right, p.Dim)}
}

// bar is a bar with its numbers; without a limit the number alone.
func (p *Pane) bar(w int, used, limit int64, write func(int64) string) theme.Spans {
	if limit == 0 {
		return theme.Spans{theme.S(write(used)+" ", p.Text)}
	}
	style := p.Good
	switch {
	case used >= limit:
		style = p.Bad
	case used*5 >= limit*4:
		style = p.Warn
	}
	numbers := theme.S(write(used)+"/"+write(limit)+" ", style)
	if w < wide {
		return theme.Spans{numbers}
	}
	return append(pane.Bar(p.Look, barWidth, used, limit, style), theme.S(" ", style), numbers)
}

func plain(n int64) string { return strconv.FormatInt(n, 10) }

func dollars(micros int64) string { return fmt.Sprintf("$%.2f", float64(micros)/1e6) }

// cost is what was used, in tokens and money where they are known.
func cost(u state.Usage) string {
	var parts []string
	if u.Known {
		parts = append(parts, fmt.Sprintf("%d tokens", u.Tokens()))
	}
	if u.Priced {
		parts = append(parts, dollars(u.CostMicros))
	}
	return strings.Join(parts, ", ")
}

// bridge is whether a bridge runs, and where.
func (p *Pane) bridge() pane.Entry {
	mark, said, style := p.whereabouts()
	b := p.snap.State.Bridge()
	return pane.Entry{
		Key:   "bridge",
		Words: []string{"bridge", said},
		Row: func(w int) (left, right theme.Spans) {
			left = theme.Spans{theme.S(mark+" ", style), theme.S("bridge ", p.Strong), theme.S(said, style)}
			if n := len(p.snap.Bridging.Notes); n > 0 && p.snap.Bridging.Here {
				left = append(left, theme.S(" "+p.Dot+" "+text.Line(p.snap.Bridging.Notes[n-1].Text), p.Dim))
			}
			return left, nil
		},
		Detail:  func(d *pane.Detail) { p.bridgeDetail(d, b, said, style) },
		Subject: pane.Subject{Seq: b.Seq, Text: said},
		Grows:   true,
	}
}

// resting are sessions that nothing waits for, in one row.
func (p *Pane) resting(list []state.Session) pane.Entry {
	said := words.Plural(len(list), "session") + " of agents that have ended"
	names := []string{"session"}
	for _, x := range list {
		names = append(names, x.Agent, x.ID)
	}
	return pane.Entry{
		Key:   "resting",
		Words: names,
		Row:   func(int) (left, right theme.Spans) { return theme.Spans{theme.S(p.Gone+" "+said, p.Dim)}, nil },
		Detail: func(d *pane.Detail) {
			d.Title(said)
			for _, x := range list {
				d.Field(text.Line(x.Agent), x.Provider+":"+x.ID, p.Text)
			}
			d.Text("Those of a discussion that is over, for one. Nothing is delivered to them unless a bridge is started for them by name.", p.Dim)
		},
		Subject: pane.Subject{Seq: -1, Text: said},
	}
}

// whereabouts is where a bridge runs, as a mark and words.
func (p *Pane) whereabouts() (mark, said string, style theme.Style) {
	b, x := p.snap.State.Bridge(), p.snap.Bridging
	switch {
	case x.Here:
		return p.Live, "runs here", p.Accent
	case x.Holder != nil:
		o := x.Holder.Owner
		return p.Live, fmt.Sprintf("taken by %s, process %d on %s", text.Line(cmp.Or(o.Command, "somebody")), o.PID, text.Line(o.Host)), p.Accent
	case b.Open && x.Known:
		return p.Warning, "its process died", p.Warn
	case b.Open:
		return p.Live, "running", p.Accent
	}
	return p.Idle, "not running", p.Dim
}

func (p *Pane) session(x state.Session, running *state.Turn, queued waits) pane.Entry {
	mark, word, style := p.Idle, "idle", p.Text
	switch {
	case running != nil && !p.snap.Bridging.Runs(running):
		mark, word, style = p.Warning, gone, p.Warn
	case x.Running != "":
		mark, word, style = p.Live, "running", p.Accent
	case x.Stopped != "":
		mark, word, style = p.Stop, "stopped by the cap on "+engine.CapName(event.TurnCap(x.Stopped)), p.Bad
	case x.Paused:
		mark, word, style = p.Warning, "waits for you", p.Warn
	case queued.stale != "":
		mark, word, style = p.Warning, "stale", p.Warn
	}
	return pane.Entry{
		Key:   "session " + x.Agent,
		Words: []string{"session", x.Agent, x.Provider, x.ID, word},
		Row: func(w int) (left, right theme.Spans) {
			said := word
			if running != nil {
				if said = p.clock(*running, w); said == "" || w >= wide {
					said = strings.TrimSpace(word + " " + said)
				}
			}
			standing, scripted := theme.Spans{theme.S(text.Line(said)+"  ", style)}, theme.Spans(nil)
			if x.Scripted {
				scripted = theme.Spans{theme.S("scripted  ", p.Warn)}
			}
			turns := func(w int) theme.Spans { return append(p.bar(w, x.Turns, x.MaxTurns, plain), theme.S("turns", p.Dim)) }
			for _, middle := range []theme.Spans{
				slices.Concat(standing, scripted, turns(w)), slices.Concat(standing, scripted, turns(0)), slices.Concat(standing, turns(0)), standing,
			} {
				if left, right = p.row(w, mark, style, x.Agent, middle, "queue "+queued.String()); left.Width()+right.Width() < w {
					break
				}
			}
			return left, right
		},
		Detail:  func(d *pane.Detail) { p.sessionDetail(d, x, word, style, queued) },
		Subject: pane.Subject{Agent: x.Agent, Seq: x.Seq, Text: x.ID, Turn: x.Running},
	}
}

// clock is how long a turn runs, and of how long where that is known.
func (p *Pane) clock(t state.Turn, w int) string {
	if !p.snap.Bridging.Runs(&t) || t.Started == nil {
		return ""
	}
	clock := pane.Clock(p.snap.Now.Sub(*t.Started))
	if limit := p.snap.Bridging.Live[t.ID].Deadline; limit > 0 && w >= clocked {
		clock += " of " + pane.Clock(limit)
	}
	return clock
}

// says is the end of what a turn's program has said, below its session.
func (p *Pane) says(t state.Turn) pane.Entry {
	live := p.snap.Bridging.Live[t.ID]
	last := live.Text[strings.LastIndexByte(strings.TrimRight(live.Text, "\n"), '\n')+1:]
	switch {
	case live.Doing != "":
		last = "uses " + live.Doing
	case last == "":
		last = "has said nothing yet"
	}
	return pane.Entry{
		Key:   "live " + t.ID,
		Words: []string{"turn", t.ID, t.Agent, t.Provider},
		Row: func(w int) (left, right theme.Spans) {
			return theme.Spans{
				theme.S("  "+p.Vertical+" ", p.Owners.Style(t.Agent)), theme.S(text.TruncateLeft(text.Line(last), max(w-4, 1), p.Ellipsis), p.Text),
			}, nil
		},
		Detail:  func(d *pane.Detail) { p.turnDetail(d, t) },
		Subject: pane.Subject{Agent: t.Agent, Seq: t.Seq, Text: live.Text, Turn: t.ID},
		Grows:   true,
	}
}

func (p *Pane) bound(c state.Cap) pane.Entry {
	write := plain
	if c.Kind == event.CapCost {
		write = dollars
	}
	name := engine.CapName(c.Kind)
	mark, style := p.Dot, p.Dim
	if c.Stopped {
		mark, style = p.Stop, p.Bad
	}
	return pane.Entry{
		Key:   "cap " + string(c.Kind),
		Words: []string{"cap", name},
		Row: func(w int) (left, right theme.Spans) {
			label := "cap: " + name
			if w >= wide {
				label = text.Pad(label, maxName)
			}
			left = theme.Spans{theme.S(mark+" ", style), theme.S(label+" ", p.Dim)}
			return append(left, p.bar(w, c.Used, c.Limit, write)...), nil
		},
		Detail: func(d *pane.Detail) {
			d.Title("cap on " + name)
			d.Field("used", write(c.Used)+" of "+write(c.Limit), p.Text)
			if c.Stopped {
				d.Text("It keeps the next turn from being started.", p.Bad)
			}
		},
		Subject: pane.Subject{Seq: -1, Text: name},
	}
}

// stands is how a turn stands, as a mark and a word.
func (p *Pane) stands(t state.Turn) (mark, word string, style theme.Style) {
	if t.Status == state.TurnRunning && !p.snap.Bridging.Runs(&t) {
		return p.Warning, gone, p.Warn
	}
	switch t.Status {
	case state.TurnQueued:
		return p.Idle, "queued", p.Dim
	case state.TurnHeld:
		return p.Warning, "held until you let it go on", p.Warn
	case state.TurnRunning:
		return p.Live, "running", p.Accent
	case state.TurnFinished:
		return p.Yes, "finished", p.Good
	case state.TurnFailed:
		return p.No, "failed", p.Bad
	case state.TurnCancelled:
		return p.Gone, "cancelled", p.Warn
	case state.TurnUncertain:
		return p.Warning, "nobody knows what came of it", p.Warn
	case state.TurnSkipped:
		return p.Gone, "skipped", p.Dim
	}
	return p.Dot, string(t.Status), p.Text
}

// took is how long the turn took, or runs.
func (p *Pane) took(t state.Turn) string {
	if clock := p.clock(t, wide); clock != "" || t.Duration <= 0 {
		return clock
	}
	return t.Duration.Round(time.Second).String()
}

// trigger is what a turn is made for.
func trigger(t state.Turn) string {
	if t.Why == event.WhyDelivery {
		return words.Plural(t.Events, "event")
	}
	return string(t.Why)
}

func (p *Pane) turn(t state.Turn) pane.Entry {
	mark, word, style := p.stands(t)
	return pane.Entry{
		Key:   "turn " + t.ID,
		Words: []string{"turn", t.ID, t.Agent, t.Provider, string(t.Why), string(t.Status), t.Cause},
		Row: func(w int) (left, right theme.Spans) {
			said := word
			if t.Cause != "" {
				said += ": " + t.Cause
			}
			middle := theme.Spans{theme.S(text.Line(said), style), theme.S(" "+p.Dot+" "+text.Line(trigger(t)), p.Dim)}
			parts := []string{p.took(t), cost(t.Usage), words.Age(p.snap.Now, t.Queued)}
			if w < wide {
				parts = parts[2:]
			}
			return p.row(w, mark, style, t.Agent, middle, strings.Join(filled(parts), " "+p.Dot+" "))
		},
		Detail:  func(d *pane.Detail) { p.turnDetail(d, t) },
		Subject: pane.Subject{Agent: t.Agent, Seq: t.Seq, Text: t.ID, Turn: t.ID},
		Grows:   p.snap.Bridging.Runs(&t),
	}
}

// filled leaves out what is empty.
func filled(parts []string) []string {
	var kept []string
	for _, s := range parts {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return kept
}
