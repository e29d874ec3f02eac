package bridge

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
)

// teller hands progress to Options.Report, one step at a time.
type teller struct {
	mu     sync.Mutex
	report func(Progress)
}

func (t *teller) tell(p Progress) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.report(p)
}

// submission is one turn that is about to be given to a program, and was recorded as started.
type submission struct {
	turn        state.Turn
	seqs        []int64
	prompt      string
	dir         string
	permissions turn.Permissions
	before      turn.Usage
	schema      []byte // what the answer must follow, nil: free text
	attach      bool   // a session that the turn opens takes part from its end on
	live        *live  // nil: nobody watches

	// also makes what is to be stored in the same write as the end of the turn, which failed with err or was answered. nil: nothing.
	also func(reply turn.Reply, end event.Turn, err error) ([]event.Event, error)
	// stored is told what that write stored. nil: nobody is told.
	stored func(events []event.Event)
}

// UnrecordedError says that a turn was made, and that what came of it could not be recorded. The answer, if there is one, is given with it:
// it is kept nowhere else. It stands for an error of its own, so that nobody takes it for a refusal and pays for the same turn again.
type UnrecordedError struct{ Err error }

func (e *UnrecordedError) Error() string {
	return "what came of the turn could not be recorded: " + e.Err.Error()
}

// Hint is what the caller can do next.
func (e *UnrecordedError) Hint() []string {
	return []string{"loadout coord agents list    shows the turn, as uncertain"}
}

// submit gives a turn to its program and records what came of it. ctx ends with the cause why the turn is to end. The error says
// that the end could not be recorded, an *UnrecordedError, or what the program failed with, an *engine.ProviderError, or both.
func submit(ctx context.Context, e *engine.Engine, o *Options, tell *teller, s submission) (turn.Reply, event.Turn, error) {
	t := s.turn
	about := Progress{Agent: t.Agent, Provider: t.Provider, Session: t.Session, Scripted: t.Scripted, Turn: t.ID, Seqs: s.seqs, Attempt: t.Attempt}
	say := func(kind Kind, change func(*Progress)) {
		p := about
		p.Kind = kind
		if change != nil {
			change(&p)
		}
		tell.tell(p)
	}
	say(KindStarted, nil)
	reply, err := ask(ctx, e, o, s, func(p turn.Progress) {
		if context.Cause(ctx) != nil { // what is said after the end is dropped
			return
		}
		switch p := p.(type) {
		case turn.Started:
			about.Session = p.Session
			s.live.session(p.Session)
		case turn.Text:
			s.live.add(p.Delta)
			say(KindText, func(to *Progress) { to.Text = p.Delta })
		case turn.Tool:
			say(KindTool, func(to *Progress) { to.Text = strings.TrimSpace(p.Name + " " + p.Detail) })
		case turn.Notice:
			say(KindNotice, func(to *Progress) { to.Text = p.Text })
		}
	})
	end := outcome(t, reply, err, context.Cause(ctx))
	end, recordErr := recordEnd(ctx, e, end, s.dir, func(v engine.View, end event.Turn) ([]event.Event, error) {
		return s.ends(v, end, reply, err)
	}, s.stored)
	if end.Session != "" {
		about.Session = end.Session
	}
	tellEnd(say, &end, reply, err)
	if recordErr != nil {
		recordErr = &UnrecordedError{recordErr}
	}
	if end.Action != event.TurnFinished {
		return turn.Reply{Session: reply.Session}, end, errors.Join(recordErr, providerError(t.Provider, err))
	}
	return reply, end, recordErr
}

// ends are the events of the end of a turn. One that was cancelled leaves nothing but that.
func (s *submission) ends(v engine.View, end event.Turn, reply turn.Reply, failed error) ([]event.Event, error) {
	if end.Action == event.TurnCancelled {
		return events(end)
	}
	list := []event.Turn{end}
	if s.attach && s.turn.Session == "" && end.Session != "" {
		through := v.State.Head()
		attached := event.Turn{
			Action: event.TurnAttached, Agent: end.Agent, Provider: end.Provider, Session: end.Session, Scripted: end.Scripted, Through: &through,
		}
		list = []event.Turn{attached, end}
	}
	all, err := events(list...)
	if err != nil || s.also == nil {
		return all, err
	}
	more, err := s.also(reply, end, failed)
	return append(all, more...), err
}

// ask calls the program, unless everything is halted.
func ask(ctx context.Context, e *engine.Engine, o *Options, s submission, progress func(turn.Progress)) (turn.Reply, error) {
	provider, err := o.provider(s.turn.Provider)
	if err != nil {
		return turn.Reply{}, &turn.Failure{Provider: s.turn.Provider, Kind: turn.NotInstalled, Spent: turn.Nothing, Err: err, Hints: engine.Hints(err)}
	}
	if halted, err := e.Halted(); err != nil || halted != nil || ctx.Err() != nil {
		return turn.Reply{}, &turn.Failure{Provider: s.turn.Provider, Kind: turn.Cancelled, Spent: turn.Nothing, Err: errors.Join(err, context.Cause(ctx))}
	}
	reply, err := provider.Do(ctx, turn.Turn{
		Session: s.turn.Session, Dir: s.dir, Prompt: s.prompt, Permissions: s.permissions, Schema: s.schema, Deadline: o.Deadline, Before: s.before,
		Mark: e.TurnMark(s.turn.ID),
		Env:  []string{engine.EnvAgent + "=" + s.turn.Agent, "LOADOUT_PROJECT=" + e.Project().Root},
	}, progress)
	if err == nil && s.turn.Session != "" && reply.Session != s.turn.Session {
		err = &turn.Failure{
			Provider: s.turn.Provider, Kind: turn.UnknownSession, Spent: turn.Yes, Message: "it answered in another session",
			Hints: []string{"loadout coord agents attach " + s.turn.Provider + ":ID    with the session that there is"},
		}
		reply.Session = s.turn.Session
	}
	return reply, err
}

// recordEnd records what came of a turn, and goes on trying when the log is busy. While the kill switch is on it is recorded that
// the turn was cancelled by it, and no more. A turn that somebody ended in the log meanwhile stays ended, and what it used is counted all
// the same; one that was taken for lost ends as it did, also when a person wants it made again since and it was answered. What ends makes
// of it is stored in one write.
func recordEnd(ctx context.Context, e *engine.Engine, end event.Turn, dir string, ends func(engine.View, event.Turn) ([]event.Event, error), stored func([]event.Event)) (event.Turn, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
	defer cancel()
	for {
		r, err := e.RecordSession(ctx, "", dir, func(v engine.View) ([]event.Event, error) {
			now, open := v.State.Turn(end.Turn)
			switch {
			case open && (now.Status == state.TurnRunning || now.Status == state.TurnUncertain):
				return ends(v, end)
			case open && now.Status == state.TurnQueued && end.Action == event.TurnFinished:
				return ends(v, end) // nobody has to pay for it twice
			case open && now.Status == state.TurnQueued && end.Usage != nil:
				lost, again := step(now, event.TurnUncertain), step(now, event.TurnRetried)
				lost.Usage, lost.Total = end.Usage, end.Total
				return events(lost, again)
			case !open || now.Status == state.TurnCancelled:
				if end.Action != event.TurnCancelled {
					end = cut(end, cmp.Or(now.Cause, state.CausePerson))
				}
				if end.Usage != nil {
					return events(end)
				}
			}
			return nil, nil
		})
		if err == nil && stored != nil {
			stored(r.Events)
		}
		var halted *engine.HaltedError
		var locked *engine.LockedError
		switch {
		case errors.As(err, &halted) && end.Action != event.TurnCancelled:
			end = cut(end, state.CauseHalt)
		case errors.As(err, &locked) && ctx.Err() == nil:
		default:
			return end, err
		}
	}
}

// cut is the end of a turn without what it came to, as the kill switch or who cancelled it demands.
func cut(end event.Turn, cause string) event.Turn {
	paid := end.Spent
	if end.Action == event.TurnFinished {
		paid = string(turn.Yes)
	}
	return event.Turn{
		Action: event.TurnCancelled, Turn: end.Turn, Agent: end.Agent, Provider: end.Provider, Session: end.Session, Scripted: end.Scripted,
		Why: end.Why, Cause: cause, Spent: paid, Duration: end.Duration, Usage: end.Usage, Total: end.Total,
	}
}

func tellEnd(say func(Kind, func(*Progress)), end *event.Turn, reply turn.Reply, err error) {
	kind := KindFailed
	switch end.Action {
	case event.TurnFinished:
		kind = KindFinished
	case event.TurnCancelled:
		kind = KindCancelled
	default:
	}
	say(kind, func(p *Progress) {
		p.Duration, p.Tokens = reply.Duration, reply.Usage.Tokens()
		if reply.Usage.Priced {
			p.Cost = reply.Usage.Cost
		}
		switch {
		case kind == KindFinished:
			p.Text, p.Denied = reply.Text, reply.Denied
		case kind == KindCancelled:
			p.Text = end.Cause
		case err != nil:
			p.Text, p.Hints = err.Error(), engine.Hints(err)
		}
	})
}

func providerError(provider string, err error) error {
	if err == nil {
		err = errByPerson
	}
	var failure *turn.Failure
	hints := engine.Hints(err)
	if errors.As(err, &failure) {
		err = unnamed{failure}
	}
	return &engine.ProviderError{Provider: provider, Err: err, Hints: hints}
}

// unnamed is a failure that does not say whose it is, where that is said already.
type unnamed struct{ *turn.Failure }

func (u unnamed) Error() string { return strings.TrimPrefix(u.Failure.Error(), u.Provider+": ") }
func (u unnamed) Unwrap() error { return u.Failure }

// maxLive bounds how much of an answer is kept while it streams in, in bytes: its end.
const maxLive = 64 << 10

// live is a turn that runs in this process, for those who watch.
type live struct {
	mu     sync.Mutex
	turn   state.Turn
	seqs   []int64
	text   string
	cancel context.CancelCauseFunc
}

func (l *live) change(fn func()) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fn()
}

func (l *live) session(id string) {
	l.change(func() {
		if l.turn.Session == "" {
			l.turn.Session = id
		}
	})
}

func (l *live) add(delta string) {
	l.change(func() {
		if l.text += delta; len(l.text) > maxLive {
			l.text = strings.ToValidUTF8(l.text[len(l.text)-maxLive:], "")
		}
	})
}
