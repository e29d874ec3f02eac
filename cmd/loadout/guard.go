package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agentloadout/loadout/engine"
)

// commitRefused is the guard's verdict about a commit, the one that a hook ends with a code of its own for.
type commitRefused struct{ *engine.ConflictError }

// guardCommit refuses a commit that touches what another agent owns exclusively.
func (c *call) guardCommit(ctx context.Context) error {
	e, err := c.coordinated()
	if err != nil || e == nil {
		return err
	}
	paths, err := stagedPaths(ctx, c.dir)
	if err != nil || len(paths) == 0 {
		return err
	}
	v, err := e.View(ctx)
	if err != nil {
		return err
	}
	refusal := v.MayEdit(e.Caller(v, ""), paths)
	if refusal == nil {
		return nil
	}
	refusal.Message = "commit refused: " + refusal.Message
	refusal.Hints = append(refusal.Hints, "git commit --no-verify    for a person: commits all the same")
	return commitRefused{refusal}
}

// stagedPaths lists the files that git would commit, relative to the top of the worktree.
func stagedPaths(ctx context.Context, dir string) ([]string, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "git", "diff", "--cached", "--name-only", "--no-renames", "--no-ext-diff", "-z") //nolint:gosec // fixed words
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask git what is to be committed: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	var paths []string
	for p := range strings.SplitSeq(string(out), "\x00") {
		if p != "" {
			paths = append(paths, filepath.ToSlash(p))
		}
	}
	return paths, nil
}
