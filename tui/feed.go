package tui

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/pane"
)

const (
	feedPause    = 33 * time.Millisecond // between two updates of the screen by the feed, at the least
	feedShare    = 3                     // and so many times as long as the last one took: the rest of the time is for keys
	feedLatest   = time.Second           // but no longer than that
	feedRetry    = time.Second           // after the log could not be followed
	livenessTick = 2 * time.Second       // how often sessions are looked at when no event says that one came or went
)

// feed follows the log, folds it, and keeps the newest state for whoever takes it next. However many events arrive, what waits is one
// update: the state after all of them, and the events in order.
type feed struct {
	engine Engine
	clock  func() time.Time
	fold   func(engine.Delivery, *state.State) *state.State
	retry  time.Duration

	mu      sync.Mutex
	state   *state.State
	tasks   *pane.Tasks                // of the state that was taken last, nil when the next is not built from that
	live    map[string]engine.Liveness // newest
	waited  map[waitKey]bool           // what waited for a person when the state was taken last
	pending update
	ready   chan struct{} // holds a token while something is pending
	moved   chan struct{} // holds a token when the log went on since git was asked
	joined  chan struct{} // holds a token when an agent or a bridge came or went since the sessions were looked at
}

// update is what is new since the last one that was taken.
type update struct {
	state    *state.State
	tasks    *pane.Tasks
	waiting  []state.Waiting
	news     []state.Waiting // of those, what did not wait before
	oldest   time.Time       // since when the first of those waits
	took     time.Duration   // to prepare it
	events   []event.Event
	reset    bool // the state was not built from the one before
	mode     engine.Mode
	note     string
	halted   *engine.HaltedError
	caughtUp bool
	lost     string                     // what the log has lost, for people
	live     map[string]engine.Liveness // nil: as before
	branch   string
	drift    *engine.DriftReport // nil: as before
	holder   *holder             // nil: as before
	err      error               // the log cannot be followed; it is tried again
}

// holder is who runs a bridge or discussion, nobody when it is empty, and which turns nobody waits for that the log shows as running.
type holder struct {
	who  *engine.LockedError
	lost []string
}

// waitKey is the same as long as something waits for a person.
type waitKey struct {
	kind            state.WaitKind
	agent, id, path string
	seq             int64
}

// pauseAfter is how long the feed waits after an update of the screen that took so long.
func pauseAfter(took time.Duration) time.Duration {
	return min(max(feedPause, feedShare*took), feedLatest)
}

func newFeed(o Options) *feed {
	return &feed{
		engine: o.Engine, clock: o.Clock, fold: o.fold, retry: feedRetry, state: state.New(),
		ready: make(chan struct{}, 1), moved: make(chan struct{}, 1), joined: make(chan struct{}, 1),
	}
}

// run follows the log until ctx ends.
func (f *feed) run(ctx context.Context) {
	for ctx.Err() == nil {
		err := f.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		f.change(func(u *update) { u.err = err })
		sleep(ctx, f.retry)
	}
}

func (f *feed) follow(ctx context.Context) error {
	v, err := f.engine.View(ctx)
	if err != nil {
		return err
	}
	f.start(ctx, v)
	return f.engine.FollowFrom(ctx, v, func(d engine.Delivery) error {
		f.deliver(d)
		return ctx.Err()
	})
}

// errEnough ends a following that has what it wants.
var errEnough = errors.New("enough")

// once brings what there is now, and how it is followed.
func (f *feed) once(ctx context.Context) error {
	v, err := f.engine.View(ctx)
	if err != nil {
		return err
	}
	f.start(ctx, v)
	err = f.engine.FollowFrom(ctx, v, func(d engine.Delivery) error {
		f.deliver(d)
		if d.CaughtUp || d.Mode == engine.ModeMissing || d.Mode == engine.ModeUnreadable {
			return errEnough
		}
		return ctx.Err()
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// start begins anew with a view.
func (f *feed) start(ctx context.Context, v *engine.View) {
	live := liveness(v)
	branch, bridged := f.branch(), f.holder(ctx, v)
	f.change(func(u *update) {
		f.state, f.tasks, f.live = v.State, nil, live
		u.events, u.reset = nil, true
		u.halted, u.live, u.branch, u.holder, u.err = v.Halted, live, branch, bridged, nil
		u.lost = strings.Join(v.Notes, "; ")
	})
}

// deliver folds what is new.
func (f *feed) deliver(d engine.Delivery) {
	f.change(func(u *update) {
		f.state = f.fold(d, f.state)
		if d.Reset {
			f.tasks = nil
			u.events, u.reset = nil, true
		}
		u.events = append(u.events, d.Events...)
		u.mode, u.halted, u.caughtUp, u.err = d.Mode, d.Halted, d.CaughtUp, nil
		u.lost = d.Lost
		if d.Note != "" {
			u.note = d.Note
		}
	})
	if len(d.Events) > 0 {
		notify(f.moved)
	}
	if slices.ContainsFunc(d.Events, cameOrWent) {
		notify(f.joined)
	}
}

// cameOrWent reports whether an event says that an agent or a bridge began or ended.
func cameOrWent(e event.Event) bool {
	if e.Type != event.TypeTurn {
		return e.Type == event.TypeAgent
	}
	body, err := e.Body()
	t, ok := body.(event.Turn)
	return err == nil && ok && (t.Action == event.TurnOpened || t.Action == event.TurnClosed)
}

// holder asks who runs a bridge or discussion, unless the log rules out that somebody does. nil: it cannot be told.
func (f *feed) holder(ctx context.Context, v *engine.View) *holder {
	running := func(t state.Turn) bool { return t.Status == state.TurnRunning }
	if !v.State.Bridge().Open && !slices.ContainsFunc(v.State.OpenTurns(), running) {
		return &holder{}
	}
	who, err := f.engine.BridgeHolder(ctx)
	if err != nil {
		return nil
	}
	return &holder{who, f.lostTurns(ctx, v)}
}

// lostTurns are the ids of turns that the log shows as running and whose process is gone, as far as it can be told.
func (f *feed) lostTurns(ctx context.Context, v *engine.View) []string {
	leases, ok := f.engine.(interface {
		TurnHolder(ctx context.Context, agent string) (*engine.LockedError, error)
	})
	if !ok {
		return nil
	}
	var lost []string
	for _, t := range v.State.OpenTurns() {
		if t.Status != state.TurnRunning {
			continue
		}
		if who, err := leases.TurnHolder(ctx, t.Agent); err == nil && who == nil {
			lost = append(lost, t.ID)
		}
	}
	return lost
}

// same reports whether both say the same.
func (h *holder) same(other *holder) bool {
	if h != nil && other != nil && !slices.Equal(h.lost, other.lost) {
		return false
	}
	if h == nil || other == nil || h.who == nil || other.who == nil {
		return h != nil && other != nil && h.who == other.who
	}
	return h.who.Owner == other.who.Owner
}

// watchSessions looks at the sessions' signs of life until ctx ends. They are not in the log.
func (f *feed) watchSessions(ctx context.Context) {
	var last map[string]engine.Liveness
	var lastBranch string
	var lastHolder *holder
	for {
		tick := time.NewTimer(livenessTick)
		select {
		case <-tick.C:
		case <-f.joined:
		case <-ctx.Done():
		}
		tick.Stop()
		if ctx.Err() != nil {
			return
		}
		v, err := f.engine.View(ctx)
		if err != nil {
			continue
		}
		live, branch, bridged := liveness(v), f.branch(), f.holder(ctx, v)
		if branch == lastBranch && maps.Equal(live, last) && bridged.same(lastHolder) {
			continue // so that an idle cockpit draws nothing
		}
		last, lastBranch, lastHolder = live, branch, bridged
		f.change(func(u *update) {
			f.live = live
			u.live, u.branch, u.holder = live, branch, bridged
		})
	}
}

func (f *feed) change(edit func(*update)) {
	f.mu.Lock()
	edit(&f.pending)
	f.mu.Unlock()
	notify(f.ready)
}

// notify leaves a token, unless one waits already.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take hands out what is pending. It is not for the update loop: what takes a look at all that is open is found out here.
func (f *feed) take() update {
	f.mu.Lock()
	defer f.mu.Unlock()
	began := time.Now()
	u := f.pending
	u.state = f.state.Clone()
	if f.tasks == nil {
		f.tasks = pane.OpenTasks(u.state)
	} else {
		f.tasks = f.tasks.After(u.state, u.events)
	}
	u.tasks = f.tasks
	s := pane.Snapshot{State: u.state, Now: f.clock(), Live: f.live, Halted: u.halted}
	u.waiting = s.FindWaiting()
	waits := make(map[waitKey]bool, len(u.waiting))
	for _, w := range u.waiting {
		if u.oldest.IsZero() || w.Since.Before(u.oldest) {
			u.oldest = w.Since
		}
		key := waitKey{w.Kind, w.Agent, w.ID, w.Path, w.Seq}
		if waits[key] = true; !f.waited[key] {
			u.news = append(u.news, w)
		}
	}
	f.waited = waits
	u.took = time.Since(began)
	f.pending = update{mode: u.mode, halted: u.halted, caughtUp: u.caughtUp, lost: u.lost, branch: u.branch, err: u.err}
	return u
}

// wait blocks until something is pending, but not before a moment, and takes it. It reports false when ctx ended.
func (f *feed) wait(ctx context.Context, notBefore time.Time) (update, bool) {
	if !sleep(ctx, notBefore.Sub(f.clock())) {
		return update{}, false
	}
	select {
	case <-f.ready:
		return f.take(), true
	case <-ctx.Done():
		return update{}, false
	}
}

// liveness asks for every agent that has a session.
func liveness(v *engine.View) map[string]engine.Liveness {
	live := map[string]engine.Liveness{}
	if v.Live == nil {
		return live
	}
	for _, a := range v.State.Agents() {
		if l := v.Live(a.Name); l.Known {
			live[a.Name] = l
		}
	}
	return live
}

// branch is the branch of the worktree that the cockpit was started in, empty outside of git.
func (f *feed) branch() string {
	p := f.engine.Project()
	worktrees, err := p.Worktrees()
	if err != nil {
		return ""
	}
	for _, w := range worktrees {
		if w.Path == p.Worktree || p.Worktree == "" && w.Main {
			return w.Branch
		}
	}
	return ""
}

// sleep waits, or reports false because ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
