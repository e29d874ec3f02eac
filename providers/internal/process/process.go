package process

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/agentloadout/loadout/engine/turn"
)

const (
	// watchEvery is how often descendants are looked for while the program runs. A look costs some milliseconds.
	watchEvery = 250 * time.Millisecond
	// drainWait is how long stdout and stderr may stay silent and open after the program ended, before whoever holds them is killed,
	// and again before they are given up.
	drainWait = time.Second
	// lostAfter is how long a killed program may take to end before it is given up: it hangs in the kernel.
	lostAfter = 5 * time.Second
)

// Command is a program to run.
type Command struct {
	Path     string        // of the executable, or a name to look up in PATH
	Args     []string      // without the program's name
	Dir      string        // working directory
	Env      []string      // further KEY=value, see Environ
	Deadline time.Duration // 0: none
	Grace    time.Duration // between interrupt and kill; 0: turn.CancelGrace
	Hurry    time.Duration // the same for the kill switch; 0: turn.KillGrace
	Mark     string        // of the turn, see turn.EnvMark
}

// End is how a program came to its end.
type End int

// The values of End.
const (
	Exited    End = iota // by itself, or by somebody else's signal
	TimedOut             // stopped at its deadline
	Cancelled            // stopped because the context ended
	Stopped              // by Kill
)

// Result is what is left of a program.
type Result struct {
	End      End
	Code     int    // exit status; -1 after a signal
	Signal   string // that ended it, empty when it exited
	Stderr   string // the last MaxStderr bytes
	Lost     bool   // it did not end when killed, and was left behind
	Duration time.Duration
}

// Process is a running program. Stdin and Stdout must be used until they fail or Wait returned.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.Reader

	cmd    *exec.Cmd
	family *family
	began  time.Time
	stdin  *os.File
	stdout *output
	stderr *output
	kill   chan struct{} // closed by Kill
	once   sync.Once     // of kill
	hurry  chan os.Signal
	done   chan struct{} // closed when result is final
	result Result
}

// Start runs c until it ends, its deadline passes, or ctx ends: with turn.ErrKilled as its cause, the program gets c.Hurry between
// interrupt and kill, else c.Grace.
func Start(ctx context.Context, c Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	mark, err := newMark(c.Mark)
	if err != nil {
		return nil, err
	}
	// Not CommandContext: it would kill the program alone, and at once.
	cmd := exec.Command(c.Path, c.Args...) //nolint:gosec,noctx // running the program that a person named is the purpose; ctx is watched by supervise
	cmd.Dir = c.Dir
	cmd.Env = append(Environ(c.Env), turn.EnvMark+"="+mark)
	isolate(cmd)

	var pipes pipes
	stdin, stdinW := pipes.open()
	stdoutR, stdout := pipes.open()
	stderrR, stderr := pipes.open()
	if pipes.err != nil {
		pipes.close()
		return nil, fmt.Errorf("open pipe: %w", pipes.err)
	}
	// Given as files, so that Wait has no copying to wait for.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	began := time.Now()
	if err := cmd.Start(); err != nil {
		pipes.close()
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	for _, theirs := range []*os.File{stdin, stdout, stderr} {
		_ = theirs.Close() // our copy of their end; nothing was written
	}

	p := &Process{
		cmd: cmd, family: newFamily(cmd.Process, mark), began: began,
		stdin: stdinW, stdout: newOutput(stdoutR), stderr: newOutput(stderrR),
		kill: make(chan struct{}), done: make(chan struct{}), hurry: make(chan os.Signal, 2),
	}
	p.Stdin, p.Stdout = stdinW, p.stdout
	c.Grace, c.Hurry = cmp.Or(c.Grace, turn.CancelGrace), cmp.Or(c.Hurry, turn.KillGrace)
	// The second signal to end would end this process at once, and leave the program behind: it kills the program first.
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(p.hurry, s)
		}
	}
	go p.supervise(ctx, c)
	return p, nil
}

// Kill ends the program and all its descendants at once.
func (p *Process) Kill() { p.once.Do(func() { close(p.kill) }) }

// Wait returns when the program and its descendants have ended.
func (p *Process) Wait() Result {
	<-p.done
	return p.result
}

func (p *Process) supervise(ctx context.Context, c Command) {
	defer close(p.done)
	defer signal.Stop(p.hurry)
	defer p.family.close()
	var stderr tail
	var copying sync.WaitGroup
	copying.Go(func() { _, _ = io.Copy(&stderr, p.stderr) }) // it ends with the pipe, and that is all there is to know

	exited := make(chan error, 1)
	go func() { exited <- p.cmd.Wait() }()
	p.await(ctx, c, exited)

	p.settle() // the usual case: both ends are closed already
	p.family.kill()
	if !p.settle() {
		p.stdout.close() // held open by somebody who cannot be found or killed
		p.stderr.close()
	}
	_ = p.stdin.Close() // often closed already
	copying.Wait()
	p.stdout.close()
	p.stderr.close()
	p.result.Stderr = stderr.String()
	p.result.Duration = time.Since(p.began)
}

// await returns when the program itself has ended, and sees to it that it does.
func (p *Process) await(ctx context.Context, c Command, exited <-chan error) {
	watch := time.NewTicker(watchEvery)
	defer watch.Stop()
	var expired, graceOver, lost <-chan time.Time
	if c.Deadline > 0 {
		expired = time.After(c.Deadline)
	}
	cancelled, kill := ctx.Done(), p.kill
	signals := 0
	stop := func(end End) {
		if p.result.End == Exited {
			p.result.End = end
		}
	}
	for {
		select {
		case err := <-exited:
			p.result.Code, p.result.Signal = status(p.cmd.ProcessState, err)
			return
		case <-watch.C:
			p.family.observe()
		case <-expired:
			stop(TimedOut)
			p.family.interrupt()
			graceOver = time.After(c.Grace)
		case <-cancelled:
			cancelled = nil
			grace := c.Grace
			if errors.Is(context.Cause(ctx), turn.ErrKilled) {
				grace = c.Hurry
			}
			stop(Cancelled)
			p.family.interrupt()
			graceOver = time.After(grace)
		case <-p.hurry:
			if signals++; signals > 1 {
				graceOver = time.After(0)
			}
		case <-kill:
			kill = nil
			stop(Stopped)
			graceOver = time.After(0)
		case <-graceOver:
			graceOver = nil
			p.family.kill()
			lost = time.After(lostAfter)
		case <-lost:
			p.result.Lost, p.result.Code = true, -1
			return
		}
	}
}

// settle waits until stdout and stderr have ended. It reports false when one of them stayed silent for drainWait.
func (p *Process) settle() bool {
	return p.stdout.drained(drainWait) && p.stderr.drained(drainWait)
}

// newMark is the value of turn.EnvMark for one more program of a turn, behind those of the turns around this process.
func newMark(turnMark string) (string, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("make mark: %w", err)
	}
	words := slices.DeleteFunc([]string{os.Getenv(turn.EnvMark), turnMark, hex.EncodeToString(b[:])}, func(s string) bool { return s == "" })
	return strings.Join(words, "/"), nil
}

// pipes opens several pipes and closes all of them when one cannot be had.
type pipes struct {
	files []*os.File
	err   error
}

func (p *pipes) open() (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil {
		p.err = errors.Join(p.err, err)
		return nil, nil
	}
	p.files = append(p.files, r, w)
	return r, w
}

func (p *pipes) close() {
	for _, f := range p.files {
		_ = f.Close() // nothing was written
	}
}
