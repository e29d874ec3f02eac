package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
)

// Bridge is a bridge that runs. Its methods may be called from several goroutines.
type Bridge struct {
	engine  *engine.Engine
	options Options
	policy  engine.Policy
	tell    *teller

	ctx    context.Context //nolint:containedctx // the life of the bridge, which its cause ends
	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error // why it ended, set before done is closed

	wg sync.WaitGroup // drivers

	attaching sync.Mutex // held by Attach

	mu      sync.Mutex
	once    bool               // as Sessions.Once
	drivers map[string]*driver // by folded agent
	running map[string]*live   // by id of the turn
	closing bool
}

// Sessions says what a bridge is to drive.
type Sessions struct {
	Refs   []Ref  // at least one
	From   *int64 // deliveries of sessions begin behind this sequence number; nil: where they are, new ones at the end of the log
	Dir    string // where sessions work that were not known before; empty: at the top of the project
	Limits Limits // caps to set
	Once   bool   // end when nothing is left to deliver
}

// Start opens the one bridge of a project. It returns when the bridge runs, or with why it does not: a *LockedError when another bridge
// or a discussion does, a *HaltedError, a *ProviderError when a program is not there or not signed in, a *ValidationError for a
// policy that cannot be used. Nothing was spent then. The bridge ends with ctx, with Stop, and with the kill switch.
func Start(ctx context.Context, e *engine.Engine, s Sessions, o Options) (*Bridge, error) {
	o = o.withDefaults()
	if err := notHalted(e); err != nil {
		return nil, err
	}
	policy, err := e.Policy()
	if err != nil {
		return nil, err
	}
	release, err := e.BridgeLease(ctx)
	if err != nil {
		return nil, err
	}
	b := &Bridge{
		engine: e, options: o, policy: policy, tell: &teller{report: o.Report}, done: make(chan struct{}),
		once: s.Once, drivers: map[string]*driver{}, running: map[string]*live{},
	}
	b.ctx, b.cancel = context.WithCancelCause(ctx)
	v, err := b.open(ctx, s)
	if err != nil {
		b.cancel(err)
		return nil, errors.Join(err, release())
	}
	b.mu.Lock()
	for _, d := range b.drivers {
		b.drive(d)
	}
	b.mu.Unlock()
	b.beat()
	go b.run(ctx, v, release)
	return b, nil
}

// open makes everything ready and records that the bridge runs. It returns the view from which to follow the log.
func (b *Bridge) open(ctx context.Context, s Sessions) (*engine.View, error) {
	if err := notHalted(b.engine); err != nil {
		return nil, err
	}
	before, err := b.engine.View(ctx)
	if err != nil {
		return nil, err
	}
	sessions, err := s.check(&b.options, before.State)
	if err != nil {
		return nil, err
	}
	if err := Settle(ctx, b.engine); err != nil {
		return nil, err
	}
	if err := b.detect(ctx, sessions); err != nil {
		return nil, err
	}
	v, err := b.engine.View(ctx)
	if err != nil {
		return nil, err
	}
	agents := make([]string, 0, len(s.Refs))
	for _, ref := range s.Refs {
		session, err := Find(v.State, ref)
		if err != nil {
			return nil, err
		}
		dir := s.Dir
		if session.Agent != "" {
			dir = "" // it works where it did
		}
		session, err = attach(ctx, b.engine, &b.options, ref, dir, s.From)
		if err != nil {
			return nil, err
		}
		d, err := b.driverOf(session)
		if err != nil {
			return nil, err
		}
		b.drivers[event.FoldName(d.agent)] = d
		agents = append(agents, d.agent)
	}
	if err := b.record(ctx, agents, s.Limits); err != nil {
		return nil, err
	}
	v, err = b.engine.View(ctx)
	if err != nil {
		return nil, errors.Join(err, b.recordClosed(ctx))
	}
	b.tell.tell(Progress{Kind: KindActive})
	return v, nil
}

// check refuses, before anything is written, what no bridge can be. It returns the sessions as they are known, or would be.
func (s *Sessions) check(o *Options, known *state.State) ([]state.Session, error) {
	if len(s.Refs) == 0 {
		return nil, &engine.UsageError{Message: "a bridge needs a session", Hints: []string{"loadout coord agents list    for those that are known"}}
	}
	if len(s.Refs) > event.MaxTurnAgents {
		return nil, &engine.UsageError{Message: fmt.Sprintf("a bridge drives at most %d sessions", event.MaxTurnAgents)}
	}
	if err := checkFrom(s.From, known); err != nil {
		return nil, err
	}
	seen := map[Ref]bool{}
	list := make([]state.Session, 0, len(s.Refs))
	for _, ref := range s.Refs {
		session, err := Find(known, ref)
		if err != nil {
			return nil, err
		}
		if _, err := o.check(session); err != nil {
			return nil, err
		}
		key := Ref{Provider: session.Provider, Session: session.ID}
		if seen[key] {
			return nil, &engine.UsageError{Message: session.Provider + ":" + session.ID + " is named twice"}
		}
		seen[key] = true
		list = append(list, session)
	}
	return list, nil
}

// checkFrom refuses a place to begin at that is not in the log.
func checkFrom(from *int64, s *state.State) error {
	if from != nil && (*from < -1 || *from > s.Head()) {
		return &engine.ValidationError{Field: "from", Reason: fmt.Sprintf("is not a sequence number from -1 to %d", s.Head())}
	}
	return nil
}

// notHalted refuses while the kill switch is on, which comes before all that the state of things would refuse.
func notHalted(e *engine.Engine) error {
	halted, err := e.Halted()
	return orHalted(err, halted)
}

func orHalted(err error, halted *engine.HaltedError) error {
	if err == nil && halted != nil {
		return halted
	}
	return err
}

// detect asks each program that is to be used whether it is there and signed in, side by side.
func (b *Bridge) detect(ctx context.Context, sessions []state.Session) error {
	type program struct {
		turn.Provider
		agent string
	}
	programs := map[string]program{}
	for _, s := range sessions {
		p, err := b.options.provider(s.Provider)
		if err != nil {
			return err
		}
		command := b.options.Permissions(s.Provider, s.Agent).Command
		programs[strings.Join(append([]string{s.Provider}, command...), "\x00")] = program{p, s.Agent}
	}
	errs := make(chan error, len(programs))
	for _, p := range programs {
		go func() { errs <- b.options.detect(ctx, p, p.agent) }()
	}
	var first error
	for range programs {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}

// driverOf makes a driver of a session and says what its turns may do.
func (b *Bridge) driverOf(s state.Session) (*driver, error) {
	provider, err := b.options.provider(s.Provider)
	if err != nil {
		return nil, err
	}
	record, _, err := b.engine.SessionRecord(s.Agent)
	if err != nil {
		return nil, err
	}
	may, err := b.options.describe(provider, s.Agent)
	if err != nil {
		return nil, err
	}
	b.tell.tell(Progress{
		Kind: KindSession, Agent: s.Agent, Provider: s.Provider, Session: s.ID, Scripted: s.Scripted,
		Text: fmt.Sprintf("in %s, from seq %d on: %s", record.Cwd, s.Cursor+1, may),
	})
	return newDriver(b, s.Agent, record.Cwd), nil
}

// record says in the log which sessions are driven, and sets caps.
func (b *Bridge) record(ctx context.Context, agents []string, limits Limits) error {
	opened := event.Turn{Action: event.TurnOpened, Agents: agents}
	turns := []event.Turn{opened}
	if limits != (Limits{}) {
		turns = append(turns, event.Turn{Action: event.TurnCapped, Caps: &limits})
	}
	_, err := b.engine.RecordTurns(ctx, "", func(engine.View) ([]event.Event, error) { return events(turns...) })
	return err
}

// drive starts the driver of a session. b.mu is held.
func (b *Bridge) drive(d *driver) {
	b.wg.Go(func() {
		err := d.run(b.ctx)
		b.mu.Lock()
		if key := event.FoldName(d.agent); b.drivers[key] == d {
			delete(b.drivers, key)
		}
		last := len(b.drivers) == 0
		b.mu.Unlock()
		switch {
		case err != nil:
			b.cancel(err)
		case last:
			b.cancel(errEnded) // no session is left
		}
	})
}

// run follows the log until the bridge ends, and then cleans up.
func (b *Bridge) run(ctx context.Context, v *engine.View, release func() error) {
	defer close(b.done)
	beats := time.NewTicker(beatEvery)
	defer beats.Stop()
	followed := make(chan error, 1)
	go func() { followed <- b.engine.FollowFrom(b.ctx, v, b.news) }()
	driven := b.agents()
	for over := false; !over; {
		select {
		case err := <-followed:
			followed, over = nil, true
			b.cancel(orEnded(err))
		case <-beats.C:
			b.beat()
		case <-b.ctx.Done():
			over = true
		}
	}
	b.mu.Lock()
	b.closing = true
	b.mu.Unlock()
	b.wg.Wait()
	if followed != nil {
		b.cancel(orEnded(<-followed)) // it was cancelled already: this waits
	}
	b.engine.Rest(driven...)
	b.err = b.close(ctx, release)
}

// orEnded is an error to end with, also when following just stopped.
func orEnded(err error) error {
	if err == nil {
		return errEnded
	}
	return err
}

// close records that the bridge has ended and gives its place back.
func (b *Bridge) close(ctx context.Context, release func() error) error {
	recordErr := b.recordClosed(ctx)
	b.tell.tell(Progress{Kind: KindClosed})
	cause := context.Cause(b.ctx)
	if errors.Is(cause, turn.ErrKilled) {
		if halted, err := b.engine.Halted(); err != nil || halted != nil {
			cause = orHalted(err, halted)
		} else {
			cause = &engine.HaltedError{Damaged: true} // lifted already
		}
	}
	if errors.Is(cause, errEnded) || ctx.Err() != nil && errors.Is(cause, context.Cause(ctx)) {
		cause = nil
	}
	return errors.Join(cause, recordErr, release())
}

// recordClosed says in the log that the bridge has ended, also when ctx has.
func (b *Bridge) recordClosed(ctx context.Context) error {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
	defer cancel()
	_, err := b.engine.RecordTurns(late, "", func(engine.View) ([]event.Event, error) {
		return events(event.Turn{Action: event.TurnClosed})
	})
	return err
}

// news is told what was stored and wakes those whom it concerns.
func (b *Bridge) news(d engine.Delivery) error {
	if d.Halted != nil {
		b.kill()
		return turn.ErrKilled
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.Reset {
		for _, driver := range b.drivers {
			driver.notify(engine.Immediate)
		}
	}
	for i := range d.Events {
		ev := &d.Events[i]
		if ev.Type == event.TypeTurn {
			b.turnNews(ev)
		}
		for _, driver := range b.drivers {
			if level := LevelFor(ev, driver.agent, b.policy); level == engine.Immediate || level == engine.Boundary {
				driver.notify(level)
			}
		}
	}
	return nil
}

// turnNews acts on what others stored about turns. b.mu is held.
func (b *Bridge) turnNews(ev *event.Event) {
	body, err := ev.Body()
	if err != nil {
		return
	}
	t, ok := body.(event.Turn)
	if !ok {
		return
	}
	switch t.Action {
	case event.TurnCancelled, event.TurnSkipped:
		if running := b.running[t.Turn]; running != nil {
			running.cancel(errByPerson)
		}
	case event.TurnCapped, event.TurnRetried, event.TurnForgotten, event.TurnAttached, event.TurnFinished, event.TurnFailed, event.TurnUncertain:
	default:
		return
	}
	for _, driver := range b.drivers {
		driver.notify(engine.Passive) // look again
	}
}

// kill cancels everything at once: turns in flight get less time than otherwise.
func (b *Bridge) kill() {
	b.cancel(turn.ErrKilled)
}

// beat says that the sessions live.
func (b *Bridge) beat() {
	for _, agent := range b.agents() {
		b.engine.Beat(b.ctx, agent)
	}
}

// Stop ends the bridge: turns in flight are cancelled. It returns when all has ended, with what Wait returns.
func (b *Bridge) Stop() error {
	b.cancel(errEnded)
	return b.Wait()
}

// Done is closed when the bridge has ended.
func (b *Bridge) Done() <-chan struct{} { return b.done }

// Wait waits for the end of the bridge: nil when it was stopped or its context ended, a *HaltedError when the kill switch ended it.
func (b *Bridge) Wait() error {
	<-b.done
	return b.err
}

// Attach adds a session to the bridge.
func (b *Bridge) Attach(ctx context.Context, ref Ref, dir string, from *int64) error {
	b.attaching.Lock()
	defer b.attaching.Unlock()
	session, err := attach(ctx, b.engine, &b.options, ref, dir, from)
	if err != nil {
		return err
	}
	agents := append(b.agents(), session.Agent)
	switch {
	case b.ctx.Err() != nil:
		return bridgeOver()
	case b.driver(session.Agent) != nil:
		return nil
	case len(agents) > event.MaxTurnAgents:
		return &engine.UsageError{Message: fmt.Sprintf("a bridge drives at most %d sessions", event.MaxTurnAgents)}
	}
	d, err := b.driverOf(session)
	if err != nil {
		return err
	}
	slices.Sort(agents)
	if err := b.record(ctx, agents, Limits{}); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closing {
		return bridgeOver()
	}
	b.drivers[event.FoldName(d.agent)] = d
	b.drive(d)
	return nil
}

func bridgeOver() error { return &engine.UsageError{Message: "the bridge has ended"} }

// agents are those of the sessions that are driven.
func (b *Bridge) agents() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	agents := make([]string, 0, len(b.drivers))
	for _, d := range b.drivers {
		agents = append(agents, d.agent)
	}
	return agents
}

// driver is that of an agent's session, nil when it is not driven.
func (b *Bridge) driver(agent string) *driver {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.drivers[event.FoldName(agent)]
}

// CancelTurn ends a turn that this bridge runs.
func (b *Bridge) CancelTurn(id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	running := b.running[id]
	if running == nil {
		return &engine.NotFoundError{Kind: "running turn", Name: id}
	}
	running.cancel(errByPerson)
	return nil
}

// Running is a turn that this bridge runs, with what the program has said so far.
type Running struct {
	Turn state.Turn
	Text string // the end of it, at most 64 KiB, not cleaned
}

// Running lists the turns that run, by agent.
func (b *Bridge) Running() []Running {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]Running, 0, len(b.running))
	for _, l := range b.running {
		l.change(func() { list = append(list, Running{l.turn, l.text}) })
	}
	slices.SortFunc(list, func(a, b Running) int { return int(a.Turn.Seq - b.Turn.Seq) })
	return list
}

// watch makes a running turn visible until the function that it returns is called.
func (b *Bridge) watch(l *live) (unwatch func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[l.turn.ID] = l
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.running, l.turn.ID)
	}
}
