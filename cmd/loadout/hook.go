package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/hook"
)

// hookDeadline is how long a hook may take before it lets the program go on.
const hookDeadline = 5 * time.Second

type hookCmd struct {
	Event string `arg:"" help:"SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop, SessionEnd, what a program calls them, or git-pre-commit; the case of letters and dashes do not matter."`
	Host  string `placeholder:"PROGRAM" help:"Whose hook it is: claude-code, codex, cursor or gemini. Default: as the process above this one is known."`
}

func (hookCmd) Help() string {
	return "For the settings of agent programs, see loadout connect: reads the program's JSON on stdin and answers in its format. Without " +
		".handoff/ in the project it does nothing, and what fails here never keeps the program from going on: the exit code is 0, except for " +
		"a commit that is refused.\n\n" +
		examples(
			"loadout hook PreToolUse --host claude-code < event.json",
			"loadout hook session-start --host codex < event.json",
			"loadout hook git-pre-commit",
		)
}

// gitPreCommit is the event of git's hook.
const gitPreCommit = "git-pre-commit"

func (o *hookCmd) run(ctx context.Context, c *call) error {
	if c.nested {
		return &engine.UsageError{Message: "a hook is answered to a program, not to the cockpit"}
	}
	if o.Event == gitPreCommit {
		return c.guardCommit(ctx)
	}
	ev, ok := hook.ParseEvent(o.Event)
	if !ok {
		return &engine.UsageError{Message: fmt.Sprintf("no event %q is known", o.Event)}
	}
	in, err := readHook(ctx, c.stdin)
	if err != nil {
		return err
	}
	if dir := in.dir(); dir != "" {
		c.dir = dir
	}
	e, err := c.coordinated()
	if err != nil || e == nil {
		return err
	}
	set, slip := c.settings(e.Project()) // what is valid of them holds
	answer, err := hook.Handle(ctx, e, set.Guard, in.call(ev, o.Host, c.dir))
	for _, n := range answer.Notes {
		c.note("loadout hook: %s", n)
	}
	return errors.Join(writeAnswer(c.stdout, ev, o.Host, answer), err, slip)
}

// coordinated is the engine of the project, nil where it does not use Loadout.
func (c *call) coordinated() (*engine.Engine, error) {
	e, err := c.open(hook.LockWait)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(e.Project().Dir); err != nil {
		return nil, nil //nolint:nilnil,nilerr // not used here
	}
	return e, nil
}

// isHook reports whether a command line is that of a hook.
func isHook(args []string) bool {
	for i := 0; i < len(args); i++ {
		switch {
		case !strings.HasPrefix(args[i], "-"):
			return args[i] == "hook"
		case takesValue(args[i]):
			i++
		}
	}
	return false
}

// runHook carries out a hook and returns the exit code. Programs read codes as verdicts, so that everything that fails here, down to a
// panic, ends with 0 and a line on stderr and in the project's private journal. Only a refused commit is another code.
func runHook(ctx context.Context, args []string, a *app) (code int) {
	signal.Ignore(syscall.SIGPIPE) // a program that has stopped listening is no failure
	ctx, cancel := context.WithTimeout(ctx, hookDeadline)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			a.hookFailed(nil, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			code = exitDone
		}
	}()
	c, err := execute(ctx, args, a)
	if err == nil || errors.Is(err, errHelpShown) {
		return exitDone
	}
	var refused commitRefused
	if errors.As(err, &refused) {
		c.refuse(refused.ConflictError, exitConflict)
		return exitConflict
	}
	a.hookFailed(c.opened, err)
	return exitDone
}

// hookFailed says what went wrong in a hook.
func (a *app) hookFailed(e *engine.Engine, err error) {
	p := printer{w: a.stderr}
	first, _, _ := strings.Cut(err.Error(), "\n")
	p.printf("loadout hook: %s; nothing was stopped by that\n", brief(first))
	if e != nil {
		hook.Journal(e.Project(), a.now(), err.Error())
		return
	}
	if found, discoverErr := engine.Discover(engine.Where{Env: a.env("LOADOUT_PROJECT"), Dir: a.dir, Home: a.home}); discoverErr == nil {
		hook.Journal(found, a.now(), err.Error())
	}
}
