package discuss

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/fence"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/suggest"
	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/engine/words"
)

// Options are what a discussion is held with.
type Options struct {
	Providers   []turn.Provider
	Permissions func(provider, agent string) turn.Permissions // the settings of programs; whatever they allow is forbidden all the same
	Report      func(Progress)                                // is told every step, one at a time, and must not block; nil: nobody is told
	Changed     chan struct{}                                 // of the Discussion, with room for a token; nil: one of its own
	Mark        func() string                                 // makes the mark of a prompt's fence, default random; tests set it
}

func (o Options) withDefaults() Options {
	if o.Permissions == nil {
		o.Permissions = func(string, string) turn.Permissions { return turn.Permissions{} }
	}
	if o.Report == nil {
		o.Report = func(Progress) {}
	}
	if o.Changed == nil {
		o.Changed = make(chan struct{}, 1)
	}
	if o.Mark == nil {
		o.Mark = fence.Mark
	}
	return o
}

// participant is one side of a discussion.
type participant struct {
	provider turn.Provider
	agent    string // its name in the log; empty until it has one
	session  string // empty: its next turn opens one
	dir      string // empty: that of a session which is known
	heard    bool   // the session knows what was said so far
	kept     bool   // the session is from an earlier run: when it is gone, a fresh one takes its place
}

// Discussion is one that was checked and can be run, once. Live and Changed may be called from any goroutine.
type Discussion struct {
	engine  *engine.Engine
	options Options

	thread    string
	topic     string
	initiator string
	sides     [2]participant // the proposer first
	refs      []bridge.Ref   // the existing sessions, in the order of sides
	terms     Terms
	resumed   bool
	started   string // id of the first event

	said   []Statement
	last   string // id of the newest event of the thread
	result Result

	mu   sync.Mutex
	live Live
}

// Result is what running a discussion came to.
type Result struct {
	ThreadID   string      `json:"threadId"`
	TurnsUsed  int         `json:"turnsUsed"` // turns that were submitted and may have been paid for
	Usage      turn.Usage  `json:"usage"`
	Conclusion *Conclusion `json:"conclusion"` // nil: it was not reached

	Unrecorded *Unrecorded `json:"unrecorded,omitempty"` // what ended the discussion, together with an error; nil: everything is in the log
}

// Unrecorded is the answer of a turn that could not be recorded: beside the session of its program nobody else keeps it.
type Unrecorded struct {
	Agent     string               `json:"agent"`
	Kind      event.DiscussionKind `json:"kind"`
	Round     int                  `json:"round"`
	Program   string               `json:"program"`
	SessionID string               `json:"sessionId"`
	Text      string               `json:"text"` // not safe to show
}

// Prepare checks everything that a discussion needs. It spends and writes nothing.
func Prepare(ctx context.Context, e *engine.Engine, r Request, o Options) (*Discussion, error) {
	if r.Initiator == "" {
		r.Initiator = event.User
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	v, err := ready(ctx, e)
	if err != nil {
		return nil, err
	}
	if r.Thread == "" {
		const length = 12
		r.Thread = event.NewID()[:length]
	}
	if err := checkNew(v.State, r.Thread); err != nil {
		return nil, err
	}
	d := newDiscussion(e, o)
	d.thread, d.topic, d.initiator = r.Thread, r.Topic, r.Initiator
	d.terms = Terms{Rounds: r.Rounds, Timeout: r.Timeout, Fresh: len(r.Programs) > 0}
	names := slices.Clone(r.Programs)
	known := map[bridge.Ref]state.Session{}
	for _, ref := range r.Sessions {
		if known[ref], err = bridge.Find(v.State, ref); err != nil {
			return nil, err
		}
		names = append(names, known[ref].Provider)
	}
	if d.refs = slices.Clone(r.Sessions); len(d.refs) > 0 && known[d.refs[0]].ID == known[d.refs[1]].ID && names[0] == names[1] {
		return nil, errItself
	}
	if err := d.propose(r.Proposer, names); err != nil {
		return nil, err
	}
	for i, name := range names {
		p, err := d.provider(name)
		if err != nil {
			return nil, err
		}
		d.sides[i] = participant{provider: p, dir: cmp.Or(r.Dir, e.Project().Root)}
		if !d.terms.Fresh && known[d.refs[i]].Agent != "" {
			d.sides[i].dir = "" // where it works already
		}
	}
	d.terms.Programs = names
	return d, d.check(ctx)
}

// propose moves the proposer to the first place.
func (d *Discussion) propose(proposer string, names []string) error {
	if proposer == "" {
		return nil
	}
	at := -1
	for i, name := range names {
		if at < 0 && (event.SameName(name, proposer) || i < len(d.refs) && d.refs[i].Agent != "" && event.SameName(d.refs[i].Agent, proposer)) {
			at = i
		}
	}
	switch at {
	case 0:
		return nil
	case 1:
		slices.Reverse(names)
		slices.Reverse(d.refs)
		return nil
	}
	return &engine.ValidationError{Field: "proposer", Reason: "is none of the participants, which are " + strings.Join(names, " and ")}
}

func newDiscussion(e *engine.Engine, o Options) *Discussion {
	return &Discussion{engine: e, options: o.withDefaults()}
}

// ready refuses to begin while nothing may be written, or while the one place of a bridge or discussion is taken.
func ready(ctx context.Context, e *engine.Engine) (*engine.View, error) {
	v, err := e.View(ctx)
	if err != nil {
		return nil, err
	}
	if v.Halted != nil {
		return nil, v.Halted
	}
	holder, err := e.BridgeHolder(ctx)
	if err != nil || holder == nil {
		return v, err
	}
	release, err := e.BridgeLease(ctx) // says what to do about the holder
	if err != nil {
		return nil, err
	}
	return v, release()
}

// verb is a command about a discussion, as somebody could type it.
func verb(name, thread string) string {
	return "loadout coord discuss " + name + " " + words.ShellWord(thread)
}

// hintClosed is what to do about a discussion that cannot go on.
func hintClosed(thread string) []string {
	return []string{verb("show", thread), "loadout coord discuss start    for another one"}
}

func checkNew(s *state.State, thread string) error {
	for _, t := range s.Threads() {
		if t.ID == thread {
			return &engine.ValidationError{
				Field: "thread-id", Reason: "is that of another discussion already",
				Hints: []string{verb("show", thread), verb("resume", thread) + "    to go on with it"},
			}
		}
	}
	return nil
}

func (d *Discussion) provider(name string) (turn.Provider, error) {
	var names []string
	for _, p := range d.options.Providers {
		if p.Name() == name {
			return p, nil
		}
		names = append(names, p.Name())
	}
	return nil, &engine.NotFoundError{
		Kind: "agent program", Name: name, Suggestions: suggest.Closest(name, names), Hints: []string{"loadout coord agents detect    for the ones that are here"},
	}
}

// check asks both programs whether they are there, and whether they can forbid everything.
func (d *Discussion) check(ctx context.Context) error {
	errs := make([]error, len(d.sides))
	var wg sync.WaitGroup
	for i, side := range d.sides {
		if _, err := side.provider.Describe(d.permissions(side.provider.Name(), side.agent)); err != nil {
			return &engine.UsageError{Message: err.Error(), Hints: engine.Hints(err)}
		}
		if i > 0 && side.provider.Name() == d.sides[0].provider.Name() {
			continue
		}
		wg.Go(func() {
			if _, err := side.provider.Detect(ctx, d.permissions(side.provider.Name(), side.agent).Command); err != nil {
				errs[i] = &engine.ProviderError{Provider: side.provider.Name(), Err: err, Hints: engine.Hints(err)}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// permissions are the settings of a program with everything forbidden. Modes of a script are the ways in which it fails.
func (d *Discussion) permissions(program, agent string) turn.Permissions {
	may := d.options.Permissions(program, agent)
	may.Forbid, may.Allow, may.Deny = true, nil, nil
	if p, err := d.provider(program); err != nil || !p.Scripted() {
		may.Mode = ""
	}
	return may
}

// ResumeRequest asks to go on with a discussion.
type ResumeRequest struct {
	Thread   string
	Rounds   int           // where the log does not say; 0: the default
	MaxTurns int           // most turns that may be paid for; 0: as many as are left
	Timeout  time.Duration // 0: as it was begun
	Dir      string        // where fresh sessions work; empty: at the top of the project
}

// Resume checks everything that is needed to go on with a discussion that failed or was interrupted. It spends nothing. Turns of which
// nobody knows what came are recorded as such; Unknown lists them.
func Resume(ctx context.Context, e *engine.Engine, r ResumeRequest, o Options) (*Discussion, Thread, error) {
	if _, err := ready(ctx, e); err != nil {
		return nil, Thread{}, err
	}
	if err := bridge.Settle(ctx, e); err != nil {
		return nil, Thread{}, err
	}
	t, err := Load(ctx, e, r.Thread)
	if err != nil {
		return nil, Thread{}, err
	}
	if t.Status == StatusClosed {
		return nil, t, &engine.ConflictError{
			Kind: engine.ConflictTask, Want: -1, Have: -1, Message: fmt.Sprintf("discussion %s is closed: %s", t.ThreadID, t.FinalDecision),
			Hints: hintClosed(t.ThreadID),
		}
	}
	d := newDiscussion(e, o)
	if err := d.adopt(ctx, &t, r); err != nil {
		return nil, t, err
	}
	return d, t, d.check(ctx)
}

// adopt makes d the rest of a thread.
func (d *Discussion) adopt(ctx context.Context, t *Thread, r ResumeRequest) error {
	d.resumed = true
	d.thread, d.topic, d.initiator, d.terms = t.ThreadID, t.Topic, t.Initiator, t.Terms
	d.said = Said(t.Statements)
	if t.Rounds > 0 && r.Rounds > 0 && r.Rounds != t.Rounds {
		return &engine.ValidationError{Field: "rounds", Reason: fmt.Sprintf("is %d, but the discussion was begun with %d", r.Rounds, t.Rounds)}
	}
	d.terms.Rounds = cmp.Or(d.terms.Rounds, r.Rounds, max(DefaultRounds, (len(d.said)+1)/2))
	d.terms.Timeout = cmp.Or(r.Timeout, d.terms.Timeout, DefaultTimeout)
	if err := checkBounds(d.terms.Rounds, d.terms.Timeout); err != nil {
		return err
	}
	if err := checkBudget(cmp.Or(r.MaxTurns, d.Left()), d.Left(), "what is left takes"); err != nil {
		return err
	}
	if wrong := d.broken(t); wrong != "" {
		return &engine.ConflictError{
			Kind: engine.ConflictTask, Want: -1, Have: -1, Message: fmt.Sprintf("discussion %s cannot go on: %s", t.ThreadID, wrong),
			Hints: hintClosed(t.ThreadID),
		}
	}
	d.started, d.last = t.Statements[0].ID, t.Statements[len(t.Statements)-1].ID
	v, err := d.engine.View(ctx)
	if err != nil {
		return err
	}
	programs := make([]string, len(t.Participants))
	for i, agent := range t.Participants {
		programs[i] = programNow(v.State, t, i)
		p, err := d.provider(programs[i])
		if err != nil {
			return err
		}
		side := participant{provider: p, agent: agent, dir: cmp.Or(r.Dir, d.engine.Project().Root)}
		if side.session = sessionNow(v.State, t, agent, programs[i]); side.session != "" {
			side.heard, side.kept = true, true
			if record, ok, err := d.engine.SessionRecord(agent); err != nil {
				return err
			} else if ok && record.SessionID == side.session {
				side.dir = record.Cwd
			}
		}
		d.sides[i] = side
	}
	d.terms.Programs = programs
	return nil
}

// broken says why nothing can follow what a thread has, "" when something can.
func (d *Discussion) broken(t *Thread) string {
	switch {
	case len(t.Statements) == 0:
		return "nothing of it can be read"
	case int64(len(t.Statements)) < t.EventCount: // a statement that is not seen would be paid for again
		return fmt.Sprintf("only %d of its %d events can be read", len(t.Statements), t.EventCount)
	case event.SameName(t.Participants[0], t.Participants[1]):
		return t.Participants[0] + " cannot discuss with itself"
	case d.Left() == 0:
		return "its synthesis is stored already"
	}
	return checkOrder(d.said, t.Participants, d.terms.Rounds)
}

// programNow is the program of a participant: as the thread says, else of the session of that name, else the name.
func programNow(s *state.State, t *Thread, i int) string {
	if len(t.Terms.Programs) == len(t.Participants) {
		return t.Terms.Programs[i]
	}
	session, _ := s.Session(t.Participants[i])
	agent, _ := s.Agent(t.Participants[i])
	return cmp.Or(session.Provider, agent.Base, t.Participants[i])
}

// sessionNow is the session in which a participant spoke last, "" when none is known. A name may be another session's by now: only one
// that was there before the thread rested is taken for it.
func sessionNow(s *state.State, t *Thread, agent, program string) string {
	for _, turn := range slices.Backward(t.Turns) {
		if event.SameName(turn.Agent, agent) && turn.Session != "" {
			return turn.Session
		}
	}
	if known, ok := s.Session(agent); ok && known.Provider == program && !known.Attached.After(t.UpdatedAt) {
		return known.ID
	}
	return ""
}

// Thread is the id of the discussion.
func (d *Discussion) Thread() string { return d.thread }

// Programs are those of the participants, the proposer's first.
func (d *Discussion) Programs() []string { return slices.Clone(d.terms.Programs) }

// Left is how many turns are still to be made, each of which is paid for.
func (d *Discussion) Left() int { return Turns(d.terms.Rounds) - len(d.said) }

// Paid reports whether a model answers any of the participants.
func (d *Discussion) Paid() bool {
	return !d.sides[0].provider.Scripted() || !d.sides[1].provider.Scripted()
}
