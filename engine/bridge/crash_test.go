package bridge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
)

// playRole is what the test binary does as another process: a bridge on the project of the first argument, which ends when its
// standard input does. What happens is told on standard output, a word a line; a line on standard input lets its program answer, in
// the role that waits for it.
func playRole(role string, args []string) error {
	e := openProject(args[0])
	answer := make(chan struct{})
	p := scribe(args[0], role, answer)
	b, err := Start(context.Background(), e, Sessions{Refs: []Ref{{Provider: p.name, Session: "one"}}}, Options{
		Providers: []turn.Provider{p}, Settle: 1, MaxSettle: 1,
		Report: func(p Progress) {
			if p.Kind == KindFinished {
				fmt.Println("finished")
			}
		},
	})
	var locked *engine.LockedError
	if errors.As(err, &locked) {
		fmt.Println("locked")
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Println("active")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		close(answer)
	}
	return b.Stop()
}

// scribe is a program that writes down what it is told, and stays silent for ever before or after that. In the role answered it answers
// when it is let.
func scribe(root, silent string, let <-chan struct{}) *program {
	p := answers("claude-code")
	answer := p.do
	p.do = func(ctx context.Context, t turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
		if silent == "begun" {
			fmt.Println("begun")
			select {}
		}
		f, err := os.OpenFile(filepath.Join(root, "told"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return turn.Reply{}, err
		}
		if _, err := io.WriteString(f, t.Prompt); err != nil {
			return turn.Reply{}, err
		}
		if err := f.Close(); err != nil {
			return turn.Reply{}, err
		}
		if silent == "told" {
			fmt.Println("told")
			select {}
		}
		if silent == "answered" {
			fmt.Println("told")
			<-let
			fmt.Println("answered")
		}
		return answer(ctx, t, progress)
	}
	return p
}

// child is another process with a bridge.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	words *bufio.Scanner
}

func spawn(t *testing.T, role, root string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{t: t, cmd: exec.CommandContext(t.Context(), self, root)}
	c.cmd.Env = append(os.Environ(), "BRIDGE_TEST_ROLE="+role)
	c.cmd.Stderr = os.Stderr
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
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

// hears waits for a word. A process that does not say it in time is killed.
func (c *child) hears(word string) {
	c.t.Helper()
	defer time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() }).Stop()
	for c.words.Scan() {
		if c.words.Text() == word {
			return
		}
	}
	c.t.Fatalf("the process ended without saying %q", word)
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait() // it was killed
}

// Whenever a bridge is killed: what it was to deliver is delivered once, or shown as uncertain, and never twice.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		step      string
		told      int  // how often the program was told in all
		uncertain bool // a person has to decide
	}{
		{"idle", 1, false},     // before there was anything
		{"queued", 1, false},   // the turn is on record and was not begun
		{"begun", 0, true},     // recorded as started, and the program has not read it
		{"told", 1, true},      // the program has read it
		{"answered", 1, true},  // it answered, and that is not on record
		{"finished", 1, false}, // it is
	} {
		t.Run(tt.step, func(t *testing.T) {
			t.Parallel()
			p := answers("claude-code")
			s := newScene(t, p)
			root := s.Project().Root
			p.do = scribe(root, "", nil).do
			c := spawn(t, tt.step, root)
			c.hears("active")
			switch tt.step {
			case "idle":
				c.kill()
				s.say("user", "*", "the-first")
			case "queued":
				c.kill()
				seq := s.say("user", "*", "the-first")
				_, err := s.RecordTurns(t.Context(), "", func(v engine.View) ([]event.Event, error) {
					session, _ := v.State.Session("claude-code")
					queued := of(session, event.TurnQueued)
					queued.Turn, queued.Why, queued.Seqs, queued.Through = event.NewID(), event.WhyDelivery, []int64{seq}, &seq
					return events(queued)
				})
				s.must(err)
			case "answered":
				s.say("user", "*", "the-first")
				c.hears("told")
				// It is let answer while the log is locked, so that the end of the turn cannot be recorded.
				_, err := s.RecordTurns(t.Context(), "", func(engine.View) ([]event.Event, error) {
					if _, err := io.WriteString(c.stdin, "answer\n"); err != nil {
						return nil, err
					}
					c.hears("answered")
					c.kill()
					return nil, nil
				})
				s.must(err)
			default:
				s.say("user", "*", "the-first")
				c.hears(tt.step)
				c.kill()
			}
			b, err := Start(t.Context(), s.Engine, Sessions{Refs: []Ref{{Agent: "claude-code"}}}, s.options)
			s.must(err)
			t.Cleanup(func() { _ = b.Stop() })
			s.say("user", "*", "the-second")
			want := int64(2)
			if tt.uncertain {
				want = 1
			}
			st := s.delivered("claude-code", want)
			data, err := os.ReadFile(filepath.Join(root, "told")) //nolint:gosec // a file of this test
			s.must(err)
			if got := strings.Count(string(data), ": the-first\n"); got != tt.told {
				t.Errorf("the first was told %d times, want %d", got, tt.told)
			}
			if got := strings.Count(string(data), ": the-second\n"); got != 1 {
				t.Errorf("the second was told %d times", got)
			}
			lost := turnsOf(st, "claude-code", state.TurnUncertain)
			if (len(lost) == 1 && lost[0].Waits()) != tt.uncertain {
				t.Errorf("uncertain: %+v\n%s", lost, s.log())
			}
			if !tt.uncertain {
				return
			}
			_, err = Retry(t.Context(), s.Engine, lost[0].ID, "user")
			s.must(err)
			s.delivered("claude-code", 2)
			if data, err = os.ReadFile(filepath.Join(root, "told")); err != nil || strings.Count(string(data), ": the-first\n") != tt.told+1 { //nolint:gosec // as above
				t.Errorf("a person had it made again, and the program was told %s %v", data, err)
			}
		})
	}
}

// Of many bridges that begin at once one gets the place, and another one when that is killed.
func TestRace(t *testing.T) {
	s := newScene(t, answers("claude-code"))
	s.attach()
	for range 2 {
		const many = 4
		children := make([]*child, many)
		for i := range children {
			children[i] = spawn(t, "race", s.Project().Root)
		}
		active := 0
		for _, c := range children {
			if !c.words.Scan() {
				t.Fatal("a process said nothing")
			}
			if c.words.Text() == "active" {
				active++
			}
		}
		if active != 1 {
			t.Fatalf("%d of %d have the place", active, many)
		}
		for _, c := range children {
			c.kill()
		}
	}
}
