package tui

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

// follow runs a feed on a fake until the test ends.
func follow(t *testing.T, f *fakeEngine) (*feed, context.Context) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	feed := newFeed(Options{Engine: f, Clock: time.Now, fold: foldFake})
	feed.retry = time.Millisecond
	var work sync.WaitGroup
	work.Go(func() { feed.run(ctx) })
	t.Cleanup(func() {
		cancel()
		work.Wait()
	})
	return feed, ctx
}

// A burst must reach the screen in few updates and whole.
func TestBurstIsJoinedAndLosesNothing(t *testing.T) {
	f := newFake()
	feed, ctx := follow(t, f)
	const n = 10_000
	if u, ok := feed.wait(ctx, time.Time{}); !ok || u.state.Head() != -1 {
		t.Fatal("no empty log to begin with")
	}
	go func() {
		for range n {
			f.add(failer{}, "codex", event.Broadcast, "x", event.Status{})
		}
	}()
	updates, last := 0, time.Time{}
	var next int64
	for next < n {
		notBefore := last.Add(feedPause)
		u, ok := feed.wait(ctx, notBefore)
		if !ok {
			t.Fatal("the feed ended")
		}
		if time.Now().Before(notBefore) {
			t.Fatal("two updates within one pause")
		}
		last = time.Now()
		updates++
		for _, e := range u.events {
			if e.Seq != next {
				t.Fatalf("#%d after #%d", e.Seq, next-1)
			}
			next++
		}
		if u.state.Head() != next-1 {
			t.Fatalf("the state is at #%d, the events at #%d", u.state.Head(), next-1)
		}
	}
	t.Logf("%d events in %d updates", n, updates)
}

// What was handed out must not change as the feed goes on.
// However long an update of the screen takes, keys have most of the time.
func TestFeedLeavesTimeForKeys(t *testing.T) {
	for took, want := range map[time.Duration]time.Duration{
		0: feedPause, time.Millisecond: feedPause, 100 * time.Millisecond: 300 * time.Millisecond, time.Minute: time.Second,
	} {
		if got := pauseAfter(took); got != want {
			t.Errorf("after %v the feed waits %v, want %v", took, got, want)
		}
	}
}

func TestTakenStatesAreIndependent(t *testing.T) {
	f := newFake()
	feed := newFeed(Options{Engine: f, Clock: time.Now, fold: foldFake})
	e := f.add(t, "codex", event.Broadcast, "x", event.Ownership{Paths: []string{"a"}, Mode: event.Exclusive})
	feed.deliver(engine.Delivery{Events: []event.Event{e}})
	first := feed.take()
	e = f.add(t, "codex", event.Broadcast, "x", event.Ownership{Paths: []string{"b"}, Mode: event.Exclusive})
	feed.deliver(engine.Delivery{Events: []event.Event{e}})
	if n := len(first.state.Claims()); n != 1 {
		t.Errorf("the state that was taken has %d claims now", n)
	}
}

func TestFeedTriesAgain(t *testing.T) {
	f := newFake()
	f.viewErr = errors.New("permission denied")
	feed, ctx := follow(t, f)
	u, ok := feed.wait(ctx, time.Time{})
	if !ok || u.err == nil {
		t.Fatalf("the error is %v", u.err)
	}
	f.mu.Lock()
	f.viewErr = nil
	f.mu.Unlock()
	for u.err != nil || !u.caughtUp {
		if u, ok = feed.wait(ctx, time.Time{}); !ok {
			t.Fatal("the feed ended")
		}
	}
}

func TestResetDropsWhatWaited(t *testing.T) {
	f := newFake()
	feed := newFeed(Options{Engine: f, Clock: time.Now, fold: foldFake})
	old := f.add(t, "codex", event.Broadcast, "old", event.Status{})
	feed.deliver(engine.Delivery{Events: []event.Event{old}})
	fresh := old
	fresh.ID, fresh.Description = "fresh", "fresh"
	feed.deliver(engine.Delivery{Events: []event.Event{fresh}, Reset: true})
	u := feed.take()
	if !u.reset || len(u.events) != 1 || u.events[0].ID != "fresh" || u.state.Count() != 1 {
		t.Errorf("took %+v, %d events folded", u.events, u.state.Count())
	}
}

// An agent that registers is shown as live at once, not at the next look at the sessions.
func TestLivenessFollowsTheEvents(t *testing.T) {
	f := newFake()
	feed, ctx := follow(t, f)
	var work sync.WaitGroup
	watching, stop := context.WithCancel(ctx)
	work.Go(func() { feed.watchSessions(watching) })
	defer func() { stop(); work.Wait() }()
	f.mu.Lock()
	f.live["codex"] = engine.Liveness{Known: true, Live: true}
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	began := time.Now()
	f.add(t, event.Loadout, event.Broadcast, "codex registered", event.Agent{Action: event.AgentRegistered, Name: "codex", Base: "codex"})
	for {
		u, ok := feed.wait(ctx, time.Time{})
		if !ok {
			t.Fatal("the feed ended")
		}
		if u.live["codex"].Live {
			break
		}
	}
	if took := time.Since(began); took > livenessTick/2 {
		t.Errorf("it took %v", took)
	}
}

func TestCopyIsBounded(t *testing.T) {
	f := newFake()
	f.add(t, "codex", event.Broadcast, "Contract 'big' rev1", event.Contract{Name: "big", Revision: 1, Body: strings.Repeat("日本 ", 30_000)})
	d := drive(t, f)
	d.press("2", "enter", "y")
	d.shows("copied the first")
	if n := len(strings.Join(d.sent, "")); n > 100_000 {
		t.Errorf("sent %d bytes", n)
	}
}
