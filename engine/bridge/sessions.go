package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/suggest"
	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/engine/words"
)

// Settle looks for turns that the log shows as running though nobody waits for them any more, ends what they left running, and records
// that nobody knows what came of them. A turn whose process lives is left alone, and one of which something cannot be ended stays as it
// is, with an error. While the kill switch is on it does the same.
func Settle(ctx context.Context, e *engine.Engine) error {
	v, err := e.View(ctx)
	if err != nil {
		return err
	}
	agents := map[string]string{}
	for _, t := range v.State.OpenTurns() {
		if t.Status == state.TurnRunning || t.Status == state.TurnQueued && t.Why != event.WhyDelivery {
			agents[event.FoldName(t.Agent)] = t.Agent
		}
	}
	for _, agent := range agents {
		release, err := e.TurnLease(ctx, agent, 0)
		var locked *engine.LockedError
		if errors.As(err, &locked) {
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(settleAgent(ctx, e, nil, agent), release()); err != nil {
			return err
		}
	}
	return nil
}

// settleAgent is Settle for an agent whose lease is held.
func settleAgent(ctx context.Context, e *engine.Engine, tell *teller, agent string) error {
	v, err := e.View(ctx)
	if err != nil {
		return err
	}
	for _, t := range v.State.OpenTurns() {
		if t.Status == state.TurnRunning && event.SameName(t.Agent, agent) {
			if err := e.Reap(t.ID); err != nil {
				return err
			}
		}
	}
	var lost []state.Turn
	_, err = e.RecordTurns(ctx, "", func(v engine.View) ([]event.Event, error) {
		var turns []event.Turn
		lost = nil
		for _, t := range v.State.OpenTurns() {
			switch {
			case !event.SameName(t.Agent, agent):
			case t.Status == state.TurnRunning:
				turns = append(turns, step(t, event.TurnUncertain))
				lost = append(lost, t)
			case t.Status == state.TurnQueued && t.Why != event.WhyDelivery: // its words are gone
				b := step(t, event.TurnCancelled)
				b.Cause, b.Spent = state.CauseEnd, string(turn.Nothing)
				turns = append(turns, b)
			}
		}
		return events(turns...)
	})
	if err == nil && tell != nil {
		for _, t := range lost {
			tell.tell(Progress{
				Kind: KindUncertain, Agent: t.Agent, Provider: t.Provider, Session: t.Session, Scripted: t.Scripted, Turn: t.ID, Seqs: t.Seqs,
				Text: "what came of this turn is not on record; nobody knows it, and it is not repeated by itself",
				Hints: []string{
					"loadout coord agents retry " + t.ID + "    to make it again", "loadout coord agents skip " + t.ID + "    to let it go",
				},
			})
		}
	}
	return err
}

// Attach makes a session known: its agent is registered, and deliveries to it begin behind from, or at the end of the log. It spends
// nothing and asks the program nothing. dir is where the session works, the top of the project when empty.
func Attach(ctx context.Context, e *engine.Engine, ref Ref, dir string, from *int64, o Options) (state.Session, error) {
	o = o.withDefaults()
	return attach(ctx, e, &o, ref, dir, from)
}

func attach(ctx context.Context, e *engine.Engine, o *Options, ref Ref, dir string, from *int64) (state.Session, error) {
	if err := notHalted(e); err != nil {
		return state.Session{}, err
	}
	v, err := e.View(ctx)
	if err != nil {
		return state.Session{}, err
	}
	if err := checkFrom(from, v.State); err != nil {
		return state.Session{}, err
	}
	session, err := Find(v.State, ref)
	if err != nil {
		return state.Session{}, err
	}
	provider, err := o.check(session)
	if err != nil {
		return state.Session{}, err
	}
	kept, recorded, err := e.SessionRecord(session.Agent)
	switch {
	case err != nil:
		return state.Session{}, err
	case recorded && from == nil && (dir == "" || dir == kept.Cwd):
		return session, nil
	case recorded && dir == "":
		dir = kept.Cwd
	}
	if session.Agent == "" {
		if session.Agent, err = register(ctx, e, v.State, ref); err != nil {
			return state.Session{}, err
		}
	}
	session.Scripted = provider.Scripted()
	if err := recordAttached(ctx, e, o, session, dir, from); err != nil {
		return state.Session{}, err
	}
	if v, err = e.View(ctx); err != nil {
		return state.Session{}, err
	}
	s, ok := v.State.Session(session.Agent)
	if !ok {
		return state.Session{}, noSession(v.State, session.Agent)
	}
	return s, nil
}

// register finds the agent of a session, or gives it a name.
func register(ctx context.Context, e *engine.Engine, s *state.State, ref Ref) (string, error) {
	for _, a := range s.Agents() {
		if a.Registered && a.Session == ref.Session && event.SameName(a.Base, ref.Provider) {
			return a.Name, nil
		}
	}
	r, err := e.Do(ctx, engine.Request{Command: engine.Register{Base: ref.Provider, Session: ref.Session}})
	if err != nil {
		return "", err
	}
	return registered(r)
}

// registered is the name that a receipt of Register proves.
func registered(r engine.Receipt) (string, error) {
	for i := range r.Events {
		body, err := r.Events[i].Body()
		if err != nil {
			return "", err
		}
		if a, ok := body.(event.Agent); ok {
			return a.Name, nil
		}
	}
	return "", errors.New("register agent: no name was given")
}

// recordAttached stores that a session takes part. One that did before goes on where it is, unless from says otherwise.
func recordAttached(ctx context.Context, e *engine.Engine, o *Options, s state.Session, dir string, from *int64) error {
	_, err := e.RecordSession(ctx, o.By, dir, func(v engine.View) ([]event.Event, error) {
		through := v.State.Head()
		if now, ok := v.State.Session(s.Agent); ok && now.ID == s.ID && now.Provider == s.Provider {
			through = now.Cursor
		}
		if from != nil {
			through = *from
		}
		b := of(s, event.TurnAttached)
		b.Through = &through
		return events(b)
	})
	return err
}

func noSession(s *state.State, name string) error {
	var known []string
	for _, session := range s.Sessions() {
		known = append(known, session.Agent)
	}
	return &engine.NotFoundError{
		Kind: "session", Name: name, Suggestions: suggest.Closest(name, known),
		Hints: []string{
			"loadout coord agents list    for the ones that are known",
			"loadout coord agents attach PROGRAM:SESSION    to make one known",
			"loadout coord agents start PROGRAM    to start one",
		},
	}
}

// Opened is a session that was started, with what the program answered first.
type Opened struct {
	Session state.Session
	Reply   turn.Reply
}

// Open starts a new session of a program with a first turn and makes it known. text is what the program is told; empty: only that it
// takes part. This spends a turn. What was answered is given also with an error that came after it; without a Session, the session is
// not known.
func Open(ctx context.Context, e *engine.Engine, program, dir, text string, o Options) (Opened, error) {
	o = o.withDefaults()
	provider, err := o.provider(program)
	if err != nil {
		return Opened{}, err
	}
	if err := notHalted(e); err != nil {
		return Opened{}, err
	}
	if _, err := o.describe(provider, ""); err != nil {
		return Opened{}, err
	}
	if err := o.detect(ctx, provider, ""); err != nil {
		return Opened{}, err
	}
	if _, err := e.SessionRecords(); err != nil { // before it gets a name
		return Opened{}, err
	}
	if dir == "" {
		dir = e.Project().Root
	}
	r, err := e.Do(ctx, engine.Request{Command: engine.Register{Base: program}})
	if err != nil {
		return Opened{}, err
	}
	name, err := registered(r)
	if err != nil {
		return Opened{}, err
	}
	prompt := opening(name)
	if strings.TrimSpace(text) != "" {
		prompt = message(o.By, text)
	}
	s := state.Session{Agent: name, Provider: program, Scripted: provider.Scripted()}
	reply, end, err := single(ctx, e, &o, s, Question{Why: event.WhyOpening, Prompt: prompt, Dir: dir, Attach: true})
	if reply.Session == "" {
		reply.Session = end.Session
	}
	if reply.Session == "" || end.Action != event.TurnFinished && end.Spent == string(turn.Nothing) {
		ctx := context.WithoutCancel(ctx)
		if reply.Session != "" {
			_, _ = Forget(ctx, e, name, o.By) // it may not have been known; what matters is the end of the agent
		}
		_, endErr := e.Do(ctx, engine.Request{Command: engine.EndAgent{Name: name, Reason: "its session did not start"}})
		var halted *engine.HaltedError
		if errors.As(endErr, &halted) {
			endErr = nil // the name stays, and goes stale
		}
		return Opened{}, errors.Join(err, endErr)
	}
	s.ID = reply.Session
	if recordErr := recordOpened(context.WithoutCancel(ctx), e, &o, s, dir); recordErr != nil {
		return Opened{Reply: reply}, errors.Join(err, &UnrecordedError{recordErr})
	}
	v, viewErr := e.View(context.WithoutCancel(ctx))
	if viewErr != nil {
		return Opened{Session: s, Reply: reply}, errors.Join(err, viewErr)
	}
	s, _ = v.State.Session(name)
	return Opened{Session: s, Reply: reply}, err
}

// recordOpened stores that a new session takes part, and makes it the agent's.
func recordOpened(ctx context.Context, e *engine.Engine, o *Options, s state.Session, dir string) error {
	_, err := e.RecordSession(ctx, o.By, dir, func(v engine.View) ([]event.Event, error) {
		agent, err := event.New(s.Agent, event.Broadcast, s.Agent+" is here", event.Agent{
			Action: event.AgentRegistered, Name: s.Agent, Base: s.Provider, Session: s.ID,
		})
		if err != nil {
			return nil, err
		}
		through := v.State.Head()
		b := of(s, event.TurnAttached)
		b.Through = &through
		list, err := events(b)
		return append([]event.Event{agent}, list...), err
	})
	return err
}

// Send gives somebody's words to a session as a turn of its own and returns the answer, also with an *UnrecordedError. It waits a moment
// for a turn that runs. What waits for the session in the log is left to the bridge.
func Send(ctx context.Context, e *engine.Engine, agent, text string, o Options) (turn.Reply, error) {
	o = o.withDefaults()
	if strings.TrimSpace(text) == "" {
		return turn.Reply{}, &engine.ValidationError{Field: "text", Reason: "is empty"}
	}
	if len(text) > turn.MaxPrompt/2 {
		return turn.Reply{}, &engine.ValidationError{Field: "text", Reason: fmt.Sprintf("is longer than %d bytes", turn.MaxPrompt/2)}
	}
	if err := notHalted(e); err != nil {
		return turn.Reply{}, err
	}
	v, err := e.View(ctx)
	if err != nil {
		return turn.Reply{}, err
	}
	s, ok := v.State.Session(agent)
	if !ok {
		return turn.Reply{}, noSession(v.State, agent)
	}
	provider, err := o.check(s)
	if err != nil {
		return turn.Reply{}, err
	}
	if err := o.detect(ctx, provider, s.Agent); err != nil {
		return turn.Reply{}, err
	}
	record, ok, err := e.SessionRecord(s.Agent)
	if err != nil {
		return turn.Reply{}, err
	}
	if !ok {
		record.Cwd = e.Project().Root
	}
	reply, _, err := single(ctx, e, &o, s, Question{Why: event.WhyMessage, Prompt: message(o.By, text), Dir: record.Cwd})
	return reply, err
}

// Forget makes a session unknown. What waits for it is left. While a turn of it runs it is a *ConflictError: what that costs would be
// forgotten too.
func Forget(ctx context.Context, e *engine.Engine, agent, by string) (engine.Receipt, error) {
	if err := errors.Join(Settle(ctx, e), notHalted(e)); err != nil {
		return engine.Receipt{}, err
	}
	return e.RecordTurns(ctx, by, func(v engine.View) ([]event.Event, error) {
		s, ok := v.State.Session(agent)
		if !ok {
			return nil, noSession(v.State, agent)
		}
		if s.Running != "" {
			return nil, &engine.ConflictError{
				Kind: engine.ConflictTask, Want: -1, Have: -1, Message: "a turn of " + s.Agent + " runs",
				Hints: []string{"loadout coord agents cancel " + words.ShellWord(s.Agent) + "    to end it first"},
			}
		}
		list, err := events(of(s, event.TurnForgotten))
		if a, ok := v.State.Agent(s.Agent); err == nil && ok && a.Registered && a.PID == 0 && a.Session == s.ID { // it was nothing else
			var ended event.Event
			ended, err = event.New(a.Name, event.Broadcast, a.Name+" has left: its session is forgotten",
				event.Agent{Action: event.AgentEnded, Name: a.Name, Reason: "its session is forgotten"})
			list = append(list, ended)
		}
		return list, err
	})
}

// Raise sets caps: of one agent's session, or of all when agent is empty. A bridge that runs goes on at once where it now may.
func Raise(ctx context.Context, e *engine.Engine, agent, by string, limits Limits) (engine.Receipt, error) {
	if limits == (Limits{}) {
		return engine.Receipt{}, &engine.UsageError{Message: "no cap is named", Hints: []string{"loadout coord agents raise --max-turns 40"}}
	}
	if agent != "" && (limits.TotalTurns != nil || limits.Tokens != nil || limits.CostMicros != nil) {
		return engine.Receipt{}, &engine.UsageError{Message: "only the cap on turns is one session's; the others are for all together"}
	}
	if err := notHalted(e); err != nil {
		return engine.Receipt{}, err
	}
	return e.RecordTurns(ctx, by, func(v engine.View) ([]event.Event, error) {
		b := event.Turn{Action: event.TurnCapped, Caps: &limits}
		if agent != "" {
			s, ok := v.State.Session(agent)
			if !ok {
				return nil, noSession(v.State, agent)
			}
			b.Agent = s.Agent
		}
		return events(b)
	})
}

// Retry has turns made, or made again, that wait for a person: the one of an id or all of an agent's.
func Retry(ctx context.Context, e *engine.Engine, name, by string) (engine.Receipt, error) {
	return settleByPerson(ctx, e, name, by, event.TurnRetried)
}

// Skip lets turns go that wait for a person: the one of an id or all of an agent's.
func Skip(ctx context.Context, e *engine.Engine, name, by string) (engine.Receipt, error) {
	return settleByPerson(ctx, e, name, by, event.TurnSkipped)
}

func settleByPerson(ctx context.Context, e *engine.Engine, name, by string, action event.TurnAction) (engine.Receipt, error) {
	if err := errors.Join(Settle(ctx, e), notHalted(e)); err != nil {
		return engine.Receipt{}, err
	}
	return e.RecordTurns(ctx, by, func(v engine.View) ([]event.Event, error) {
		var turns []event.Turn
		for _, t := range matching(v.State, name) {
			if t.Waits() || action == event.TurnSkipped && (t.Repeats() || t.Status == state.TurnQueued) {
				turns = append(turns, step(t, action))
			}
		}
		if len(turns) == 0 {
			return nil, noTurn(v.State, name, "waits for a person")
		}
		return events(turns...)
	})
}

// CancelTurn ends a turn that runs, whichever process runs it: the one of an id or an agent's. When that process is gone, it ends what
// the turn left running.
func CancelTurn(ctx context.Context, e *engine.Engine, name, by string) (engine.Receipt, error) {
	v, err := e.View(ctx)
	if err != nil {
		return engine.Receipt{}, err
	}
	for _, t := range matching(v.State, name) {
		if t.Status != state.TurnRunning {
			continue
		}
		release, err := e.TurnLease(ctx, t.Agent, 0)
		if locked := (*engine.LockedError)(nil); errors.As(err, &locked) {
			break // it lives, and ends the turn when it sees that
		}
		if err != nil {
			return engine.Receipt{}, err
		}
		if err := errors.Join(e.Reap(t.ID), release()); err != nil {
			return engine.Receipt{}, err
		}
		break
	}
	return e.RecordTurns(ctx, by, func(v engine.View) ([]event.Event, error) {
		for _, t := range matching(v.State, name) {
			if t.Status == state.TurnRunning {
				b := step(t, event.TurnCancelled)
				b.Cause, b.Spent = state.CausePerson, string(turn.Maybe)
				return events(b)
			}
		}
		return nil, noTurn(v.State, name, "runs")
	})
}

// matching lists the open turns that a name stands for: a beginning of at least four characters of an id, or an agent.
func matching(s *state.State, name string) []state.Turn {
	const least = 4
	var list []state.Turn
	for _, t := range s.OpenTurns() {
		if event.SameName(t.Agent, name) || len(name) >= least && strings.HasPrefix(t.ID, name) {
			list = append(list, t)
		}
	}
	return list
}

// noTurn says that no turn of a name, an agent's or a beginning of an id, does what it must for what is asked.
func noTurn(s *state.State, name, must string) error {
	var names []string
	for _, t := range s.OpenTurns() {
		names = append(names, t.ID)
		if !slices.Contains(names, t.Agent) {
			names = append(names, t.Agent)
		}
	}
	missing := &engine.NotFoundError{
		Kind: "turn", Name: words.ShellWord(name), Suggestions: suggest.Closest(name, names),
		Hints: []string{"loadout coord agents list    to see sessions and turns"},
	}
	if _, ok := s.Session(name); ok || len(matching(s, name)) > 0 {
		missing.Reason, missing.Suggestions = "none of it "+must, nil
	}
	return missing
}
