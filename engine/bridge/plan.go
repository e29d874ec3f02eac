package bridge

import (
	"context"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// Planned is a turn that a bridge would make now.
type Planned struct {
	Agent     string        `json:"agent"` // empty: the session is not known yet and would get a name
	Provider  string        `json:"provider"`
	Session   string        `json:"sessionId"`
	May       string        `json:"may"` // what the turn may do, in words
	Cursor    int64         `json:"cursor"`
	Seqs      []int64       `json:"seqs"` // the events that it would be made of, none: no turn
	Held      []int64       `json:"held"` // events that would wait for a person, because a chain of turns is too long
	Passive   int64         `json:"passive"`
	Duplicate int64         `json:"duplicate"`
	Queued    string        `json:"queued,omitempty"` // id of the turn that would be made (again) before
	Stopped   event.TurnCap `json:"stopped,omitempty"`
	StopText  string        `json:"stopText,omitempty"` // in words
	Paused    bool          `json:"paused"`             // a failed turn waits for a person first
	Prompt    string        `json:"prompt,omitempty"`
}

// Plan says which turns a bridge would make now and what it would tell the programs. It writes nothing and spends nothing.
func Plan(ctx context.Context, e *engine.Engine, s Sessions, o Options) ([]Planned, error) {
	o = o.withDefaults()
	policy, err := e.Policy()
	if err != nil {
		return nil, err
	}
	v, err := e.View(ctx)
	if err != nil {
		return nil, err
	}
	sessions, err := s.check(&o, v.State)
	if err != nil {
		return nil, err
	}
	ahead, names, err := s.opened(v.State, sessions)
	if err != nil {
		return nil, err
	}
	list := make([]Planned, 0, len(sessions))
	for i, session := range sessions {
		p, err := plan(ctx, e, v, &o, policy, session, s.From)
		if err != nil {
			return nil, err
		}
		if len(p.Seqs) > 0 && !p.Paused {
			session.Agent = names[i]
			stop := admit(ahead, session.Agent, len(p.Prompt))
			if p.Stopped, p.StopText = stop.kind, stop.why; p.Stopped == "" {
				if err := begun(ahead, session); err != nil {
					return nil, err
				}
			}
		}
		list = append(list, p)
	}
	return list, nil
}

// opened is the state as it would be when the bridge has begun, with its sessions and its caps, and what their agents are called there.
func (s *Sessions) opened(now *state.State, sessions []state.Session) (*state.State, []string, error) {
	names := make([]string, len(sessions))
	var steps []event.Turn
	for i, session := range sessions {
		if names[i] = session.Agent; names[i] == "" {
			session.Agent = event.NewID() // nobody's name
			names[i] = session.Agent
			attached := of(session, event.TurnAttached)
			attached.Through = &session.Cursor
			steps = append(steps, attached)
		}
	}
	steps = append(steps, event.Turn{Action: event.TurnOpened, Agents: names})
	if s.Limits != (Limits{}) {
		steps = append(steps, event.Turn{Action: event.TurnCapped, Caps: &s.Limits})
	}
	ahead := now.Clone()
	return ahead, names, foresee(ahead, steps...)
}

// begun makes a turn of a session run, so that the next one is admitted as a bridge would: they run side by side.
func begun(ahead *state.State, s state.Session) error {
	queued, started := of(s, event.TurnQueued), of(s, event.TurnStarted)
	queued.Turn, queued.Why = event.NewID(), event.WhyDelivery
	started.Turn, started.Why, started.Attempt = queued.Turn, queued.Why, 1
	return foresee(ahead, queued, started)
}

// foresee makes a state that of a log with further steps.
func foresee(ahead *state.State, steps ...event.Turn) error {
	list, err := events(steps...)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].ID, list[i].Seq = event.NewID(), ahead.Head()+1
		if err := ahead.Apply(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

func plan(
	ctx context.Context, e *engine.Engine, v *engine.View, o *Options, policy engine.Policy, session state.Session, from *int64,
) (Planned, error) {
	if from != nil {
		session.Cursor = *from
	}
	provider, err := o.provider(session.Provider)
	if err != nil {
		return Planned{}, err
	}
	may, err := o.describe(provider, session.Agent)
	if err != nil {
		return Planned{}, err
	}
	p := Planned{
		Agent: session.Agent, Provider: session.Provider, Session: session.ID, May: may, Cursor: session.Cursor, Paused: session.Paused,
		Seqs: []int64{}, Held: []int64{},
	}
	name := session.Agent
	if name == "" {
		name = session.Provider
	}
	var found []event.Event
	var depth int64
	again := false
	if t, _ := due(v.State, session.Agent, v.Now, o.Backoff); t != nil && session.Agent != "" {
		p.Queued, depth, again = t.ID, t.Depth, t.Started != nil
		if found, err = read(ctx, e, t.Seqs); err != nil {
			return Planned{}, err
		}
	} else {
		batch, err := collect(ctx, e, newSorter(v.State, name, session.Cursor, policy, o.MaxDepth))
		if err != nil {
			return Planned{}, err
		}
		found, depth = batch.deliver, batch.depth
		p.Held, p.Passive, p.Duplicate = seqsOf(batch.held), batch.passive, batch.duplicate
	}
	if p.Seqs = seqsOf(found); len(found) > 0 {
		p.Prompt = composePrompt(o, v, name, found, depth, again)
	}
	return p, nil
}

// Find is the session that a ref names, or what it would be: one that is not known has no Agent and begins at the end of the log. An agent
// without a session is a *NotFoundError.
func Find(s *state.State, ref Ref) (state.Session, error) {
	for _, session := range s.Sessions() {
		if ref.Session != "" && session.ID == ref.Session && session.Provider == ref.Provider ||
			ref.Session == "" && event.SameName(session.Agent, ref.Agent) {
			return session, nil
		}
	}
	if ref.Session == "" {
		return state.Session{}, noSession(s, ref.Agent)
	}
	return state.Session{Provider: ref.Provider, ID: ref.Session, Cursor: s.Head()}, nil
}
