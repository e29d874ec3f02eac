package main

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/agentloadout/loadout/cmd/loadout/connect"
	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/words"
)

// connecting are what connect and disconnect have in common.
type connecting struct {
	Program string `arg:"" enum:"claude-code,codex,cursor,gemini,opencode,git" help:"claude-code, codex, cursor, gemini, opencode, or git for the guard of commits."`
	Scope   string `enum:"project,user" default:"project" placeholder:"SCOPE" help:"project: its own files, which others may share; user: yours, for all projects."`
	Yes     bool   `short:"y" help:"Write without asking. Without it a preview is shown, and where nobody can be asked nothing is written (exit 2)."`
}

type connectCmd struct{ connecting }

func (connectCmd) Help() string {
	return "Writes the entry of the server (loadout serve), the hooks where the program has such, and a short instruction into the program's files, and " +
		"leaves every other byte of them as it is. loadout disconnect takes it out again.\n\n" + examples(
		"loadout connect claude-code",
		"loadout connect codex --scope user --yes",
		"loadout connect git",
	)
}

type disconnectCmd struct{ connecting }

func (disconnectCmd) Help() string {
	return examples("loadout disconnect claude-code", "loadout disconnect codex --scope user --yes", "loadout disconnect git")
}

func (o *connectCmd) run(ctx context.Context, c *call) error    { return o.change(ctx, c, true) }
func (o *disconnectCmd) run(ctx context.Context, c *call) error { return o.change(ctx, c, false) }

// connectedAnswer is what connect and disconnect print as JSON.
type connectedAnswer struct {
	Program string            `json:"program"`
	Scope   string            `json:"scope"`
	Written bool              `json:"written"`
	Changes []*connect.Change `json:"changes"`
	Notes   []string          `json:"notes"`
}

func (o *connecting) change(ctx context.Context, c *call, on bool) error {
	project, err := engine.Discover(engine.Where{Flag: c.Project, Env: c.env("LOADOUT_PROJECT"), Dir: c.dir, Home: c.home})
	if err != nil {
		return &engine.UsageError{Message: err.Error()}
	}
	changes, apply, err := o.plan(ctx, c, project, on)
	if err != nil {
		return leftAlone(err)
	}
	answer := connectedAnswer{Program: o.Program, Scope: o.Scope, Changes: changes, Notes: o.notes(project, changes, on)}
	if answer.Changes == nil {
		answer.Changes = []*connect.Change{}
	}
	folder := on && o.Program != "git" && o.Scope == string(connect.Project)
	_, lstatErr := os.Lstat(project.Dir)
	folder = folder && errors.Is(lstatErr, fs.ErrNotExist)
	if len(changes) == 0 && !folder {
		return c.answer(answer, func() {
			c.printf("Nothing to do: %s is %s.\n", o.Program, map[bool]string{true: "connected already", false: "not connected"}[on])
		})
	}
	if !o.Yes {
		if err := o.ask(c, answer, project, folder); err != nil {
			return err
		}
	}
	if err := apply(); err != nil {
		return leftAlone(err)
	}
	if folder {
		if err := engine.Open(project, engine.Options{}).MakeDir(); err != nil {
			return err
		}
	}
	if !on && o.Scope == string(connect.Project) {
		_ = os.Remove(project.Dir) // only where nothing is in it
	}
	answer.Written = true
	return c.answer(answer, func() {
		for _, ch := range changes {
			c.printf("%s %s\n", map[connect.Action]string{connect.Create: "created", connect.Edit: "changed", connect.Remove: "removed"}[ch.Action], ch.Path)
			if ch.Backup != "" {
				c.printf("  what was there is kept in %s\n", ch.Backup)
			}
		}
		if folder {
			c.printf("created %s\n", project.Dir)
		}
		for _, n := range answer.Notes {
			c.printf("%s\n", n)
		}
	})
}

// leftAlone tells of files that cannot be edited, or found.
func leftAlone(err error) error {
	if errors.Is(err, connect.ErrNoHome) {
		return &engine.UsageError{Message: err.Error(), Hints: []string{"the same with HOME set", "the same with --scope project"}}
	}
	var refused *connect.RefusedError
	if !errors.As(err, &refused) {
		return err
	}
	return &engine.ValidationError{Field: refused.Path, Reason: "is left as it is: " + refused.Reason, Hints: []string{"mend the file, or move it away"}}
}

// plan says what would be written, and how to write it.
func (o *connecting) plan(ctx context.Context, c *call, project engine.Project, on bool) ([]*connect.Change, func() error, error) {
	if o.Program == "git" {
		hooks, err := gitHooks(ctx, c.dir)
		if err != nil {
			return nil, nil, err
		}
		g := connect.Git{Hooks: hooks, Command: c.command(), Kept: c.keptFolder(project)}
		change, err := g.Disconnect()
		if on {
			change, err = g.Connect()
		}
		if change == nil {
			return nil, func() error { return nil }, err
		}
		return []*connect.Change{change}, func() error { return g.Apply(change, on) }, err
	}
	root := project.Worktree
	if root == "" || project.Root != root && !project.Linked {
		root = project.Root
	}
	config := connect.Config{
		Program: o.Program, Scope: connect.Scope(o.Scope), Root: root, Home: c.home, Env: c.env, Command: c.command(), Kept: c.keptFolder(project),
	}
	changes, err := config.Disconnect()
	if on {
		changes, err = config.Connect()
	}
	return changes, func() error { return config.Apply(changes, on) }, err
}

// ask shows what would be written and asks whether it is to be. Where nobody can be asked it is not.
func (o *connecting) ask(c *call, answer connectedAnswer, project engine.Project, folder bool) error {
	refused := &engine.UsageError{Message: "nothing was written", Hints: []string{"the same with --yes    to write it"}}
	if c.JSON {
		return errors.Join(c.answer(answer, nil), refused)
	}
	for _, ch := range answer.Changes {
		c.printf("%s %s\n", ch.Action, ch.Path)
		if ch.Target != "" {
			c.printf("  which leads to %s\n", ch.Target)
		}
		if ch.Moved != "" {
			c.printf("  the hook that is there: %s\n", ch.Moved)
		}
		c.block("  ", ch.Diff)
	}
	if folder {
		c.printf("create %s\n", project.Dir)
	}
	if !c.terminal || c.nested {
		return refused
	}
	c.printf("Write this? [y/N] ")
	line, err := bufio.NewReader(c.stdin).ReadString('\n')
	if word := strings.ToLower(strings.TrimSpace(line)); err == nil && (word == "y" || word == "yes") {
		return nil
	}
	return refused
}

// notes are what a person should know of a program.
func (o *connecting) notes(project engine.Project, changes []*connect.Change, on bool) []string {
	switch {
	case !on:
		return []string{"Sessions that run go on as they were until they end."}
	case o.Program == "codex" && o.Scope == string(connect.Project):
		return []string{"Codex reads .codex/ only in a folder that you trust, and runs hooks only once you have allowed them with /hooks there."}
	case o.Program == "codex":
		return []string{"Codex runs hooks only once you have allowed them with /hooks there."}
	case o.Program == "claude-code":
		return []string{"Sessions that begin from now on are connected; Claude Code asks once whether the server of a project may be used."}
	case o.Program == "gemini" && o.Scope == string(connect.Project):
		return []string{"Gemini CLI reads .gemini/ only in a folder that you trust. Sessions that begin from now on are connected."}
	case o.Program == "git" && len(changes) > 0 && !strings.HasPrefix(changes[0].Path, project.GitCommon+string(filepath.Separator)):
		return []string{"Commits are checked wherever git runs hooks from " + filepath.Dir(changes[0].Path) + "."}
	case o.Program == "git":
		return []string{"Commits are checked in this repository and all its worktrees."}
	case o.Program == "opencode":
		return []string{"opencode has the tools and the instruction; its edits are not guarded by hooks."}
	}
	return []string{"Sessions that begin from now on are connected."}
}

// command is how other programs call this one: by its name where that leads here, else by its path.
func (c *call) command() string {
	self, err := os.Executable()
	if err != nil {
		return "loadout"
	}
	if found, err := exec.LookPath("loadout"); err == nil {
		a, errA := os.Stat(found)
		b, errB := os.Stat(self)
		if errA == nil && errB == nil && os.SameFile(a, b) {
			return "loadout"
		}
	}
	return self
}

// keptFolder is where copies of what was in files are kept.
func (c *call) keptFolder(project engine.Project) string {
	switch dir := c.env("XDG_STATE_HOME"); {
	case filepath.IsAbs(dir):
		return filepath.Join(dir, "loadout", "connect")
	case runtime.GOOS == "windows" && filepath.IsAbs(c.env("LOCALAPPDATA")):
		return filepath.Join(c.env("LOCALAPPDATA"), "loadout", "connect")
	case c.home != "":
		return filepath.Join(c.home, ".local", "state", "loadout", "connect")
	}
	return filepath.Join(project.Dir, "connect")
}

// gitHooks is the folder that git runs hooks from here.
func gitHooks(ctx context.Context, dir string) (string, error) {
	up, err := git(ctx, dir, "rev-parse", "--show-cdup")
	if err != nil {
		return "", &engine.UsageError{Message: words.ShellWord(dir) + " is not in a git repository"}
	}
	top := filepath.Join(dir, up) // what core.hooksPath is relative to
	hooks, err := git(ctx, top, "rev-parse", "--git-path", "hooks")
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(hooks) {
		hooks = filepath.Join(top, hooks)
	}
	return hooks, nil
}
