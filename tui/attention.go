package tui

import (
	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

const bell = "\a"

// attention keeps what is new in panes that the person does not look at, and what somebody has to look at. Both are kept for a pane until
// it has the focus.
type attention struct {
	unread []int  // events, by pane
	marked []bool // something needs a person, by pane
	known  map[string]bool
	begun  bool // what was there at the start rang for nobody
	drift  bool // the same of what git told first
}

// alarm is one thing that needs a person. Its key is the same as long as it lasts.
type alarm struct{ key, pane string }

// notice counts what came, and rings once when something new needs a person: news is what waits since.
func (m *model) notice(events []event.Event, news []state.Waiting, reset bool) {
	a := &m.attention
	if a.unread == nil {
		a.unread, a.marked = make([]int, len(m.panes)), make([]bool, len(m.panes))
	}
	if a.begun && !reset {
		for i := range events {
			m.count(&events[i])
		}
	}
	ring := false
	now := map[string]bool{}
	alarms := m.eventAlarms(events)
	if a.drift {
		alarms = append(alarms, m.driftAlarms()...)
	}
	raise := func(pane string) {
		if !a.begun || reset {
			return
		}
		ring = true
		if i := m.paneByID(pane); i >= 0 && i != m.focus {
			a.marked[i] = true
		}
	}
	for _, al := range alarms {
		if now[al.key] = true; !a.known[al.key] {
			raise(al.pane)
		}
	}
	for _, w := range news {
		if w.Kind != state.WaitHalt || !event.SameName(w.Agent, m.actor) { // what the person did alarms nobody
			raise(waitPane(w.Kind))
		}
	}
	if !a.drift { // known from now on
		for _, al := range m.driftAlarms() {
			now[al.key] = true
		}
		a.drift = m.live.Drift != nil
	}
	a.known, a.begun = now, true
	if ring && m.rings {
		m.screen.Send(bell)
	}
}

// count adds an event to the panes that it is news in. What the person did is no news.
func (m *model) count(e *event.Event) {
	if m.own(e) {
		return
	}
	for i, p := range m.panes {
		if i != m.focus && concerns(p.ID(), e) {
			m.attention.unread[i]++
		}
	}
}

// seen says that the person looks at a pane.
func (a *attention) seen(i int) {
	if a.unread != nil {
		a.unread[i], a.marked[i] = 0, false
	}
}

// driftAlarms is what changed where another agent works than the one that claimed it.
func (m *model) driftAlarms() []alarm {
	var list []alarm
	if d := m.live.Drift; d != nil {
		for i := range d.Items {
			if d.Items[i].Kind == engine.DriftForeign {
				list = append(list, alarm{"drift " + d.Items[i].Worktree + " " + d.Items[i].Path, "ownership"})
			}
		}
	}
	return list
}

// eventAlarms is which events somebody has to look at: a claim that ended another one, a turn that failed or was kept from starting.
func (m *model) eventAlarms(events []event.Event) []alarm {
	var list []alarm
	for i := range events {
		e := &events[i]
		if e.Type != event.TypeOwnership && e.Type != event.TypeTurn || m.own(e) {
			continue
		}
		body, err := e.Body()
		if err != nil {
			continue
		}
		switch b := body.(type) { //nolint:gochecksumtype // the others need nobody
		case event.Ownership:
			if len(b.Displaced) > 0 {
				list = append(list, alarm{"displaced " + e.ID, "ownership"})
			}
		case event.Turn:
			if b.Action == event.TurnFailed || b.Action == event.TurnUncertain || b.Action == event.TurnStopped {
				list = append(list, alarm{"turn " + e.ID, "bridge"})
			}
		}
	}
	return list
}

// own reports whether the person did it.
func (m *model) own(e *event.Event) bool {
	return event.SameName(e.From, m.actor) || event.SameName(e.By, m.actor)
}

// waitPane is where a person settles what waits.
func waitPane(k state.WaitKind) string {
	switch k {
	case state.WaitClaim:
		return "ownership"
	case state.WaitTurn, state.WaitCap:
		return "bridge"
	case state.WaitHalt, state.WaitQuestion, state.WaitTask:
		return "agents"
	default:
		return "work"
	}
}

// concerns reports whether an event is news in a pane.
func concerns(pane string, e *event.Event) bool {
	t := e.Type
	switch pane {
	case "ownership":
		return t == event.TypeOwnership
	case "contracts":
		return t == event.TypeContract
	case "discussion":
		return t == event.TypeDiscussion || t == event.TypeDecision
	case "bridge":
		return t == event.TypeTurn
	case "work":
		return t == event.TypeTask || t == event.TypeDone || t == event.TypeError || t == event.TypeCancel || t == event.TypeHandoff ||
			t == event.TypeWork
	case "gates":
		return t == event.TypeGate || t == event.TypeWave
	case "agents":
		return t == event.TypeAgent || t == event.TypeQuestion || t == event.TypeHalt
	case "timeline":
		return t != event.TypeAck && t != event.TypeTurn
	}
	return false
}
