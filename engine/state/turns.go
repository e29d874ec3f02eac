package state

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// turns is what holds about sessions and their turns. Its maps are keyed by folded name, or by the id of a turn. Their values are
// never changed in place, so a clone is a copy of the maps.
type turns struct {
	sessions map[string]Session
	open     map[string]Turn
	ended    ring[Turn] // by Seq
	meters   map[string]Meter
	caused   ring[caused]
	bridge   Bridge
	limits   limits
}

// limits are the caps for the sessions of a bridge together, 0 for none, and the one that is given to new sessions.
type limits struct{ turns, totalTurns, tokens, costMicros int64 }

// caused is an event that the agent of a running turn wrote.
type caused struct{ seq, depth int64 }

func newTurns() turns {
	return turns{
		sessions: map[string]Session{}, open: map[string]Turn{}, meters: map[string]Meter{},
		limits: limits{turns: DefaultMaxTurns},
	}
}

func (t *turns) clone() turns {
	c := *t
	c.sessions, c.open, c.meters = maps.Clone(t.sessions), maps.Clone(t.open), maps.Clone(t.meters)
	c.ended, c.caused = t.ended.clone(), t.caused.clone()
	return c
}

// foldTurn folds a step of a session's automatic work.
func (t *turns) foldTurn(e *event.Event, b *event.Turn, at time.Time) {
	switch b.Action {
	case event.TurnAttached:
		t.attach(e, b, at)
	case event.TurnForgotten:
		t.forget(b.Agent)
	case event.TurnOpened:
		t.bridge = Bridge{Agents: b.Agents, Since: at, Open: true, Seq: e.Seq}
	case event.TurnClosed:
		t.bridge.Open = false
	case event.TurnPassed:
		t.pass(e, b)
	case event.TurnDelivered:
		t.pass(e, b)
		t.meter(b.Agent, e.Seq, func(m *Meter) { m.Delivered += int64(len(b.Seqs)) })
	case event.TurnQueued, event.TurnHeld:
		t.queue(e, b, at)
	case event.TurnStarted, event.TurnFinished, event.TurnFailed, event.TurnCancelled, event.TurnUncertain, event.TurnRetried, event.TurnSkipped:
		if turn, ok := t.open[b.Turn]; ok {
			t.step(turn, e, b, at)
		} else if b.Action == event.TurnCancelled && b.Usage != nil {
			t.countLate(e, b)
		}
	case event.TurnStopped:
		t.stop(e, b)
	case event.TurnCapped:
		t.setCaps(b)
	}
}

func (t *turns) attach(e *event.Event, b *event.Turn, at time.Time) {
	key := event.FoldName(b.Agent)
	s, known := t.sessions[key]
	if !known || s.ID != b.Session || s.Provider != b.Provider {
		s = Session{Agent: b.Agent, Provider: b.Provider, ID: b.Session, Attached: at, MaxTurns: t.limits.turns}
	}
	s.Scripted, s.Cursor, s.Seq = b.Scripted, *b.Through, e.Seq
	t.sessions[key] = s
	if len(t.sessions) > MaxSessions {
		t.forgetIdle(key)
	}
}

// forgetIdle forgets the session that was heard of longest ago, other than that of keep. One that the bridge drives, or with a turn that is
// not over or waits for a person, stays.
func (t *turns) forgetIdle(keep string) {
	busy := map[string]bool{keep: true}
	for _, turn := range t.open {
		busy[event.FoldName(turn.Agent)] = true
	}
	oldest := ""
	for key, s := range t.sessions {
		if !busy[key] && !t.drives(s.Agent) && (oldest == "" || s.Seq < t.sessions[oldest].Seq) {
			oldest = key
		}
	}
	delete(t.sessions, oldest)
}

// forget drops a session and what it was still to do.
func (t *turns) forget(agent string) {
	delete(t.sessions, event.FoldName(agent))
	for id, turn := range t.open {
		if event.SameName(turn.Agent, agent) {
			delete(t.open, id)
		}
	}
}

// pass moves a cursor and counts what it passed.
func (t *turns) pass(e *event.Event, b *event.Turn) {
	key := event.FoldName(b.Agent)
	if s, ok := t.sessions[key]; ok {
		if b.Through != nil {
			s.Cursor = max(s.Cursor, *b.Through)
		}
		s.Seq = e.Seq
		t.sessions[key] = s
	}
	if b.Passive > 0 || b.Duplicate > 0 {
		t.meter(b.Agent, e.Seq, func(m *Meter) { m.Passive, m.Duplicate = m.Passive+b.Passive, m.Duplicate+b.Duplicate })
	}
}

func (t *turns) queue(e *event.Event, b *event.Turn, at time.Time) {
	t.pass(e, b)
	if old, known := t.open[b.Turn]; known { // an id that comes again is another turn, as it is where the first was compacted away
		key := event.FoldName(old.Agent)
		if s := t.sessions[key]; s.Running == old.ID {
			s.Running = ""
			t.sessions[key] = s
		}
	}
	turn := Turn{
		ID: b.Turn, Agent: b.Agent, Provider: b.Provider, Session: b.Session, Scripted: b.Scripted, Why: b.Why, Thread: b.Thread,
		Status: TurnQueued, Seqs: b.Seqs, Events: int64(len(b.Seqs)), Depth: b.Depth, Queued: at, Seq: e.Seq, lines: []int64{e.Seq},
	}
	if b.Action == event.TurnHeld {
		turn.Status, turn.Cause = TurnHeld, b.Cause
	}
	t.open[turn.ID] = turn
	if len(t.open) > MaxOpenTurns {
		oldest := slices.MinFunc(slices.Collect(maps.Values(t.open)), func(a, b Turn) int { return cmp.Compare(a.Seq, b.Seq) })
		t.end(oldest)
	}
}

// step moves a turn on.
func (t *turns) step(turn Turn, e *event.Event, b *event.Turn, at time.Time) {
	turn.lines = append(turn.lines[:len(turn.lines):len(turn.lines)], e.Seq)
	was := turn.Status
	switch b.Action {
	case event.TurnStarted:
		turn.Status, turn.Started, turn.Ended, turn.Cause, turn.Spent = TurnRunning, &at, nil, "", ""
		turn.Attempt++
		turn.RetryAfter = 0
	case event.TurnFinished:
		turn.Status = TurnFinished
	case event.TurnFailed:
		turn.Status = TurnFailed
	case event.TurnCancelled:
		turn.Status = TurnCancelled
	case event.TurnUncertain:
		turn.Status = TurnUncertain
	case event.TurnRetried:
		turn.Status, turn.Attempt, turn.Depth, turn.Cause, turn.Spent, turn.Ended = TurnQueued, 0, 0, "", "", nil
	case event.TurnSkipped:
		turn.Status = TurnSkipped
	default:
	}
	if was == TurnRunning || turn.Status == TurnSkipped {
		turn.Ended = &at
	}
	if b.Session != "" {
		turn.Session = b.Session
	}
	if b.Cause != "" {
		turn.Cause = b.Cause
	}
	if b.Spent != "" {
		turn.Spent = b.Spent
	}
	turn.RetryAfter = max(turn.RetryAfter, time.Duration(b.RetryAfter)*time.Millisecond)
	turn.Duration = max(turn.Duration, time.Duration(b.Duration)*time.Millisecond)
	turn.Usage = turn.Usage.add(usageOf(b.Usage))
	t.count(turn, was, e, b)
	t.open[turn.ID] = turn
	if turn.Over() {
		t.end(turn)
	}
}

// count keeps the session and the meter of a turn that moved on.
func (t *turns) count(turn Turn, was TurnStatus, e *event.Event, b *event.Turn) {
	automatic := turn.Why == event.WhyDelivery
	started, ended := turn.Status == TurnRunning && was != TurnRunning, was == TurnRunning && turn.Status != TurnRunning
	free := ended && turn.Spent == spentNothing
	key := event.FoldName(turn.Agent)
	if s, ok := t.sessions[key]; ok {
		s.Seq = e.Seq
		switch {
		case started:
			s.Running = turn.ID
			if automatic {
				s.Turns++
			}
		case ended:
			s.Running = ""
			if automatic && free {
				s.Turns--
			}
		}
		if automatic {
			s.Usage = s.Usage.add(usageOf(b.Usage))
		}
		if b.Total != nil {
			s.Total = usageOf(b.Total)
		}
		t.sessions[key] = s
	}
	if !started && !ended && b.Usage == nil {
		return
	}
	t.meter(turn.Agent, e.Seq, func(m *Meter) {
		switch {
		case started:
			m.Turns++
		case !ended:
		case turn.Status == TurnFinished:
			m.Delivered += turn.Events
		default:
			m.Failed++
		}
		m.Usage = m.Usage.add(usageOf(b.Usage))
	})
}

// countLate counts what a turn used that was cancelled, by another process, before that was known.
func (t *turns) countLate(e *event.Event, b *event.Turn) {
	late := Turn{ID: b.Turn, Agent: b.Agent, Why: b.Why, Status: TurnCancelled}
	t.count(late, late.Status, e, b)
	for i, turn := range t.ended.newest() {
		if turn.ID == b.Turn {
			t.ended.own()
			turn = t.ended.at(i)
			turn.Usage = turn.Usage.add(usageOf(b.Usage))
			return
		}
	}
}

// end moves a turn to those that are over.
func (t *turns) end(turn Turn) {
	delete(t.open, turn.ID)
	turn.Seqs, turn.lines = nil, nil
	n := t.ended.len()
	if n == 0 || t.ended.at(n-1).Seq < turn.Seq {
		t.ended.push(turn, MaxEnded)
		return
	}
	list := t.ended.list()
	place, _ := slices.BinarySearchFunc(list, turn.Seq, func(o Turn, seq int64) int { return cmp.Compare(o.Seq, seq) })
	list = slices.Insert(list, place, turn)
	t.ended = ring[Turn]{items: list[max(0, len(list)-MaxEnded):]}
}

func (t *turns) meter(agent string, seq int64, change func(*Meter)) {
	key := event.FoldName(agent)
	m, ok := t.meters[key]
	if !ok {
		m.Agent = agent
	}
	m.Seq = seq
	change(&m)
	t.meters[key] = m
	if len(t.meters) > MaxMeters {
		oldest := slices.MinFunc(slices.Collect(maps.Values(t.meters)), func(a, b Meter) int { return cmp.Compare(a.Seq, b.Seq) })
		delete(t.meters, event.FoldName(oldest.Agent))
	}
}

// stop notes the cap that keeps a session, or all of the bridge, from further turns.
func (t *turns) stop(e *event.Event, b *event.Turn) {
	for key, s := range t.sessions {
		if b.Agent == "" && t.drives(s.Agent) || event.SameName(b.Agent, s.Agent) {
			s.Stopped, s.Seq = strings.Clone(b.Cause), e.Seq
			t.sessions[key] = s
		}
	}
}

// drives reports whether the bridge drives the session of an agent, or drove it last.
func (t *turns) drives(agent string) bool {
	return slices.ContainsFunc(t.bridge.Agents, func(name string) bool { return event.SameName(name, agent) })
}

// setCaps sets caps, of one session where the event names its agent. What a cap stopped may go on until it is stopped anew.
func (t *turns) setCaps(b *event.Turn) {
	set := func(cap *int64, to *int64) {
		if to != nil {
			*cap = *to
		}
	}
	set(&t.limits.totalTurns, b.Caps.TotalTurns)
	set(&t.limits.tokens, b.Caps.Tokens)
	set(&t.limits.costMicros, b.Caps.CostMicros)
	if b.Agent == "" {
		set(&t.limits.turns, b.Caps.Turns)
	}
	for key, s := range t.sessions {
		if b.Agent == "" || event.SameName(b.Agent, s.Agent) {
			set(&s.MaxTurns, b.Caps.Turns)
		}
		s.Stopped = ""
		t.sessions[key] = s
	}
}

// noteCaused remembers an event that an agent wrote while a bridged turn of it ran.
func (t *turns) noteCaused(e *event.Event) {
	if len(t.sessions) == 0 || e.By != "" || e.Type == event.TypeTurn {
		return
	}
	s, ok := t.sessions[event.FoldName(e.From)]
	if !ok || s.Running == "" {
		return
	}
	if turn, ok := t.open[s.Running]; ok && turn.Why == event.WhyDelivery {
		t.caused.push(caused{seq: e.Seq, depth: turn.Depth + 1}, MaxCaused)
	}
}

// rename gives the session of an agent its other name.
func (t *turns) rename(previous, name string) {
	from, to := event.FoldName(previous), event.FoldName(name)
	if s, ok := t.sessions[from]; ok {
		delete(t.sessions, from)
		s.Agent = name
		t.sessions[to] = s
	}
	if m, ok := t.meters[from]; ok {
		delete(t.meters, from)
		m.Agent = name
		t.meters[to] = m
	}
	for id, turn := range t.open {
		if event.SameName(turn.Agent, previous) {
			turn.Agent = name
			t.open[id] = turn
		}
	}
	if t.drives(previous) {
		agents := slices.Clone(t.bridge.Agents)
		for i := range agents {
			if event.SameName(agents[i], previous) {
				agents[i] = name
			}
		}
		t.bridge.Agents = agents
	}
}

// foldAgent follows what becomes of an agent.
func (t *turns) foldAgent(b *event.Agent) {
	switch b.Action {
	case event.AgentRenamed:
		if !event.SameName(b.Previous, b.Name) {
			t.rename(b.Previous, b.Name)
		}
	case event.AgentForgotten:
		t.forget(b.Name)
	case event.AgentRegistered, event.AgentEnded:
	}
}
