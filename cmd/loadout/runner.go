package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/agentloadout/loadout/engine/words"
)

// runner runs verbs inside the cockpit, for its command line: the same grammar, the same engine, and nothing of the terminal.
type runner struct {
	app    *app
	common common // of the command line that opened the cockpit, without who acts

	completer func() (*completer, error)
}

func newRunner(c *call) *runner {
	inside, flags, actor := *c.app, c.common, cmp.Or(c.As, c.Agent)
	inside.actor, flags.As, flags.Agent = &actor, "", ""
	inside.stdin, inside.terminal, inside.colour, inside.nested = strings.NewReader(""), false, false, true
	if inside.stage == nil {
		inside.stage = newStage()
	}
	return &runner{
		app:       &inside,
		common:    flags,
		completer: sync.OnceValues(func() (*completer, error) { return newCompleter(&inside, flags) }),
	}
}

// Run carries out one command line, without the program's name, and prints its answer to out. A refusal is returned, and not
// printed.
func (r *runner) Run(ctx context.Context, argv []string, out io.Writer) error {
	inside := *r.app
	inside.stdout, inside.stderr = out, out
	_, err := execute(ctx, append(r.flags(), argv...), &inside)
	var silent errSilent
	if errors.As(err, &silent) {
		return nil // the answer says it
	}
	return err
}

// flags are the common flags with which the cockpit was opened; those that are typed now come later and win.
func (r *runner) flags() []string {
	if r.common.Project == "" {
		return nil
	}
	return []string{"--project=" + r.common.Project}
}

// Complete lists what the last word of a line may become, each as one word of such a line, in quotes where it needs them. A quote is
// left open where something may follow.
func (r *runner) Complete(line string) []string {
	completer, err := r.completer()
	if err != nil {
		return nil
	}
	before, last, _ := words.Unfinished(line)
	if len(before) > 0 && before[0] == "loadout" {
		before = before[1:]
	}
	found := completer.complete(context.Background(), before, last)
	list := make([]string, len(found))
	for i, x := range found {
		list[i] = words.Complete(x.Word, x.GoesOn)
	}
	return list
}
