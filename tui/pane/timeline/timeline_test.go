package timeline

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/theme"
)

// source is a log of n plain events, read as the engine would.
type source struct {
	n     int64
	reads int
	err   error
}

func one(seq int64) event.Event {
	at := time.Date(2026, 9, 3, 10, 0, 0, 0, time.UTC).Add(time.Duration(seq) * time.Second)
	e := event.Event{
		ID: fmt.Sprint("e", seq), Seq: seq, Type: event.TypeStatus, From: "codex", To: event.Broadcast,
		Description: fmt.Sprintf("event number %d", seq), Timestamp: at.Format(event.TimeFormat),
	}
	if seq%1000 == 7 {
		e.From = "gemini"
	}
	return e
}

func (s *source) Events(_ context.Context, q engine.Query) (engine.EventsResult, error) {
	s.reads++
	if s.err != nil {
		return engine.EventsResult{}, s.err
	}
	end := s.n
	if q.Before > 0 {
		end = min(end, q.Before)
	}
	from := max(end-int64(q.Last), 0)
	r := engine.EventsResult{AsOf: s.n - 1, Omitted: from}
	for seq := from; seq < end; seq++ {
		r.Events = append(r.Events, one(seq))
	}
	return r, nil
}

func (*source) ContractBody(context.Context, string, int64) (engine.ContractText, error) {
	return engine.ContractText{}, nil
}

func (*source) Diff(context.Context, string, int64, int64) (engine.ContractDiff, error) {
	return engine.ContractDiff{}, nil
}

// harness does what a pane asks for at once.
type harness struct {
	*Pane
	t *testing.T
	s *source
}

func open(t *testing.T, n int64) *harness {
	t.Helper()
	th, err := theme.New(theme.Options{Name: theme.None})
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{New(pane.Look{Theme: th, Owners: th.NewOwners()}), t, &source{n: n}}
	h.SetSize(80, 20, false)
	h.SetFocus(true)
	h.apply(pane.Snapshot{State: state.New()}, pane.Changes{})
	return h
}

func (h *harness) do(a pane.Action) {
	for {
		l, ok := a.(pane.Load)
		if !ok {
			return
		}
		value, err := l.Run(context.Background(), h.s)
		a = h.Loaded(l.Key, value, err)
	}
}

func (h *harness) apply(s pane.Snapshot, c pane.Changes) { h.do(h.Apply(s, c)) }
func (h *harness) handle(i keymap.Intent)                { h.do(h.Handle(i)) }

// news stores n events and brings them.
func (h *harness) news(n int64) {
	var c pane.Changes
	for range n {
		c.Events = append(c.Events, one(h.s.n))
		h.s.n++
	}
	h.apply(h.snap, c)
}

// selected is the sequence number of the selected row.
func (h *harness) seq() int64 {
	h.t.Helper()
	e := h.selected()
	if e == nil {
		h.t.Fatal("nothing is selected")
	}
	return e.Seq
}

// gapless fails unless the window holds one event after the other.
func (h *harness) gapless() {
	h.t.Helper()
	for i, e := range h.win.events {
		if e.Seq != h.win.events[0].Seq+int64(i) {
			h.t.Fatalf("#%d at place %d of a window from #%d", e.Seq, i, h.win.events[0].Seq)
		}
	}
}

func TestFollowsTheEnd(t *testing.T) {
	h := open(t, 5000)
	if h.seq() != 4999 || h.s.reads != 1 {
		t.Fatalf("starts at #%d after %d reads", h.seq(), h.s.reads)
	}
	h.news(10_000)
	if h.seq() != 14_999 {
		t.Errorf("after a burst at #%d", h.seq())
	}
	h.gapless()
	h.handle(keymap.Up)
	h.news(3)
	if h.seq() != 14_998 || h.List.Following() {
		t.Errorf("news moved the selection to #%d", h.seq())
	}
	h.handle(keymap.Follow)
	if h.seq() != 15_002 {
		t.Errorf("follow goes to #%d", h.seq())
	}
}

func TestReadsOlderEventsOnDemand(t *testing.T) {
	h := open(t, 15_000)
	for i := 0; h.seq() > 0 && i < 100; i++ {
		h.handle(keymap.Home)
	}
	if h.seq() != 0 || !h.win.complete {
		t.Fatalf("the first event reached is #%d", h.seq())
	}
	if len(h.win.events) != 15_000 {
		t.Errorf("%d events in memory", len(h.win.events))
	}
	h.gapless()
	if h.s.reads > 6 {
		t.Errorf("%d reads", h.s.reads)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	const limit = 6000
	h := open(t, 20_000)
	h.win.limit = limit
	for i := 0; h.seq() > 0 && i < 300; i++ {
		h.handle(keymap.Home)
		if len(h.win.events) > limit+limit/10 {
			t.Fatalf("%d events in memory", len(h.win.events))
		}
	}
	h.gapless()
	if h.seq() != 0 {
		t.Fatalf("stuck at #%d", h.seq())
	}
	h.news(5)
	if h.win.last() > 10_000 {
		t.Errorf("a window that was cut at its end took news: last is #%d", h.win.last())
	}
	h.handle(keymap.End)
	if h.seq() != 20_004 {
		t.Errorf("the end is #%d", h.seq())
	}
	h.gapless()
	h.news(9_000)
	if n := len(h.win.events); n > limit+limit/10 || h.seq() != 29_004 {
		t.Errorf("%d events in memory, at #%d", n, h.seq())
	}
	h.gapless()
}

func TestLiveEventsDuringALoadAreNotRepeated(t *testing.T) {
	h := open(t, 0)
	h.s.n = 50
	load, ok := h.Apply(h.snap, pane.Changes{Reset: true}).(pane.Load)
	if !ok {
		t.Fatal("a reset loads nothing")
	}
	h.news(5) // #50 to #54 arrive while the page is read, which then has them too
	value, err := load.Run(context.Background(), h.s)
	h.do(h.Loaded(load.Key, value, err))
	if len(h.win.events) != 55 {
		t.Errorf("%d events, want 55", len(h.win.events))
	}
	h.gapless()
}

func TestStaleResultsAreDropped(t *testing.T) {
	h := open(t, 100)
	old, ok := h.Apply(h.snap, pane.Changes{Reset: true}).(pane.Load)
	if !ok {
		t.Fatal("a reset loads nothing")
	}
	h.do(h.Apply(h.snap, pane.Changes{Reset: true}))
	value, err := old.Run(context.Background(), h.s)
	h.do(h.Loaded(old.Key, value, err))
	h.gapless()
	if len(h.win.events) != 100 {
		t.Errorf("%d events, want 100", len(h.win.events))
	}
}

func TestFilterReadsTheWholeLog(t *testing.T) {
	h := open(t, 20_000)
	h.do(h.SetFilter("GEMINI number"))
	if len(h.matches) != 20 {
		t.Fatalf("%d found, want 20 in 20,000: %s", len(h.matches), h.Status())
	}
	h.news(1010)
	if len(h.matches) != 22 || h.seq() != 21_007-1000+1000 {
		t.Errorf("%d found after news, at #%d", len(h.matches), h.seq())
	}
	h.handle(keymap.Up)
	at := h.seq()
	h.do(h.SetFilter(""))
	if h.seq() != at {
		t.Errorf("without the filter at #%d, was #%d", h.seq(), at)
	}
}

func TestThePast(t *testing.T) {
	h := open(t, 30_000)
	travel := func(at int64) {
		h.apply(pane.Snapshot{State: state.New(), Past: true, At: at}, pane.Changes{})
	}
	travel(29_990)
	if h.seq() != 29_990 || h.s.reads != 1 {
		t.Errorf("near the end: #%d after %d reads", h.seq(), h.s.reads)
	}
	travel(5000) // far below what is in memory
	if h.seq() != 5000 || h.List.Len() > 2000 {
		t.Errorf("far back: #%d of %d rows", h.seq(), h.List.Len())
	}
	if seq, ok := h.Step(5000, 1); !ok || seq != 5001 {
		t.Errorf("the event after is #%d, %v", seq, ok)
	}
	if seq, ok := h.Step(5000, -1); !ok || seq != 4999 {
		t.Errorf("the event before is #%d, %v", seq, ok)
	}
	h.news(3)
	if h.seq() != 5000 {
		t.Errorf("news moved the past to #%d", h.seq())
	}
	h.apply(pane.Snapshot{State: state.New()}, pane.Changes{})
	if h.seq() != 30_002 || !h.List.Following() {
		t.Errorf("now is #%d", h.seq())
	}
	h.gapless()
}

func TestUnreadableHistory(t *testing.T) {
	h := open(t, 10)
	h.s.err = errors.New("disk on fire")
	h.apply(h.snap, pane.Changes{Reset: true})
	if h.Status() != "older events cannot be read" {
		t.Errorf("status is %q", h.Status())
	}
	h.s.err = nil
	h.news(2)
	if h.List.Len() != 2 {
		t.Errorf("news are not shown: %d rows", h.List.Len())
	}
}
