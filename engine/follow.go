package engine

import (
	"context"
	"sync"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/store"
)

// Mode is how a follower learns of news.
type Mode string

// The modes of a Delivery.
const (
	ModeLive       Mode = "live"       // the system notifies
	ModePolling    Mode = "polling"    // no notifications: the size is looked at every so often
	ModeMissing    Mode = "missing"    // there is no log yet, or no more
	ModeUnreadable Mode = "unreadable" // the log is there and cannot be read
)

// Delivery is one batch of news. Its memory is the receiver's.
type Delivery struct {
	Events   []event.Event  // in log order
	Bad      []state.BadRef // lines that cannot be read
	Head     int64          // highest sequence number read, -1 for none
	Lines    int64          // lines read
	Mode     Mode
	Reset    bool         // the content before is no longer ours: fold again from an empty state
	Note     string       // what happened, for the status line: "log was compacted"; else empty
	Halted   *HaltedError // the kill switch as it is now, nil when off
	Lost     string       // what was answered and is in the log no more, as Engine.Loss says it; "": nothing that is known of
	CaughtUp bool         // everything that the log held at this moment has been delivered
	Gone     bool         // some of what was asked for is lost with an archive, as Note says

	folds []event.Event // what to fold: Events, and what repeats one, which the fold counts
	lines []int64       // physical lines of folds
}

// Fold brings a state up to date with a delivery and returns it, a new one after a Reset.
func (d Delivery) Fold(s *state.State) *state.State {
	if d.Reset {
		s = state.New()
	}
	bad := d.Bad
	for i := range d.folds {
		for len(bad) > 0 && bad[0].Line < d.lines[i] {
			s.Skip(bad[0].Line, bad[0].Seq, bad[0].Reason)
			bad = bad[1:]
		}
		_ = s.ApplyLine(&d.folds[i], d.lines[i]) // a bad payload is counted in the state's Skips
	}
	for _, b := range bad {
		s.Skip(b.Line, b.Seq, b.Reason)
	}
	return s
}

// Follow calls fn with every event after the sequence number after (Everything, NewOnly), from their archives also those that a
// compaction took out of the log, then with each that is stored later, until ctx ends or fn returns an error, which it returns. It misses
// and repeats nothing, and tells when an archive that it needs is gone. It takes no lock, and survives compaction, replacement, deletion
// and re-creation of the log. fn is never called twice at once. A change of mode or of the kill switch is delivered too, with no events.
func (e *Engine) Follow(ctx context.Context, after int64, fn func(Delivery) error) error {
	f := e.newFeed(after, fn)
	at, err := f.backlog(ctx)
	if err != nil {
		return err
	}
	return f.run(ctx, at)
}

// FollowFrom is Follow from where a View ended, without a gap: who folds the deliveries into v.State stays up to date and
// never reads the whole log. When the log was replaced in between, the first delivery is a Reset.
func (e *Engine) FollowFrom(ctx context.Context, v *View, fn func(Delivery) error) error {
	return e.newFeed(Everything, fn).run(ctx, v.at)
}

// feed turns lines and the kill switch into deliveries.
type feed struct {
	engine *Engine
	after  int64 // events up to this number are not delivered
	shown  int64 // events up to this number came from archives: those that the log kept are folded only
	told   again // the event read last

	mu   sync.Mutex // fn is called with it held
	fn   func(Delivery) error
	last Delivery // the newest one, for what does not change
	err  error    // of fn
}

func (e *Engine) newFeed(after int64, fn func(Delivery) error) *feed {
	mode := ModeLive
	if e.options.NoNotify {
		mode = ModePolling
	}
	return &feed{engine: e, after: after, shown: after, fn: fn, last: Delivery{Head: -1, Mode: mode}}
}

// backlog delivers what the log holds after the cursor, starting near it, and returns the place up to which it did.
func (f *feed) backlog(ctx context.Context) (place, error) {
	e := f.engine
	return steady(func() (place, error) { // a log that was rewritten is noticed before anything of it is delivered
		e.mu.Lock()
		err := e.catchUp(ctx, e.log.Read)
		at, index, compacted := e.mem.at, e.mem.index, e.mem.last.removed
		e.mu.Unlock()
		if err != nil {
			return place{}, err
		}
		e.keepDue()
		if f.after == NewOnly {
			f.after, f.shown = Everything, Everything
			return at, nil
		}
		if err := f.archives(ctx, compacted); err != nil {
			return place{}, err
		}
		err = e.log.ReadFrom(ctx, index.Before(f.after+1), func(b store.Batch) error {
			for i := range b.Lines {
				if b.Lines[i].Offset >= at.Offset {
					b.Lines = b.Lines[:i]
					break
				}
			}
			if len(b.Lines) == 0 {
				return errEnough
			}
			return f.lines(ctx, store.Event{Batch: b, Mode: -1})
		})
		return at, ignore(err, errEnough)
	})
}

// archives delivers what compactions took out of the log. Read again, it goes on where it ended.
func (f *feed) archives(ctx context.Context, compacted int64) error {
	if f.shown >= compacted {
		return nil
	}
	_, gone, err := f.engine.readArchives(ctx, f.shown+1, compacted, func(b store.Batch) error {
		var d Delivery
		for i := range b.Lines {
			ev, err := decodeLine(&b.Lines[i])
			if err == nil && !f.told.repeats(&ev) {
				d.Events = append(d.Events, ev)
			}
			f.shown = max(f.shown, b.Lines[i].Seq)
		}
		return f.aside(d)
	})
	if err != nil || !gone {
		return err
	}
	return f.aside(Delivery{Gone: true, Note: "not all events: " + GoneText})
}

// aside delivers what comes from beside the log.
func (f *feed) aside(d Delivery) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	d.Head, d.Lines, d.Mode, d.Halted, d.Lost = max(f.last.Head, f.shown), f.last.Lines, f.last.Mode, f.last.Halted, f.last.Lost
	return f.deliver(d)
}

// run follows the log and the kill switch.
func (f *feed) run(ctx context.Context, from place) error {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { f.watchKillSwitch(ctx, cancel) })
	err := f.engine.log.Follow(ctx, from, func(ev store.Event) error { return f.lines(ctx, ev) })
	cancel()
	wg.Wait()
	if f.err != nil {
		return f.err
	}
	return err
}

// lines delivers what store.Follow has.
func (f *feed) lines(ctx context.Context, ev store.Event) error {
	d := Delivery{Head: ev.Pos.Highest(), Lines: ev.Pos.Lines, Mode: Mode(ev.Mode.String()), Reset: ev.Reset, Note: ev.Note, CaughtUp: ev.End}
	if ev.Reset {
		f.told = again{}
		f.after, f.shown = Everything, Everything // the numbers of another log say nothing about this one
	}
	for i := range ev.Lines {
		l := &ev.Lines[i]
		decoded, err := decodeLine(l)
		switch {
		case err != nil:
			d.Bad = append(d.Bad, state.BadRef{Line: l.Number, Seq: l.Seq, Reason: reason(err)})
		case decoded.Seq > f.after:
			if decoded.Seq > f.shown && !f.told.repeats(&decoded) {
				d.Events = append(d.Events, decoded)
			}
			d.folds = append(d.folds, decoded)
			d.lines = append(d.lines, l.Number)
		}
	}
	halted, haltedErr := f.engine.Halted()
	lost, told := f.lost(ctx, d)
	f.mu.Lock()
	defer f.mu.Unlock()
	if ev.Mode < 0 {
		d.Mode = f.last.Mode
	}
	if d.Halted = halted; haltedErr != nil { // the directory itself cannot be used now, which Mode says
		d.Halted = f.last.Halted
	}
	if d.Lost = lost; !told {
		d.Lost = f.last.Lost
	}
	return f.deliver(d)
}

// lost is Engine.Loss, which reads the log and is asked only when something speaks for a loss. It is not told before all of the log was
// delivered.
func (f *feed) lost(ctx context.Context, d Delivery) (lost string, told bool) {
	switch {
	case d.Mode == ModeMissing:
	case !d.CaughtUp:
		return "", false
	case d.Head >= 0 && f.engine.readHead() <= d.Head:
		return "", true
	}
	lost, err := f.engine.Loss(ctx)
	return lost, err == nil
}

// again tells an event that repeats the one just before it: the fold leaves it out, so readers do not get it twice either.
type again struct {
	seq  int64
	id   string
	some bool
}

func (a *again) repeats(ev *event.Event) bool {
	if a.some && a.seq == ev.Seq && a.id == ev.ID {
		return true
	}
	*a = again{ev.Seq, ev.ID, true}
	return false
}

// watchKillSwitch delivers the kill switch when it is set or lifted, also by hand.
func (f *feed) watchKillSwitch(ctx context.Context, cancel context.CancelFunc) {
	ticker := time.NewTicker(f.engine.options.Poll)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		halted, err := f.engine.Halted()
		if err != nil {
			continue
		}
		f.mu.Lock()
		if !sameHalt(halted, f.last.Halted) {
			d := f.last
			d.Halted = halted
			err = f.deliver(d)
		}
		f.mu.Unlock()
		if err != nil {
			cancel()
			return
		}
	}
}

// deliver calls fn, which may keep what it is given. The caller holds f.mu.
func (f *feed) deliver(d Delivery) error {
	f.last = Delivery{Head: d.Head, Lines: d.Lines, Mode: d.Mode, Halted: d.Halted, Lost: d.Lost, CaughtUp: d.CaughtUp}
	if err := f.fn(d); err != nil {
		f.err = err
		return err
	}
	return nil
}

func sameHalt(a, b *HaltedError) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
