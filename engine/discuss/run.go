package discuss

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
)

// maxShort is how many characters of a statement its event tells in its description.
const maxShort = 200

// Run holds the discussion to its end, and returns how far it came also when it fails. The error is a *HaltedError when the kill switch
// ended it and ctx's when that did: the thread then stays open. It is a *ProviderError when a program failed or its answer cannot be used:
// the thread is then closed as failed. Resume goes on with either.
func (d *Discussion) Run(ctx context.Context) (result Result, err error) {
	d.result.ThreadID = d.thread
	defer func() {
		d.change(func(l *Live) { l.Over, l.Err = true, err })
		result = d.result
	}()
	release, err := d.engine.BridgeLease(ctx)
	if err != nil {
		return d.result, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := bridge.Settle(ctx, d.engine); err != nil {
		return d.result, err
	}
	if d.resumed {
		err = d.checkStill(ctx)
	} else {
		err = d.open(ctx)
	}
	if err != nil {
		return d.result, err
	}
	d.change(func(l *Live) { l.Thread, l.Rounds, l.Done = d.thread, d.terms.Rounds, len(d.said) })
	d.options.Report(Progress{Kind: KindOpened, Agents: []string{d.sides[0].agent, d.sides[1].agent}})
	for {
		step, more := StepAt(len(d.said), d.terms.Rounds)
		if !more {
			d.leave(ctx)
			d.options.Report(Progress{Kind: KindFinished})
			return d.result, nil
		}
		if err := d.take(ctx, step); err != nil {
			return d.result, err
		}
	}
}

// checkStill refuses to go on with a thread that went on since it was read. The place of the one discussion is held.
func (d *Discussion) checkStill(ctx context.Context) error {
	now, err := Load(ctx, d.engine, d.thread)
	if err != nil {
		return err
	}
	if len(now.Statements) == 0 || now.Statements[len(now.Statements)-1].ID != d.last || now.Status == StatusClosed {
		return &engine.ConflictError{
			Kind: engine.ConflictTask, Want: -1, Have: -1, Message: fmt.Sprintf("discussion %s went on meanwhile", d.thread),
			Hints: []string{verb("show", d.thread)},
		}
	}
	return nil
}

// open gives the participants names and stores that the discussion has begun.
func (d *Discussion) open(ctx context.Context) error {
	for i := range d.sides {
		side := &d.sides[i]
		if d.terms.Fresh {
			r, err := d.engine.Do(ctx, engine.Request{Command: engine.Register{Base: side.provider.Name()}})
			if err != nil {
				return err
			}
			side.agent = r.Agent
			continue
		}
		s, err := bridge.Attach(ctx, d.engine, d.refs[i], side.dir, nil, d.bridgeOptions())
		if err != nil {
			return err
		}
		side.agent, side.session = s.Agent, s.ID
		if record, ok, err := d.engine.SessionRecord(s.Agent); err != nil {
			return err
		} else if ok {
			side.dir = record.Cwd
		}
	}
	agents := []string{d.sides[0].agent, d.sides[1].agent}
	if event.SameName(agents[0], agents[1]) {
		return errItself
	}
	r, err := d.engine.RecordTurns(ctx, "", func(v engine.View) ([]event.Event, error) {
		if err := checkNew(v.State, d.thread); err != nil {
			return nil, err
		}
		started, err := d.event(d.initiator, event.Broadcast, d.topic, event.Discussion{
			Kind: event.KindStarted, Role: system, Content: d.topic, Participants: agents,
		})
		started.Context = d.terms.String()
		return []event.Event{started}, err
	})
	if err != nil {
		return err
	}
	d.started, d.last = r.Events[0].ID, r.Events[0].ID
	if s, ok := NewStatement(&r.Events[0]); ok {
		d.topic = s.Content // as it was stored
	}
	return nil
}

// event makes an event of this thread that answers the one before.
func (d *Discussion) event(from, to, description string, b event.Discussion) (event.Event, error) {
	b.ThreadID, b.ReplyTo = d.thread, cmp.Or(b.ReplyTo, d.last)
	ev, err := event.New(from, to, description, b)
	ev.ID = event.NewID()
	return ev, err
}

func (d *Discussion) bridgeOptions() bridge.Options {
	return bridge.Options{
		Providers: d.options.Providers, Deadline: d.terms.Timeout, Report: d.watch, Mark: d.options.Mark,
		Permissions: d.permissions,
	}
}

// attempt is what came of one turn for a statement.
type attempt struct {
	reason error         // why the answer, or the lack of one, ends the discussion; nil: it does not
	again  bool          // the session is gone: a fresh one is to be asked
	events []event.Event // to be stored with the end of the turn, then as they were stored
	result *Conclusion   // of a synthesis
}

// take has a participant make a statement.
func (d *Discussion) take(ctx context.Context, step Step) error {
	for {
		a, err := d.ask(ctx, step)
		if err != nil || a.again {
			if err != nil {
				return err
			}
			continue
		}
		if a.reason != nil {
			d.options.Report(Progress{Kind: KindFailed, Agent: d.sides[step.Who].agent, Text: a.reason.Error()})
			return d.failure(step, a.reason)
		}
		d.keep(a)
		return nil
	}
}

// failure is the error of a discussion that was closed as failed.
func (d *Discussion) failure(step Step, reason error) error {
	program := d.sides[step.Who].provider.Name()
	return &engine.ProviderError{
		Provider: program, Err: reason,
		Hints: append(engine.Hints(reason), verb("resume", d.thread)+"    goes on at this statement, after showing what that costs"),
	}
}

// keep takes in what was stored of an answer.
func (d *Discussion) keep(a attempt) {
	for i := range a.events {
		s, ok := NewStatement(&a.events[i])
		if !ok {
			continue
		}
		d.last = s.ID
		if s.Kind != event.KindClosed {
			d.said = append(d.said, s)
		}
		d.tellSaid(s)
	}
	d.result.Conclusion = a.result
	d.turnEnds()
}

// ask makes one turn. The error says that nothing was stored of it and the thread is as it was before.
func (d *Discussion) ask(ctx context.Context, step Step) (a attempt, err error) {
	side := &d.sides[step.Who]
	v, err := d.engine.View(ctx)
	if err != nil {
		return a, err
	}
	if v.Halted != nil {
		return a, v.Halted
	}
	s := state.Session{Agent: side.agent, Provider: side.provider.Name(), ID: side.session, Scripted: side.provider.Scripted()}
	if known, ok := v.State.Session(side.agent); ok && known.ID == side.session && side.session != "" {
		s.Total = known.Total
	}
	d.turnBegins(step, v.Now)
	defer d.turnEnds()
	q := bridge.Question{
		Why: event.WhyDiscussion, Thread: d.thread, Prompt: d.prompt(step), Dir: side.dir, Attach: true,
		Also: func(reply turn.Reply, _ event.Turn, failed error) (list []event.Event, err error) {
			a, err = d.outcome(step, reply, failed)
			return a.events, err
		},
		Stored: func(events []event.Event) { a.events = events },
	}
	if step.Kind == event.KindSummary {
		q.Schema = []byte(schema)
	}
	reply, end, err := bridge.Ask(ctx, d.engine, s, q, d.bridgeOptions())
	d.result.Usage = d.result.Usage.Add(usedBy(end.Usage))
	if end.Action != "" && end.Spent != string(turn.Nothing) {
		d.result.TurnsUsed++
	}
	var provider *engine.ProviderError
	var unrecorded *bridge.UnrecordedError
	if errors.As(err, &unrecorded) && reply.Text != "" {
		d.result.Unrecorded = &Unrecorded{
			Agent: side.agent, Kind: step.Kind, Round: step.Round, Program: side.provider.Name(), SessionID: reply.Session, Text: reply.Text,
		}
	}
	switch {
	case end.Action == event.TurnCancelled:
		return a, d.cancelled(ctx, &end)
	case err != nil && (!errors.As(err, &provider) || errors.As(err, &unrecorded)): // not recorded, or never begun
		return a, err
	}
	if a.again {
		gone := fmt.Sprintf("its session %s is gone; a fresh one is told what was said", side.session)
		d.options.Report(Progress{Kind: KindNotice, Agent: side.agent, Text: gone})
		side.session, side.heard, side.kept = "", false, false
		return a, nil
	}
	if end.Session != "" {
		side.session = end.Session
	}
	side.heard, side.kept = true, false
	return a, nil
}

// usedBy is what a turn used as its end tells it, also when it failed.
func usedBy(u *event.TurnUsage) turn.Usage {
	if u == nil {
		return turn.Usage{}
	}
	return turn.Usage{
		Input: u.Input, Cached: u.Cached, Output: u.Output, Cost: float64(u.CostMicros) / 1e6, Priced: u.Priced, Known: u.Known,
	}
}

// cancelled is why a turn ended before it was answered. Its answer was dropped and the thread stays open.
func (d *Discussion) cancelled(ctx context.Context, end *event.Turn) error {
	switch end.Cause {
	case state.CauseHalt:
		halted, err := d.engine.Halted()
		if err == nil && halted == nil {
			halted = &engine.HaltedError{Damaged: true} // lifted already
		}
		return errors.Join(err, halted)
	case state.CauseEnd:
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	return &engine.ProviderError{
		Provider: end.Provider, Err: errors.New("the turn was cancelled by a person; the discussion stays open"),
		Hints: []string{verb("resume", d.thread)},
	}
}

func (d *Discussion) prompt(step Step) string {
	side := &d.sides[step.Who]
	p := prompt{
		topic: d.topic, thread: d.thread, participants: []string{d.sides[0].agent, d.sides[1].agent}, step: step, rounds: d.terms.Rounds,
		said: d.said, transcript: !side.heard, mark: d.options.Mark(),
	}
	return p.String()
}

// outcome is what is to be made of a turn that ended: a statement, or why there is none. It is pure.
func (d *Discussion) outcome(step Step, reply turn.Reply, failed error) (a attempt, err error) {
	text, conclusion := "", Conclusion{}
	switch a.reason = failed; {
	case failed != nil:
		var failure *turn.Failure
		if d.sides[step.Who].kept && errors.As(failed, &failure) && failure.Kind == turn.UnknownSession && failure.Spent == turn.Nothing {
			return attempt{again: true}, nil
		}
	case step.Kind == event.KindSummary:
		conclusion, a.reason = checkSynthesis(reply)
	default:
		text, a.reason = CheckStatement(reply)
	}
	switch {
	case a.reason != nil:
		a.events, err = d.stopped(a.reason)
	case step.Kind == event.KindSummary:
		a.result = &conclusion
		a.events, err = d.decided(step, conclusion)
	default:
		a.events, err = d.stated(step, text)
	}
	return a, err
}

// stated is the event of a statement.
func (d *Discussion) stated(step Step, text string) ([]event.Event, error) {
	ev, err := d.event(d.sides[step.Who].agent, d.sides[1-step.Who].agent, short(text), event.Discussion{
		Kind: step.Kind, Round: int64(step.Round), Role: step.Role, Content: text,
	})
	return []event.Event{ev}, err
}

// short is the beginning of a text in one line.
func short(text string) string { return event.Clip(safetext.Line(text), maxShort) }

// leave ends agents that took part in nothing but this discussion. Their sessions stay known under their names.
func (d *Discussion) leave(ctx context.Context) {
	v, err := d.engine.View(ctx)
	if err != nil || !d.terms.Fresh {
		return
	}
	for i := range d.sides {
		a, ok := v.State.Agent(d.sides[i].agent)
		if ok && a.Registered && a.Session == "" && a.PID == 0 {
			_, _ = d.engine.Do(ctx, engine.Request{Command: engine.EndAgent{Name: a.Name, Reason: "the discussion is over"}})
		}
	}
}

// decided are the events of the end: the summary, the decision, and that the discussion is closed.
func (d *Discussion) decided(step Step, c Conclusion) ([]event.Event, error) {
	proposer := d.sides[0].agent
	summary, err := d.event(proposer, event.Broadcast, c.Decision, event.Discussion{
		Kind: event.KindSummary, Round: int64(step.Round), Role: Proposer, Content: c.Rationale,
		Alternatives: c.Alternatives, Unresolved: c.Unresolved,
	})
	if err != nil {
		return nil, err
	}
	decision, err := event.New(proposer, event.Broadcast, c.Decision, event.Decision{
		Title: c.Decision, Rationale: c.Rationale, DiscussionID: d.thread,
	})
	if err != nil {
		return nil, err
	}
	decision.Resolves = summary.ID
	closed, err := d.event(d.initiator, event.Broadcast, c.Decision, event.Discussion{
		Kind: event.KindClosed, Round: int64(step.Round), Role: system, Content: c.Decision, ReplyTo: summary.ID, Outcome: "decided",
	})
	closed.Resolves = d.started
	return []event.Event{summary, decision, closed}, err
}

// stopped are the events of a discussion that cannot go on by itself.
func (d *Discussion) stopped(why error) ([]event.Event, error) {
	reason := event.Clip(cmp.Or(Clean(why.Error()), "no reason was given"), event.MaxReason)
	text := fmt.Sprintf("Discussion '%s' stopped: %s", d.thread, safetext.Line(reason))
	failed, err := event.New(event.Loadout, event.Broadcast, text, event.Error{})
	if err != nil {
		return nil, err
	}
	failed.Context = "Discussion " + d.thread
	round := 0
	if n := len(d.said); n > 0 {
		round = int(d.said[n-1].Round)
	}
	closed, err := d.event(d.initiator, event.Broadcast, text, event.Discussion{
		Kind: event.KindClosed, Round: int64(round), Role: system, Content: reason, Outcome: "failed",
	})
	closed.Resolves = d.started
	return []event.Event{failed, closed}, err
}
