//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/misbehave"
)

func TestMain(m *testing.M) {
	misbehave.As()
	if os.Getenv("TEST_ECHO") != "" {
		echo()
	}
	if mark := os.Getenv("TEST_REAP"); mark != "" {
		if err := Reap(mark); err != nil {
			os.Exit(5)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// echo is the well-behaved program: it says what it was given.
func echo() {
	input, err := readAll(os.Stdin)
	if err != nil {
		os.Exit(4)
	}
	os.Stdout.WriteString(input)
	os.Stderr.WriteString("args: " + strings.Join(os.Args[1:], " ") + "\n")
	os.Stderr.WriteString("session: " + os.Getenv("CLAUDE_CODE_SESSION_ID") + "\n")
	os.Exit(7)
}

func readAll(f *os.File) (string, error) {
	var b strings.Builder
	_, err := f.WriteTo(&b)
	return b.String(), err
}

// bad is a command that misbehaves, and the file with the numbers of its processes.
func bad(t *testing.T, how string) (Command, string) {
	t.Helper()
	note := filepath.Join(t.TempDir(), "note")
	return Command{
		Path: os.Args[0], Dir: t.TempDir(), Deadline: time.Minute,
		Env: []string{misbehave.EnvHow + "=" + how, misbehave.EnvNote + "=" + note},
	}, note
}

func TestProgramGetsItsInputAndNothingElse(t *testing.T) {
	t.Setenv("CLAUDE_CODE_SESSION_ID", "the session of the person who runs the tests")
	var lines []string
	got, err := Run(t.Context(), Command{Path: os.Args[0], Args: []string{"-x"}, Env: []string{"TEST_ECHO=1"}}, "one\n\ntwo\r\nthree",
		func(line []byte) error { lines = append(lines, string(line)); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(lines, "|"); text != "one|two|three" {
		t.Errorf("lines %q", text)
	}
	if got.End != Exited || got.Code != 7 || got.Signal != "" || got.Err != nil || got.Stderr != "args: -x\nsession: \n" {
		t.Errorf("result %+v", got)
	}
}

func TestMissingProgram(t *testing.T) {
	for _, path := range []string{"no-such-program-anywhere", "/no/such/program"} {
		_, err := Run(t.Context(), Command{Path: path}, "", nil)
		if !errors.Is(err, os.ErrNotExist) && !strings.Contains(err.Error(), "not found") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestContextThatEndedStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(turn.ErrKilled)
	c, note := bad(t, misbehave.Silent)
	if _, err := Run(ctx, c, "", nil); !errors.Is(err, turn.ErrKilled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(note); err == nil {
		t.Error("the program was started")
	}
}

func TestMisbehaviour(t *testing.T) {
	t.Parallel()
	tests := []struct {
		how    string
		check  func(Lines) bool
		within time.Duration
	}{
		{misbehave.Silent, func(l Lines) bool { return l.End == Exited && l.Code == 0 && l.Stderr == "" }, time.Second},
		{misbehave.NeverReads, func(l Lines) bool { return l.End == Exited && l.Code == 0 }, time.Second},
		{misbehave.PipeHolder, func(l Lines) bool { return l.End == Exited && l.Code == 0 }, 2 * drainWait},
		{misbehave.Daemon, func(l Lines) bool { return l.End == Exited && l.Code == 0 }, drainWait},
		{misbehave.Flood, func(l Lines) bool { return l.End == Stopped && errors.Is(l.Err, ErrFlood) }, 10 * time.Second},
		{misbehave.LongLine, func(l Lines) bool { return l.End == Stopped && errors.Is(l.Err, ErrFlood) }, 10 * time.Second},
		{misbehave.Signal, func(l Lines) bool { return l.End == Exited && l.Code == -1 && l.Signal == "killed" }, time.Second},
		{misbehave.SlowStderr, func(l Lines) bool {
			return l.Code == 3 && strings.Count(l.Stderr, "still talking\n") == 5
		}, drainWait},
		{misbehave.FullStderr, func(l Lines) bool {
			return l.Code == 3 && len(l.Stderr) == MaxStderr && strings.HasSuffix(l.Stderr, "ethe reason\n")
		}, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.how, func(t *testing.T) {
			t.Parallel()
			c, note := bad(t, tt.how)
			got, err := Run(t.Context(), c, strings.Repeat("a long prompt ", 100_000), func([]byte) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if !tt.check(got) {
				got.Stderr = got.Stderr[:min(100, len(got.Stderr))]
				t.Errorf("result %+v", got)
			}
			// Twice what it takes, and a while for a busy machine.
			if limit := 2*tt.within + 5*time.Second; got.Duration > limit {
				t.Errorf("took %v, want %v at most", got.Duration, limit)
			}
			allEnded(t, note)
		})
	}
}

// TestStopping stops programs by their deadline, by a person and by the kill switch, once they are known to run.
func TestStopping(t *testing.T) {
	t.Parallel()
	const (
		deadline = 2 * time.Second // by then the program is ready, on a busy machine too
		short    = time.Second
	)
	tests := []struct {
		name, how string
		cause     error // of the context's end; nil: the deadline passes
		grace     time.Duration
		end       End
		signal    string
		processes int           // that must have been started
		min, max  time.Duration // from the stop to the end
	}{
		{"deadline", misbehave.Hang, nil, 0, TimedOut, "interrupt", 1, 0, turn.CancelGrace},
		{"deadline, deaf", misbehave.Deaf, nil, short, TimedOut, "killed", 1, short, short + 3*time.Second},
		{"cancel", misbehave.Hang, context.Canceled, 0, Cancelled, "interrupt", 1, 0, turn.CancelGrace},
		{"cancel, deaf", misbehave.Deaf, context.Canceled, 0, Cancelled, "killed", 1, turn.CancelGrace, turn.CancelGrace + 3*time.Second},
		{"kill switch", misbehave.Hang, turn.ErrKilled, 0, Cancelled, "interrupt", 1, 0, turn.KillGrace},
		{"kill switch, deaf", misbehave.Deaf, turn.ErrKilled, 0, Cancelled, "killed", 1, turn.KillGrace, 3 * time.Second},
		{"kill switch, orphan in its own session", misbehave.OwnSession, turn.ErrKilled, 0, Cancelled, "killed", 3, turn.KillGrace, 3 * time.Second},
		{"kill switch, child without environment", misbehave.Bare, turn.ErrKilled, 0, Cancelled, "killed", 2, turn.KillGrace, 3 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, note := bad(t, tt.how)
			c.Grace = tt.grace
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			p, err := Start(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			p.Stdin.Close()
			go func() { _, _ = readAllFrom(p) }()
			await(t, func() bool { pids, _ := misbehave.Noted(note); return len(pids) >= tt.processes })
			from := time.Now()
			if tt.cause != nil {
				cancel(tt.cause)
			} else {
				p.Kill() // replaced below by the run with a deadline
				p.Wait()
				c.Deadline = deadline
				if p, err = Start(ctx, c); err != nil {
					t.Fatal(err)
				}
				p.Stdin.Close()
				go func() { _, _ = readAllFrom(p) }()
				from = time.Now().Add(deadline)
			}
			got := p.Wait()
			if got.End != tt.end || got.Signal != tt.signal || got.Lost {
				t.Errorf("result %+v", got)
			}
			if took := time.Since(from); took < tt.min || took > tt.max+5*time.Second {
				t.Errorf("ended after %v, want %v to %v", took, tt.min, tt.max)
			}
			allEnded(t, note)
		})
	}
}

func readAllFrom(p *Process) (int, error) {
	n := 0
	for b := make([]byte, 4096); ; {
		read, err := p.Stdout.Read(b)
		n += read
		if err != nil {
			return n, err
		}
	}
}

// TestSecondSignalLeavesNothing is Ctrl-C twice, from somebody who does not wait for a deaf program.
func TestSecondSignalLeavesNothing(t *testing.T) { // not parallel: others would be hurried too
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // as the program does: the next one ends it
	c, note := bad(t, misbehave.OwnSession)
	p, err := Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	p.Stdin.Close()
	go func() { _, _ = readAllFrom(p) }()
	await(t, func() bool { pids, _ := misbehave.Noted(note); return len(pids) == 3 })
	interrupt := func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
	}
	interrupt()
	<-ctx.Done()
	from := time.Now()
	interrupt()
	if got := p.Wait(); got.End != Cancelled || got.Signal != "killed" || time.Since(from) >= turn.CancelGrace {
		t.Errorf("after %v: %+v", time.Since(from), got)
	}
	allEnded(t, note)
}

// TestKillSwitchShortensAGrace cancels as a person does not, with the deadline passed already.
func TestKillSwitchShortensAGrace(t *testing.T) {
	t.Parallel()
	c, note := bad(t, misbehave.Deaf)
	c.Deadline = 2 * time.Second
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(c.Deadline+c.Deadline/4, func() { cancel(turn.ErrKilled) })
	got, err := Run(ctx, c, "", func([]byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if got.End != TimedOut || got.Duration >= c.Deadline+turn.CancelGrace {
		t.Errorf("result %+v", got)
	}
	allEnded(t, note)
}

func TestCallbackStopsTheProgram(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	c, note := bad(t, misbehave.Flood)
	calls := 0
	got, err := Run(t.Context(), c, "", func([]byte) error { calls++; return enough })
	if err != nil {
		t.Fatal(err)
	}
	if calls != 1 || got.End != Stopped || !errors.Is(got.Err, enough) {
		t.Errorf("%d calls, result %+v", calls, got)
	}
	allEnded(t, note)
}

// TestSlowReaderLosesNothing reads what a program wrote long after it ended.
func TestSlowReaderLosesNothing(t *testing.T) {
	t.Parallel()
	input := strings.Repeat("x", 40<<10) // fits the pipe
	p, err := Start(t.Context(), Command{Path: os.Args[0], Env: []string{"TEST_ECHO=1"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Stdin.Write([]byte(input)); err != nil {
		t.Fatal(err)
	}
	p.Stdin.Close()
	one := make([]byte, 1)
	if _, err := p.Stdout.Read(one); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.done:
		t.Error("ended with output unread")
	case <-time.After(3 * drainWait): // as long as a reader may be busy, and longer
	}
	n, _ := readAllFrom(p)
	p.Wait()
	if n != len(input)-1 {
		t.Errorf("read %d bytes after the first, want %d", n, len(input)-1)
	}
}

// TestReusedNumberIsNotHit lets a family remember a process by another time of start.
func TestReusedNumberIsNotHit(t *testing.T) {
	t.Parallel()
	c, note := bad(t, misbehave.Hang)
	stranger, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = readAllFrom(stranger) }()
	await(t, func() bool { pids, _ := misbehave.Noted(note); return len(pids) == 1 })
	pid := stranger.cmd.Process.Pid
	e, ok := lookUp(pid)
	if !ok {
		t.Fatal("not in the table")
	}
	f := &family{pid: pid, start: e.start - 1, ours: func(string) bool { return false }, known: map[int]uint64{pid: e.start - 1}}
	f.kill()
	f.strike(pid, e.start-1)
	if now, ok := lookUp(pid); !ok || now != e {
		t.Error("a process with another time of start was killed")
	}
	stranger.Kill()
	stranger.Wait()
}

func TestMarkNamesTheTurnsAround(t *testing.T) {
	t.Setenv(turn.EnvMark, "outer")
	for turnMark, prefix := range map[string]string{"": "outer/", "inner": "outer/inner/"} {
		mark, err := newMark(turnMark)
		if err != nil {
			t.Fatal(err)
		}
		if rest, ok := strings.CutPrefix(mark, prefix); !ok || len(rest) != 16 {
			t.Errorf("mark %q", mark)
		}
	}
}

// allEnded fails when a process that noted itself is alive.
func allEnded(t *testing.T, note string) {
	t.Helper()
	pids, err := misbehave.Noted(note)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if _, alive := lookUp(pid); alive {
			t.Errorf("process %d of %d was left behind", pid, len(pids))
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// await returns when ok does, and fails the test when that takes too long.
func await(t *testing.T, ok func() bool) {
	t.Helper()
	limit := time.After(20 * time.Second)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-limit:
			t.Fatal("what the test waits for did not happen")
		}
	}
}
