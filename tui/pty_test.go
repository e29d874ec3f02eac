//go:build !windows

package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/agentloadout/loadout/engine"
)

// runChild is the cockpit that the terminal tests start. how says what breaks.
func runChild(how string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	f := story(failer{})
	var e Engine = f
	switch how {
	case "panic in a command":
		e = panics{f, "Do"}
	case "panic in the feed":
		e = panics{f, "FollowFrom"}
	}
	o := Options{Engine: e, Runner: &fakeRunner{}, Clock: f.clock, At: Now, In: os.Stdin, Out: os.Stdout, fold: foldFake}
	if how == "real" || how == "polling" {
		o.Engine, o.Clock, o.fold = realEngine(os.Getenv(childDir), how == "polling"), nil, nil
	}
	err := Run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("bye")
	return 0
}

// panics is an engine with a fault.
type panics struct {
	*fakeEngine
	in string
}

func (p panics) Do(ctx context.Context, r engine.Request) (engine.Receipt, error) {
	if p.in == "Do" {
		panic("fault in a command")
	}
	return p.fakeEngine.Do(ctx, r)
}

func (p panics) FollowFrom(ctx context.Context, v *engine.View, fn func(engine.Delivery) error) error {
	if p.in == "FollowFrom" {
		panic("fault in the feed")
	}
	return p.fakeEngine.FollowFrom(ctx, v, fn)
}

// tty is a cockpit in a terminal of its own.
type tty struct {
	*testing.T
	cmd      *exec.Cmd
	host     *os.File // the terminal's side
	line     *os.File // the program's side, kept open to look at its modes
	emulator *vt.SafeEmulator
	before   *term.State
	state    string // where crash files go
	dir      string // of the project, and of an editor

	mu     sync.Mutex
	output bytes.Buffer
	done   chan struct{} // everything was read
}

// startTTY starts the child in a terminal of 100×30.
func startTTY(t *testing.T, how string, argv ...string) *tty {
	t.Helper()
	host, line, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	host = pollable(t, host)
	resizeTTY(t, host, 100, 30)
	before, err := term.GetState(int(line.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if len(argv) == 0 {
		argv = []string{os.Args[0]}
	}
	tt := &tty{T: t, host: host, line: line, emulator: vt.NewSafeEmulator(100, 30), before: before, state: t.TempDir(), dir: t.TempDir(), done: make(chan struct{})}
	tt.cmd = exec.Command(argv[0], argv[1:]...)
	tt.cmd.Env = []string{child + "=" + how, "TERM=xterm-256color", "XDG_STATE_HOME=" + tt.state, "PATH=" + os.Getenv("PATH"), "COCKPIT=" + os.Args[0], childDir + "=" + tt.dir, "EDITOR=" + filepath.Join(tt.dir, "editor")}
	tt.cmd.Stdin, tt.cmd.Stdout, tt.cmd.Stderr = line, line, line
	tt.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := tt.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(tt.done)
		buf := make([]byte, 32<<10)
		for {
			n, err := host.Read(buf)
			if n > 0 {
				tt.mu.Lock()
				tt.output.Write(buf[:n])
				tt.mu.Unlock()
				_, _ = tt.emulator.Write(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	var answers sync.WaitGroup
	answers.Go(func() { _, _ = io.Copy(host, tt.emulator) })
	t.Cleanup(func() {
		_ = tt.cmd.Process.Kill()
		_ = line.Close()
		_ = host.Close()
		<-tt.done
		if pipe, ok := tt.emulator.InputPipe().(io.Closer); ok {
			_ = pipe.Close()
		}
		answers.Wait()
	})
	return tt
}

// pollable is the same file in the mode in which a Close ends a Read.
func pollable(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := unix.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	unix.CloseOnExec(fd)
	if err := errors.Join(unix.SetNonblock(fd, true), f.Close()); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}

// resizeTTY changes the window's size. The package pty would make the file block for it.
func resizeTTY(t *testing.T, f *os.File, w, h uint16) {
	t.Helper()
	conn, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: w, Row: h})
	})
	if err := errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
}

func (t *tty) screen() string { return ansi.Strip(t.emulator.Render()) }

func (t *tty) written() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.output.String()
}

// until waits for a condition on the screen.
func (t *tty) until(what string, ok func(screen string) bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !ok(t.screen()) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s\n%s", what, t.screen())
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (t *tty) shows(texts ...string) {
	t.Helper()
	for _, s := range texts {
		t.until("shows "+s, func(screen string) bool { return strings.Contains(screen, s) })
	}
}

func (t *tty) press(keys string) {
	t.Helper()
	if _, err := t.host.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// ended waits for the end and fails unless the terminal is as it was.
func (t *tty) ended() (code int) {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- t.cmd.Wait() }()
	select {
	case err := <-result:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("it does not end\n%s", t.screen())
	}
	after, err := term.GetState(int(t.line.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(t.before, after) {
		t.Errorf("the modes of the line were %+v and are %+v", t.before, after)
	}
	t.until("the terminal is given back", func(string) bool {
		w := t.written()
		return strings.Count(w, ansi.SetModeAltScreenSaveCursor) == strings.Count(w, ansi.ResetModeAltScreenSaveCursor) &&
			strings.LastIndex(w, ansi.ShowCursor) > strings.LastIndex(w, ansi.HideCursor) &&
			strings.LastIndex(w, ansi.ResetModeBracketedPaste) > strings.LastIndex(w, ansi.SetModeBracketedPaste) &&
			strings.LastIndex(w, ansi.SetModeAutoWrap) > strings.LastIndex(w, ansi.ResetModeAutoWrap)
	})
	return t.cmd.ProcessState.ExitCode()
}

func TestTerminalOpenResizeActKillQuit(t *testing.T) {
	tt := startTTY(t, "plain")
	tt.shows("1 Ownership", "8 Agents", "live")
	if n := strings.Count(tt.written(), "\x1b]11"); n != 0 {
		t.Errorf("the terminal was asked for its background %d times", n)
	}
	tt.emulator.Resize(80, 24)
	resizeTTY(t, tt.host, 80, 24)
	tt.shows("7 Timeline · 8 Agents")
	tt.press("c")
	tt.shows("Claim")
	tt.press("\x15src/new\r")
	tt.shows("user holds src/new")
	tt.press("K")
	tt.shows("Halt everything")
	tt.press("tests fail\r")
	tt.shows("HALTED", "tests fail")
	tt.until("the form closes", func(s string) bool { return !strings.Contains(s, "Halt everything") })
	tt.press("R")
	tt.shows("Resume")
	tt.press("\r")
	tt.shows("resumed")
	tt.press("q")
	if code := tt.ended(); code != 0 {
		t.Errorf("exit %d", code)
	}
	tt.shows("bye")
}

func TestTerminalSurvivesSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			tt := startTTY(t, "plain")
			tt.shows("1 Ownership")
			if err := tt.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if code := tt.ended(); code != 1 {
				t.Errorf("exit %d", code)
			}
		})
	}
}

func TestTerminalLost(t *testing.T) {
	tt := startTTY(t, "plain")
	tt.shows("1 Ownership")
	_ = tt.line.Close()
	_ = tt.host.Close()
	result := make(chan error, 1)
	go func() { result <- tt.cmd.Wait() }()
	select {
	case <-result:
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on without a terminal")
	}
}

func TestTerminalAfterAPanic(t *testing.T) {
	for _, how := range []string{"panic in a command", "panic in the feed"} {
		t.Run(how, func(t *testing.T) {
			tt := startTTY(t, how)
			if how == "panic in a command" {
				tt.shows("1 Ownership", "src/")
				tt.press("c\r")
			}
			if code := tt.ended(); code != 1 {
				t.Errorf("exit %d", code)
			}
			tt.shows("the cockpit crashed: fault in")
			files, err := filepath.Glob(filepath.Join(tt.state, "loadout", "loadout-crash-*.txt"))
			if err != nil || len(files) != 1 {
				t.Fatalf("crash files: %v, %v", files, err)
			}
			info, err := os.Stat(files[0])
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 || !bytes.Contains(text, []byte("fault in")) || !bytes.Contains(text, []byte("pty_test.go")) {
				t.Errorf("mode %v, says:\n%s", info.Mode(), text)
			}
		})
	}
}

func TestTerminalSuspend(t *testing.T) {
	sh, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no shell with job control")
	}
	tt := startTTY(t, "plain", sh, "-c", `set -m; "$COCKPIT"; echo STOPPED; read -r go; fg >/dev/null; echo ENDED`)
	tt.shows("1 Ownership")
	tt.press("\x1a")
	tt.shows("STOPPED")
	if strings.Contains(tt.screen(), "Ownership") {
		t.Errorf("the screen was not given back:\n%s", tt.screen())
	}
	tt.press("\n")
	tt.shows("1 Ownership", "live")
	tt.press("7")
	tt.until("takes keys again", func(s string) bool { return strings.Contains(s, "▌7 Timeline") })
	tt.press("q")
	tt.shows("bye", "ENDED")
	tt.ended()
}

func TestTerminalKeysArriveFast(t *testing.T) {
	tt := startTTY(t, "plain")
	tt.shows("1 Ownership", "live")
	worst := time.Duration(0)
	for i := range 10 {
		want := fmt.Sprintf("▌%d ", i%4+1)
		begun := time.Now()
		tt.press(strconv.Itoa(i%4 + 1))
		tt.shows(want)
		worst = max(worst, time.Since(begun))
	}
	t.Logf("slowest of 10 keys: %v", worst)
	tt.press("q")
	tt.ended()
}
