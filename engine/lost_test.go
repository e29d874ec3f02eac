package engine

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store"
)

// TestNumbersGoOnWhenTheLogIsGone: an old fence must never pass for a new one.
func TestNumbersGoOnWhenTheLogIsGone(t *testing.T) {
	tests := map[string]struct {
		prepare func(s *scene)
		floor   int64 // the highest number that is still known
	}{
		"checkpoint": {func(s *scene) { s.view() }, checkpointLines + 9},
		"archive": {func(s *scene) {
			if _, err := s.Compact(s.t.Context(), CompactOptions{MaxEvents: 10, MaxAge: -1}); err != nil {
				s.t.Fatal(err)
			}
			if err := os.RemoveAll(s.path("cache")); err != nil {
				s.t.Fatal(err)
			}
		}, checkpointLines + 9},
		"nothing": {func(*scene) {}, -1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.fill("codex", 0, checkpointLines+10)
			tt.prepare(s)
			if err := os.Remove(s.path(store.LogName)); err != nil {
				t.Fatal(err)
			}
			s.Engine = s.open(Options{}) // another process
			if told := len(s.view().Notes) > 0; told != (tt.floor >= 0) {
				t.Errorf("a reader is told: %t", told)
			}
			if r := s.doctor(false); r.Healthy == (tt.floor >= 0) || strings.Contains(codes(r), "lost-log") != (tt.floor >= 0) {
				t.Errorf("doctor: %s", codes(r))
			}
			r := s.do(own("codex", "src"))
			if tt.floor < 0 {
				if r.Seq() != 0 || len(r.Notes) != 0 {
					t.Errorf("%+v", r)
				}
				return
			}
			if c := s.view().State.Claims(); r.Seq() != tt.floor+2 || len(c) != 1 || c[0].Fence != r.Seq() {
				t.Errorf("seq %d, claims %+v", r.Seq(), c)
			}
			if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "the log is gone") || s.lines() != 2 {
				t.Errorf("notes %q, log %s", r.Notes, s.log())
			}
			if r := s.do(note("codex", "next")); len(r.Notes) != 0 || r.Seq() != tt.floor+3 {
				t.Errorf("next %+v", r)
			}
			archived := map[bool]string{true: "the newest archive, ", false: "there is no archive"}[name == "archive"]
			if r := s.doctor(false); !strings.HasPrefix(codes(r), "lost-log?") || !strings.Contains(r.Findings[0].Text, archived) {
				t.Errorf("doctor afterwards: %+v", r.Findings)
			}
			if name != "archive" {
				return
			}
			if st, err := s.StateAt(t.Context(), 3); err != nil || st.Head() != 3 {
				t.Errorf("time travel: %v", err)
			}
		})
	}
}

// TestLossIsKnownToWhoHasReadTheLog: an engine that lives on needs no file for that.
func TestLossIsKnownToWhoHasReadTheLog(t *testing.T) {
	s := newScene(t)
	s.fill("codex", 0, 5)
	s.do(note("codex", "x"))
	if err := os.Remove(s.path(store.LogName)); err != nil {
		t.Fatal(err)
	}
	if r := s.do(note("codex", "y")); r.Seq() != 7 || len(r.Notes) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestAFarNumberStopsNobodyForGood: the refusal names the line, doctor moves it out, and nothing that lies in an archive brings it back.
func TestAFarNumberStopsNobodyForGood(t *testing.T) {
	for name, line := range map[string]string{
		"event":    "",
		"bad line": `{"seq": 9007199254740991, "id`,
	} {
		s := newScene(t)
		s.do(note("codex", "x"))
		if line == "" {
			ev := s.draft("codex", "*", event.Ownership{Mode: event.Exclusive, Paths: []string{"src"}})
			ev.Seq = event.MaxSeq
			line = string(ev.AppendLine(nil))
		}
		s.append(line + "\n")
		_, err := s.Do(t.Context(), Request{Command: note("codex", "y")})
		if far := as[*FarNumberError](t, err); far.Line != 2 || far.Seq != event.MaxSeq || !strings.Contains(strings.Join(Hints(err), ""), "doctor --fix") {
			t.Errorf("%s: %+v, hints %q", name, far, Hints(err))
		}
		r := s.doctor(true)
		if !r.Healthy || r.Archive == "" {
			t.Fatalf("%s: %+v", name, r)
		}
		corrupt, err := os.ReadFile(strings.TrimSuffix(s.path(r.Archive), ".archive") + ".corrupt")
		if err != nil || string(corrupt) != line+"\n" {
			t.Errorf("%s: beside the archive: %q, %v", name, corrupt, err)
		}
		if r := s.do(note("codex", "y")); r.Seq() != 2 {
			t.Errorf("%s: next %+v", name, r)
		}
		if err := errors.Join(os.Remove(s.path(store.LogName)), os.RemoveAll(s.path("cache"))); err != nil {
			t.Fatal(err)
		}
		s.Engine = s.open(Options{})
		if r := s.do(note("codex", "z")); r.Seq() > 10 {
			t.Errorf("%s: after a loss: %+v", name, r)
		}
	}
}

// TestOlderCopyOfTheLogIsNoticed: who restores a copy must not bring numbers back that were answered before.
func TestOlderCopyOfTheLogIsNoticed(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "0"))
	copied := s.log()
	fence := s.do(own("codex", "src")).Seq()
	s.do(note("codex", "2"))
	if err := os.WriteFile(s.path(store.LogName), []byte(copied), 0o600); err != nil {
		t.Fatal(err)
	}
	said := "the log is an older copy, which ends at seq 0: it had reached 2, as cache/head tells"
	for _, process := range []string{"a new one", "the one that read it"} {
		if process == "a new one" {
			s.Engine = s.open(Options{})
		}
		if v := s.view(); len(v.Notes) != 1 || !strings.HasPrefix(v.Notes[0], said) {
			t.Errorf("%s: view tells %q", process, v.Notes)
		}
	}
	if r := s.doctor(false); r.Healthy || codes(r) != "lost-log" || !strings.HasPrefix(r.Findings[0].Text, said) {
		t.Errorf("doctor: %+v", r.Findings)
	}
	r := s.do(own("gemini", "src"))
	if r.Seq() != 4 || r.Seq() <= fence || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], said) {
		t.Errorf("write: seq %d, notes %q", r.Seq(), r.Notes)
	}
	if r := s.do(note("codex", "5")); r.Seq() != 5 || len(r.Notes) != 0 {
		t.Errorf("next write: %+v", r)
	}
	if v := s.view(); len(v.Notes) != 0 {
		t.Errorf("view tells %q", v.Notes)
	}
	if r := s.doctor(false); !r.Healthy || codes(r) != "lost-log?" || !strings.Contains(r.Findings[0].Text, said) {
		t.Errorf("doctor does not tell what the write pointed to: %+v", r.Findings)
	}
	if st, err := s.StateAt(t.Context(), 0); err != nil || st.Head() != 0 {
		t.Errorf("time travel: %v", err)
	}
}

// TestNoNumberIsGivenTwice: what compaction and doctor wrote, and what a reader was told, counts when the log is gone; and neither
// begins below what was answered when an older copy lies there.
func TestNoNumberIsGivenTwice(t *testing.T) {
	compacts := func(s *scene) {
		if r, err := s.Compact(s.t.Context(), CompactOptions{MaxEvents: 1, MaxAge: -1}); err != nil || !r.Compacted {
			s.t.Fatal(r, err)
		}
	}
	mends := func(s *scene) {
		s.append("no JSON\n")
		if r := s.doctor(true); r.Archive == "" {
			s.t.Fatalf("%+v", r)
		}
	}
	reads := func(s *scene) {
		s.fill("codex", 3, 1)
		s.view()
	}
	for name, tt := range map[string]struct {
		last  func(*scene)
		older bool // an older copy lies in place of the log
		head  int64
	}{
		"compaction": {compacts, false, 3}, "doctor": {mends, false, 3}, "reader": {reads, false, 3},
		"compaction of a copy": {compacts, true, 4}, "doctor on a copy": {mends, true, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			copied := ""
			for i := range 3 {
				if s.do(note("codex", strconv.Itoa(i))); i == 1 {
					copied = s.log()
				}
			}
			if tt.older {
				if err := os.WriteFile(s.path(store.LogName), []byte(copied), 0o600); err != nil {
					t.Fatal(err)
				}
				s.Engine = s.open(Options{})
			}
			tt.last(s)
			if head := s.view().State.Head(); head != tt.head {
				t.Errorf("the log ends at %d, want %d", head, tt.head)
			}
			if tt.older && !strings.Contains(s.log(), lossWords+"2: ") {
				t.Errorf("the loss is not on record: %s", s.log())
			}
			if err := os.Remove(s.path(store.LogName)); err != nil {
				t.Fatal(err)
			}
			s.Engine = s.open(Options{}) // another process
			if r := s.do(note("codex", "next")); r.Seq() != tt.head+2 {
				t.Errorf("seq %d, want %d after the record of the loss", r.Seq(), tt.head+2)
			}
		})
	}
}

// TestHeadFileIsOnlyATip: whatever it says, nothing is refused for it.
func TestHeadFileIsOnlyATip(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "words": "many", "negative": "-4", "far": "9007199254740991", "long": strings.Repeat("1", 100)} {
		s := newScene(t)
		s.do(note("codex", "0"))
		if err := os.WriteFile(s.path("cache/head"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.Engine = s.open(Options{})
		if r := s.do(note("codex", "1")); r.Seq() != 1 || len(r.Notes) != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
