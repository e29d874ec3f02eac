// Package acp drives any agent that speaks the Agent Client Protocol over its stdin and stdout: Gemini CLI, OpenCode and others. A turn
// starts the agent's command, opens or resumes a session, sends one prompt, and ends the agent.
//
// The agent is given no abilities of ours: no files, no terminals, no MCP servers. What it does by itself and asks leave for is
// refused, unless the permissions of the turn allow its kind.
package acp

import (
	"context"
	"errors"
	"io"
	"log/slog" //nolint:depguard // the library logs by itself unless it is given a logger that does not
	"os"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/process"
	"github.com/agentloadout/loadout/providers/internal/program"
)

const (
	// leaveWait is how long an agent may take to end when its stdin is closed, before it is interrupted.
	leaveWait = 2 * time.Second
	// detectLimit bounds the first exchange with an agent that only is asked who it is.
	detectLimit = 20 * time.Second
)

// Provider drives one agent, which the settings name.
type Provider struct {
	program program.Program
	command []string
}

// New returns a provider for the agent that command starts, under the name by which it is known everywhere.
func New(name string, command []string) Provider {
	binary := name
	if len(command) > 0 {
		binary = command[0]
	}
	return Provider{command: command, program: program.Program{
		Provider: name, Binary: binary, AnyID: true,
		Install: "see the documentation of " + name,
		SignIn:  "run " + strings.Join(command, " ") + ", or the agent in a terminal, and sign in there",
	}}
}

// Name is that of the settings.
func (p Provider) Name() string { return p.program.Provider }

// Scripted is false: a model answers.
func (Provider) Scripted() bool { return false }

// Detect starts the agent by the command that it was made with, and asks who it is. The protocol has no question for the login: it shows when a session is opened.
func (p Provider) Detect(ctx context.Context, _ []string) (turn.Program, error) {
	path, _, err := p.program.Find(p.command)
	if err != nil {
		return turn.Program{}, err
	}
	found := turn.Program{Path: path, SignedIn: true, Account: "not told before the first turn"}
	c := newConversation(p.program, turn.Turn{Dir: os.TempDir(), Deadline: detectLimit, Permissions: turn.Permissions{Command: p.command, Forbid: true}}, nil)
	_, err = c.run(ctx, func(ctx context.Context, conn *sdk.ClientSideConnection) error {
		hello, err := c.initialize(ctx, conn)
		if err == nil && hello.AgentInfo != nil {
			found.Version = program.OneLine(hello.AgentInfo.Name + " " + hello.AgentInfo.Version)
		}
		return err
	})
	return found, err
}

// CheckSession refuses what cannot be shown in a line.
func (p Provider) CheckSession(id string) error { return p.program.CheckSession(id) }

// Do runs one turn.
func (p Provider) Do(ctx context.Context, t turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
	if err := p.program.Check(t); err != nil {
		return turn.Reply{Session: t.Session}, err
	}
	if _, err := p.Describe(t.Permissions); err != nil {
		return turn.Reply{Session: t.Session}, err
	}
	if len(t.Permissions.Command) == 0 {
		t.Permissions.Command = p.command
	}
	c := newConversation(p.program, t, progress)
	return c.run(ctx, c.converse)
}

// run starts the agent, lets talk speak with it, and ends it. Progress is reported, and what was learned is kept, by the calling
// goroutine alone: the others send it steps.
func (c *conversation) run(ctx context.Context, talk func(context.Context, *sdk.ClientSideConnection) error) (turn.Reply, error) {
	began := time.Now()
	path, args, err := c.program.Find(c.turn.Permissions.Command)
	if err != nil {
		return c.reply, err
	}
	// The process outlives ctx for a moment, in which the agent is told to stop by the protocol. Half of the grace is for that,
	// the other for the interrupt.
	processCtx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	proc, err := process.Start(processCtx, process.Command{
		Path: path, Args: args, Dir: c.turn.Dir, Env: c.turn.Env, Mark: c.turn.Mark, Grace: turn.CancelGrace / 2, Hurry: turn.KillGrace / 2,
	})
	if err != nil {
		return c.reply, c.program.NotStarted(ctx, c.turn.Permissions.Command, err)
	}
	input := newLines(proc.Stdout)
	c.input = input
	conn := sdk.NewClientSideConnection(c, proc.Stdin, input)
	conn.SetLogger(slog.New(slog.DiscardHandler))
	input.open() // not before, or the library would use the logger that it should not
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		<-conn.Done()
		_, _ = io.Copy(io.Discard, proc.Stdout) // until the agent has ended
	}()

	turnCtx, cancel := context.WithTimeout(ctx, program.Deadline(c.turn))
	defer cancel()
	err = c.listen(turnCtx, conn, talk)
	close(c.over)

	_ = proc.Stdin.Close() // a well-behaved agent ends
	if failure := (*turn.Failure)(nil); errors.As(err, &failure) && failure.Kind == turn.Forbidden {
		proc.Kill()
	} else if turnCtx.Err() != nil {
		stop(context.Cause(ctx)) // with ErrKilled, if that is it
	}
	leave := time.AfterFunc(leaveWait, func() { stop(nil) })
	result := proc.Wait()
	leave.Stop()
	<-drained
	c.reply.Duration = time.Since(began)
	return c.finish(ctx, turnCtx, result, err)
}

// listen carries out what the other goroutines send until talk is over, or ctx is: then the agent is told to stop, and has half of the
// grace to answer.
func (c *conversation) listen(ctx context.Context, conn *sdk.ClientSideConnection, talk func(context.Context, *sdk.ClientSideConnection) error) error {
	talking, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	defer hangUp()
	done := make(chan error, 1)
	go func() { done <- talk(talking, conn) }()
	ended := ctx.Done()
	var giveUp <-chan time.Time
	for {
		select {
		case step := <-c.steps:
			if err := step(); err != nil {
				return err // whatever it says now does not count
			}
		case err := <-done:
			return err
		case <-ended:
			ended = nil
			giveUp = time.After(grace(ctx) / 2)
			if c.reply.Session != "" {
				_ = conn.Cancel(talking, sdk.CancelNotification{SessionId: sdk.SessionId(c.reply.Session)}) // it may be gone
			}
		case <-giveUp:
			return context.Cause(ctx)
		}
	}
}

// grace is that of an ended context.
func grace(ctx context.Context) time.Duration {
	if errors.Is(context.Cause(ctx), turn.ErrKilled) {
		return turn.KillGrace
	}
	return turn.CancelGrace
}
