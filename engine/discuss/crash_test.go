package discuss

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/turn"
)

// playRole is what the test binary does as another process: it holds a discussion and stops for ever at the step that the role names, which
// it tells on standard output. Its programs write down each call.
func playRole(role, root string) error {
	s := openScene(nil, root)
	at := func(step string) {
		if step == role {
			fmt.Println(step)
			_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
		}
	}
	say := func(ctx context.Context, n int, t turn.Turn) (turn.Reply, error) {
		at("begun" + strconv.Itoa(n))
		if err := noteCall(root); err != nil {
			return turn.Reply{}, err
		}
		at("called" + strconv.Itoa(n))
		if role == "hang"+strconv.Itoa(n) {
			fmt.Println(role)
			<-ctx.Done()
			return turn.Reply{Text: "too late"}, nil
		}
		if role == "answered"+strconv.Itoa(n) {
			lockLog(root, func() { at(role) })
		}
		return sensible(ctx, n, t)
	}
	s.claude.say, s.codex.say = say, say
	said := 0
	s.options.Report = func(p Progress) {
		switch p.Kind {
		case KindOpened:
			at("opened")
		case KindSaid:
			said++
			at("said" + strconv.Itoa(said))
		default:
		}
	}
	d, err := Prepare(context.Background(), s.Engine, request(), s.options)
	if err != nil {
		return err
	}
	_, err = d.Run(context.Background())
	return err
}

// lockLog locks the log for as long as fn runs, and returns when it is locked: what was answered cannot be stored.
func lockLog(root string, fn func()) {
	locked := make(chan struct{})
	go func() {
		_, _ = openScene(nil, root).RecordTurns(context.Background(), "", func(engine.View) ([]event.Event, error) {
			close(locked)
			fn()
			return nil, nil
		})
	}()
	<-locked
}

func noteCall(root string) error {
	f, err := os.OpenFile(filepath.Join(root, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(f, "call\n"); err != nil {
		return err
	}
	return f.Close()
}

func calls(t *testing.T, root string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "calls")) //nolint:gosec // a file of this test
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(data), "call\n")
}

// Whenever the process of a discussion is killed: the thread is readable and goes on, nothing is stored twice, and a turn that may have been
// paid for and left nothing is seen before another is paid for.
func TestKilledAtEveryStep(t *testing.T) {
	t.Parallel()
	steps := []struct {
		step    string
		said    int // statements that were stored
		calls   int // calls of programs in all, after going on
		unknown int // turns of which nobody knows what came
	}{{"opened", 0, 3, 0}, {"said1", 1, 3, 0}, {"said2", 2, 3, 0}}
	for n := 1; n <= 3; n++ {
		for _, stage := range []struct {
			name  string
			again int // calls beyond three
		}{{"begun", 0}, {"called", 1}, {"answered", 1}} {
			steps = append(steps, struct {
				step                 string
				said, calls, unknown int
			}{stage.name + strconv.Itoa(n), n - 1, 3 + stage.again, 1})
		}
	}
	for _, tt := range steps {
		t.Run(tt.step, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			root := s.Project().Root
			killAt(t, s, tt.step)
			d, th, err := Resume(t.Context(), s.Engine, ResumeRequest{Thread: "pay"}, s.options)
			if err != nil {
				t.Fatalf("%v\n%s", err, s.log())
			}
			if th.Said != tt.said || th.Status != StatusOpen || len(th.Unknown()) != tt.unknown || d.Left() != 3-tt.said {
				t.Fatalf("%d said, %d unknown, %d left, %s\n%s", th.Said, len(th.Unknown()), d.Left(), th.Status, s.log())
			}
			say := func(ctx context.Context, n int, given turn.Turn) (turn.Reply, error) {
				if err := noteCall(root); err != nil {
					return turn.Reply{}, err
				}
				return sensible(ctx, n, given)
			}
			s.claude.say, s.codex.say = say, say
			if _, err := d.Run(t.Context()); err != nil {
				t.Fatalf("%v\n%s", err, s.log())
			}
			if got := calls(t, root); got != tt.calls {
				t.Errorf("%d calls, want %d", got, tt.calls)
			}
			th = s.thread()
			if th.Status != StatusClosed || th.Said != 3 || len(th.Statements) != 5 || len(s.events(event.TypeDecision)) != 1 {
				t.Errorf("thread %+v\n%s", th.Row, s.log())
			}
			if wrong := checkOrder(Said(th.Statements), th.Participants, 1); wrong != "" {
				t.Error(wrong)
			}
			last := ""
			for _, st := range th.Statements {
				if st.ReplyTo != last {
					t.Errorf("#%d replies to %q, not to %q", st.Seq, st.ReplyTo, last)
				}
				last = st.ID
			}
		})
	}
}

// patience bounds what a test waits for; it is only reached by a failure.
const patience = 20 * time.Second

// child is another process that holds a discussion.
type child struct {
	cmd   *exec.Cmd
	words *bufio.Scanner
	step  string
}

func start(t *testing.T, root, step string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: exec.CommandContext(t.Context(), self, root), step: step} //nolint:gosec // this test binary
	c.cmd.Env = append(os.Environ(), "DISCUSS_TEST_ROLE="+step)
	c.cmd.Stderr = os.Stderr
	if _, err := c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.words = bufio.NewScanner(stdout)
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c
}

// hear waits until the process is at its step. One that does not get there in time is killed.
func (c *child) hear(t *testing.T) {
	t.Helper()
	defer time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() }).Stop()
	for c.words.Scan() {
		if c.words.Text() == c.step {
			return
		}
	}
	t.Fatalf("the process ended without saying %q", c.step)
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait() // it was killed
}

// killAt starts a discussion in another process and kills that at a step.
func killAt(t *testing.T, s *scene, step string) {
	t.Helper()
	c := start(t, s.Project().Root, step)
	c.hear(t)
	c.kill()
}

// The kill switch of another process in the first turn: within a second the turn is over, its answer is dropped, the other side is not asked,
// and the discussion goes on when that is lifted.
func TestKilledByAnotherProcess(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := start(t, s.Project().Root, "hang1")
	c.hear(t)
	if _, err := s.Kill(t.Context(), "user", "wait"); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(patience, func() { t.Error("the other process goes on"); _ = c.cmd.Process.Kill() })
	defer late.Stop()
	if err := c.cmd.Wait(); err == nil {
		t.Error("the other process says that all is well")
	}
	th := s.thread()
	if th.Status != StatusOpen || th.Said != 0 || calls(t, s.Project().Root) != 1 || len(th.Turns) != 1 || th.Turns[0].Cause != "halt" || strings.Contains(s.log(), "too late") {
		t.Errorf("thread %+v\n%s", th, s.log())
	}
	if _, err := s.Resume(t.Context(), "user"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.goOn(t.Context()); err != nil || s.thread().Status != StatusClosed || s.calls != 3 {
		t.Errorf("%v, %d calls", err, s.calls)
	}
}
