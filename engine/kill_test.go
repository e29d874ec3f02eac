package engine

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/store"
)

func TestKillAndResume(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	r, err := s.Kill(t.Context(), "", " user test ")
	if err != nil || r.Duplicate || r.Seq() != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	want := "{\n  \"activatedAt\": \"2026-09-10T08:00:00.000Z\",\n  \"activatedBy\": \"user\",\n  \"reason\": \"user test\"\n}\n"
	b, err := os.ReadFile(s.path(KillSwitchName))
	if err != nil || string(b) != want {
		t.Errorf("file %q, %v", b, err)
	}
	if info, err := os.Stat(s.path(KillSwitchName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info, err)
	}
	r, err = s.Kill(t.Context(), "somebody", "again")
	if err != nil || !r.Duplicate || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "user test") || s.lines() != 2 {
		t.Errorf("second kill %+v, %v, %d lines", r, err, s.lines())
	}
	v := s.view()
	if v.Halted == nil || v.Halted.Reason != "user test" || v.State.Halt() == nil || v.State.Halt().Reason != "user test" {
		t.Errorf("halted %+v, recorded %+v", v.Halted, v.State.Halt())
	}
	r, err = s.Resume(t.Context(), "user")
	if err != nil || r.Duplicate || r.Seq() != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	if v := s.view(); v.Halted != nil || v.State.Halt() != nil {
		t.Errorf("still halted: %+v, %+v", v.Halted, v.State.Halt())
	}
	s.do(note("codex", "y"))
	if r, err := s.Resume(t.Context(), "user"); err != nil || !r.Duplicate || s.lines() != 4 {
		t.Errorf("second resume %+v, %v", r, err)
	}
}

// TestARetriedKillHaltsOnce: a late second try must not stop, or let go on, what was decided since.
func TestARetriedKillHaltsOnce(t *testing.T) {
	s := newScene(t)
	kill := func(reason, key string) (Receipt, error) { return s.KillOnce(t.Context(), "codex", reason, key) }
	retry := func(what string, r Receipt, err error, seq int64, halted bool) {
		t.Helper()
		if err != nil || !r.Duplicate || r.Seq() != seq || (s.view().Halted != nil) != halted {
			t.Errorf("%s: %+v, %v, halted %+v", what, r, err, s.view().Halted)
		}
	}
	if r, err := kill("stop", "k"); err != nil || r.Duplicate || r.Seq() != 0 || r.Events[0].Key != "k" {
		t.Fatalf("%+v, %v", r, err)
	}
	r, err := kill("stop", "k")
	retry("while it is on", r, err, 0, true)
	var other *ConflictError
	if _, err := kill("another reason", "k"); !errors.As(err, &other) || other.Kind != ConflictKey {
		t.Errorf("another request with the key: %v", err)
	}
	if r, err := s.ResumeOnce(t.Context(), "codex", "r"); err != nil || r.Duplicate || r.Seq() != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	r, err = kill("stop", "k")
	retry("after it was lifted", r, err, 0, false)
	if _, err := kill("stop", strings.Repeat("k", event.MaxPath)); err == nil || s.view().Halted != nil {
		t.Errorf("a key that cannot be stored: %v, halted %+v", err, s.view().Halted)
	}
	if r, err := kill("stop", "k2"); err != nil || r.Duplicate || r.Seq() != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	r, err = s.ResumeOnce(t.Context(), "codex", "r")
	retry("a retried resume", r, err, 1, true)
	if s.lines() != 3 {
		t.Errorf("log %s", s.log())
	}
	if err := os.Remove(s.path(KillSwitchName)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.path(store.LogName)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.path(store.LogName), 0o700); err != nil {
		t.Fatal(err)
	}
	if r, err := s.open(Options{}).KillOnce(t.Context(), "codex", "stop", "k3"); err != nil || len(r.Notes) == 0 {
		t.Errorf("a log that cannot be read: %+v, %v", r, err)
	}
}

func TestKillValidates(t *testing.T) {
	s := newScene(t)
	for name, c := range map[string][2]string{
		"no reason": {"user", "  "}, "long reason": {"user", strings.Repeat("x", event.MaxReason+1)},
		"long name": {strings.Repeat("x", event.MaxName+1), "x"}, "secret name": {token, "x"},
	} {
		if _, err := s.Kill(t.Context(), c[0], c[1]); err == nil {
			t.Errorf("%s: no refusal", name)
		}
	}
	if _, err := os.Stat(s.path(KillSwitchName)); !os.IsNotExist(err) {
		t.Errorf("the kill switch is there: %v", err)
	}
}

// TestPresenceHalts: whatever the file holds, and whoever made it.
func TestPresenceHalts(t *testing.T) {
	for name, content := range map[string]string{"empty": "", "garbage": "\x00\xff", "other": `{"reason":5}`, "no time": `{"activatedBy":"a","reason":"b"}`} {
		s := newScene(t)
		s.do(note("codex", "x"))
		if err := os.WriteFile(s.path(KillSwitchName), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := s.Do(t.Context(), Request{Command: note("codex", "y")})
		if h := as[*HaltedError](t, err); !h.Damaged {
			t.Errorf("%s: %+v", name, h)
		}
		if r, err := s.Resume(t.Context(), "user"); err != nil || r.Duplicate || len(r.Events) != 1 {
			t.Errorf("%s: resume %+v, %v", name, r, err)
		}
		s.do(note("codex", "y"))
	}
	s := newScene(t)
	s.do(note("codex", "x"))
	if err := os.Symlink("/nowhere", s.path(KillSwitchName)); err != nil {
		t.Fatal(err)
	}
	_, err := s.Do(t.Context(), Request{Command: note("codex", "y")})
	as[*HaltedError](t, err)
}

// TestKillByHandIsRecordedByResume: the story in the log is whole.
func TestKillByHandIsRecordedByResume(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	b, err := json.Marshal(killSwitch{"2026-09-10T07:00:00.000Z", "ops", "by hand"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path(KillSwitchName), b, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resume(t.Context(), "user")
	if err != nil || len(r.Events) != 2 || r.Events[0].From != "ops" || r.Events[1].From != "user" {
		t.Errorf("%+v, %v", r, err)
	}
	if err := os.WriteFile(s.path(KillSwitchName), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.path(KillSwitchName)); err != nil {
		t.Fatal(err)
	}
}

// TestKillDoesNotWaitForTheLock: it holds at once, though its record has to wait.
func TestKillDoesNotWaitForTheLock(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	holding, done := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_ = store.Open(s.path(""), store.Options{}).Update(t.Context(), func(*store.Tx) error {
			close(holding)
			<-done
			return nil
		})
	})
	receive(t, holding)
	r, err := s.open(Options{LockWait: 10 * time.Millisecond}).Kill(t.Context(), "user", "now")
	if err != nil || len(r.Notes) != 1 || len(r.Events) != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if h, err := s.Halted(); err != nil || h == nil || h.Reason != "now" {
		t.Errorf("halted %+v, %v", h, err)
	}
	close(done)
	wg.Wait()
	if r, err := s.Resume(t.Context(), "user"); err != nil || len(r.Events) != 2 {
		t.Errorf("resume %+v, %v", r, err)
	}
}

// TestKillStopsWhoHasPassedNoCheck: a write that waits for the lock while the switch is set is refused.
func TestKillStopsAWaitingWrite(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	var wg sync.WaitGroup
	var err error
	lock := store.Open(s.path(""), store.Options{})
	if updateErr := lock.Update(t.Context(), func(*store.Tx) error {
		started := make(chan struct{})
		wg.Go(func() {
			close(started)
			_, err = s.Do(t.Context(), Request{Command: note("codex", "waits")})
		})
		<-started
		return os.WriteFile(s.path(KillSwitchName), nil, 0o600)
	}); updateErr != nil {
		t.Fatal(updateErr)
	}
	wg.Wait()
	as[*HaltedError](t, err)
}

// TestKillWithABrokenLog: whatever is in the place of the log, the switch is on and the caller is told so.
func TestKillWithABrokenLog(t *testing.T) {
	for name, path := range map[string]string{"log": store.LogName, "lock": store.LockName} {
		s := newScene(t)
		if err := os.MkdirAll(s.path(path), 0o700); err != nil {
			t.Fatal(err)
		}
		r, err := s.Kill(t.Context(), "user", "stop")
		if err != nil || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "is on") {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if h, err := s.Halted(); err != nil || h == nil || h.Reason != "stop" {
			t.Errorf("%s: halted %+v, %v", name, h, err)
		}
	}
}

// fullDisk is a file system on which files can be made and not filled, and cannot be opened when broken says so.
type fullDisk struct {
	store.FS
	lstat error
}

func (d fullDisk) OpenFile(name string, flag int, perm fs.FileMode) (store.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	if err != nil || flag&(os.O_WRONLY|os.O_RDWR) == 0 {
		return f, err
	}
	return fullFile{f}, nil
}

func (d fullDisk) Lstat(name string) (fs.FileInfo, error) {
	if d.lstat != nil && filepath.Base(name) == KillSwitchName {
		return nil, d.lstat
	}
	return d.FS.Lstat(name)
}

type fullFile struct{ store.File }

func (fullFile) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestKillOnAFullDisk(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	r, err := s.open(Options{FS: fullDisk{FS: store.OS()}}).Kill(t.Context(), "user", "stop")
	if err != nil || len(r.Notes) != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	if h, err := s.Halted(); err != nil || h == nil {
		t.Errorf("halted %+v, %v", h, err)
	}
}

// TestHaltThatCannotBeTold: it is no halt, and no write either.
func TestHaltThatCannotBeTold(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	broken := s.open(Options{FS: fullDisk{store.OS(), syscall.EMFILE}})
	_, err := broken.Do(t.Context(), Request{Command: note("codex", "y")})
	var halted *HaltedError
	if !errors.Is(err, syscall.EMFILE) || errors.As(err, &halted) || s.lines() != 1 {
		t.Errorf("%v, %d lines", err, s.lines())
	}
}

// TestSomethingElseInThePlaceOfTheKillSwitch halts, and resume makes room.
func TestSomethingElseInThePlaceOfTheKillSwitch(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"folder":      func(path string) error { return os.Mkdir(path, 0o700) },
		"full folder": func(path string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) },
		"link":        func(path string) error { return os.Symlink("/nowhere", path) },
	} {
		s := newScene(t)
		s.do(note("codex", "x"))
		if err := plant(s.path(KillSwitchName)); err != nil {
			t.Fatal(err)
		}
		r, err := s.Kill(t.Context(), "user", "stop")
		if err != nil || r.Duplicate || len(r.Notes) != 1 || r.Seq() != 1 {
			t.Errorf("%s: kill %+v, %v", name, r, err)
		}
		if r, err := s.Resume(t.Context(), "user"); err != nil || r.Duplicate {
			t.Errorf("%s: resume %+v, %v", name, r, err)
		}
		s.do(note("codex", "y"))
	}
}

// renamed is a file system that looks whether the kill switch is there before and after each rename onto it.
type renamed struct {
	store.FS
	missed *bool
}

func (r renamed) Rename(from, to string) error {
	_, before := r.Lstat(to)
	err := r.FS.Rename(from, to)
	_, after := r.Lstat(to)
	*r.missed = *r.missed || filepath.Base(to) == KillSwitchName && (before != nil || after != nil)
	return err
}

func (r renamed) Remove(name string) error {
	*r.missed = *r.missed || filepath.Base(name) == KillSwitchName
	return r.FS.Remove(name)
}

// TestKillOverASwitchOfUnknownOrigin: who says why is on record, and nobody can write in between.
func TestKillOverASwitchOfUnknownOrigin(t *testing.T) {
	for content, wantReason := range map[string]string{"": "again", " \n": "again", "stop, says ann": ""} {
		s := newScene(t)
		s.do(note("codex", "x"))
		if err := os.WriteFile(s.path(KillSwitchName), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var missed bool
		r, err := s.open(Options{FS: renamed{store.OS(), &missed}}).Kill(t.Context(), "ann", "again")
		if err != nil || r.Duplicate || r.Seq() != 1 || r.Events[0].From != "ann" || len(r.Notes) != 1 || missed {
			t.Errorf("%q: %+v, %v, lifted %v", content, r, err, missed)
		}
		v := s.view()
		if v.Halted == nil || v.Halted.Reason != wantReason || v.State.Halt() == nil || v.State.Halt().By != "ann" || v.State.Halt().Reason != "again" {
			t.Errorf("%q: halted %+v, recorded %+v", content, v.Halted, v.State.Halt())
		}
		if wantReason == "" {
			if kept, err := os.ReadFile(s.path(KillSwitchName)); err != nil || string(kept) != content {
				t.Errorf("what a person wrote is now %q, %v", kept, err)
			}
		}
	}
}

// TestResumeBehindABadLock: with the switch on, doctor still makes room for the lock that resume needs, and mends nothing else.
func TestResumeBehindABadLock(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	s.append("no event\n")
	if _, err := s.Kill(t.Context(), "user", "stop"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(s.path(store.LockName)), os.Symlink("/nowhere", s.path(store.LockName))); err != nil {
		t.Fatal(err)
	}
	s.Engine = s.open(Options{})
	if _, err := s.Resume(t.Context(), "user"); !errors.Is(err, store.ErrUnsafe) {
		t.Errorf("resume through a link: %v", err)
	}
	r, err := s.Doctor(t.Context(), DoctorOptions{Fix: true})
	as[*HaltedError](t, err) // for the line that is left
	if last := r.Findings[len(r.Findings)-1]; last.Code != string(store.UnsafePath) || !last.Fixed || r.Archive != "" {
		t.Errorf("doctor: %+v", r)
	}
	if _, err := s.Resume(t.Context(), "user"); err != nil {
		t.Errorf("resume: %v", err)
	}
	if r := s.doctor(true); !r.Healthy {
		t.Errorf("doctor: %+v", r.Findings)
	}
}

// TestResumeOfAHandWrittenSwitch: whatever it says of whom and why, it can be lifted.
func TestResumeOfAHandWrittenSwitch(t *testing.T) {
	for name, text := range map[string]string{
		"no name":     `{"activatedAt":"2026-09-10T08:00:00Z","activatedBy":"a\u0007b\nc","reason":"x"}`,
		"long reason": `{"activatedAt":"2026-09-10T08:00:00Z","activatedBy":"kim","reason":"` + strings.Repeat("x", 2*event.MaxDescription) + `"}`,
	} {
		s := newScene(t)
		s.do(note("codex", "x"))
		if err := os.WriteFile(s.path(KillSwitchName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Resume(t.Context(), "user"); err != nil || r.Duplicate {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		s.do(note("codex", "y"))
	}
}
