package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui"
)

// demoWords is how many words a stand-in says while the story pauses once.
const demoWords = 12

// Pauses between the steps of the story. Plain text is read after the fact, so it only needs to end soon.
const (
	demoPause      = 1500 * time.Millisecond
	demoPausePlain = 0
)

type demoCmd struct {
	Plain bool `help:"Print the story as text and end, for where there is no terminal."`
	Keep  bool `help:"Leave the project of the demonstration on disk and say where."`
}

func (demoCmd) Help() string {
	return examples("loadout demo", "loadout demo --plain", "loadout demo --plain --keep")
}

// run plays two scripted agents in a scratch repository: as text, or under a live cockpit.
func (d *demoCmd) run(ctx context.Context, c *call) error {
	if !d.Plain && (!c.terminal || c.nested || c.JSON) {
		return &engine.UsageError{Message: "the demonstration opens the cockpit, which needs a terminal of its own", Hints: []string{"loadout demo --plain"}}
	}
	project, err := newDemoProject(ctx)
	if err != nil {
		return err
	}
	if d.Keep {
		c.note("The project of the demonstration is in %s", project)
	} else {
		defer outliveReaders()()
		defer func() { _ = os.RemoveAll(filepath.Dir(project)) }()
	}
	s := newStory(c.app, project)
	if d.Plain {
		return d.tell(ctx, c, s)
	}
	s.pause, s.tolerant = demoPause, true
	return d.show(ctx, c, s)
}

// tell plays the story once and prints each command with its answer.
func (d *demoCmd) tell(ctx context.Context, c *call, s *story) error {
	s.pause = demoPausePlain
	if !c.JSON {
		s.shown = func(st step) { printStep(c, st) }
	}
	if err := s.play(ctx); err != nil {
		return err
	}
	return c.answer(demoAnswer{Steps: s.steps}, func() {
		c.printf("\nThe story is over: %d commands. `loadout demo` plays it under the cockpit, `loadout --help` lists the verbs.\n", len(s.steps))
	})
}

// demoAnswer is what --json prints.
type demoAnswer struct {
	Steps []step `json:"steps"`
}

func printStep(c *call, st step) {
	c.printf("\n%s %s\n", styled("#"), st.Say)
	c.printf("%s$ loadout %s\n", c.bold(st.Who), shellWords(st.Args))
	c.block("  ", st.Output)
	if st.Code != exitDone {
		c.printf("  %s\n", c.dim("exit "+strconv.Itoa(st.Code)))
	}
}

// show plays the story over and over under the cockpit until the person quits.
func (d *demoCmd) show(ctx context.Context, c *call, s *story) error {
	s.app.stage = newStage() // of the cockpit, and of the agents of the story
	playing, stop := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			err = s.play(playing)
			s.pause = 2 * demoPause
		}
		failed <- err
	}()
	cockpit := tuiCmd{At: tui.Now}
	inside := *c
	inside.app = s.stage(event.User)
	inside.opened = nil
	err := cockpit.run(ctx, &inside)
	stop()
	if played := <-failed; !errors.Is(played, context.Canceled) && err == nil {
		err = played
	}
	return err
}

// step is one command of the story and how it ended.
type step struct {
	Who    string   `json:"who"`
	Say    string   `json:"say"`
	Args   []string `json:"args"`
	Output string   `json:"output"`
	Code   int      `json:"code"`
}

// story plays scripted agents: the same verbs that real agents run, through the same engine.
type story struct {
	app     *app
	project string
	engine  *engine.Engine

	pause    time.Duration
	tolerant bool // the person may interfere: steps that end otherwise than written do not end the story
	shown    func(step)
	steps    []step
	err      error
	ctx      context.Context //nolint:containedctx // lives for one call of play, so that the script below reads as a script
}

func newStory(a *app, project string) *story {
	s := &story{app: a, project: project}
	s.engine = engine.Open(engine.Project{Root: project, Dir: filepath.Join(project, ".handoff"), Worktree: project}, engine.Options{Command: "loadout demo"})
	return s
}

// stage is the app of one agent: its working directory and name, and nothing of the caller's project.
func (s *story) stage(agent string) *app {
	a := *s.app
	a.dir = s.project
	a.env = func(name string) string {
		switch name {
		case engine.EnvAgent:
			if agent == event.User {
				return ""
			}
			return agent
		case "LOADOUT_PROJECT":
			return s.project
		case "CLAUDE_CODE_SESSION_ID":
			return ""
		}
		return s.app.env(name)
	}
	return &a
}

// do runs one command as who and checks how it ends.
func (s *story) do(who, say string, want int, args ...string) {
	if s.err != nil {
		return
	}
	st := step{Who: who, Say: say, Args: args}
	for {
		if s.err = s.wait(); s.err != nil {
			return
		}
		var out bytes.Buffer
		a := s.stage(who)
		a.stdin, a.stdout, a.stderr = strings.NewReader(""), &out, &out
		a.terminal, a.colour, a.nested = false, false, true
		a.cast = demoCast(s.pause / demoWords)
		st.Code = run(s.ctx, args, a)
		st.Output = out.String()
		if st.Code != exitHalted || want == exitHalted || !s.tolerant {
			break
		}
		// The person pressed the kill switch: the agents stand still until it is lifted.
	}
	s.steps = append(s.steps, st)
	if s.shown != nil {
		s.shown(st)
	}
	if st.Code != want && !s.tolerant {
		s.err = fmt.Errorf("demonstration: loadout %s ended with exit %d, not %d: %s", shellWords(args), st.Code, want, st.Output)
	}
}

// wait pauses between steps.
func (s *story) wait() error {
	select {
	case <-s.ctx.Done():
		return s.ctx.Err()
	case <-time.After(s.pause):
		return nil
	}
}

// last is the newest event of the log.
func (s *story) last() state.Ref {
	if s.err != nil {
		return state.Ref{}
	}
	v, err := s.engine.View(s.ctx)
	if err != nil {
		s.err = fmt.Errorf("demonstration: %w", err)
		return state.Ref{}
	}
	if recent := v.State.Recent(1); len(recent) == 1 {
		return recent[0]
	}
	return state.Ref{}
}

// newDemoProject makes a scratch repository with a few files to talk about.
func newDemoProject(ctx context.Context) (string, error) {
	dir, err := os.MkdirTemp("", "loadout-demo-")
	if err != nil {
		return "", fmt.Errorf("make demonstration project: %w", err)
	}
	shop := filepath.Join(dir, "shop")
	files := map[string]string{
		"README.md":            "# Shop\n\nA small shop with an API and a web front end.\n",
		"src/api/checkout.ts":  "export function checkout() {\n  return { id: \"\" };\n}\n",
		"src/api/orders.ts":    "export const orders = [];\n",
		"src/web/checkout.tsx": "export const Checkout = () => null;\n",
		"docs/api.md":          "# API\n",
	}
	for name, text := range files {
		path := filepath.Join(shop, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return "", fmt.Errorf("make demonstration project: %w", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", fmt.Errorf("make demonstration project: %w", err)
		}
	}
	// Without git the story is the same, only without a branch in the header.
	if git, err := exec.LookPath("git"); err == nil {
		for _, args := range [][]string{
			{"init", "--quiet", "--initial-branch=main"},
			{"add", "."},
			{"-c", "user.name=Demo", "-c", "user.email=demo@example.invalid", "-c", "commit.gpgsign=false", "commit", "--quiet", "--no-verify", "--message", "A small shop"},
		} {
			cmd := exec.CommandContext(ctx, git, args...) //nolint:gosec // fixed words
			cmd.Dir, cmd.Stdout, cmd.Stderr = shop, io.Discard, io.Discard
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
			if err := cmd.Run(); err != nil {
				return "", fmt.Errorf("make demonstration project: git %s: %w", args[0], err)
			}
		}
	}
	return shop, nil
}
