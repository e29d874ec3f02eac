package engine

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// Preview says which of some paths an agent could claim now.
type Preview struct {
	Agent     string            `json:"agent"`
	Requested []string          `json:"requestedPaths"`
	Conflicts []PreviewConflict `json:"conflicts"`
	Safe      []string          `json:"safe"`
	Timestamp time.Time         `json:"timestamp"`
	AsOf      int64             `json:"asOf"`
	Notes     []string          `json:"notes,omitempty"` // why a difference is missing
}

// PreviewConflict is one path that somebody else holds, and what git shows changed there.
type PreviewConflict struct {
	Path         string     `json:"path"`
	Owner        string     `json:"owner"`
	OwnerMode    event.Mode `json:"ownerMode"`
	OwnerPath    string     `json:"ownerPath"` // the claimed path that overlaps
	Reason       string     `json:"reason,omitempty"`
	Since        time.Time  `json:"since"`
	Fence        int64      `json:"fence"`
	Diff         string     `json:"diff"` // first MaxPreviewDiff lines; empty when git has none
	LinesChanged int        `json:"linesChanged"`
	Status       string     `json:"status"` // added, modified, deleted, unchanged
}

// MaxPreviewDiff is how many lines of difference a preview shows a path.
const MaxPreviewDiff = 20

// previewCommits is how far back the history of an unchanged path is looked at.
const previewCommits = "HEAD~5"

// Preview compares paths, in stored form, with the claims of others. Shared claims count too. A path appears once, with the
// first claim in its way.
func (e *Engine) Preview(ctx context.Context, agent string, paths []string) (Preview, error) {
	if agent == "" || len(paths) == 0 {
		return Preview{}, &UsageError{Message: "an agent and at least one path are needed"}
	}
	v, err := e.View(ctx)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{
		Agent: agent, Requested: paths, Conflicts: []PreviewConflict{}, Safe: []string{},
		Timestamp: v.Now.UTC(), AsOf: v.State.Head(),
	}
	asked, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	for _, path := range paths {
		claim, found := inTheWay(v, agent, path)
		if !found {
			p.Safe = append(p.Safe, path)
			continue
		}
		c := PreviewConflict{
			Path: path, Owner: claim.Agent, OwnerMode: claim.Mode, OwnerPath: claim.Path,
			Reason: claim.Reason, Since: claim.Since, Fence: claim.Fence, Status: "unchanged",
		}
		if err := e.describeChange(asked, &c); err != nil && len(p.Notes) == 0 {
			p.Notes = append(p.Notes, "differences are not complete: "+gitNote(err))
		}
		p.Conflicts = append(p.Conflicts, c)
	}
	return p, ctx.Err()
}

func inTheWay(v *View, agent, path string) (state.Claim, bool) {
	for _, c := range v.State.Overlapping(path, v.FoldCase) {
		if !event.SameName(c.Agent, agent) && !c.Lapsed(v.Now) {
			return c, true
		}
	}
	return state.Claim{}, false
}

// describeChange asks git what changed at the path: against the last commit, or, when nothing did, in the last commits.
func (e *Engine) describeChange(ctx context.Context, c *PreviewConflict) error {
	top := e.project.Worktree
	if top == "" {
		return nil
	}
	path := filepath.FromSlash(c.Path)
	changes, err := gitStatus(ctx, top, path)
	if err != nil {
		return err
	}
	against := previewCommits + "..HEAD"
	if len(changes) > 0 {
		against, c.Status = "HEAD", "modified"
		if len(changes) == 1 && changes[0].Path == c.Path {
			c.Status = plainStatus(changes[0].Status)
		}
	}
	diff, err := git(ctx, top, "diff", "--no-ext-diff", "--no-textconv", "--no-color", against, "--", path)
	if err != nil && ctx.Err() == nil && !errors.Is(err, errGitOutput) {
		return nil // fewer commits than that, or none yet: nothing to show
	}
	c.Diff, c.LinesChanged = firstLines(string(diff))
	if len(changes) == 0 && c.LinesChanged > 0 {
		c.Status = "modified"
	}
	return err
}

// plainStatus is a status in the four words that a preview knows.
func plainStatus(status string) string {
	switch status {
	case "added", "untracked":
		return "added"
	case "deleted":
		return "deleted"
	}
	return "modified"
}

// firstLines is the first MaxPreviewDiff lines of a diff, and how many lines all of it adds and removes.
func firstLines(diff string) (head string, changed int) {
	lines := splitLines(diff)
	for _, l := range lines {
		if (strings.HasPrefix(l, "+") || strings.HasPrefix(l, "-")) && !strings.HasPrefix(l, "+++ ") && !strings.HasPrefix(l, "--- ") {
			changed++
		}
	}
	return strings.Join(lines[:min(len(lines), MaxPreviewDiff)], "\n"), changed
}
