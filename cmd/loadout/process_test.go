package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/torture"
	"github.com/agentloadout/loadout/store"
)

// opened is the engine of a project of its own.
func opened(dir string) *engine.Engine {
	return engine.Open(engine.Project{Root: dir, Dir: filepath.Join(dir, ".handoff"), Worktree: dir}, engine.Options{})
}

// program is the test binary as the program, in a process of its own, with nothing of the environment that could tell who calls.
func program(ctx context.Context, t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Args[0] = "loadout"
	cmd.Dir = dir
	home := t.TempDir()
	cmd.Env = []string{"HOME=" + home, "USERPROFILE=" + home, "XDG_CONFIG_HOME=" + home, "TERM=xterm-256color", "PATH=" + os.Getenv("PATH")}
	if root := os.Getenv("SYSTEMROOT"); root != "" {
		cmd.Env = append(cmd.Env, "SYSTEMROOT="+root)
	}
	return cmd
}

func codeOf(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

// TestOneOfTwoProcessesGetsThePath starts several processes at once that claim overlapping paths.
func TestOneOfTwoProcessesGetsThePath(t *testing.T) {
	dir := t.TempDir()
	const rounds = 2
	for round := range rounds {
		folder := "src" + strconv.Itoa(round)
		var cmds []*exec.Cmd
		for i, path := range []string{folder, folder + "/api", folder} {
			cmd := program(t.Context(), t, dir, "coord", "own", "agent-"+strconv.Itoa(i), path, "--json")
			cmd.Stdout, cmd.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			cmds = append(cmds, cmd)
		}
		var codes []int
		for _, cmd := range cmds {
			codes = append(codes, codeOf(t, cmd.Wait()))
		}
		slices.Sort(codes)
		if !slices.Equal(codes, []int{exitDone, exitConflict, exitConflict}) {
			t.Errorf("round %d: exit codes %v", round, codes)
		}
	}
	out, err := program(t.Context(), t, dir, "status", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var s status
	if err := json.Unmarshal(out, &s); err != nil || len(s.Ownership) != rounds || s.HighSeq != rounds-1 {
		t.Errorf("%d claims, seq %d, %v", len(s.Ownership), s.HighSeq, err)
	}
}

// TestRetriedAtOnceStoresOnce starts two processes with the same retry key.
func TestRetriedAtOnceStoresOnce(t *testing.T) {
	dir := t.TempDir()
	var cmds []*exec.Cmd
	for range 2 {
		cmd := program(t.Context(), t, dir, "coord", "task", "codex", "once", "--key", "k", "--json")
		cmd.Stdout = &bytes.Buffer{}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	ids := map[string]bool{}
	for _, cmd := range cmds {
		if code := codeOf(t, cmd.Wait()); code != exitDone {
			t.Errorf("exit %d", code)
		}
		var answer struct{ ID string }
		if err := json.Unmarshal(cmd.Stdout.(*bytes.Buffer).Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		ids[answer.ID] = true
	}
	if len(ids) != 1 {
		t.Errorf("stored as %v", ids)
	}
}

// watching is a watch that runs in this process.
type watching struct {
	lines chan string
	stop  context.CancelFunc
	code  chan int

	stderr *bytes.Buffer // complete once code was received
}

func watch(t *testing.T, dir string, args ...string) *watching {
	t.Helper()
	r, out := io.Pipe()
	a, _, stderr := testApp(t)
	a.dir, a.stdout = dir, out
	ctx, cancel := context.WithCancel(t.Context())
	w := &watching{lines: make(chan string, 1000), stop: cancel, code: make(chan int, 1), stderr: stderr}
	go func() {
		w.code <- run(ctx, append([]string{"coord", "watch"}, args...), a)
		_ = out.Close()
	}()
	go func() {
		defer close(w.lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			w.lines <- s.Text()
		}
	}()
	t.Cleanup(cancel)
	return w
}

// next is the next line that contains what, nothing before it that is an event.
func (w *watching) next(t *testing.T) string {
	t.Helper()
	for {
		select {
		case line, ok := <-w.lines:
			if !ok {
				t.Fatal("the watch ended")
			}
			if !strings.HasPrefix(line, `{"watch":`) {
				return line
			}
		case <-time.After(patience):
			t.Fatal("no line came")
		}
	}
}

// inProcess runs the program and expects it to be done.
func inProcess(t *testing.T, dir string, args ...string) {
	t.Helper()
	a, _, stderr := testApp(t)
	a.dir = dir
	if code := run(t.Context(), args, a); code != exitDone {
		t.Fatalf("%q: exit %d: %s", args, code, stderr)
	}
}

// TestWatchTellsOfALostLog: what is gone must not look like a project in which nothing happens.
func TestWatchTellsOfALostLog(t *testing.T) {
	dir := t.TempDir()
	inProcess(t, dir, "coord", "update", "codex", "--note", "one")
	if err := os.Remove(filepath.Join(dir, ".handoff", "coordination.jsonl")); err != nil {
		t.Fatal(err)
	}
	w := watch(t, dir)
	for line := w.next(t); !strings.Contains(line, "the log is gone: it had reached seq 0"); {
		line = w.next(t)
	}
	w.stop()
	if code := receive(t, w.code); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
}

// TestWatchMissesAndRepeatsNothing: each event is one line, once, also over a compaction.
func TestWatchMissesAndRepeatsNothing(t *testing.T) {
	dir := t.TempDir()
	inProcess(t, dir, "coord", "own", "codex", "src")
	w := watch(t, dir, "--json", "--cursor", "-1")
	expect := func(seq int64) {
		t.Helper()
		var ev struct{ Seq int64 }
		if line := w.next(t); json.Unmarshal([]byte(line), &ev) != nil || ev.Seq != seq {
			t.Fatalf("want seq %d: %s", seq, line)
		}
	}
	expect(0)
	for i := range 5 {
		inProcess(t, dir, "coord", "update", "codex", "--note", strconv.Itoa(i))
	}
	for seq := range int64(5) {
		expect(seq + 1)
	}
	inProcess(t, dir, "coord", "compact", "--max-events", "1")
	inProcess(t, dir, "coord", "update", "codex", "--note", "after")
	expect(6) // the summary of the compaction
	expect(7)
	w.stop()
	if code := receive(t, w.code); code != exitInterrupted || w.stderr.Len() > 0 {
		t.Errorf("exit %d, stderr %q", code, w.stderr)
	}
	for line := range w.lines {
		if !strings.HasPrefix(line, `{"watch":`) {
			t.Errorf("one line more: %s", line)
		}
	}
	w = watch(t, dir, "--json", "--cursor", "1") // one that begins below the compaction
	for seq := int64(2); seq <= 7; seq++ {
		expect(seq)
	}
}

func TestWatchFiltersAndBeginsWithTheNewest(t *testing.T) {
	dir := t.TempDir()
	for _, to := range []string{"codex", "cursor", "codex", "*"} {
		inProcess(t, dir, "coord", "task", to, "work for "+to)
	}
	w := watch(t, dir, "codex", "--plain", "--last", "2")
	if line := w.next(t); !strings.Contains(line, "seq=2 [task] user → codex work for codex") {
		t.Error(line)
	}
	if line := w.next(t); !strings.Contains(line, "seq=3 [task] user work for *") {
		t.Error(line)
	}
	inProcess(t, dir, "coord", "task", "cursor", "unseen")
	inProcess(t, dir, "coord", "task", "codex", "seen")
	if line := w.next(t); !strings.Contains(line, "seq=5") {
		t.Error(line)
	}
}

// TestPlainEndsAsAWatchDoes: who stops it does not take that for its end.
func TestPlainEndsAsAWatchDoes(t *testing.T) {
	a, _, _ := testApp(t)
	a.dir = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a.stdout = writerFunc(func(b []byte) (int, error) {
		if bytes.Contains(b, []byte("New events follow")) {
			cancel()
		}
		return len(b), nil
	})
	if code := run(ctx, []string{"tui", "--plain"}, a); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
}

// TestWatchMarksOldNews: what another event has superseded says so, and everything how old it is.
func TestWatchMarksOldNews(t *testing.T) {
	dir := t.TempDir()
	for _, body := range []string{"one", "two"} {
		inProcess(t, dir, "coord", "contract", "api", "--agent", "codex", "--body", body)
	}
	for _, from := range []string{"--last=2", "--cursor=-1"} {
		w := watch(t, dir, "--plain", from)
		if line := w.next(t); !strings.Contains(line, ") seq=0 [contract]") || !strings.HasSuffix(line, " (superseded by seq 1)") {
			t.Error(line)
		}
		if line := w.next(t); !strings.HasSuffix(line, "contract: api rev1") {
			t.Error(line)
		}
		if line := w.next(t); !strings.Contains(line, ") seq=1 [contract]") || strings.Contains(line, "superseded") {
			t.Error(line)
		}
	}
	w := watch(t, dir, "--json")
	if line := w.next(t); !strings.HasSuffix(line, `,"supersededBy":1}`) {
		t.Error(line)
	}
	if line := w.next(t); strings.Contains(line, "supersededBy") {
		t.Error(line)
	}
}

// TestWatchBeforeThereIsALog waits for the first event of a project.
func TestWatchBeforeThereIsALog(t *testing.T) {
	dir := t.TempDir()
	w := watch(t, dir, "--json")
	inProcess(t, dir, "coord", "own", "codex", "src")
	if line := w.next(t); !strings.Contains(line, `"seq":0`) {
		t.Error(line)
	}
}

func TestRunnerActsThroughTheEngine(t *testing.T) {
	dir := t.TempDir()
	a, _, _ := testApp(t)
	a.dir, a.terminal = dir, true
	r := newRunner(&call{app: a, common: common{Project: dir, Agent: "codex"}})
	var out bytes.Buffer
	if err := r.Run(t.Context(), []string{"coord", "update", "me", "--note", "from the cockpit"}, &out); err != nil || out.Len() == 0 {
		t.Fatalf("%v: %s", err, &out)
	}
	out.Reset()
	if err := r.Run(t.Context(), []string{"coord", "nonsense"}, &out); exitCode(t.Context(), err) != exitUsage || out.Len() > 0 {
		t.Errorf("%v: %s", err, &out)
	}
	inProcess(t, dir, "coord", "own", "claude-code", "src")
	if err := r.Run(t.Context(), []string{"coord", "conflicts", "me", "src"}, &out); err != nil || !strings.Contains(out.String(), "claude-code") {
		t.Errorf("%v: %s", err, &out)
	}
	e := engine.Open(engine.Project{Root: dir, Dir: filepath.Join(dir, ".handoff")}, engine.Options{})
	view, err := e.View(t.Context())
	if err != nil || view.State.Head() != 1 {
		t.Errorf("%v", err)
	}
}

// TestTheCommandLineActsAsTheCockpit types verbs that name nobody, where the environment names somebody else.
func TestTheCommandLineActsAsTheCockpit(t *testing.T) {
	for _, as := range []common{{}, {Agent: "codex"}, {As: "codex"}} {
		dir := t.TempDir()
		a, _, _ := testApp(t)
		a.dir, a.terminal = dir, true
		a.env = func(name string) string { return map[string]string{engine.EnvAgent: "gemini"}[name] }
		as.Project = dir
		r := newRunner(&call{app: a, common: as})
		var out bytes.Buffer
		run := func(line string) error {
			out.Reset()
			return r.Run(t.Context(), strings.Fields(line), &out)
		}
		var id string
		last := func() (from, by string) {
			t.Helper()
			found, err := opened(dir).Events(t.Context(), engine.Query{After: -1, Last: 1})
			if err != nil || len(found.Events) == 0 {
				t.Fatalf("%v, %d events", err, len(found.Events))
			}
			id = found.Events[0].ID
			return found.Events[0].From, found.Events[0].By
		}
		who, by := "codex", event.User
		if as.Agent == "" && as.As == "" {
			who = event.User
			err := run("coord own me src")
			if exitCode(t.Context(), err) != exitUsage || !strings.Contains(err.Error(), "acts as a person") ||
				!slices.ContainsFunc(engine.Hints(err), func(hint string) bool { return strings.HasPrefix(hint, "loadout tui --agent") }) {
				t.Errorf("%v, %q", err, engine.Hints(err))
			}
		} else {
			if err := run("coord own me src"); err != nil {
				t.Errorf("%v: %v", as, err)
			}
			if from, was := last(); from != who || was != by {
				t.Errorf("%v: %s has it, by %q", as, from, was)
			}
		}
		if err := run("coord own claude-code docs"); err != nil { // whoever is named
			t.Error(err)
		}
		if from, by := last(); from != "claude-code" || by != event.User {
			t.Errorf("%s has it, by %q", from, by)
		}
		for _, line := range []string{"kill enough", "resume", "coord task claude-code build", "handoff claude-code ship"} {
			if err := run(line); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			if from, _ := last(); from != who {
				t.Errorf("%v: %s is of %s", as, line, from)
			}
		}
		if err := run("handoff --done " + id); err != nil {
			t.Errorf("%v: %v", as, err)
		}
		if from, _ := last(); from == "gemini" {
			t.Errorf("%v: it is settled by %s", as, from)
		}
	}
}

// stopping ends a verb at the first thing that it prints.
type stopping struct {
	bytes.Buffer
	stop func()
}

func (w *stopping) Write(p []byte) (int, error) {
	w.stop()
	return w.Buffer.Write(p)
}

func TestTheCockpitStopsAVerbByItsOwnKey(t *testing.T) {
	dir := t.TempDir()
	inProcess(t, dir, "coord", "own", "codex", "src")
	a, _, _ := testApp(t)
	a.dir, a.terminal = dir, true
	ctx, cancel := context.WithCancel(t.Context())
	out := stopping{stop: cancel}
	err := newRunner(&call{app: a, common: common{Project: dir}}).Run(ctx, []string{"coord", "watch"}, &out)
	if exitCode(ctx, err) != exitInterrupted || !strings.Contains(out.String(), "Esc stops") {
		t.Errorf("%v: %s", err, &out.Buffer)
	}
}

// TestLockedIs5 holds the lock while a verb wants it.
func TestLockedIs5(t *testing.T) {
	dir := t.TempDir()
	inProcess(t, dir, "coord", "own", "codex", "src")
	held, done := make(chan struct{}), make(chan struct{})
	var holder sync.WaitGroup
	holder.Go(func() {
		log := store.Open(filepath.Join(dir, ".handoff"), store.Options{Command: "loadout test"})
		if err := log.Update(t.Context(), func(*store.Tx) error {
			close(held)
			<-done
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	receive(t, held)
	a, _, stderr := testApp(t)
	a.dir = dir
	if code := run(t.Context(), []string{"coord", "update", "codex", "--lock-wait", "20ms", "--json"}, a); code != exitLocked {
		t.Errorf("exit %d", code)
	}
	var refusal struct {
		Error struct {
			Code  string
			Owner struct{ Command string }
		}
	}
	if err := json.Unmarshal(stderr.Bytes(), &refusal); err != nil || refusal.Error.Code != "locked" || refusal.Error.Owner.Command != "loadout test" {
		t.Errorf("%v: %s", err, stderr)
	}
	// Readers never wait for it.
	inProcess(t, dir, "status")
	close(done)
	holder.Wait()
}

// TestDoctorTortures runs the real thing, shortly: its writers are processes of this binary.
func TestDoctorTortures(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	var report torture.Report
	for seconds := 1; report.Found == 0; seconds *= 4 { // on a busy machine a second is too short for a writer to start
		if seconds > 16 {
			t.Fatal("no writer came to write")
		}
		cmd := program(t.Context(), t, t.TempDir(), "doctor", "--torture", "--seconds", strconv.Itoa(seconds), "--writers", "2", "--json")
		out, err := cmd.Output()
		if unreadable := json.Unmarshal(out, &report); unreadable != nil || report.Passed != (err == nil) || report.Lost > 0 || report.Twice > 0 {
			t.Fatalf("%v, %v\n%s", err, unreadable, out)
		}
	}
	if !report.Passed {
		t.Errorf("%+v", report)
	}
}

// patience bounds what a test waits for; it is only reached by a failure.
const patience = 20 * time.Second

// receive waits for what another goroutine has to say, but not for ever: who waits in vain fails, and does not hang.
func receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("waited in vain")
		panic("unreachable")
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestASpentLogAsksForDoctor: where no write can work, none is advised.
func TestASpentLogAsksForDoctor(t *testing.T) {
	dir := t.TempDir()
	inProcess(t, dir, "coord", "update", "codex", "--note", "one")
	far := `{"id":"far","seq":9007199254740991,"type":"update","from":"a","to":"*","description":"x","timestamp":"2026-09-10T08:00:00.000Z","payload":{}}`
	f, err := os.OpenFile(filepath.Join(dir, ".handoff", "coordination.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(far + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	a, stdout, _ := testApp(t)
	a.dir = dir
	if code := run(t.Context(), []string{"coord", "snapshot", "gemini"}, a); code != exitDone {
		t.Fatalf("exit %d", code)
	}
	if text := stdout.String(); strings.Contains(text, "coord ack") || !strings.Contains(text, "loadout doctor --fix") {
		t.Error(text)
	}
}

// TestALongPathIsRefusedOnce: with the limit, and not in the system's words.
func TestALongPathIsRefusedOnce(t *testing.T) {
	for _, verb := range [][]string{{"own", "codex"}, {"conflicts", "codex"}, {"update", "codex", "--files"}} {
		a, _, stderr := testApp(t)
		a.dir = t.TempDir()
		long := strings.Repeat("a", 1100)
		if code := run(t.Context(), append(append([]string{"coord"}, verb...), long), a); code != exitUsage {
			t.Errorf("%q: exit %d", verb, code)
		}
		if text := stderr.String(); !strings.Contains(text, "has more than 1024 characters") || len(text) > 300 {
			t.Errorf("%q: %s", verb, text)
		}
	}
}
