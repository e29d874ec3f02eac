package tui

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/timeline"
)

// longStory is a log of n events that several agents wrote.
func longStory(tb testing.TB, n int) *fakeEngine {
	tb.Helper()
	f := newFake()
	agents := []string{"claude-code", "codex", "gemini", "claude-code-2", "codex-2"}
	for _, a := range agents {
		f.own(tb, a, event.Exclusive, "its part", "src/"+a, "test/"+a)
	}
	for i := range 40 {
		f.add(tb, agents[i%5], event.Broadcast, "Contract", event.Contract{Name: fmt.Sprintf("api-%02d", i/2), Revision: int64(i%2 + 1), Body: "POST /x -> 201\n"})
	}
	note, err := event.New("codex", event.Broadcast, "Progress: 12 of 40 files moved to the new module, tests pass", event.Update{Note: "moved"})
	if err != nil {
		tb.Fatal(err)
	}
	for len(f.events) < n {
		e := note
		e.Seq = int64(len(f.events))
		e.ID = fmt.Sprintf("id%06d", e.Seq)
		e.From = agents[e.Seq%5]
		e.Timestamp = start.Add(time.Duration(e.Seq) * time.Second).Format(event.TimeFormat)
		f.events = append(f.events, e)
	}
	f.now = start.Add(time.Duration(n) * time.Second)
	return f
}

// BenchmarkFrame measures one message and the frame after it at 200×60 with 100,000 events in the timeline: news from the feed, moving,
// paging and filtering by turns. The budget is 8 ms for all but the slowest twentieth.
func BenchmarkFrame(b *testing.B) {
	f := longStory(b, 100_000)
	d := drive(b, f, func(o *Options) { o.NoColor, o.Colors = false, 1<<24 })
	d.resize(200, 60)
	d.fillTimeline()
	s := f.fold(len(f.events))
	tasks := pane.OpenTasks(s) // the event that comes again and again is about none
	msgs := []tea.Msg{
		feedMsg{}, named["up"], feedMsg{}, named["pgup"], feedMsg{}, named["down"], feedMsg{}, named["end"],
	}
	took := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		msg := msgs[i%len(msgs)]
		if _, ok := msg.(feedMsg); ok {
			e := f.events[len(f.events)-1]
			e.Seq += int64(i) + 1
			_ = s.Apply(&e)
			msg = feedMsg{update{state: s.Clone(), tasks: tasks, events: []event.Event{e}, mode: engine.ModeLive}}
		}
		before := time.Now()
		d.m.update(msg)
		d.m.view()
		took = append(took, time.Since(before))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}

// manyTasks is a cockpit of a log with n tasks for somebody in turn, and step stores an event about a task and takes it from the feed.
func manyTasks(tb testing.TB, n int, to ...string) (d *driver, step func() feedMsg) {
	tb.Helper()
	f := longStory(tb, 100)
	task, err := event.New("codex", "claude-code", "Move one more file to the new module", event.Task{})
	done, err2 := event.New("claude-code", event.Broadcast, "moved", event.Done{})
	if err != nil || err2 != nil {
		tb.Fatal(err, err2)
	}
	store := func(e event.Event) event.Event {
		e.Seq = int64(len(f.events))
		e.ID, e.Timestamp = fmt.Sprintf("id%06d", e.Seq), start.Add(time.Duration(e.Seq)*time.Second).Format(event.TimeFormat)
		f.events = append(f.events, e)
		return e
	}
	for len(f.events) < 100+n {
		task.To = to[len(f.events)%len(to)]
		store(task)
	}
	d = drive(tb, f, func(o *Options) { o.NoColor, o.Colors = false, 1<<24 })
	d.resize(200, 60)
	steps := 0
	return d, func() feedMsg {
		e := task
		if steps++; steps%2 == 0 {
			e = done
			e.Resolves = fmt.Sprintf("id%06d", 100+n/2+steps)
		}
		d.m.feed.deliver(engine.Delivery{Events: []event.Event{store(e)}, Mode: engine.ModeLive, CaughtUp: true})
		return feedMsg{d.m.feed.take()}
	}
}

// What an update and its frame cost does not depend on how many tasks are open: no list of all of them is made.
func TestManyTasksAreNotListedAnew(t *testing.T) {
	cost := func(n int) uint64 {
		d, step := manyTasks(t, n, "claude-code", "gemini", event.Broadcast, event.User)
		d.press("5")
		var before, after runtime.MemStats
		least := uint64(math.MaxUint64)
		for range 6 { // others may allocate meanwhile
			msg := step()
			runtime.ReadMemStats(&before)
			d.m.update(msg)
			d.m.view()
			runtime.ReadMemStats(&after)
			least = min(least, after.TotalAlloc-before.TotalAlloc)
		}
		return least
	}
	if few, many := cost(200), cost(20_000); many > 2*few {
		t.Errorf("%d bytes with 20,000 open tasks, %d with 200", many, few)
	}
}

// BenchmarkManyTasks measures news about tasks and the frame after them at 200×60 with 100,000 open tasks, and beside that what is found
// out outside of the update loop.
func BenchmarkManyTasks(b *testing.B) {
	agents := []string{"claude-code", "gemini", event.Broadcast}
	for _, bb := range []struct {
		name, filter string
		to           []string
	}{{"agents", "", agents}, {"filtered", "module", agents}, {"person", "", []string{event.User}}} {
		b.Run(bb.name, func(b *testing.B) {
			d, step := manyTasks(b, 100_000, bb.to...)
			d.press("5")
			d.m.panes[4].SetFilter(bb.filter)
			took := make([]time.Duration, 0, b.N)
			beside := time.Duration(0)
			for b.Loop() {
				msg := step()
				beside += msg.took
				before := time.Now()
				d.m.update(msg)
				d.m.view()
				took = append(took, time.Since(before))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(beside.Microseconds())/1000/float64(len(took)), "beside-ms")
		})
	}
}

// fillTimeline scrolls back until the timeline holds several thousand events, and to its end again.
func (d *driver) fillTimeline() {
	d.Helper()
	d.press("7")
	for range 100 {
		d.press("pgup")
	}
	d.press("end")
	if n := d.m.panes[6].(*timeline.Pane).List.Len(); n < 4000 {
		d.Fatalf("the timeline holds %d events", n)
	}
}
