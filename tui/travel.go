package tui

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/pane"
)

// live is the place in time that is now.
const live int64 = -1

// travel is where in time the panes are. Steps that come faster than states can be read are joined: only the last place is read.
type travel struct {
	at      int64 // what the panes show: live, or the state as of this event
	state   *state.State
	tasks   *pane.Tasks // of that state
	want    int64       // where the person went last
	reading bool
	failed  error // why the last place could not be read
}

func (m *model) past() bool { return m.travel.at != live }

// refusePast is why nothing can be done but to read: the past is shown, or is on its way. Nil in the present.
func (m *model) refusePast() error {
	at := m.travel.at
	if m.travel.reading {
		at = m.travel.want
	}
	if at == live {
		return nil
	}
	return &engine.UsageError{Message: fmt.Sprintf("this is the past, as of #%d; esc returns to now, where you can act", at)}
}

// stepper is the pane that knows which event comes before and after another.
type stepper interface {
	Step(seq int64, n int) (int64, bool)
}

// step goes n events forward in time, back for a negative n. Past the last event is now.
func (m *model) step(n int) tea.Cmd {
	head := m.live.State.Head()
	from := m.travel.at
	if m.travel.reading {
		from = m.travel.want
	}
	if from == live {
		if n > 0 || head < 0 {
			return nil
		}
		from = head
	}
	to := from + int64(n)
	for _, p := range m.panes {
		if s, ok := p.(stepper); ok {
			if seq, ok := s.Step(from, n); ok {
				to = seq
			}
		}
	}
	if n > 0 && (to > head || from == head) {
		return m.toNow()
	}
	return m.travelTo(max(to, 0))
}

// travelTo shows the project as of an event.
func (m *model) travelTo(seq int64) tea.Cmd {
	m.travel.want = seq
	if m.travel.reading {
		return nil
	}
	return m.readPast(seq)
}

func (m *model) readPast(seq int64) tea.Cmd {
	m.travel.want, m.travel.reading, m.travel.failed = seq, true, nil
	ctx, e := m.ctx, m.engine
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, loadTimeout)
		defer cancel()
		s, err := e.StateAt(ctx, seq)
		if err != nil {
			return stateAtMsg{seq: seq, err: err}
		}
		return stateAtMsg{seq, s, pane.OpenTasks(s), nil}
	}
}

// arrived shows a state of the past, or goes on when the person has.
func (m *model) arrived(msg stateAtMsg) tea.Cmd {
	m.dirty = true
	m.travel.reading = false
	switch {
	case m.travel.want == live:
		return nil
	case msg.err != nil:
		m.travel.failed = msg.err
		m.say(bad, msg.err.Error())
		m.travel.want = m.travel.at
		if m.travel.state == nil {
			return m.toNow()
		}
		return nil
	case m.travel.want != msg.seq:
		return m.readPast(m.travel.want)
	}
	m.travel.at, m.travel.state, m.travel.tasks = msg.seq, msg.state, msg.tasks
	return m.apply(pane.Changes{})
}

// toNow returns to the present.
func (m *model) toNow() tea.Cmd {
	m.travel.at, m.travel.want, m.travel.state, m.travel.tasks = live, live, nil, nil
	return m.apply(pane.Changes{})
}
