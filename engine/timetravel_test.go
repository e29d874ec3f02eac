package engine

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/store"
)

// story writes n events that each change the state, and returns the state after each.
func story(s *scene, n int) []*state.State {
	s.t.Helper()
	var states []*state.State
	for i := range n {
		switch i % 4 {
		case 0:
			s.do(own("codex", fmt.Sprintf("src/%d", i)))
		case 1:
			s.do(Publish{Agent: "claude-code", Name: "api", Body: strconv.Itoa(i)})
		case 2:
			s.do(AddTask{From: "user", To: "codex", Text: strconv.Itoa(i)})
		default:
			s.do(Ack{Agent: "codex", Seq: int64(i - 1)})
		}
		states = append(states, s.view().State)
	}
	return states
}

func TestStateAt(t *testing.T) {
	s := newScene(t)
	states := story(s, 40)
	check := func(name string, upTo int) {
		t.Helper()
		for i := range upTo {
			got, err := s.StateAt(t.Context(), int64(i))
			if err != nil {
				t.Fatalf("%s: state at %d: %v", name, i, err)
			}
			if same, difference := state.Equal(states[i], got); !same {
				t.Errorf("%s: state at %d: %s", name, i, difference)
			}
		}
	}
	check("whole log", 40)
	for round := range 2 { // a second compaction loses nothing either
		if r, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 1, MaxAge: -1}); err != nil || !r.Compacted {
			t.Fatalf("%+v, %v", r, err)
		}
		states = append(states, s.view().State)
		check(fmt.Sprintf("compaction %d", round+1), len(states))
		for range 3 {
			s.do(note("codex", "more"))
			for len(states) <= int(s.view().State.Head()) {
				states = append(states, s.view().State)
			}
		}
	}
	archives, err := s.Engine.log.Archives()
	if err != nil || len(archives) != 2 {
		t.Fatalf("%d archives, %v", len(archives), err)
	}
	if err := os.Remove(archives[0].Path); err != nil {
		t.Fatal(err)
	}
	_, err = s.StateAt(t.Context(), 5)
	as[*NotFoundError](t, err)
	for _, seq := range []int64{-1, s.view().State.Head() + 1} {
		_, err := s.StateAt(t.Context(), seq)
		as[*NotFoundError](t, err)
	}
}

func TestStateAtUsesMarks(t *testing.T) {
	s := newScene(t)
	s.fill("codex", 0, 2*markEvery+5000)
	if _, err := s.StateAt(t.Context(), 2*markEvery+4000); err != nil {
		t.Fatal(err)
	}
	marks, err := filepath.Glob(s.path("cache/mark-*"))
	if err != nil || len(marks) != 2 {
		t.Fatalf("marks %v, %v", marks, err)
	}
	want := state.New()
	if _, err := s.Engine.log.Read(t.Context(), place{}, func(b store.Batch) error {
		for i := range b.Lines {
			if ev, err := decodeLine(&b.Lines[i]); err == nil && ev.Seq <= 2*markEvery+4001 {
				_ = want.Apply(&ev)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	got, err := s.open(Options{}).StateAt(t.Context(), 2*markEvery+4001)
	if err != nil {
		t.Fatal(err)
	}
	if same, difference := state.Equal(want, got); !same {
		t.Error(difference)
	}
}

// TestMarkIsTakenInPassing: an engine that writes past a multiple of markEvery leaves a mark without being asked to travel.
func TestMarkIsTakenInPassing(t *testing.T) {
	s := newScene(t)
	s.fill("codex", 0, markEvery-2)
	s.view()
	for range 4 {
		s.do(note("codex", "x"))
	}
	s.view()
	if marks, err := filepath.Glob(s.path("cache/mark-*")); err != nil || len(marks) != 1 {
		t.Errorf("marks %v, %v", marks, err)
	}
}

func TestCheckpoint(t *testing.T) {
	s := newScene(t)
	s.fill("codex", 0, checkpointLines+10)
	s.do(own("codex", "src"))
	path := s.path("cache/checkpoint")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal("no checkpoint was written:", err)
	}
	want := s.view().State
	damaged := append([]byte{}, whole...)
	damaged[len(damaged)-1] ^= 1
	for name, content := range map[string][]byte{"good": whole, "damaged": damaged, "empty": {}, "half": whole[:len(whole)/2]} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := s.open(Options{}).View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if same, difference := state.Equal(want, v.State); !same {
			t.Errorf("%s checkpoint: %s", name, difference)
		}
	}
	cp, err := s.Engine.log.LoadCheckpoint(checkpointVersion)
	if err != nil {
		t.Fatal(err)
	}
	cp.Version, cp.State = "0/other", []byte("another program's")
	if err := s.Engine.log.SaveCheckpoint(cp); err != nil {
		t.Fatal(err)
	}
	if v, err := s.open(Options{}).View(t.Context()); err != nil || v.State.Count() != want.Count() {
		t.Errorf("checkpoint of another version: %v", err)
	}
	if err := os.Remove(s.path(store.LogName)); err != nil { // a checkpoint of a log that is gone
		t.Fatal(err)
	}
	s.do(note("codex", "first"))
	if v, err := s.open(Options{}).View(t.Context()); err != nil || v.State.Count() != 2 { // and the record of the loss
		t.Errorf("stale checkpoint: %+v, %v", v, err)
	}
}

// TestEventsAreCountedAsFarAsThatIsCheap: what was left out is a number, or so many at least.
func TestEventsAreCountedAsFarAsThatIsCheap(t *testing.T) {
	s := newScene(t)
	s.fill("codex", 0, 2*countSpan)
	s.fill("gemini", 2*countSpan, 10)
	for name, tt := range map[string]struct {
		query            Query
		omitted, atLeast int64
	}{
		"many":                {Query{After: Everything, Agent: "codex", Max: 10, Count: true}, -1, maxCounted},
		"many before":         {Query{After: 0, Agent: "codex", Last: 10, Count: true}, -1, maxCounted},
		"few, which are rare": {Query{After: 0, Types: []event.Type{event.TypeTask}, Last: 1, Count: true}, 0, 0},
		"near the end":        {Query{After: 2*countSpan - 5, Max: 4, Count: true}, 10, 0},
		"not asked for":       {Query{After: 0, Max: 4}, -1, 1},
	} {
		r, err := s.Events(t.Context(), tt.query)
		if err != nil || r.Omitted != tt.omitted || r.AtLeast < tt.atLeast || tt.atLeast == 0 && r.AtLeast != 0 {
			t.Errorf("%s: omitted %d, at least %d, %v", name, r.Omitted, r.AtLeast, err)
		}
	}
}

func TestEvents(t *testing.T) {
	s := newScene(t)
	for i := range 30 {
		agent := []string{"codex", "claude-code", "user"}[i%3]
		if i%5 == 0 {
			s.do(AddTask{From: agent, To: "gemini", Text: strconv.Itoa(i)})
		} else {
			s.do(note(agent, strconv.Itoa(i)))
		}
	}
	tests := []struct {
		name    string
		query   Query
		first   int64
		count   int
		omitted int64
	}{
		{"everything", Query{After: Everything}, 0, 30, 0},
		{"after", Query{After: 10}, 11, 19, 0},
		{"between", Query{After: 10, Before: 20}, 11, 9, 0},
		{"last", Query{After: Everything, Last: 4}, 26, 4, 26},
		{"last before", Query{After: Everything, Before: 20, Last: 4}, 16, 4, -1},
		{"last of few", Query{After: 25, Last: 50}, 26, 4, 0},
		{"of a type", Query{After: Everything, Types: []event.Type{event.TypeTask}}, 0, 6, 0},
		{"last of a type", Query{After: Everything, Types: []event.Type{event.TypeTask}, Last: 2}, 20, 2, 4},
		{"for an agent", Query{After: Everything, Agent: "Gemini"}, 0, 30, 0},
		{"for another", Query{After: Everything, Agent: "nobody"}, 1, 24, 0},
		{"a page", Query{After: 4, Max: 3}, 5, 3, -1},
		{"the last page", Query{After: 26, Max: 3}, 27, 3, 0},
		{"beyond", Query{After: 99}, -1, 0, 0},
		{"a page and what is left", Query{After: 4, Max: 3, Count: true}, 5, 3, 22},
		{"last before, counted", Query{After: Everything, Before: 20, Last: 4, Count: true}, 16, 4, 16},
		{"last for an agent, counted", Query{After: Everything, Agent: "nobody", Last: 2, Count: true}, 28, 2, 22},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := s.Events(t.Context(), tt.query)
			if err != nil {
				t.Fatal(err)
			}
			first := int64(-1)
			if len(r.Events) > 0 {
				first = r.Events[0].Seq
			}
			if first != tt.first || len(r.Events) != tt.count || r.Omitted != tt.omitted || r.AsOf != 29 {
				t.Errorf("first %d, %d events, %d omitted, as of %d; want %d, %d, %d, 29", first, len(r.Events), r.Omitted, r.AsOf, tt.first, tt.count, tt.omitted)
			}
		})
	}
	_, err := s.Events(t.Context(), Query{Last: -1})
	as[*ValidationError](t, err)
}

// TestOldContractBodies reads every revision, also below a compaction.
func TestOldContractBodies(t *testing.T) {
	s := newScene(t)
	for i := range 5 {
		s.do(Publish{Agent: "codex", Name: "api", Body: fmt.Sprintf("line\nbody %d\n", i+1), Format: "text"})
		s.do(note("codex", "between"))
	}
	for range 2 {
		for rev := range int64(5) {
			c, err := s.ContractBody(t.Context(), "api", rev+1)
			if err != nil || c.Body != fmt.Sprintf("line\nbody %d\n", rev+1) || c.Publisher != "codex" || c.Revision != rev+1 {
				t.Errorf("revision %d: %+v, %v", rev+1, c, err)
			}
		}
		if _, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 1, MaxAge: -1}); err != nil {
			t.Fatal(err)
		}
	}
	d, err := s.Diff(t.Context(), "api", 0, 0)
	if err != nil || d.FromRevision != 4 || d.ToRevision != 5 || len(d.Changed) != 1 || d.Changed[0] != (LineChange{2, "body 4", "body 5"}) {
		t.Errorf("diff %+v, %v", d, err)
	}
	if d, err := s.Diff(t.Context(), "api", 2, 0); err != nil || d.FromRevision != 2 || d.ToRevision != 5 {
		t.Errorf("--from alone: %+v, %v", d, err)
	}
	if d, err := s.Diff(t.Context(), "api", 0, 3); err != nil || d.FromRevision != 2 || d.ToRevision != 3 {
		t.Errorf("--to alone: %+v, %v", d, err)
	}
	if d, err := s.Diff(t.Context(), "api", 0, 1); err != nil || d.FromRevision != 0 || len(d.Added) != 2 {
		t.Errorf("the first: %+v, %v", d, err)
	}
	history, _, err := s.ContractHistory(t.Context(), "api")
	if err != nil || len(history) != 5 || history[0].Body != "line\nbody 1\n" {
		t.Errorf("history %+v, %v", history, err)
	}
	_, err = s.ContractBody(t.Context(), "api", 9)
	as[*NotFoundError](t, err)
	_, err = s.Diff(t.Context(), "apj", 0, 0)
	if missing := as[*NotFoundError](t, err); len(missing.Suggestions) != 1 || missing.Suggestions[0] != "api" {
		t.Errorf("%+v", missing)
	}
}

// reads counts the bytes that are read of the log.
type reads struct {
	store.FS
	bytes atomic.Int64
}

func (r *reads) OpenFile(name string, flag int, perm fs.FileMode) (store.File, error) {
	f, err := r.FS.OpenFile(name, flag, perm)
	if err == nil && filepath.Base(name) == store.LogName {
		f = readFile{f, &r.bytes}
	}
	return f, err
}

type readFile struct {
	store.File
	bytes *atomic.Int64
}

func (f readFile) ReadAt(b []byte, offset int64) (int, error) {
	n, err := f.File.ReadAt(b, offset)
	f.bytes.Add(int64(n))
	return n, err
}

// TestVerbsReadLittle: behind a checkpoint nobody reads the whole log, and what one call needs twice is read once.
func TestVerbsReadLittle(t *testing.T) {
	s := newScene(t)
	s.fill("codex", 0, 20_000)
	s.view()
	const most = 128 << 10
	if size := len(s.log()); size < 20*most {
		t.Fatalf("a log of %d bytes shows nothing", size)
	}
	verbs := map[string]func(e *Engine) error{
		"view":     func(e *Engine) error { _, err := e.View(t.Context()); return err },
		"snapshot": func(e *Engine) error { _, err := e.Snapshot(t.Context(), "codex"); return err },
		"events":   func(e *Engine) error { _, err := e.Events(t.Context(), Query{After: Everything, Last: 20}); return err },
		"events counted": func(e *Engine) error {
			_, err := e.Events(t.Context(), Query{After: Everything, Last: 20, Count: true})
			return err
		},
		"one event": func(e *Engine) error { _, _, err := e.eventAt(t.Context(), 10_000); return err },
		"timeline": func(e *Engine) error {
			_, err := e.Timeline(t.Context(), Query{After: Everything, Last: 20})
			return err
		},
		"write": func(e *Engine) error { _, err := e.Do(t.Context(), Request{Command: note("codex", "x")}); return err },
	}
	for _, log := range []string{"", " of a log out of order"} {
		if log != "" {
			s.fill("codex", 5, 1)
		}
		for name, verb := range verbs {
			counted := &reads{FS: store.OS()}
			if err := verb(s.open(Options{FS: counted})); err != nil {
				t.Fatal(err)
			}
			if n := counted.bytes.Load(); n > most {
				t.Errorf("%s%s reads %d bytes", name, log, n)
			}
		}
	}
}
