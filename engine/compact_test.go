package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/store"
)

// busy writes something of every kind that the state is built from, with much that it is not built from in between.
func busy(s *scene) {
	s.t.Helper()
	s.do(Register{Base: "claude-code", PID: 100, Start: "start-100", Boot: "boot", Host: "here"})
	s.do(own("claude-code", "src/api", "docs"))
	s.do(Own{Agent: "codex", Paths: []string{"web"}, Shared: true, TTL: time.Hour})
	for i := range 3 {
		s.do(Publish{Agent: "claude-code", Name: "api", Body: fmt.Sprint("body ", i)})
	}
	s.do(Consume{Agent: "codex", Names: []string{"api"}})
	open := s.do(AddTask{From: "user", To: "codex", Text: "open"})
	done := s.do(AddTask{From: "user", To: "codex", Text: "done"})
	s.do(Finish{From: "codex", ID: done.Events[0].ID, Evidence: "tests pass"})
	s.do(Ask{From: "codex", To: "claude-code", Text: "cents?"})
	s.do(Decide{Agent: "codex", Title: "use cents", Rationale: "no rounding"})
	s.do(Ack{Agent: "codex", Seq: 4})
	if _, err := s.Do(s.t.Context(), Request{Command: note("codex", "with a key"), Key: "k"}); err != nil {
		s.t.Fatal(err)
	}
	s.do(Next{Agent: "codex"})
	_ = open
	for i := range 60 {
		s.do(note("gemini", fmt.Sprint("noise ", i)))
	}
	s.do(ReleasePaths{Agent: "claude-code", Paths: []string{"docs"}})
}

func TestCompactKeepsTheState(t *testing.T) {
	s := newScene(t)
	busy(s)
	before, text := s.view().State, s.log()
	dry, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 5, MaxAge: -1, DryRun: true})
	if err != nil || dry.Compacted || dry.Removed == 0 || s.log() != text {
		t.Fatalf("dry run %+v, %v", dry, err)
	}
	r, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 5, MaxAge: -1})
	if err != nil || !r.Compacted {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.Before != int64(strings.Count(text, "\n")) || r.After != int64(s.lines()) || r.Removed != r.Before+1-r.After || r.Removed != dry.Removed || r.BytesAfter >= r.BytesBefore {
		t.Errorf("result %+v with %d lines, dry %+v", r, s.lines(), dry)
	}
	if archive, err := os.ReadFile(s.path(r.Archive)); err != nil || string(archive) != text {
		t.Errorf("the archive is not the log: %v", err)
	}
	for name, e := range map[string]*Engine{"same engine": s.Engine, "new engine": s.open(Options{})} {
		v, err := e.View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := before.Clone()
		summary := lastEvent(t, s)
		if err := want.Apply(&summary); err != nil {
			t.Fatal(err)
		}
		if same, difference := state.Equal(want, v.State); !same {
			t.Errorf("%s: %s", name, difference)
		}
	}
	summary := lastEvent(t, s)
	body, err := summary.Body()
	st, ok := body.(event.Status)
	if err != nil || !ok || st.CompactedCount != r.Removed || summary.From != event.Loadout || summary.Seq != before.Head()+1 {
		t.Errorf("summary %+v, %v", summary, err)
	}
	previous := int64(-1)
	for line := range strings.Lines(s.log()) {
		var ev struct{ Seq int64 }
		if err := json.Unmarshal([]byte(line), &ev); err != nil || ev.Seq <= previous {
			t.Fatalf("number %d after %d, %v", ev.Seq, previous, err)
		}
		previous = ev.Seq
	}
	if again := s.do(note("codex", "x")); again.Seq() != summary.Seq+1 {
		t.Errorf("the next number is %d after %d", again.Seq(), summary.Seq)
	}
	if again, err := s.Do(t.Context(), Request{Command: note("codex", "with a key"), Key: "k"}); err != nil || !again.Duplicate {
		t.Errorf("the retry key is forgotten: %+v, %v", again, err)
	}
	s.clock.move(2 * time.Hour)
	if r := s.do(own("gemini", "web")); len(r.Expired) != 1 {
		t.Errorf("the time limit is forgotten: %+v", r)
	}
}

func lastEvent(t *testing.T, s *scene) event.Event {
	t.Helper()
	r, err := s.Events(t.Context(), Query{After: Everything, Last: 1})
	if err != nil || len(r.Events) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	return r.Events[0]
}

func TestCompactTwice(t *testing.T) {
	s := newScene(t)
	busy(s)
	want := s.view().State
	for i := range 3 {
		if r, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 1, MaxAge: -1}); err != nil || i == 0 && !r.Compacted {
			t.Fatalf("%+v, %v", r, err)
		}
		summary := lastEvent(t, s)
		if err := want.Apply(&summary); err != nil && i == 0 {
			t.Fatal(err)
		}
		if u, w := s.view().State.Unread("codex"), want.Unread("codex"); u.Count != w.Count {
			t.Errorf("round %d: unread %+v, want %+v", i, u, w)
		}
		if got, want := len(s.view().State.Claims()), len(want.Claims()); got != want {
			t.Errorf("round %d: %d claims, want %d", i, got, want)
		}
		if c, ok := s.view().State.Contract("api"); !ok || len(c.History) != 3 || c.Body != "body 2" {
			t.Errorf("round %d: contract %+v", i, c)
		}
	}
}

// TestCompactByAge judges by time, not by text: an offset and a clock that jumped do not matter.
func TestCompactByAge(t *testing.T) {
	s := newScene(t)
	at := func(seq int64, stamp string) {
		ev := s.draft("codex", "*", event.Update{Note: strconv.FormatInt(seq, 10)})
		ev.Seq, ev.Timestamp = seq, stamp
		s.append(string(ev.AppendLine(nil)) + "\n")
	}
	at(0, "2026-09-10T09:00:00+05:30") // 03:30 UTC: more than four hours old, and above the limit as text
	at(1, "2026-09-10T02:00:00-05:00") // 07:00 UTC: young, and below the limit as text
	at(2, "2026-09-10T07:30:00.000Z")
	at(3, "2026-09-09T07:30:00Z") // written while the clock was wrong
	r, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 100, MaxAge: 4 * time.Hour})
	if err != nil || r.Removed != 2 || !r.Compacted {
		t.Fatalf("%+v, %v", r, err)
	}
	if left := s.log(); s.lines() != 3 || !strings.Contains(left, `"seq":1,`) || !strings.Contains(left, `"seq":2,`) {
		t.Errorf("left %s", left)
	}
	if r, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 100, MaxAge: -1}); err != nil || r.Compacted || r.Removed != 0 {
		t.Errorf("nothing to do: %+v, %v", r, err)
	}
}

func TestCompactRefuses(t *testing.T) {
	s := newScene(t)
	_, err := s.Compact(t.Context(), CompactOptions{})
	as[*ValidationError](t, err)
	if r, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 1}); err != nil || r.Compacted {
		t.Errorf("an empty project: %+v, %v", r, err)
	}
	s.fill("codex", 0, 20)
	if _, err := s.Kill(t.Context(), "user", "stop"); err != nil {
		t.Fatal(err)
	}
	text := s.log()
	_, err = s.Compact(t.Context(), CompactOptions{MaxEvents: 1})
	as[*HaltedError](t, err)
	if s.log() != text {
		t.Error("the log changed while halted")
	}
}

// TestCompactKeepsBadLines: not a byte of a line that cannot be read is lost, and what a later version wrote stays.
func TestCompactKeepsBadLines(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "one"))
	s.append("{broken \x00 line}\n")
	s.append(`{"id":"later","seq":7,"type":"hologram","from":"codex","to":"*","description":"d","timestamp":"2026-09-10T08:00:00.000Z","new":1}` + "\n")
	for i := range 5 {
		s.do(note("codex", strconv.Itoa(i)))
	}
	r, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 1, MaxAge: -1})
	if err != nil || !r.Compacted || r.Bad != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if !strings.Contains(s.log(), `"type":"hologram","from":"codex","to":"*","description":"d","timestamp":"2026-09-10T08:00:00.000Z","new":1}`) {
		t.Errorf("the line of a later version is gone: %s", s.log())
	}
	corrupt, err := os.ReadFile(s.path(strings.TrimSuffix(r.Archive, ".archive") + ".corrupt"))
	if err != nil || string(corrupt) != "{broken \x00 line}\n" {
		t.Errorf("corrupt lines %q, %v", corrupt, err)
	}
}

// TestMaintain compacts by itself only above the size and only when that is worth it, and never waits for the lock.
func TestMaintain(t *testing.T) {
	s := newScene(t)
	s.clock.now = s.clock.now.Add(DefaultMaxAge) // so that nothing is too old
	s.fill("codex", 0, DefaultMaxEvents+500)
	said := 0
	say := func(text string) {
		if said++; !strings.Contains(text, "is compacted now") {
			t.Errorf("said %q", text)
		}
	}
	small := s.open(Options{})
	if _, err := small.View(t.Context()); err != nil {
		t.Fatal(err)
	}
	if notes := small.Maintain(t.Context(), say); notes != nil {
		t.Errorf("a small log: %q", notes)
	}
	large := s.open(Options{CompactAbove: 1000})
	if _, err := large.View(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := store.Open(s.path(""), store.Options{}).Update(t.Context(), func(*store.Tx) error {
		if notes := large.Maintain(t.Context(), say); notes != nil {
			t.Errorf("with the lock held: %q", notes)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	interrupted, cancel := context.WithCancel(t.Context())
	if notes := large.Maintain(interrupted, func(string) { cancel() }); notes != nil {
		t.Errorf("interrupted: %q", notes)
	}
	if notes := large.Maintain(t.Context(), say); len(notes) != 1 || !strings.Contains(notes[0], "compacted") {
		t.Errorf("a large log: %q", notes)
	}
	if notes := large.Maintain(t.Context(), say); notes != nil {
		t.Errorf("at once again: %q", notes)
	}
	if said != 2 { // with the lock held, and when it was free
		t.Errorf("said %d times what is done", said)
	}
}

// seqsOf are the numbers of events.
func seqsOf(events []event.Event) []int64 {
	var seqs []int64
	for i := range events {
		seqs = append(seqs, events[i].Seq)
	}
	return seqs
}

// TestReadingBelowACompaction: every way of reading shows what the archives still hold, once, and says what is gone with one.
func TestReadingBelowACompaction(t *testing.T) {
	for _, tt := range []struct {
		name string
		lose int // which archive is lost, -1: none
		gone bool
		want []int64 // of the events after 2
	}{
		{"all archives", -1, false, numbers(3, 29)},
		{"the oldest lost", 0, true, numbers(8, 29)},
		{"the newest lost", 1, true, slices.Concat(numbers(3, 9), numbers(27, 29))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			for n, events := range []int{10, 18} {
				s.fill("codex", int64(n)*11, events)
				if _, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 2, MaxAge: -1}); err != nil {
					t.Fatal(err)
				}
			}
			archives, err := s.Engine.log.Archives()
			if err != nil || len(archives) != 2 {
				t.Fatalf("%v, %v", archives, err)
			}
			if tt.lose >= 0 {
				if err := os.Remove(archives[tt.lose].Path); err != nil {
					t.Fatal(err)
				}
			}
			ends := s.view().State.Head()
			for _, q := range []Query{{After: 2}, {After: 2, Last: 100}, {After: 2, Last: 4, Count: true}, {After: 2, Before: 9, Last: 3}} {
				r, err := s.Events(t.Context(), q)
				want := slices.DeleteFunc(slices.Clone(tt.want), func(n int64) bool { return q.Before > 0 && n >= q.Before || n > ends })
				over := int64(0)
				if q.Last > 0 {
					over = int64(max(0, len(want)-q.Last))
					want = want[over:]
				}
				if err != nil || !slices.Equal(seqsOf(r.Events), want) || r.Gone != tt.gone {
					t.Errorf("%+v: %v, gone %t, %v; want %v", q, seqsOf(r.Events), r.Gone, err, want)
				}
				if got := max(r.Omitted, r.AtLeast); got != over || (r.Omitted < 0) != tt.gone {
					t.Errorf("%+v: omitted %d, at least %d; want %d", q, r.Omitted, r.AtLeast, over)
				}
			}
			for _, limit := range []int{1, 3} { // the newest archive is not read for so few
				r, err := s.Events(t.Context(), Query{After: 2, Max: limit})
				if err != nil || !slices.Equal(seqsOf(r.Events), tt.want[:limit]) || r.Gone != (tt.lose == 0) {
					t.Errorf("at most %d: %v, gone %t, %v", limit, seqsOf(r.Events), r.Gone, err)
				}
			}
			l := listen(t, func(ctx context.Context, fn func(Delivery) error) error { return s.Follow(ctx, 2, fn) })
			l.until("the end", func() bool { return l.last.CaughtUp })
			if !slices.Equal(l.seqs, tt.want) || (len(l.notes) == 1) != tt.gone {
				t.Errorf("followed %v, notes %q; want %v", l.seqs, l.notes, tt.want)
			}
		})
	}
}
