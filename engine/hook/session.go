package hook

import (
	"context"
	"errors"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// start introduces the session and tells it what holds. A turn that a bridge makes of the session knows that already.
func (h *handler) start(ctx context.Context) (Answer, error) {
	a, known := h.agent()
	if s, ok := h.view.State.Session(a.Name); known && ok && s.Running != "" {
		return Answer{}, nil
	}
	name, notes, err := h.introduce(ctx, a, known)
	if err != nil {
		return Answer{Notes: notes}, err
	}
	text, asOf, err := h.snapshot(ctx, name)
	if err != nil {
		return Answer{Notes: notes}, err
	}
	if err := h.attach(ctx, name, asOf); err != nil {
		return Answer{Notes: notes}, err
	}
	h.engine.Beat(ctx, name)
	return Answer{Context: text, Notes: notes}, nil
}

// introduce registers the session, unless its agent lives already, and returns its name.
func (h *handler) introduce(ctx context.Context, a state.Agent, known bool) (name string, notes []string, err error) {
	r, err := h.registration()
	if err != nil {
		return "", nil, err
	}
	if known && h.view.Live(a.Name).Live && (h.elsewhere(a) || a.Session == h.call.Session && r.SameProcess(a)) {
		return a.Name, nil, nil
	}
	if !known { // a name that somebody has chosen for the session
		if r.Name = h.engine.Caller(h.view, h.call.Session); r.Name != "" {
			r.Resume = true
		}
	}
	receipt, err := h.engine.Do(ctx, engine.Request{Command: r})
	if err != nil {
		return "", nil, err
	}
	for _, other := range h.view.State.Agents() {
		if !other.Registered || !r.SameProcess(other) || event.SameName(other.Name, receipt.Agent) {
			continue
		}
		if err := h.finish(ctx, other.Name, "its program went on with another session"); err != nil {
			notes = append(notes, "the session before could not be ended: "+err.Error())
		}
	}
	return receipt.Agent, notes, nil
}

// registration is how the session would be registered.
func (h *handler) registration() (engine.Register, error) {
	r, err := h.engine.Registration(engine.Register{Session: h.call.Session}, nil)
	if r.Base == engine.UnknownProgram && h.call.Program != "" {
		r.Base = h.call.Program
	}
	return r, err
}

// elsewhere reports whether an agent was registered as another process than the program that calls: then its session goes on there,
// whatever becomes of this one.
func (h *handler) elsewhere(a state.Agent) bool {
	r, err := h.registration()
	return err != nil || a.PID > 0 && r.PID > 0 && !r.SameProcess(a)
}

// attach records that the session takes part and has been told what holds as of a sequence number, before it is told.
func (h *handler) attach(ctx context.Context, name string, asOf int64) error {
	if h.call.Session == "" {
		return nil
	}
	_, err := h.engine.RecordSession(ctx, "", h.call.Dir, func(v engine.View) ([]event.Event, error) {
		provider := h.call.Program
		if a, ok := v.State.Agent(name); ok && a.Base != "" {
			provider = a.Base
		}
		through := asOf
		if s, ok := v.State.Session(name); ok && s.ID == h.call.Session {
			through = max(through, s.Cursor)
		}
		return turnEvents(event.Turn{Action: event.TurnAttached, Agent: name, Provider: provider, Session: h.call.Session, Through: &through})
	})
	return err
}

func turnEvents(b event.Turn) ([]event.Event, error) {
	ev, err := engine.TurnEvent(b)
	if err != nil {
		return nil, err
	}
	return []event.Event{ev}, nil
}

// errMoved says that somebody else has told the session something meanwhile.
var errMoved = errors.New("the session has moved on")

const (
	maxTries = 3    // against others who move the same cursor
	page     = 2048 // events that are read at once
	farOff   = 1000 // events that concern nobody here, after which the cursor is moved all the same
)

// prompt tells the agent what is new for it. Where nothing is, nothing is written.
func (h *handler) prompt(ctx context.Context) (Answer, error) {
	for tries := 1; ; tries++ {
		a, known := h.agent()
		s, attached := h.view.State.Session(a.Name)
		if !known || !attached || s.ID != h.call.Session {
			return h.start(ctx)
		}
		if s.Running != "" {
			return Answer{}, nil
		}
		if s.Cursor >= h.view.State.Head() {
			h.engine.Beat(ctx, a.Name)
			return Answer{}, nil
		}
		answer, err := h.tell(ctx, s)
		if !errors.Is(err, errMoved) || tries == maxTries {
			return answer, err
		}
		if h.view, err = h.engine.View(ctx); err != nil {
			return Answer{}, err
		}
	}
}

// tell records that a session is told what stands behind its cursor, and then tells it.
func (h *handler) tell(ctx context.Context, s state.Session) (Answer, error) {
	n, err := h.collect(ctx, s)
	if err != nil {
		return Answer{}, err
	}
	if len(n.events) == 0 && n.through-s.Cursor < farOff {
		h.engine.Beat(ctx, s.Agent)
		return Answer{}, nil
	}
	b := event.Turn{Action: event.TurnPassed, Agent: s.Agent, Provider: s.Provider, Session: s.ID, Through: &n.through}
	if len(n.events) > 0 {
		b.Action = event.TurnDelivered
		for i := range n.events {
			b.Seqs = append(b.Seqs, n.events[i].Seq)
		}
	}
	_, err = h.engine.RecordTurns(ctx, "", func(v engine.View) ([]event.Event, error) {
		if now, ok := v.State.Session(s.Agent); !ok || now.Cursor != s.Cursor || now.ID != s.ID {
			return nil, errMoved
		}
		return turnEvents(b)
	})
	if err != nil {
		return Answer{}, err
	}
	h.engine.Beat(ctx, s.Agent)
	return Answer{Context: h.news(s.Agent, n)}, nil
}

// fresh is what stands behind a cursor.
type fresh struct {
	events  []event.Event // the newest of what is news for the agent
	omitted int           // older news
	through int64
}

func (h *handler) collect(ctx context.Context, s state.Session) (fresh, error) {
	n := fresh{through: s.Cursor}
	for {
		r, err := h.engine.Events(ctx, engine.Query{After: n.through, Max: page})
		if err != nil {
			return fresh{}, err
		}
		for i := range r.Events {
			ev := &r.Events[i]
			n.through = max(n.through, ev.Seq)
			if ev.Concerns(s.Agent) && ev.Type.IsNews(ev.From) {
				n.events = append(n.events, *ev)
			}
		}
		if over := len(n.events) - event.MaxTurnSeqs; over > 0 {
			n.events, n.omitted = n.events[over:], n.omitted+over
		}
		if len(r.Events) < page {
			return n, nil
		}
	}
}
