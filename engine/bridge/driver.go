package bridge

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
)

// driver gives turns to one session, one at a time.
type driver struct {
	bridge *Bridge
	agent  string
	dir    string

	wake chan struct{} // has one place: somebody called notify
	mu   sync.Mutex
	news bool // since the driver looked last: something to deliver
	now  bool // and it is not to wait for more
	look bool // or something else has changed

	ready   bool          // what waits is to be delivered
	trouble string        // the error that keeps it from going on, as it was told
	retry   string        // id of the turn whose pause is over
	stopped event.TurnCap // the cap that keeps it from going on
	paused  bool          // a failed turn does
	late    *event.Turn   // the end of a turn that could not be stored when it came
}

func newDriver(b *Bridge, agent, dir string) *driver {
	return &driver{bridge: b, agent: agent, dir: dir, wake: make(chan struct{}, 1), ready: true}
}

// notify tells the driver of news of a level. Passive ones only make it look again.
func (d *driver) notify(level engine.Level) {
	d.mu.Lock()
	d.news = d.news || level != engine.Passive
	d.now = d.now || level == engine.Immediate
	d.look = d.look || level == engine.Passive
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *driver) take() (news, now, look bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	news, now, look = d.news, d.now, d.look
	d.news, d.now, d.look = false, false, false
	return news, now, look
}

// run drives the session until ctx ends, which is no error, or the session is forgotten.
func (d *driver) run(ctx context.Context) error {
	defer func() {
		if d.late != nil {
			_ = d.storeLate(ctx) // the next bridge takes the turn for lost
		}
	}()
	o := &d.bridge.options
	quiet, limit, again := stopped(), stopped(), stopped()
	defer quiet.Stop()
	defer limit.Stop()
	defer again.Stop()
	settling := false
	for {
		wait, err := d.step(ctx)
		if ctx.Err() != nil || errors.Is(err, errForgotten) {
			return nil
		}
		var halted *engine.HaltedError
		switch {
		case errors.As(err, &halted):
			d.bridge.kill()
			return nil
		case errors.Is(err, errMoved):
			wait = time.Millisecond
		case err != nil:
			if d.trouble != err.Error() {
				d.trouble = err.Error()
				d.tell(KindNotice, func(p *Progress) { p.Text, p.Hints = "tried again until it works: "+d.trouble, engine.Hints(err) })
			}
			wait = errorAgain
		default:
			d.trouble = ""
		}
		if b := d.bridge; wait == 0 && b.once {
			return nil
		}
		if wait > 0 {
			again.Reset(wait)
		} else {
			again.Stop()
		}
		for looking := true; looking; {
			select {
			case <-ctx.Done():
				return nil
			case <-d.wake:
				news, now, look := d.take()
				switch {
				case now:
					d.ready = true
				case news && !d.ready:
					if quiet.Reset(o.Settle); !settling {
						limit.Reset(o.MaxSettle)
						settling = true
					}
				}
				// What only adds to what waits is no reason to look, neither before it is quiet nor when nothing may be started.
				looking = !look && (!d.ready || d.stopped != "" || d.paused)
			case <-quiet.C:
				d.ready, looking = true, false
			case <-limit.C:
				d.ready, looking = true, false
			case <-again.C:
				looking = false
			}
		}
		if d.ready {
			quiet.Stop()
			limit.Stop()
			settling = false
		}
	}
}

// stopped is a timer that is not running.
func stopped() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

var errForgotten = errors.New("the session was forgotten")

// step makes the next turn if one is to be made. It returns how soon to look again, 0 for when something happens.
func (d *driver) step(ctx context.Context) (time.Duration, error) {
	b := d.bridge
	if d.late != nil {
		return time.Millisecond, d.storeLate(ctx)
	}
	v, err := b.engine.View(ctx)
	if err != nil {
		return 0, err
	}
	if v.Halted != nil {
		return 0, v.Halted
	}
	s, ok := v.State.Session(d.agent)
	if !ok {
		d.tell(KindNotice, func(p *Progress) { // a lost log says so in its notes
			p.Text = strings.Join(append([]string{"its session is not known any more, so it gets no turns"}, v.Notes...), "; ")
		})
		return 0, errForgotten
	}
	t, wait := due(v.State, d.agent, v.Now, b.options.Backoff)
	switch {
	case t != nil && wait > 0 && d.retry != t.ID:
		d.retry = t.ID // its pause is over when this one is
		return wait, nil
	case t == nil && s.Paused:
		d.sayPaused(v.State)
		return 0, nil
	case t == nil && !d.ready && s.Running == "":
		return 0, nil
	}
	d.paused = false
	release, err := b.engine.TurnLease(ctx, d.agent, 0)
	var locked *engine.LockedError
	if errors.As(err, &locked) {
		return leaseAgain, nil // a message of another process
	}
	if err != nil {
		return 0, err
	}
	wait, err = d.turn(ctx, v, t)
	return wait, errors.Join(err, release())
}

// turn makes the turn t, or one of what waits when t is nil. The session is this driver's.
func (d *driver) turn(ctx context.Context, v *engine.View, t *state.Turn) (time.Duration, error) {
	s, ok := v.State.Session(d.agent)
	switch {
	case !ok:
		return 0, errForgotten
	case s.Running != "": // of a process that is dead, since its lease was free
		return time.Millisecond, settleAgent(ctx, d.bridge.engine, d.bridge.tell, d.agent)
	case t != nil:
		return d.startAgain(ctx, v, s, *t)
	}
	return d.startNew(ctx, v, s)
}

// startNew makes a turn of what stands behind the cursor.
func (d *driver) startNew(ctx context.Context, v *engine.View, s state.Session) (time.Duration, error) {
	b := d.bridge
	sorter := newSorter(v.State, d.agent, s.Cursor, b.policy, b.options.MaxDepth)
	batch, err := collect(ctx, b.engine, sorter)
	if err != nil {
		return 0, err
	}
	if batch.empty() {
		d.ready = false
		return 0, d.pass(ctx, s, &batch)
	}
	var text string
	if len(batch.deliver) > 0 {
		text = composePrompt(&b.options, v, d.agent, batch.deliver, batch.depth, false)
	}
	id := event.NewID()
	var cap bound
	r, err := b.engine.RecordTurns(ctx, "", func(v engine.View) (list []event.Event, err error) {
		list, cap, err = begin(v, s, &batch, id, len(text))
		return list, err
	})
	if err != nil {
		return 0, err
	}
	if cap.kind != "" {
		d.sayStopped(s, cap, len(r.Events) > 0)
		return 0, nil
	}
	d.stopped = ""
	d.ready = batch.full
	if len(batch.held) > 0 {
		d.tell(KindHeld, func(p *Progress) {
			p.Seqs, p.Text = seqsOf(batch.held), "these answer to a chain of turns that is longer than "+words.Plural(b.options.MaxDepth, "turn")
			p.Hints = []string{
				"loadout coord agents retry " + words.ShellWord(d.agent) + "    to deliver them",
				"loadout coord agents skip " + words.ShellWord(d.agent) + "    to leave them",
			}
		})
	}
	if len(batch.deliver) == 0 {
		return soon(d.ready), nil
	}
	started := state.Turn{
		ID: id, Agent: s.Agent, Provider: s.Provider, Session: s.ID, Scripted: s.Scripted, Why: event.WhyDelivery, Depth: batch.depth,
		Attempt: 1, Seq: r.Seq(), Status: state.TurnRunning,
	}
	d.submit(ctx, s, started, seqsOf(batch.deliver), text)
	return time.Millisecond, nil // what came meanwhile
}

// startAgain makes a turn that is queued, or that failed without costing anything.
func (d *driver) startAgain(ctx context.Context, v *engine.View, s state.Session, t state.Turn) (time.Duration, error) {
	b := d.bridge
	found, err := read(ctx, b.engine, t.Seqs)
	if err != nil {
		return 0, err
	}
	if len(found) == 0 {
		_, err := b.engine.RecordTurns(ctx, "", func(engine.View) ([]event.Event, error) { return events(step(t, event.TurnSkipped)) })
		d.tell(KindNotice, func(p *Progress) { p.Turn, p.Text = t.ID, "none of the events of this turn can be found any more" })
		return time.Millisecond, err
	}
	text := composePrompt(&b.options, v, d.agent, found, t.Depth, t.Started != nil)
	var cap bound
	r, err := b.engine.RecordTurns(ctx, "", func(v engine.View) (list []event.Event, err error) {
		list, cap, err = restart(v, t, len(text))
		return list, err
	})
	if err != nil {
		return 0, err
	}
	if cap.kind != "" {
		d.sayStopped(s, cap, len(r.Events) > 0)
		return 0, nil
	}
	d.stopped, d.retry = "", ""
	t.Attempt++
	t.Status = state.TurnRunning
	d.submit(ctx, s, t, t.Seqs, text)
	return time.Millisecond, nil
}

// submit gives a turn that was recorded to the program.
func (d *driver) submit(ctx context.Context, s state.Session, t state.Turn, seqs []int64, text string) {
	b := d.bridge
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l := &live{turn: t, seqs: seqs, cancel: cancel}
	unwatch := b.watch(l)
	defer unwatch()
	_, end, err := submit(ctx, b.engine, &b.options, b.tell, submission{
		turn: t, seqs: seqs, prompt: text, dir: d.dir, permissions: b.options.Permissions(s.Provider, s.Agent), before: before(s.Total), live: l,
	})
	var unrecorded *UnrecordedError
	if errors.As(err, &unrecorded) {
		d.late = &end
		d.tell(KindNotice, func(p *Progress) { p.Turn, p.Text = t.ID, unrecorded.Error() })
	}
}

// storeLate stores the end of a turn that could not be stored when it came.
func (d *driver) storeLate(ctx context.Context) error {
	_, err := recordEnd(ctx, d.bridge.engine, *d.late, d.dir, func(_ engine.View, end event.Turn) ([]event.Event, error) { return events(end) }, nil)
	if err == nil {
		d.late = nil
	}
	return err
}

// pass moves the cursor over what asks for no turn, once that is much.
func (d *driver) pass(ctx context.Context, s state.Session, batch *batch) error {
	const much = 1000
	if batch.through-s.Cursor < much {
		return nil
	}
	_, err := d.bridge.engine.RecordTurns(ctx, "", func(v engine.View) ([]event.Event, error) {
		if now, ok := v.State.Session(s.Agent); !ok || now.Cursor != s.Cursor {
			return nil, errMoved
		}
		passed := of(s, event.TurnPassed)
		passed.Through, passed.Passive, passed.Duplicate = &batch.through, batch.passive, batch.duplicate
		return events(passed)
	})
	return err
}

func (d *driver) tell(kind Kind, change func(*Progress)) {
	p := Progress{Kind: kind, Agent: d.agent}
	change(&p)
	d.bridge.tell.tell(p)
}

func (d *driver) sayStopped(s state.Session, cap bound, first bool) {
	if d.stopped == cap.kind && !first {
		return
	}
	d.stopped = cap.kind
	d.tell(KindStopped, func(p *Progress) {
		p.Provider, p.Session, p.Text = s.Provider, s.ID, cap.why+"; nothing is lost, it waits"
		p.Hints = []string{"loadout coord agents raise " + raiseFlag(cap.kind) + "    to go on"}
	})
}

func raiseFlag(cap event.TurnCap) string {
	switch cap {
	case event.CapTurns:
		return "--max-turns N"
	case event.CapTotalTurns:
		return "--max-total-turns N"
	case event.CapTokens:
		return "--max-tokens N"
	case event.CapCost:
		return "--max-cost USD"
	}
	return ""
}

func (d *driver) sayPaused(s *state.State) {
	if d.paused {
		return
	}
	d.paused = true
	d.tell(KindNotice, func(p *Progress) {
		p.Text = "a turn failed and waits for a person; no further one is started before"
		for _, t := range s.OpenTurns() {
			if event.SameName(t.Agent, d.agent) && t.Status == state.TurnFailed {
				p.Turn = t.ID
			}
		}
		p.Hints = []string{
			"loadout coord agents retry " + words.ShellWord(d.agent) + "    to make it again",
			"loadout coord agents skip " + words.ShellWord(d.agent) + "    to go on without it",
		}
	})
}

// soon is when to look again if there is more to do.
func soon(more bool) time.Duration {
	if more {
		return time.Millisecond
	}
	return 0
}

// composePrompt is the text of a turn of events. again says that it was started before.
func composePrompt(o *Options, v *engine.View, agent string, events []event.Event, depth int64, again bool) string {
	p := prompt{
		agent: agent, events: events, supersededBy: v.State.SupersededBy, now: v.Now, head: v.State.Head(), mark: o.Mark(),
		maxBytes: o.MaxPrompt, depth: depth, limit: int64(o.MaxDepth), again: again,
	}
	return p.String()
}
