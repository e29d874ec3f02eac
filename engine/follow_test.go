package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/store"
)

// listener follows a log and lets a test wait for what it has heard.
type listener struct {
	t      *testing.T
	mu     sync.Mutex
	seqs   []int64
	last   Delivery
	notes  []string
	resets int
	state  *state.State
	news   chan struct{}
	cancel context.CancelFunc
	done   chan error
}

func listen(t *testing.T, follow func(context.Context, func(Delivery) error) error) *listener {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := &listener{t: t, state: state.New(), news: make(chan struct{}, 1), cancel: cancel, done: make(chan error, 1)}
	go func() {
		l.done <- follow(ctx, func(d Delivery) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			if d.Reset {
				l.resets++
				l.seqs = nil
			}
			for _, ev := range d.Events {
				l.seqs = append(l.seqs, ev.Seq)
			}
			if d.Note != "" {
				l.notes = append(l.notes, d.Note)
			}
			l.state = d.Fold(l.state)
			l.last = d
			select {
			case l.news <- struct{}{}:
			default:
			}
			return nil
		})
	}()
	t.Cleanup(l.stop)
	return l
}

func (l *listener) stop() {
	l.cancel()
	if err := receive(l.t, l.done); !errors.Is(err, context.Canceled) {
		l.t.Errorf("follow ended with %v", err)
	}
	l.done <- context.Canceled // for a second stop
}

// until waits for a condition on what was heard.
func (l *listener) until(what string, ok func() bool) {
	l.t.Helper()
	timeout := time.After(patience)
	for {
		l.mu.Lock()
		done := ok()
		l.mu.Unlock()
		if done {
			return
		}
		select {
		case <-l.news:
		case <-timeout:
			l.mu.Lock()
			defer l.mu.Unlock()
			l.t.Fatalf("%s did not come; heard %v, notes %q, last %+v", what, l.seqs, l.notes, l.last)
		}
	}
}

func (l *listener) untilSeq(seq int64) {
	l.t.Helper()
	l.until(fmt.Sprintf("event %d", seq), func() bool { return len(l.seqs) > 0 && l.seqs[len(l.seqs)-1] == seq })
}

func numbers(from, to int64) []int64 {
	var list []int64
	for n := from; n <= to; n++ {
		list = append(list, n)
	}
	return list
}

func TestFollow(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after int64
		first int64
	}{
		{"everything", Everything, 0},
		{"after a number", 1200, 1201},
		{"new only", NewOnly, 1500},
		{"after what is not there yet", 1502, 1503},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.fill("codex", 0, 1500)
			l := listen(t, func(ctx context.Context, fn func(Delivery) error) error { return s.Follow(ctx, tt.after, fn) })
			l.until("the end", func() bool { return l.last.CaughtUp })
			for i := range 5 {
				s.do(note("codex", strconv.Itoa(i)))
			}
			l.untilSeq(1504)
			if want := numbers(tt.first, 1504); !slices.Equal(l.seqs, want) {
				t.Errorf("heard %d events from %d, want %d from %d", len(l.seqs), l.seqs[0], len(want), want[0])
			}
		})
	}
}

func TestFollowWaitsForALog(t *testing.T) {
	s := newScene(t)
	l := listen(t, func(ctx context.Context, fn func(Delivery) error) error { return s.Follow(ctx, Everything, fn) })
	l.until("the missing log", func() bool { return l.last.Mode == ModeMissing })
	s.do(note("codex", "first"))
	l.untilSeq(0)
	if l.last.Mode == ModeMissing {
		t.Errorf("mode %s", l.last.Mode)
	}
}

// TestFollowTellsOfALoss: to who follows, a log that is gone is no empty one, until a write has taken the loss down.
func TestFollowTellsOfALoss(t *testing.T) {
	s := newScene(t)
	s.fill("codex", 0, 3)
	s.do(note("codex", "x"))
	follow := func() *listener {
		e := s.open(Options{}) // another process: all that it knows is on disk
		return listen(t, func(ctx context.Context, fn func(Delivery) error) error { return e.Follow(ctx, Everything, fn) })
	}
	early := follow()
	early.until("the end", func() bool { return early.last.CaughtUp && early.last.Lost == "" })
	if err := os.Remove(s.path(store.LogName)); err != nil {
		t.Fatal(err)
	}
	late := follow()
	for name, l := range map[string]*listener{"early": early, "late": late} {
		l.until(name+": the loss", func() bool {
			return l.last.Mode == ModeMissing && strings.HasPrefix(l.last.Lost, "the log is gone: it had reached seq 3")
		})
	}
	s.Engine = s.open(Options{})
	s.do(note("codex", "y"))
	for name, l := range map[string]*listener{"early": early, "late": late} {
		l.until(name+": the next write", func() bool { return l.last.CaughtUp && l.last.Head == 5 && l.last.Lost == "" })
	}
}

func TestFollowSurvivesCompaction(t *testing.T) {
	s := newScene(t)
	s.do(own("codex", "src"))
	s.fill("codex", 1, 300)
	l := listen(t, func(ctx context.Context, fn func(Delivery) error) error { return s.Follow(ctx, Everything, fn) })
	l.untilSeq(300)
	if r, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 10, MaxAge: -1}); err != nil || !r.Compacted {
		t.Fatalf("%+v, %v", r, err)
	}
	s.do(note("codex", "after"))
	l.untilSeq(302)
	if want := numbers(0, 302); !slices.Equal(l.seqs, want) || l.resets != 0 {
		t.Errorf("heard %v, resets %d", l.seqs, l.resets)
	}
	if same, difference := state.Equal(l.state, s.view().State); !same {
		t.Errorf("the folded deliveries differ from the log: %s", difference)
	}
}

func TestFollowStartsOverWithAnotherLog(t *testing.T) {
	s := newScene(t)
	s.fill("codex", 0, 50)
	l := listen(t, func(ctx context.Context, fn func(Delivery) error) error { return s.Follow(ctx, 20, fn) })
	l.untilSeq(49)
	if err := os.Remove(s.path(store.LogName)); err != nil {
		t.Fatal(err)
	}
	l.until("the missing log", func() bool { return l.last.Mode == ModeMissing })
	s.do(note("claude-code", "a new log"))
	l.until("the new log", func() bool { return slices.Equal(l.seqs, []int64{50, 51}) }) // its numbers go on above the old ones
	if l.resets != 1 || len(l.notes) == 0 {
		t.Errorf("resets %d, notes %q", l.resets, l.notes)
	}
	if n := l.state.Count(); n != 2 {
		t.Errorf("%d events folded after the reset", n)
	}
}

func TestFollowTellsOfTheKillSwitch(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	l := listen(t, func(ctx context.Context, fn func(Delivery) error) error { return s.Follow(ctx, NewOnly, fn) })
	l.until("the end", func() bool { return l.last.CaughtUp })
	if err := os.WriteFile(s.path(KillSwitchName), []byte("by hand"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.until("the halt", func() bool { return l.last.Halted != nil && l.last.Halted.Damaged })
	if err := os.Remove(s.path(KillSwitchName)); err != nil {
		t.Fatal(err)
	}
	l.until("the end of the halt", func() bool { return l.last.Halted == nil })
	if _, err := s.Kill(t.Context(), "user", "why"); err != nil {
		t.Fatal(err)
	}
	l.until("the kill", func() bool { return l.last.Halted != nil && l.last.Halted.Reason == "why" && len(l.seqs) == 1 })
}

func TestFollowCountsBadLines(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "one"))
	v := s.view()
	l := listen(t, func(ctx context.Context, fn func(Delivery) error) error { return s.FollowFrom(ctx, v, fn) })
	l.mu.Lock()
	l.state = v.State
	l.mu.Unlock()
	s.append("not json\n" + `{"id":"x","seq":1}` + "\n")
	s.do(note("codex", "two"))
	l.untilSeq(2)
	if same, difference := state.Equal(l.state, s.view().State); !same {
		t.Error(difference)
	}
	if got, want := l.state.Skips(), s.view().State.Skips(); got.Bad != 2 || got.Recent[1] != want.Recent[1] {
		t.Errorf("skips %+v, want %+v", got, want)
	}
}

func TestFollowEndsWithTheErrorOfItsReceiver(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	mine := errors.New("mine")
	for _, after := range []int64{Everything, 0, NewOnly} {
		if err := s.Follow(t.Context(), after, func(Delivery) error { return mine }); !errors.Is(err, mine) {
			t.Errorf("after %d: %v", after, err)
		}
	}
}

func TestOwnWait(t *testing.T) {
	s := newScene(t)
	s.do(own("claude-code", "src/api"))
	asked := make(chan *ConflictError, 100)
	var (
		wg      sync.WaitGroup
		receipt Receipt
		err     error
	)
	wg.Go(func() {
		receipt, err = s.open(Options{}).OwnWait(t.Context(), Request{Command: own("codex", "src/api/x.ts")}, time.Minute,
			func(c *ConflictError, _ time.Duration) { asked <- c })
	})
	if c := receive(t, asked); len(c.Conflicts) != 1 || c.Conflicts[0].Claim.Agent != "claude-code" {
		t.Errorf("in the way: %+v", c)
	}
	s.do(ReleasePaths{Agent: "claude-code", Paths: []string{"src/api"}})
	wg.Wait()
	if err != nil || receipt.Seq() != 2 {
		t.Errorf("receipt %+v, %v", receipt, err)
	}
}

func TestOwnWaitEnds(t *testing.T) {
	s := newScene(t)
	s.do(own("claude-code", "src/api"))
	r := Request{Command: own("codex", "src/api")}
	_, err := s.OwnWait(t.Context(), r, 30*time.Millisecond, nil)
	if c := as[*ConflictError](t, err); c.Kind != ConflictOwnership {
		t.Errorf("%+v", c)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = s.OwnWait(ctx, r, time.Hour, func(*ConflictError, time.Duration) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	var wg sync.WaitGroup
	waiting := make(chan struct{}, 100)
	wg.Go(func() {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err = s.OwnWait(ctx, r, time.Hour, func(*ConflictError, time.Duration) { waiting <- struct{}{} })
	})
	receive(t, waiting)
	if _, err := s.Kill(t.Context(), "user", "stop"); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	as[*HaltedError](t, err)
}

func TestOwnWaitSeesALapse(t *testing.T) {
	s := newScene(t)
	s.do(Own{Agent: "claude-code", Paths: []string{"src"}, TTL: time.Minute})
	r, err := s.OwnWait(t.Context(), Request{Command: own("codex", "src")}, time.Hour, func(*ConflictError, time.Duration) { s.clock.move(2 * time.Minute) })
	if err != nil || len(r.Expired) != 1 {
		t.Errorf("receipt %+v, %v", r, err)
	}
	if !strings.Contains(s.log(), "expired") {
		t.Error("the lapse is not recorded")
	}
}

// TestCopiesAreDeliveredOnce: as the fold counts them, by Follow and by Events.
func TestCopiesAreDeliveredOnce(t *testing.T) {
	s := newScene(t)
	s.fill("codex", 0, 3)
	last := strings.SplitAfter(s.log(), "\n")[2]
	s.append(last + last)
	s.fill("codex", 3, 1)
	l := listen(t, func(ctx context.Context, fn func(Delivery) error) error { return s.Follow(ctx, Everything, fn) })
	l.until("the end", func() bool { return l.last.CaughtUp })
	if want := numbers(0, 3); !slices.Equal(l.seqs, want) {
		t.Errorf("heard %v", l.seqs)
	}
	if same, difference := state.Equal(l.state, s.view().State); !same || l.state.Skips().Duplicate != 2 {
		t.Errorf("the folded deliveries differ from the log: %s", difference)
	}
	if r, err := s.Events(t.Context(), Query{After: 1}); err != nil || len(r.Events) != 2 {
		t.Errorf("%+v, %v", r.Events, err)
	}
}
