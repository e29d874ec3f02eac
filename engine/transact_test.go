package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/store"
)

func TestDoStoresAndAnswers(t *testing.T) {
	s := newScene(t)
	r := s.do(own("claude-code", "src/api"))
	if r.Seq() != 0 || r.Head != 0 || len(r.Events) != 1 || r.Duplicate || len(r.Expired) > 0 {
		t.Errorf("receipt %+v", r)
	}
	if got := r.Events[0].Timestamp; got != "2026-09-10T08:00:00.000Z" {
		t.Errorf("timestamp %s", got)
	}
	if got := s.log(); got != string(r.Events[0].AppendLine(nil))+"\n" {
		t.Errorf("log %q is not the receipt %+v", got, r.Events[0])
	}
	if r := s.do(note("codex", "hello")); r.Seq() != 1 {
		t.Errorf("second seq %d", r.Seq())
	}
	if info, err := os.Stat(s.path("")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode of the directory: %v, %v", info.Mode(), err)
	}
}

func TestRefusalWritesNothing(t *testing.T) {
	s := newScene(t)
	s.do(own("claude-code", "src/api"))
	before := s.log()
	for name, c := range map[string]Command{
		"owned":       own("codex", "src/api/checkout.ts"),
		"half owned":  own("codex", "docs", "src"),
		"future ack":  Ack{Agent: "codex", Seq: 99},
		"no task":     Finish{From: "codex", ID: "nothing"},
		"too long":    note("codex", strings.Repeat("x", event.MaxUpdateNote+1)),
		"empty agent": note("", "x"),
	} {
		if _, err := s.Do(t.Context(), Request{Command: c}); err == nil {
			t.Errorf("%s: no refusal", name)
		}
	}
	if got := s.log(); got != before {
		t.Errorf("the log changed to %s", got)
	}
	err := as[*ConflictError](t, func() error { _, err := s.Do(t.Context(), Request{Command: own("codex", "src/api")}); return err }())
	if len(err.Conflicts) != 1 || err.Conflicts[0].Claim.Agent != "claude-code" {
		t.Errorf("conflict %+v", err)
	}
}

func TestKillSwitchComesBeforeEveryOtherRefusal(t *testing.T) {
	s := newScene(t)
	s.do(own("claude-code", "src/api"))
	if _, err := s.Kill(t.Context(), "user", "enough"); err != nil {
		t.Fatal(err)
	}
	before := s.log()
	for _, c := range []Command{own("codex", "src/api"), note("codex", "x"), Ack{Agent: "codex", Seq: 99}} {
		_, err := s.Do(t.Context(), Request{Command: c})
		if h := as[*HaltedError](t, err); h.By != "user" || h.Reason != "enough" {
			t.Errorf("%T: %+v", c, h)
		}
	}
	if _, _, err := s.HandoffSend(t.Context(), Request{Command: AddTask{From: "user", To: "codex", Text: "x"}}); err == nil {
		t.Error("a handoff got past the kill switch")
	}
	if s.log() != before {
		t.Error("the log changed while halted")
	}
}

// TestLapsedClaimsAreRecordedWithTheNextWrite wants the record of an expiry in front of the write and in the same append, and not
// with a refusal.
func TestLapsedClaimsAreRecordedWithTheNextWrite(t *testing.T) {
	s := newScene(t)
	s.do(Own{Agent: "claude-code", Paths: []string{"src/api"}, TTL: 30 * time.Minute})
	s.clock.move(31 * time.Minute)
	if _, err := s.Do(t.Context(), Request{Command: Ack{Agent: "codex", Seq: 50}}); err == nil || s.lines() != 1 {
		t.Fatalf("a refusal recorded something: %v, %d lines", err, s.lines())
	}
	r := s.do(own("codex", "src/api/checkout.ts"))
	if len(r.Expired) != 1 || len(r.Events) != 1 || r.Expired[0].Seq != 1 || r.Seq() != 2 {
		t.Fatalf("receipt %+v", r)
	}
	body, err := r.Expired[0].Body()
	if o, ok := body.(event.Ownership); err != nil || !ok || o.Cause != event.CauseExpired || o.Holder != "claude-code" || r.Expired[0].From != event.Loadout {
		t.Errorf("expiry %+v, %v", body, err)
	}
	if claims := s.view().State.Claims(); len(claims) != 1 || claims[0].Agent != "codex" {
		t.Errorf("claims %+v", claims)
	}
}

func TestRetryStoresOnce(t *testing.T) {
	s := newScene(t)
	first, err := s.Do(t.Context(), Request{Command: own("codex", "a", "b"), Key: "try-1"})
	if err != nil {
		t.Fatal(err)
	}
	s.do(note("codex", "between"))
	for _, e := range []*Engine{s.Engine, s.open(Options{})} {
		again, err := e.Do(t.Context(), Request{Command: own("codex", "a", "b"), Key: "try-1"})
		if err != nil {
			t.Fatal(err)
		}
		if !again.Duplicate || again.Seq() != first.Seq() || len(again.Events) != len(first.Events) || again.Events[0].ID != first.Events[0].ID {
			t.Errorf("second answer %+v, first %+v", again, first)
		}
	}
	if s.lines() != 2 {
		t.Errorf("%d lines", s.lines())
	}
	_, err = s.Do(t.Context(), Request{Command: note("codex", "other"), Key: "try-1"})
	if c := as[*ConflictError](t, err); c.Kind != ConflictKey {
		t.Errorf("another write under the same key: %v", err)
	}
	if r, err := s.Do(t.Context(), Request{Command: note("claude-code", "other"), Key: "try-1"}); err != nil || r.Duplicate {
		t.Errorf("the key of another sender: %+v, %v", r, err)
	}
}

const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

func TestSecretsAreNeverStored(t *testing.T) {
	s := newScene(t)
	r := s.do(Report{Agent: "codex", Update: event.Update{Note: "use " + token, Blockers: []string{"token: " + token}}})
	s.do(AddTask{From: "user", To: "codex", Text: "login with " + token, Context: "password = hunter2hunter2"})
	s.do(Publish{Agent: "codex", Name: "api", Body: "Authorization: Bearer " + token})
	if strings.Contains(r.Events[0].Description, token) {
		t.Error("the receipt holds the secret")
	}
	for name, c := range map[string]Command{
		"from":  note(token, "x"),
		"to":    AddTask{From: "codex", To: token, Text: "x"},
		"path":  own("codex", "src/"+token),
		"name":  Publish{Agent: "codex", Name: token, Body: "x"},
		"needs": AddTask{From: "codex", To: "user", Text: "x", Needs: []string{token}},
	} {
		_, err := s.Do(t.Context(), Request{Command: c})
		if err == nil {
			t.Errorf("a secret as %s is not refused", name)
		}
	}
	_, err := s.Do(t.Context(), Request{Command: note("codex", "x"), Key: token})
	as[*ValidationError](t, err)
	if _, err := s.Kill(t.Context(), "user", "leaked "+token); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(s.path("*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), token) {
			t.Errorf("%s holds the secret", f)
		}
	}
}

func TestWritesOfManyEnginesAreNumberedWithoutGap(t *testing.T) {
	s := newScene(t)
	const engines, writes = 8, 25
	var wg sync.WaitGroup
	for i := range engines {
		e := s.open(Options{LockWait: time.Minute})
		wg.Go(func() {
			for j := range writes {
				if _, err := e.Do(t.Context(), Request{Command: note(fmt.Sprintf("agent-%d", i), strconv.Itoa(j))}); err != nil {
					t.Error(err)
				}
				if _, err := e.View(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	r, err := s.Events(t.Context(), Query{After: Everything})
	if err != nil {
		t.Fatal(err)
	}
	for i, ev := range r.Events {
		if ev.Seq != int64(i) {
			t.Fatalf("event %d has the number %d", i, ev.Seq)
		}
	}
	if len(r.Events) != engines*writes {
		t.Errorf("%d events", len(r.Events))
	}
}

// TestOneEngineManyGoroutines runs every call of one engine at once, for the race detector.
func TestOneEngineManyGoroutines(t *testing.T) {
	s := newScene(t)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	wg.Go(func() { _ = s.Follow(ctx, Everything, func(Delivery) error { return nil }) })
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			for j := range 10 {
				name := fmt.Sprintf("agent-%d", i)
				for _, err := range []error{
					func() error { _, err := s.Do(ctx, Request{Command: note(name, strconv.Itoa(j))}); return err }(),
					func() error { v, err := s.View(ctx); v.State.Claims(); v.Live(name); return err }(),
					func() error { _, err := s.Snapshot(ctx, name); return err }(),
					func() error { _, err := s.Events(ctx, Query{After: Everything, Last: 3}); return err }(),
					func() error { _, err := s.StateAt(ctx, 0); return err }(),
				} {
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	work.Wait()
	cancel()
	wg.Wait()
}

func TestTornTailIsClosedAndReported(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "one"))
	s.append(`{"id":"torn","seq":1,"type":"upd`)
	r := s.do(note("codex", "two"))
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "torn") {
		t.Errorf("notes %q", r.Notes)
	}
	if r.Seq() != 2 { // the torn line's number can be read, so it is not used again
		t.Errorf("seq %d", r.Seq())
	}
	v := s.view()
	if k := v.State.Skips(); k.Bad != 1 || v.State.Count() != 2 {
		t.Errorf("skips %+v of %d", k, v.State.Count())
	}
}

func TestExcludedFromGitOnceAtTheStart(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := gitRepository(t)
	p, err := Discover(Where{Dir: dir, Home: dir})
	if err != nil {
		t.Fatal(err)
	}
	e := Open(p, Options{})
	for range 2 {
		if _, err := e.Do(t.Context(), Request{Command: note("codex", "x")}); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, ".git", "info", "exclude"))
	if err != nil || strings.Count(string(b), ".handoff/") != 1 {
		t.Errorf("exclude %q, %v", b, err)
	}
	if out := gitOutput(t, dir, "status", "--porcelain"); out != "" {
		t.Errorf("git status %q", out)
	}
}

// brokenFS fails where it is told to.
type brokenFS struct {
	store.FS
	mu   sync.Mutex
	fail func(op, name string) error
}

func (b *brokenFS) check(op, name string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail == nil {
		return nil
	}
	return b.fail(op, filepath.Base(name))
}

func (b *brokenFS) set(fail func(op, name string) error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = fail
}

func (b *brokenFS) OpenFile(name string, flag int, perm os.FileMode) (store.File, error) {
	if err := b.check("open", name); err != nil {
		return nil, err
	}
	f, err := b.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &brokenFile{File: f, fs: b, name: name}, nil
}

type brokenFile struct {
	store.File
	fs   *brokenFS
	name string
}

func (f *brokenFile) Write(p []byte) (int, error) {
	if err := f.fs.check("write", f.name); err != nil {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, err
	}
	return f.File.Write(p)
}

func (f *brokenFile) Sync() error {
	if err := f.fs.check("sync", f.name); err != nil {
		return err
	}
	return f.File.Sync()
}

// TestFaultsOfTheDisk: whatever fails before the answer, nothing is acknowledged, and what was acknowledged stays.
func TestFaultsOfTheDisk(t *testing.T) {
	full := errors.New("no space left on device")
	for _, op := range []string{"open", "write", "sync"} {
		t.Run(op, func(t *testing.T) {
			s := newScene(t)
			s.do(note("codex", "before"))
			broken := &brokenFS{FS: store.OS()}
			e := s.open(Options{FS: broken})
			broken.set(func(got, name string) error {
				if got == op && name == store.LogName {
					return full
				}
				return nil
			})
			if _, err := e.Do(t.Context(), Request{Command: note("codex", "lost")}); !errors.Is(err, full) {
				t.Fatalf("error %v", err)
			}
			broken.set(nil)
			r, err := e.Do(t.Context(), Request{Command: note("codex", "after")})
			if err != nil {
				t.Fatal(err)
			}
			if r.Seq() != 1 || s.lines() != 2 || strings.Contains(s.log(), "lost") {
				t.Errorf("seq %d, log %s", r.Seq(), s.log())
			}
		})
	}
}

// Whoever has stored an event may not have synced it yet, so who answers from it does.
func TestAnswersFromTheLogAreSynced(t *testing.T) {
	s := newScene(t)
	own := Request{Command: Own{Agent: "codex", Paths: []string{"src"}}, Key: "try-1"}
	if _, err := s.Do(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	broken := &brokenFS{FS: store.OS()}
	e := s.open(Options{FS: broken})
	for name, again := range map[string]func() (Receipt, error){
		"a retry":       func() (Receipt, error) { return e.Do(t.Context(), own) },
		"nothing to do": func() (Receipt, error) { return e.Resume(t.Context(), "user") },
	} {
		full := errors.New("no space left on device")
		broken.set(func(op, name string) error {
			if op == "sync" && name == store.LogName {
				return full
			}
			return nil
		})
		if r, err := again(); !errors.Is(err, full) {
			t.Errorf("%s was answered: %+v, %v", name, r, err)
		}
		broken.set(nil)
		if r, err := again(); err != nil || !r.Duplicate {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if s.lines() != 1 {
		t.Errorf("log %s", s.log())
	}
}

// What somebody else has stored is on disk before messages.jsonl tells of it.
func TestMessagesAreMendedFromWhatIsOnDisk(t *testing.T) {
	s := newScene(t)
	send(s, "codex", "first")
	if err := os.Remove(s.path(MessagesName)); err != nil {
		t.Fatal(err)
	}
	disk := &brokenFS{FS: store.OS()}
	synced := false
	disk.set(func(op, name string) error {
		if op == "sync" && name == store.LogName {
			synced = true
		}
		if op == "write" && name == MessagesName && !synced {
			t.Error("it is told before it is on disk")
		}
		return nil
	})
	if status, err := s.open(Options{FS: disk}).HandoffStatus(t.Context()); err != nil || len(status.Notes) > 0 {
		t.Errorf("%+v, %v", status, err)
	}
	if !strings.Contains(s.messages(), "first") {
		t.Error("it was not mended")
	}
}

// TestWhatLiesBesideTheLogCannotFailAWrite: checkpoint, beats and messages are best effort.
func TestWhatLiesBesideTheLogCannotFailAWrite(t *testing.T) {
	s := newScene(t)
	s.fill("codex", 0, 600)
	broken := &brokenFS{FS: store.OS()}
	e := s.open(Options{FS: broken})
	broken.set(func(op, name string) error {
		if op == "open" && (strings.HasPrefix(name, "checkpoint.") || strings.HasPrefix(name, MessagesName)) {
			return errors.New("broken")
		}
		return nil
	})
	r, err := e.Do(t.Context(), Request{Command: AddTask{From: "user", To: "codex", Text: "x", Handoff: true}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Seq() != 600 || len(r.Notes) != 2 || !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "checkpoint") }) {
		t.Errorf("receipt %+v", r)
	}
}

func TestLockedNamesTheHolder(t *testing.T) {
	s := newScene(t)
	s.do(note("codex", "x"))
	holding, done := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		other := store.Open(s.path(""), store.Options{Command: "somebody else"})
		_ = other.Update(t.Context(), func(*store.Tx) error {
			close(holding)
			<-done
			return nil
		})
	})
	receive(t, holding)
	_, err := s.open(Options{LockWait: 20 * time.Millisecond}).Do(t.Context(), Request{Command: note("codex", "y")})
	close(done)
	wg.Wait()
	if l := as[*LockedError](t, err); l.Owner.Command != "somebody else" || l.Owner.PID != os.Getpid() {
		t.Errorf("locked %+v", l)
	} else if want := "somebody else (process " + strconv.Itoa(l.Owner.PID); !strings.Contains(err.Error(), want) ||
		!strings.Contains(err.Error(), ") since "+words.Stamp(s.clock.time(), l.Owner.Since)) || strings.Contains(err.Error(), "Z") {
		t.Errorf("says %q", err)
	}
}
