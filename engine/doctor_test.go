package engine

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/store"
	"github.com/agentloadout/loadout/store/storetest"
)

func (s *scene) doctor(fix bool) DoctorReport {
	s.t.Helper()
	r, err := s.Doctor(s.t.Context(), DoctorOptions{Fix: fix})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func codes(r DoctorReport) string {
	var list []string
	for _, f := range r.Findings {
		mark := ""
		if f.Info {
			mark = "?"
		}
		if f.Fixed {
			mark = "+"
		}
		list = append(list, f.Code+mark)
	}
	return strings.Join(list, " ")
}

func TestDoctorOfAHealthyProject(t *testing.T) {
	s := newScene(t)
	if r := s.doctor(false); !r.Healthy || codes(r) != "no-log?" || r.HighSeq != -1 {
		t.Errorf("no log: %+v", r)
	}
	if _, err := os.Stat(s.path("")); !os.IsNotExist(err) {
		t.Errorf("doctor left a trace: %v", err)
	}
	s.fill("codex", 0, checkpointLines+10)
	send(s, "codex", "x")
	if r := s.doctor(false); !r.Healthy || codes(r) != "" || r.Lines != checkpointLines+11 || r.HighSeq != checkpointLines+10 {
		t.Errorf("%s: %+v", codes(r), r)
	}
}

func TestDoctorMends(t *testing.T) {
	tests := []struct {
		name    string
		damage  func(t *testing.T, s *scene)
		found   string
		after   string
		archive bool
	}{
		{"torn tail", func(_ *testing.T, s *scene) { s.append(`{"id":"x","se`) }, "torn-tail", "torn-tail+", true},
		{"bad lines", func(_ *testing.T, s *scene) { s.append("garbage\n") }, "bad-lines bad-events", "bad-lines+ bad-events+", true},
		{"no event", func(_ *testing.T, s *scene) {
			s.append(`{"id":"x","seq":900,"type":"task"}` + "\n")
		}, "bad-events", "bad-events+", true},
		{"bad payload", func(_ *testing.T, s *scene) {
			ev := s.draft("codex", "*", event.Status{})
			ev.Seq, ev.Type, ev.Payload = 901, event.TypeOwnership, []byte(`{"mode":"exclusive"}`)
			s.append(string(ev.AppendLine(nil)) + "\n")
		}, "bad-events", "bad-events+", true},
		{"wide modes", func(t *testing.T, s *scene) {
			t.Helper()
			if err := os.Chmod(s.path(store.LogName), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "open-to-others", "open-to-others+", false},
		{"damaged checkpoint", func(t *testing.T, s *scene) {
			t.Helper()
			if err := os.WriteFile(s.path("cache/checkpoint"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "bad-checkpoint", "bad-checkpoint+", false},
		{"lying checkpoint", func(t *testing.T, s *scene) {
			t.Helper()
			cp, err := s.Engine.log.LoadCheckpoint(checkpointVersion)
			if err != nil {
				t.Fatal(err)
			}
			m := emptyMemory()
			m.at, m.index = cp.Pos, cp.Index
			if cp, err = m.freeze(); err == nil {
				err = s.Engine.log.SaveCheckpoint(cp)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, "checkpoint-lies", "checkpoint-lies+", false},
		{"lost message", func(t *testing.T, s *scene) {
			t.Helper()
			if err := os.Remove(s.path(MessagesName)); err != nil {
				t.Fatal(err)
			}
		}, "messages", "messages+", false},
		{"leftover", func(t *testing.T, s *scene) {
			t.Helper()
			if err := os.WriteFile(s.path("coordination.jsonl.tmp"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "leftover-file", "leftover-file+", false},
		{"foreign message", func(t *testing.T, s *scene) {
			t.Helper()
			if err := s.Engine.log.AppendFile(MessagesName, []byte("garbage\n")); err != nil {
				t.Fatal(err)
			}
		}, "bad-messages?", "", false},
		{"other program", func(t *testing.T, s *scene) {
			t.Helper()
			if err := os.WriteFile(s.path("messages.lock"), []byte(`{"token":"t","pid":7,"acquiredAt":"x"}`), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "other-program", "other-program", false},
		{"halted by hand", func(t *testing.T, s *scene) {
			t.Helper()
			if err := os.WriteFile(s.path(KillSwitchName), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "halt-record?", "", false},
		{"a number twice", func(_ *testing.T, s *scene) {
			ev := s.draft("codex", "*", event.Update{Note: "again"})
			ev.Seq = 5
			s.append(string(ev.AppendLine(nil)) + "\n")
		}, "duplicate-seqs?", "", false},
		{"a copy", func(t *testing.T, s *scene) {
			t.Helper()
			lines := strings.SplitAfter(s.log(), "\n")
			s.append(lines[3] + lines[len(lines)-2])
		}, "repeated-lines", "repeated-lines+", true},
		{"a number out of reach", func(_ *testing.T, s *scene) {
			ev := s.draft("codex", "*", event.Update{Note: "planted"})
			ev.Seq = event.MaxSeq
			s.append(string(ev.AppendLine(nil)) + "\n")
		}, "far-numbers", "far-numbers+", true},
		{"an acknowledgement above everything", func(_ *testing.T, s *scene) {
			ev := s.draft("codex", "*", event.Ack{EventSeq: 90000})
			ev.Seq = 900
			s.append(string(ev.AppendLine(nil)) + "\n")
		}, "bad-events", "bad-events+", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			s.fill("codex", 0, checkpointLines+10)
			send(s, "codex", "x")
			s.do(own("codex", "src"))
			s.view()
			tt.damage(t, s)
			text := s.log()
			if r := s.doctor(false); codes(r) != tt.found || s.log() != text || r.Healthy != strings.HasSuffix(tt.found, "?") {
				t.Fatalf("found %q, want %q; %+v", codes(r), tt.found, r)
			}
			if tt.after == "" {
				return
			}
			r := s.doctor(true)
			if codes(r) != tt.after || (r.Archive != "") != tt.archive || r.Healthy != strings.HasSuffix(tt.after, "+") {
				t.Fatalf("after: %q, want %q; %+v", codes(r), tt.after, r)
			}
			if tt.archive {
				b, err := os.ReadFile(s.path(r.Archive))
				if err != nil || !strings.HasPrefix(string(b), text) {
					t.Errorf("the archive does not hold what was there: %v", err)
				}
			}
			want := state.New()
			if v := s.view(); v.State.Head() < int64(checkpointLines+11) || v.State.Head() <= want.Head() || len(v.State.Claims()) != 1 {
				t.Errorf("state after: head %d, claims %+v", v.State.Head(), v.State.Claims())
			}
			if next := s.do(note("codex", "next")); next.Seq() != next.Head {
				t.Errorf("next %+v", next)
			}
		})
	}
}

func TestDoctorDoesNotMendWhileHalted(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	s.append("garbage\n")
	if _, err := s.Kill(t.Context(), "user", "stop"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Doctor(t.Context(), DoctorOptions{Fix: true})
	as[*HaltedError](t, err)
}

func TestDoctorOfAnUnsafeDirectory(t *testing.T) {
	s := newScene(t)
	if err := os.Symlink(t.TempDir(), s.path("")); err != nil {
		t.Fatal(err)
	}
	if r := s.doctor(false); r.Healthy || codes(r) != "unsafe-path" {
		t.Errorf("%+v", r)
	}
	if _, err := s.Do(t.Context(), Request{Command: note("codex", "x")}); err == nil {
		t.Error("a write through a link")
	}
	if _, err := s.View(t.Context()); err == nil {
		t.Error("a read through a link")
	}
}

// TestDoctorOfWrongKinds: what has another kind of file in its place hides nothing else, is reported, and is moved aside when it is
// not the log.
func TestDoctorOfWrongKinds(t *testing.T) {
	for _, name := range []string{store.LockName, MessagesName, beatsName, "cache", "cache/checkpoint", store.LogName} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.fill("codex", 0, checkpointLines+10)
			send(s, "codex", "x")
			s.view()
			path := s.path(name)
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			plant := func() error { return os.MkdirAll(path+"/within", 0o700) }
			if name == "cache" {
				plant = func() error { return os.WriteFile(path, nil, 0o600) }
			}
			if err := plant(); err != nil {
				t.Fatal(err)
			}
			r := s.doctor(false)
			if r.Healthy || !strings.HasPrefix(codes(r), "unsafe-path") {
				t.Errorf("found %q: %+v", codes(r), r)
			}
			if name == store.LogName {
				return
			}
			if r.Lines != checkpointLines+11 {
				t.Errorf("%d lines", r.Lines)
			}
			if r := s.doctor(true); !r.Healthy || !strings.HasPrefix(codes(r), "unsafe-path+") {
				t.Errorf("after: %q: %+v", codes(r), r)
			}
			send(s, "codex", "y")
			if h, err := s.HandoffStatus(t.Context()); err != nil || len(h.Messages) != 2 {
				t.Errorf("messages %+v, %v", h, err)
			}
		})
	}
}

// TestDoctorReadsWhatPeopleWrite: a fault there is theirs to mend.
func TestDoctorReadsWhatPeopleWrite(t *testing.T) {
	for _, c := range []struct{ file, text, code, says string }{
		{PolicyName, "", findingPolicy, "ends too early"},
		{PolicyName, "[]", findingPolicy, "no object (array)"},
		{PolicyName, `{"defaultLevel":"loud"}`, findingPolicy, "none of immediate"},
		{SessionsName, "{", findingSessions, "not JSON"},
		{SessionsName, `{"sessions":[{"provider":5}]}`, findingSessions, "sessions.provider cannot be a JSON number"},
		{SessionsName, `{"sessions":[{"sessionId":"x"}]}`, findingSessions, "no usable agent"},
	} {
		s := newScene(t)
		s.do(note("codex", "x"))
		if err := os.WriteFile(s.path(c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := s.doctor(true)
		if r.Healthy || codes(r) != c.code || !strings.Contains(r.Findings[0].Text, c.says) || strings.Contains(r.Findings[0].Text, "Go ") {
			t.Errorf("%s %q: %+v", c.file, c.text, r.Findings)
		}
	}
	s := newScene(t)
	s.do(note("codex", "x"))
	r, err := s.Doctor(t.Context(), DoctorOptions{Settings: errors.New("settings.json:1: x is unknown")})
	if err != nil || r.Healthy || codes(r) != findingSettings {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.Rename(s.path(""), s.path("")+".aside"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(strings.TrimSuffix(s.path(""), "/"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Doctor(t.Context(), DoctorOptions{Settings: errors.New("settings.json cannot be read")}); err != nil || codes(r) != "unsafe-path" {
		t.Errorf("one fault is told twice: %+v, %v", r, err)
	}
}

func TestDoctorTellsSizesInWords(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	s.Engine = s.open(Options{CompactAbove: 1})
	if r := s.doctor(false); !r.Healthy || !strings.Contains(r.Findings[0].Text, "the log has 1") || !strings.Contains(r.Findings[0].Text, " B;") {
		t.Errorf("%+v", r.Findings)
	}
}

// TestDoctorTellsOfLargeArchives: nothing removes them by itself.
func TestDoctorTellsOfLargeArchives(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	archive := s.path(store.LogName + ".1.archive")
	if err := os.WriteFile(archive, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(archive, largeArchives); err != nil { // it takes no room
		t.Fatal(err)
	}
	if r := s.doctor(false); !r.Healthy || codes(r) != "large-archives?" || !strings.HasPrefix(r.Findings[0].Text, "1 archive: 1.0 GB in all") {
		t.Errorf("%+v", r.Findings)
	}
}

// TestDoctorOfWhatCannotBeWritten: all is not well there.
func TestDoctorOfWhatCannotBeWritten(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	s.Engine = s.open(Options{FS: readOnly{store.OS()}})
	if r := s.doctor(false); r.Healthy || codes(r) != "not-writable" || !strings.Contains(r.Findings[0].Text, "read-only file system; nothing") {
		t.Errorf("%q: %+v", codes(r), r)
	}
}

// files is what lies in the directory of the log, by name.
func (s *scene) files() map[string]string {
	s.t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(s.path("")), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(s.path(name))
		files[name] = string(text)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}

// TestDoctorOfAFullDisk: what it made to find out is gone, and nothing else has changed.
func TestDoctorOfAFullDisk(t *testing.T) {
	for name, fault := range map[string]storetest.Fault{
		"no room to write":  {Op: storetest.Write, Name: "try.*.tmp", Bytes: 100, Err: syscall.ENOSPC},
		"none found late":   {Op: storetest.Sync, Name: "try.*.tmp", Err: syscall.EDQUOT},
		"no file more":      {Op: storetest.Open, Name: "try.*.tmp", Err: syscall.ENOSPC},
		"none at all there": {Op: storetest.Write, Name: "*", Err: syscall.ENOSPC},
	} {
		s := newScene(t)
		s.fill("codex", 0, checkpointLines+10)
		s.view()
		before := s.files()
		disk := storetest.New()
		disk.Inject(fault)
		s.Engine = s.open(Options{FS: disk})
		r := s.doctor(false)
		if r.Healthy || codes(r) != "no-space" || r.Findings[0].Fixable || !strings.Contains(r.Findings[0].Text, "free some space") {
			t.Errorf("%s: %+v", name, r.Findings)
		}
		if after := s.files(); !maps.Equal(before, after) {
			t.Errorf("%s: it left %v, there was %v", name, after, before)
		}
		disk.Heal()
		if r := s.doctor(false); !r.Healthy || codes(r) != "" {
			t.Errorf("%s: with room again: %+v", name, r.Findings)
		}
	}
}

// readOnly is a file system mounted for reading.
type readOnly struct{ store.FS }

func (f readOnly) OpenFile(name string, flag int, perm fs.FileMode) (store.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EROFS}
	}
	return f.FS.OpenFile(name, flag, perm)
}

// TestDamagedMessagesHideNoTask: the log has it.
func TestDamagedMessagesHideNoTask(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"a folder":          func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
		"more than is read": func(path string) error { return os.Truncate(path, maxMessagesBytes+1) },
		"a link":            func(path string) error { return errors.Join(os.Remove(path), os.Symlink("elsewhere", path)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			send(s, "codex", "x")
			if err := damage(s.path(MessagesName)); err != nil {
				t.Fatal(err)
			}
			h, err := s.HandoffStatus(t.Context())
			if err != nil || len(h.Pending) != 1 || len(h.Notes) != 1 {
				t.Fatalf("%+v, %v", h, err)
			}
			if _, _, err := s.HandoffDone(t.Context(), h.Pending[0].ID, "", ""); err != nil {
				t.Error(err)
			}
			if task, ok := s.view().State.Task(h.Pending[0].ID); !ok || task.Status != state.TaskDone {
				t.Errorf("%+v", task)
			}
		})
	}
}
