package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

// commitRefused is the guard's verdict about a commit, the one that a hook ends with a code of its own for.
type commitRefused struct{ *engine.ConflictError }

// guardCommit refuses a commit that touches what another agent owns exclusively.
func (c *call) guardCommit(ctx context.Context) error {
	e, err := c.coordinated()
	if err != nil || e == nil {
		return err
	}
	paths, err := stagedPaths(ctx, e.Project(), c.dir)
	if err != nil || len(paths) == 0 {
		return err
	}
	v, err := e.View(ctx)
	if err != nil {
		return err
	}
	who := e.Caller(v, "")
	if who == "" && !e.UnderAgent() {
		who = event.User
	}
	refusal := v.MayEdit(who, paths)
	if refusal == nil {
		return nil
	}
	refusal.Message = "commit refused: " + refusal.Message
	refusal.Hints = append(refusal.Hints, "git commit --no-verify    for a person: commits all the same")
	return commitRefused{refusal}
}

// stagedPaths lists in stored form the files that a commit changes. Those that a merge takes as another parent has them are not changed
// by who commits it.
func stagedPaths(ctx context.Context, p engine.Project, dir string) ([]string, error) {
	up, err := git(ctx, dir, "rev-parse", "--show-cdup")
	if err != nil {
		return nil, err
	}
	top, err := p.Rel(dir, filepath.Join(dir, up)) // what git names paths relative to
	if err != nil {
		return nil, nil //nolint:nilerr // another repository than the project's
	}
	against := func(parent ...string) ([]string, error) {
		out, err := git(ctx, dir, append([]string{"diff", "--cached", "--name-only", "--no-renames", "--no-ext-diff", "-z"}, parent...)...)
		return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), err
	}
	changed, err := against()
	if err != nil {
		return nil, err
	}
	if merged, err := git(ctx, dir, "rev-parse", "--quiet", "--verify", "MERGE_HEAD"); err == nil {
		others, err := against(merged)
		if err != nil {
			return nil, err
		}
		slices.Sort(others)
		changed = slices.DeleteFunc(changed, func(c string) bool {
			_, differs := slices.BinarySearch(others, c)
			return !differs
		})
	}
	for i, c := range changed {
		changed[i] = path.Join(top, c)
	}
	return changed, nil
}

// git is what git says to a command, without the end of its last line.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // a fixed program; no argument is an option by accident
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimRight(string(out), "\r\n"), nil
}
