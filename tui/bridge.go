package tui

import (
	"context"
	"errors"
	"sync"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
)

// Bridge gives turns to sessions of agent programs, in this process, as the verbs do. Where a method takes report, a program is started:
// the context ends it, and the method returns only when it has ended.
type Bridge interface {
	// Programs are the agent programs that there are, and Describe what a turn of one may do. Both answer at once.
	Programs() []Program
	Describe(program, agent string) (string, error)
	// Plan says what a bridge would do now. It writes nothing and spends nothing.
	Plan(ctx context.Context, s bridge.Sessions) ([]bridge.Planned, error)
	// Start opens the bridge, which ends with ctx.
	Start(ctx context.Context, s bridge.Sessions, report func(bridge.Progress)) (RunningBridge, error)
	// Attach makes a session known, which works in a folder, and says whose it is.
	Attach(ctx context.Context, ref bridge.Ref, dir string) (agent string, err error)
	// Open starts a session and says whose it is. An empty text tells the program only that it takes part.
	Open(ctx context.Context, program, dir, text string, report func(bridge.Progress)) (agent string, err error)
	Send(ctx context.Context, agent, text string, report func(bridge.Progress)) error

	Forget(ctx context.Context, agent string) (engine.Receipt, error)
	Raise(ctx context.Context, agent string, limits bridge.Limits) (engine.Receipt, error)
	Cancel(ctx context.Context, turn string) (engine.Receipt, error)
	Retry(ctx context.Context, turn string) (engine.Receipt, error)
	Skip(ctx context.Context, turn string) (engine.Receipt, error)
}

// Program is an agent program.
type Program struct {
	Name     string
	Scripted bool // no model answers, and it costs nothing
}

// RunningBridge is a bridge of this process. *bridge.Bridge is one.
type RunningBridge interface {
	Attach(ctx context.Context, ref bridge.Ref, dir string, from *int64) error
	Stop() error
	Wait() error
}

var _ RunningBridge = (*bridge.Bridge)(nil)

var errClosing = errors.New("the cockpit is about to end")

// turns runs what makes turns in this process: one bridge, and single turns. The cockpit ends only when all of it has.
type turns struct {
	Bridge // nil: no turns can be made from here

	ctx   context.Context //nolint:containedctx // the life of the cockpit, which ends every turn
	feed  *turnFeed
	spawn func(f func()) // runs f beside; a panic in it ends the cockpit

	mu       sync.Mutex
	closed   bool
	work     sync.WaitGroup
	running  RunningBridge
	stopping bool          // who stops it is told how it ended
	over     chan struct{} // closed when that is over
}

// enter keeps the cockpit from ending until leave is called. It reports false when it is about to.
func (t *turns) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.work.Add(1)
	return true
}

func (t *turns) leave() { t.work.Done() }

// close waits until everything has ended that the end of the cockpit's context ends. Nothing new begins from then on.
func (t *turns) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.work.Wait()
}

// within is the cockpit's context, which also ends with ctx until keep is called.
func (t *turns) within(ctx context.Context) (life context.Context, keep func(), end context.CancelFunc) {
	life, end = context.WithCancel(t.ctx)
	stop := context.AfterFunc(ctx, end)
	return life, func() { stop() }, end
}

// start opens the bridge. ctx may end its opening, and not what runs then.
func (t *turns) start(ctx context.Context, s bridge.Sessions) error {
	if !t.enter() {
		return errClosing
	}
	life, keep, end := t.within(ctx)
	running, err := t.Start(life, s, t.feed.report)
	if err != nil {
		end()
		t.leave()
		return err
	}
	keep()
	t.mu.Lock()
	over := make(chan struct{})
	t.running, t.stopping, t.over = running, false, over
	t.mu.Unlock()
	t.feed.here(true)
	t.spawn(func() {
		defer t.leave()
		defer close(over)
		defer end()
		err := running.Wait()
		t.mu.Lock()
		stopping := t.stopping
		t.running = nil
		t.mu.Unlock()
		if t.feed.here(false); !stopping {
			t.feed.over("the bridge has ended", err)
		}
	})
	return nil
}

// current is the bridge that runs here, nil when none does.
func (t *turns) current() RunningBridge {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running
}

// stop ends the bridge that runs here and waits for its end.
func (t *turns) stop() error {
	t.mu.Lock()
	running, over := t.running, t.over
	t.stopping = running != nil
	t.mu.Unlock()
	if running == nil {
		return nil
	}
	err := running.Stop()
	<-over
	return err
}

// begin makes a single turn. It returns once the program is asked, or with why it is not; what comes of it then is news. ctx ends the
// call until then.
func (t *turns) begin(ctx context.Context, call func(ctx context.Context, report func(bridge.Progress)) (done string, err error)) error {
	if !t.enter() {
		return errClosing
	}
	life, keep, end := t.within(ctx)
	started, ended := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	report := func(p bridge.Progress) {
		t.feed.report(p)
		if p.Kind == bridge.KindStarted {
			once.Do(func() { close(started) })
		}
	}
	t.feed.single(1)
	t.spawn(func() {
		defer t.leave()
		defer end()
		done, err := call(life, report)
		t.feed.single(-1)
		select {
		case <-started:
			t.feed.over(done, err)
		default:
		}
		ended <- err
	})
	select {
	case <-started:
	case err := <-ended:
		select {
		case <-started: // the news tell
		default:
			return err
		}
	}
	keep()
	return nil
}
