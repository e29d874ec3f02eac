package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/agentloadout/loadout/engine"
)

// runner runs verbs inside the cockpit, for its command line: the same grammar, the same engine, and nothing of the terminal.
type runner struct {
	app    *app
	common common // of the command line that opened the cockpit

	places func() ([]place, error)
}

func newRunner(c *call) *runner {
	inside := *c.app
	inside.stdin, inside.terminal, inside.colour, inside.nested = strings.NewReader(""), false, false, true
	return &runner{
		app:    &inside,
		common: c.common,
		places: sync.OnceValues(allPlaces),
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
	var flags []string
	for name, value := range map[string]string{"--project": r.common.Project, "--agent": r.common.Agent, "--as": r.common.As} {
		if value != "" {
			flags = append(flags, name+"="+value)
		}
	}
	return flags
}

// Complete lists what may stand at the end of a line.
func (r *runner) Complete(line string) []string {
	places, err := r.places()
	if err != nil {
		return nil
	}
	words, err := splitLine(line)
	if err != nil {
		return nil
	}
	last := ""
	if n := len(words); n > 0 && !strings.HasSuffix(line, " ") {
		words, last = words[:n-1], words[n-1]
	}
	return complete(places, words, last)
}

// splitLine cuts a typed line into words: blanks separate them, quotes of both kinds and the backslash keep them together.
func splitLine(line string) ([]string, error) {
	var (
		words []string
		word  strings.Builder
		begun bool
		open  rune // the quote that is open, 0 for none
	)
	for rest := []rune(line); len(rest) > 0; rest = rest[1:] {
		r := rest[0]
		switch {
		case r == '\\' && open != '\'':
			if len(rest) == 1 {
				return nil, &engine.UsageError{Message: "a backslash ends the line"}
			}
			rest = rest[1:]
			word.WriteRune(rest[0])
			begun = true
		case open != 0 && r == open:
			open = 0
		case open != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			open, begun = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				words = append(words, word.String())
				word.Reset()
				begun = false
			}
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if open != 0 {
		return nil, &engine.UsageError{Message: fmt.Sprintf("a quote is open: %c", open)}
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
