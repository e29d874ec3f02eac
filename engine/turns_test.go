package engine

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// record stores turn events as the bridge does.
func (s *scene) record(turns ...event.Turn) error {
	_, err := s.RecordTurns(s.t.Context(), "", func(View) ([]event.Event, error) {
		var list []event.Event
		for _, b := range turns {
			ev, err := TurnEvent(b)
			if err != nil {
				return nil, err
			}
			list = append(list, ev)
		}
		return list, nil
	})
	return err
}

func (s *scene) records() []SessionRecord {
	s.t.Helper()
	list, err := s.SessionRecords()
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

func attached(agent, session string) event.Turn {
	through := int64(-1)
	return event.Turn{Action: event.TurnAttached, Agent: agent, Provider: "p", Session: session, Through: &through}
}

func TestSessionRecordsFollowTheLog(t *testing.T) {
	s := newScene(t)
	if got := s.records(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	for i := range 120 { // more than other programs accept
		if err := s.record(attached(strings.Repeat("a", i+1), strings.Repeat("s", i+1))); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.records(); len(got) != 120 || !got[0].Active || got[0].Cwd != s.Project().Root {
		t.Fatalf("%d records", len(got))
	}
	through := int64(7)
	steps := []struct {
		turn   event.Turn
		busy   bool
		cursor int64
	}{
		{event.Turn{Action: event.TurnQueued, Turn: "t", Agent: "a", Provider: "p", Why: event.WhyDelivery, Through: &through}, false, 7},
		{event.Turn{Action: event.TurnStarted, Turn: "t", Agent: "a"}, true, 7},
		{event.Turn{Action: event.TurnFinished, Turn: "t", Agent: "a"}, false, 7},
	}
	for _, step := range steps {
		if err := s.record(step.turn); err != nil {
			t.Fatal(err)
		}
		if got, ok, err := s.SessionRecord("a"); err != nil || !ok || got.Busy != step.busy || got.Cursor != step.cursor {
			t.Errorf("after %s: %+v %v", step.turn.Action, got, err)
		}
	}
	if err := s.record(event.Turn{Action: event.TurnForgotten, Agent: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.SessionRecord("a"); ok || err != nil {
		t.Errorf("it is still there, %v", err)
	}
}

// TestASessionKeepsItsFolder: under a new name of its agent, and where the project has moved to.
func TestASessionKeepsItsFolder(t *testing.T) {
	s := newScene(t)
	outside := t.TempDir()
	for agent, dir := range map[string]string{"top": "", "in": filepath.Join(s.dir, "web", "app"), "out": outside} {
		_, err := s.RecordSession(t.Context(), "", dir, func(View) ([]event.Event, error) {
			ev, err := event.New(agent, event.Broadcast, "x", attached(agent, "s-"+agent))
			return []event.Event{ev}, err
		})
		if err != nil {
			t.Fatal(err)
		}
		s.do(RenameAgent{Old: agent, New: agent + "-2"})
	}
	moved := &scene{t: t, dir: filepath.Join(t.TempDir(), "moved"), clock: s.clock, machine: s.machine, env: s.env}
	if err := os.CopyFS(moved.dir, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	moved.Engine = moved.open(Options{})
	for _, at := range []*scene{s, moved} {
		for agent, dir := range map[string]string{"top-2": at.dir, "in-2": filepath.Join(at.dir, "web", "app"), "out-2": outside} {
			if r, ok, err := at.SessionRecord(agent); err != nil || !ok || r.Cwd != dir {
				t.Errorf("%s: %+v, %v", agent, r, err)
			}
		}
		if list := at.records(); len(list) != 3 {
			t.Errorf("%+v", list)
		}
	}
	// as older versions wrote it
	text := `{"sessions": [{"sessionId": "x", "agent": "a", "provider": "p", "cursor": -1, "cwd": "` + filepath.ToSlash(s.dir) + `"}]}`
	if err := os.WriteFile(s.path(SessionsName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, ok, err := s.SessionRecord("a"); err != nil || !ok || filepath.ToSlash(r.Cwd) != filepath.ToSlash(s.dir) {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.WriteFile(s.path(SessionsName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := s.lines()
	if _, err := s.Do(t.Context(), Request{Command: RenameAgent{Old: "top-2", New: "top-3"}}); err == nil || s.lines() != lines {
		t.Errorf("a rename that the file cannot follow: %v", err)
	}
}

func TestStaleSessions(t *testing.T) {
	now := newClock().time()
	here := t.TempDir()
	for _, tt := range []struct {
		record SessionRecord
		want   string
	}{
		{SessionRecord{Cwd: here, StartedAt: now}, ""},
		{SessionRecord{Cwd: here, StartedAt: now.Add(-40 * 24 * time.Hour)}, "not used"},
		{SessionRecord{Cwd: here, StartedAt: now.Add(-40 * 24 * time.Hour), UsedAt: now}, ""},
		{SessionRecord{Cwd: filepath.Join(here, "gone"), StartedAt: now}, "is gone"},
	} {
		if got := tt.record.Stale(now); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %q", tt.record, got)
		}
	}
}

func TestDamagedSessionsAreKept(t *testing.T) {
	for _, text := range []string{
		"{", `{"sessions": [{}]}`, `{"sessions": [{"sessionId": "x", "agent": "a", "provider": "p", "cursor": -2, "cwd": "/"}]}`,
		`{"sessions": [{"sessionId": "x", "agent": "a", "provider": "p", "cursor": -1, "cwd": "../x"}]}`,
	} {
		s := newScene(t)
		if err := s.record(attached("a", "s")); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(s.Project().Dir, SessionsName)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var invalid *ValidationError
		if _, err := s.SessionRecords(); !errors.As(err, &invalid) {
			t.Errorf("%s: %v", text, err)
		}
		lines := s.lines()
		if err := s.record(attached("b", "t")); err == nil || s.lines() != lines {
			t.Errorf("%s: something was stored, %v", text, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != text { //nolint:gosec // a file of the test
			t.Errorf("%s: now %s, %v", text, data, err)
		}
	}
}

// While the kill switch is on it may be stored that something ended, and no more.
func TestOnlyEndingsWhileHalted(t *testing.T) {
	s := newScene(t)
	queued := event.Turn{Action: event.TurnQueued, Turn: "t", Agent: "a", Provider: "p", Why: event.WhyDelivery}
	for _, b := range []event.Turn{attached("a", "s"), queued, {Action: event.TurnStarted, Turn: "t", Agent: "a"}} {
		if err := s.record(b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Kill(t.Context(), "user", "test"); err != nil {
		t.Fatal(err)
	}
	var halted *HaltedError
	for _, b := range []event.Turn{queued, {Action: event.TurnStarted, Turn: "t"}, {Action: event.TurnFinished, Turn: "t"}, {Action: event.TurnRetried, Turn: "t"}} {
		if err := s.record(b); !errors.As(err, &halted) {
			t.Errorf("%s: %v", b.Action, err)
		}
	}
	for _, b := range []event.Turn{{Action: event.TurnCancelled, Turn: "t", Agent: "a", Cause: "halt"}, {Action: event.TurnClosed}} {
		if err := s.record(b); err != nil {
			t.Errorf("%s: %v", b.Action, err)
		}
	}
}

func TestLeases(t *testing.T) {
	s := newScene(t)
	if holder, err := s.BridgeHolder(t.Context()); holder != nil || err != nil {
		t.Fatalf("%v %v", holder, err)
	}
	release, err := s.BridgeLease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	if _, err := s.open(Options{Command: "loadout tui"}).BridgeLease(t.Context()); !errors.As(err, &locked) {
		t.Errorf("%v", err)
	} else if helps := strings.Join(Hints(err), "\n"); !strings.Contains(helps, "Ctrl-C in its terminal, in a cockpit B") || !strings.Contains(helps, "loadout coord agents list") {
		t.Errorf("what helps who finds the place taken: %q", helps)
	}
	if holder, err := s.BridgeHolder(t.Context()); holder == nil || err != nil {
		t.Errorf("%v %v", holder, err)
	}
	one, err := s.TurnLease(t.Context(), "Codex", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.TurnLease(t.Context(), "codex", time.Millisecond); !errors.As(err, &locked) {
		t.Errorf("%v", err)
	}
	two, err := s.TurnLease(t.Context(), "codex-2", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(release(), one(), two()); err != nil {
		t.Error(err)
	}
}

// A compaction keeps sessions, cursors, caps, meters, and the turns that wait.
func TestCompactionKeepsTurns(t *testing.T) {
	s := newScene(t)
	tokens := int64(500)
	for _, b := range []event.Turn{
		attached("a", "s"),
		{Action: event.TurnOpened, Agents: []string{"a"}},
		{Action: event.TurnCapped, Caps: &event.TurnLimits{Tokens: &tokens}},
		{Action: event.TurnQueued, Turn: "lost", Agent: "a", Provider: "p", Why: event.WhyDelivery, Seqs: []int64{0}, Through: &tokens},
		{Action: event.TurnStarted, Turn: "lost", Agent: "a"},
		{Action: event.TurnUncertain, Turn: "lost", Agent: "a"},
		{Action: event.TurnQueued, Turn: "done", Agent: "a", Provider: "p", Why: event.WhyDelivery},
		{Action: event.TurnStarted, Turn: "done", Agent: "a"},
		{Action: event.TurnFinished, Turn: "done", Agent: "a", Usage: &event.TurnUsage{Input: 11, Known: true}},
	} {
		if err := s.record(b); err != nil {
			t.Fatal(err)
		}
	}
	before, err := s.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if _, err := s.Do(t.Context(), Request{Command: Report{Agent: "b", Update: event.Update{Note: "x"}}}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 5, MaxAge: -1})
	if err != nil || !r.Compacted {
		t.Fatalf("%+v %v", r, err)
	}
	after, err := s.open(Options{}).View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, _ := after.State.Session("a")
	if want, _ := before.State.Session("a"); got != want {
		t.Errorf("%+v, before %+v", got, want)
	}
	if turns := after.State.OpenTurns(); len(turns) != 1 || turns[0].ID != "lost" || len(turns[0].Seqs) != 1 || !turns[0].Waits() {
		t.Errorf("%+v", turns)
	}
	if m := after.State.Meter("a"); m.Usage.Tokens() != 11 || m.Turns != 2 {
		t.Errorf("%+v", m)
	}
}

// A session that a bridge would go on with is not over: what it holds waits for a person, in words of its own.
func TestWaitingTellsRestFromEnd(t *testing.T) {
	s := newScene(t)
	s.do(Register{Name: "anna", PID: 7, Start: "start-7", Boot: "boot", Host: "here"})
	s.do(Register{Name: "dead", PID: 8, Start: "start-8", Boot: "boot", Host: "here"})
	s.do(Own{Agent: "dead", Paths: []string{"doc"}})
	s.machine.dead = map[int]bool{8: true}
	s.do(Register{Name: "codex"})
	mustRecord(t, s.record(attached("codex", "one")))
	s.do(Own{Agent: "codex", Paths: []string{"src"}})
	s.clock.move(time.Hour)
	var got []string
	for _, w := range s.view().Waiting() {
		got = append(got, w.Agent+" "+w.Text)
	}
	want := []string{"dead still holds doc; the session is over", "codex still holds src; the session rests until it is given a turn"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
