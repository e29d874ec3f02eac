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
	n      int64
	gone   [2]int64 // numbers from the first on and below the second have no event
	reads  int
	events int // read altogether
	err    error
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

func (s *source) Events(ctx context.Context, q engine.Query) (engine.EventsResult, error) {
	s.reads++
	if s.err != nil || ctx.Err() != nil {
		return engine.EventsResult{}, errors.Join(s.err, ctx.Err())
	}
	end := s.n
	if q.Before > 0 {
		end = min(end, q.Before)
	}
	r := engine.EventsResult{AsOf: s.n - 1}
	for seq := max(q.After+1, 0); seq < end; seq++ {
		if seq < s.gone[0] || seq >= s.gone[1] {
			r.Events = append(r.Events, one(seq))
		}
	}
	s.events += len(r.Events)
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
	s := state.New()
	if n > 0 {
		last := one(n - 1)
		if err := s.Apply(&last); err != nil {
			t.Fatal(err)
		}
	}
	h.apply(pane.Snapshot{State: s}, pane.Changes{})
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

// seq is the number of the selected event.
func (h *harness) seq() int64 {
	h.t.Helper()
	e := h.selected()
	if e == nil {
		h.t.Fatal("nothing is selected")
	}
	return e.Seq
}

// at fails unless an event is selected, the window has no gap and no repetition, and little is in memory.
func (h *harness) at(seq int64) {
	h.t.Helper()
	if got := h.seq(); got != seq {
		h.t.Errorf("at #%d, want #%d: %s", got, seq, h.Status())
	}
	if n := len(h.win.events); n > maxKept+pageSize {
		h.t.Errorf("%d events in memory", n)
	}
	next := h.win.lo
	for _, e := range h.win.events {
		for next >= h.s.gone[0] && next < h.s.gone[1] || h.win.match != nil && next < e.Seq {
			next++
		}
		if e.Seq != next {
			h.t.Fatalf("#%d where #%d belongs, in #%d to #%d", e.Seq, next, h.win.lo, h.win.hi)
		}
		next++
	}
}

func TestFollowsTheEnd(t *testing.T) {
	h := open(t, 5000)
	h.at(4999)
	if h.s.events > 2*pageSize {
		t.Errorf("%d events read to show the end", h.s.events)
	}
	h.news(30_000)
	h.at(34_999)
	h.handle(keymap.Up)
	h.news(3)
	h.at(34_998)
	if h.List.Following() {
		t.Error("follows after a step up")
	}
	h.handle(keymap.Follow)
	h.at(35_002)
}

// Whoever stands far up keeps the place while any number of events comes, and finds them below.
func TestNewsDoNotMoveThePlace(t *testing.T) {
	h := open(t, 3000)
	h.handle(keymap.Home)
	h.at(0)
	h.news(50_000)
	h.at(0)
	h.handle(keymap.End)
	h.at(52_999)
	if !h.List.Following() {
		t.Error("the end is not followed")
	}
	h.news(2)
	h.at(53_001)
}

func TestAnyPlaceOfALongLog(t *testing.T) {
	h := open(t, 1_000_000)
	for _, seq := range []int64{500_000, 3, 999_990, 250_000} {
		h.s.reads, h.s.events = 0, 0
		h.do(h.SetFilter(fmt.Sprintf("#%d", seq)))
		h.at(seq)
		if h.s.events > 4*pageSize {
			t.Errorf("%d events read in %d readings to go to #%d", h.s.events, h.s.reads, seq)
		}
	}
	h.do(h.SetFilter(""))
	h.s.events = 0
	h.handle(keymap.Home)
	h.at(0)
	h.handle(keymap.End)
	h.at(999_999)
	if h.s.events > 6*pageSize {
		t.Errorf("%d events read to go to both ends", h.s.events)
	}
}

func TestScrollsThroughTheLogBothWays(t *testing.T) {
	const n = 30_000
	h := open(t, n)
	for i := 0; h.seq() > 0 && i < n; i++ {
		before := h.seq()
		h.handle(keymap.PageUp)
		if after := h.seq(); after >= before || before-after > 20 {
			t.Fatalf("a page up from #%d is #%d", before, after)
		}
	}
	h.at(0)
	for i := 0; h.seq() < n-1 && i < n; i++ {
		before := h.seq()
		h.handle(keymap.PageDown)
		if after := h.seq(); after <= before || after-before > 20 {
			t.Fatalf("a page down from #%d is #%d", before, after)
		}
	}
	h.at(n - 1)
	if h.s.events > 3*n {
		t.Errorf("%d events read to pass %d twice", h.s.events, n)
	}
}

// A compaction leaves numbers without events.
func TestScrollsAcrossWhatWasCompacted(t *testing.T) {
	h := open(t, 900_100)
	h.s.gone = [2]int64{50, 900_000}
	h.apply(h.snap, pane.Changes{Reset: true})
	h.at(900_099)
	for range 20 {
		h.handle(keymap.PageUp)
	}
	h.at(0)
	if h.s.reads > 30 {
		t.Errorf("%d readings", h.s.reads)
	}
	h.handle(keymap.End)
	h.at(900_099)
}

func TestLiveEventsDuringALoadAreNotRepeated(t *testing.T) {
	h := open(t, 0)
	h.s.n = 50
	h.head = 49
	h.win = emptyWindow(49, nil)
	load, ok := h.want().(pane.Load)
	if !ok {
		t.Fatal("nothing is loaded")
	}
	h.news(5) // #50 to #54 arrive while the page is read, which then could have them too
	value, err := load.Run(context.Background(), h.s)
	h.do(h.Loaded(load.Key, value, err))
	h.at(54)
	if len(h.win.events) != 55 {
		t.Errorf("%d events, want 55", len(h.win.events))
	}
}

func TestStaleResultsAreDropped(t *testing.T) {
	h := open(t, 10_000)
	search, ok := h.SetFilter("gemini").(pane.Load)
	if !ok {
		t.Fatal("a filter reads nothing")
	}
	h.do(h.SetFilter("")) // takes the search back
	value, err := search.Run(context.Background(), h.s)
	h.do(h.Loaded(search.Key, value, err))
	h.at(9999)
}

func TestSearchesTheWholeLog(t *testing.T) {
	h := open(t, 120_000)
	h.do(h.SetFilter("GEMINI number 110007"))
	h.at(110_007)
	if h.Status() != "1 found" {
		t.Errorf("status is %q", h.Status())
	}
	h.do(h.SetFilter("gemini"))
	h.handle(keymap.Home)
	h.at(7)
	h.handle(keymap.End)
	h.at(119_007)
	h.news(1010)
	h.at(121_007)
	h.handle(keymap.Up)
	h.do(h.SetFilter(""))
	h.at(120_007)
}

// A search that finds nearly everything holds no more than what is looked at.
func TestACommonFilterIsBounded(t *testing.T) {
	h := open(t, 50_000)
	h.do(h.SetFilter("e"))
	h.do(h.SetFilter("ev"))
	h.at(49_999)
	if h.s.events > 10*pageSize {
		t.Errorf("%d events read for one screen", h.s.events)
	}
	h.handle(keymap.Home)
	h.at(0)
}

// A search tells how far it is after each reading, and ends when it is no longer wanted.
func TestSearchProgress(t *testing.T) {
	h := open(t, 120_000)
	action := h.SetFilter("no such words")
	for range 2 {
		load, ok := action.(pane.Load)
		if !ok {
			t.Fatal("the search has ended")
		}
		value, err := load.Run(context.Background(), h.s)
		action = h.Loaded(load.Key, value, err)
	}
	if want := "0 found, searching #18999"; h.Status() != want {
		t.Errorf("status is %q, want %q", h.Status(), want)
	}
	h.do(h.SetFilter(""))
	h.at(119_999)
}

func TestThePast(t *testing.T) {
	h := open(t, 30_000)
	travel := func(at int64) {
		h.apply(pane.Snapshot{State: state.New(), Past: true, At: at}, pane.Changes{})
	}
	travel(29_990)
	h.at(29_990)
	travel(5000) // far below what is in memory
	h.at(5000)
	if seq, ok := h.Step(5000, 1); !ok || seq != 5001 {
		t.Errorf("the event after is #%d, %v", seq, ok)
	}
	if seq, ok := h.Step(5000, -1); !ok || seq != 4999 {
		t.Errorf("the event before is #%d, %v", seq, ok)
	}
	h.news(3)
	h.at(5000)
	h.handle(keymap.Home) // to look at what was before leaves the place in time
	h.at(0)
	h.news(3)
	h.at(0)
	h.handle(keymap.End)
	h.at(5000)
	h.apply(pane.Snapshot{State: state.New()}, pane.Changes{})
	h.at(30_005)
	if !h.List.Following() {
		t.Error("now is not followed")
	}
}

// Numbers that fall, as damaged logs have them, are put where they belong and not twice.
func TestFallingNumbers(t *testing.T) {
	h := open(t, 100)
	late := one(40)
	late.ID, late.Description = "other", "late"
	for range 2 {
		h.apply(h.snap, pane.Changes{Events: []event.Event{late}})
	}
	if n := len(h.win.events); n != 101 || h.win.events[41].ID != "other" {
		t.Errorf("%d events, #41 is %s", n, h.win.events[41].ID)
	}
}

func TestUnreadableHistory(t *testing.T) {
	h := open(t, 10)
	h.s.err = errors.New("disk on fire")
	h.apply(h.snap, pane.Changes{Reset: true})
	if h.Status() != "events cannot be read" {
		t.Errorf("status is %q", h.Status())
	}
	h.s.err = nil
	h.news(2)
	if h.List.Len() != 2 {
		t.Errorf("news are not shown: %d rows", h.List.Len())
	}
	h.handle(keymap.Up) // tries again
	h.at(10)
	if h.List.Len() != 12 {
		t.Errorf("%d rows after another try", h.List.Len())
	}
}

// A log that was replaced by a shorter one is not read over and over until the cockpit learns of it.
func TestALogThatGotShorter(t *testing.T) {
	h := open(t, 20_000)
	h.handle(keymap.Home)
	h.s.n = 5
	before := h.s.reads
	h.handle(keymap.PageDown)
	h.handle(keymap.End)
	if n := h.s.reads - before; n > 8 {
		t.Errorf("%d readings", n)
	}
	five := state.New()
	last := one(4)
	if err := five.Apply(&last); err != nil {
		t.Fatal(err)
	}
	h.apply(pane.Snapshot{State: five}, pane.Changes{Reset: true})
	h.at(4)
}
