package engine

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/store"
)

// DriftKind is why a changed file is worth a look.
type DriftKind string

// The kinds of drift, in the order in which they are listed.
const (
	DriftForeign   DriftKind = "foreign"   // changed where another agent works than the ones that claimed it
	DriftUnclaimed DriftKind = "unclaimed" // changed and claimed by nobody
	DriftClaimed   DriftKind = "claimed"   // changed under a claim, and nothing says that it was somebody else
)

// MaxDrift bounds the items of Engine.Drift.
const MaxDrift = 1000

// Drift is one file that git shows as changed in one worktree.
type Drift struct {
	Path     string     `json:"path"`
	Kind     DriftKind  `json:"kind"`
	Owners   []string   `json:"owners"`          // agents whose claims cover it
	Mode     event.Mode `json:"mode,omitempty"`  // of the first claim: exclusive or shared
	Claim    string     `json:"claim,omitempty"` // path of the first claim
	Worktree string     `json:"worktree"`
	Branch   string     `json:"branch"`
	Agents   []string   `json:"agents"`         // registered agents known to work in that worktree
	Status   string     `json:"status"`         // added, modified, deleted, renamed, untracked, conflicted
	Also     []string   `json:"also,omitempty"` // other worktrees in which the same file is changed
}

// DriftReport compares git's view of every worktree with the claims.
type DriftReport struct {
	AsOf      int64           `json:"asOf"`
	Items     []Drift         `json:"items"`
	Omitted   int64           `json:"omitted"` // items left out by the bound
	Worktrees []DriftWorktree `json:"worktrees"`
	Partial   bool            `json:"partial"` // some worktree could not be read in full; its Note says why
	Git       bool            `json:"git"`     // false: the project is not in a git repository
}

// DriftWorktree says how a worktree was read.
type DriftWorktree struct {
	Path    string   `json:"path"`
	Branch  string   `json:"branch"`
	Agents  []string `json:"agents"`
	Changed int      `json:"changed"`
	Note    string   `json:"note,omitempty"`
}

// Drift asks git which files changed in every worktree and compares with the claims. It ends within five seconds and then says
// what it could not read. What was committed is not drift.
func (e *Engine) Drift(ctx context.Context) (DriftReport, error) { return e.DriftUpTo(ctx, MaxDrift) }

// DriftUpTo is Drift with at most so many items.
func (e *Engine) DriftUpTo(ctx context.Context, most int) (DriftReport, error) {
	v, err := e.View(ctx)
	if err != nil {
		return DriftReport{}, err
	}
	report := DriftReport{AsOf: v.State.Head(), Items: []Drift{}, Worktrees: []DriftWorktree{}, Git: e.project.GitCommon != ""}
	trees, err := e.project.Worktrees()
	if err != nil || len(trees) == 0 {
		return report, err
	}
	changes, faults := changedIn(ctx, trees)
	if err := ctx.Err(); err != nil {
		return report, err
	}
	working := e.agentsIn(v, trees)
	also := map[string][]string{}
	for i, tree := range trees {
		w := DriftWorktree{Path: tree.Path, Branch: tree.Branch, Agents: orEmpty(working[tree.Path]), Changed: len(changes[i])}
		if w.Note = gitNote(faults[i]); w.Note != "" {
			report.Partial = true
		}
		report.Worktrees = append(report.Worktrees, w)
		for _, c := range changes[i] {
			also[c.Path] = append(also[c.Path], tree.Path)
		}
	}
	for i, tree := range trees {
		for _, c := range changes[i] {
			if c.Path == store.DirName || state.Within(c.Path, store.DirName, e.project.FoldCase) {
				continue
			}
			d := judge(v, c, working[tree.Path])
			d.Worktree, d.Branch = tree.Path, tree.Branch
			for _, other := range also[c.Path] {
				if other != tree.Path {
					d.Also = append(d.Also, other)
				}
			}
			if d.Kind == DriftClaimed && d.Mode == event.Exclusive && len(d.Also) > 0 && !anyOf(d.Agents, d.Owners) {
				d.Kind = DriftForeign // claimed by one, changed in several places, and this is not known to be its place
			}
			report.Items = append(report.Items, d)
		}
	}
	report.bound(most)
	return report, nil
}

// changedIn asks git which files changed in each worktree, all at once and no longer than gitTimeout, and says what kept it from answering
// in full.
func changedIn(ctx context.Context, trees []Worktree) (changes [][]gitChange, faults []error) {
	changes, faults = make([][]gitChange, len(trees)), make([]error, len(trees))
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for i, tree := range trees {
		wg.Go(func() {
			changes[i], faults[i] = gitStatus(ctx, tree.Path, ".")
			changes[i] = withoutTrees(changes[i], tree.Path, trees)
		})
	}
	wg.Wait()
	return changes, faults
}

// withoutTrees leaves out of the changes below top the worktrees that lie there: git shows each as one untracked folder.
func withoutTrees(changes []gitChange, top string, trees []Worktree) []gitChange {
	return slices.DeleteFunc(changes, func(c gitChange) bool {
		path := filepath.Join(top, filepath.FromSlash(c.Path))
		return slices.ContainsFunc(trees, func(t Worktree) bool { return t.Path == path })
	})
}

// judge compares one changed file with the claims; agents are those known to work where it changed.
func judge(v *View, c gitChange, agents []string) Drift {
	d := Drift{Path: c.Path, Kind: DriftUnclaimed, Owners: []string{}, Agents: orEmpty(agents), Status: c.Status}
	for _, claim := range v.State.Overlapping(c.Path, v.FoldCase) {
		if claim.Lapsed(v.Now) || !state.Within(c.Path, claim.Path, v.FoldCase) {
			continue
		}
		if len(d.Owners) == 0 {
			d.Mode, d.Claim, d.Kind = claim.Mode, claim.Path, DriftClaimed
		}
		if !slices.Contains(d.Owners, claim.Agent) {
			d.Owners = append(d.Owners, claim.Agent)
		}
	}
	if d.Kind == DriftClaimed && len(agents) > 0 && !anyOf(agents, d.Owners) {
		d.Kind = DriftForeign
	}
	return d
}

func anyOf(names, in []string) bool {
	return slices.ContainsFunc(names, func(a string) bool {
		return slices.ContainsFunc(in, func(b string) bool { return event.SameName(a, b) })
	})
}

// agentsIn says which live registered agents work in which worktree: where their process is, else where they last wrote from.
func (e *Engine) agentsIn(v *View, trees []Worktree) map[string][]string {
	in := map[string][]string{}
	last := e.readBeats()
	for _, a := range v.State.Agents() {
		if !a.Registered || !v.Live(a.Name).Live {
			continue
		}
		places := []string{last[event.FoldName(a.Name)].Worktree}
		if a.PID > 0 && a.Host == e.options.Host.Name() {
			places = append(places, e.options.Host.WorkingDir(a.PID))
		}
		for _, dir := range places {
			if top := enclosing(trees, dir); top != "" && !slices.Contains(in[top], a.Name) {
				in[top] = append(in[top], a.Name)
			}
		}
	}
	return in
}

// enclosing is the worktree that dir lies in, the innermost one; "" for none.
func enclosing(trees []Worktree, dir string) string {
	top := ""
	for _, t := range trees {
		if rel, err := filepath.Rel(t.Path, dir); dir != "" && err == nil && filepath.IsLocal(rel) && len(t.Path) > len(top) {
			top = t.Path
		}
	}
	return top
}

// gitNote is why git's answer is not whole, for people.
func gitNote(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return "git did not answer in full within " + gitTimeout.String()
	case errors.Is(err, errGitOutput):
		return "there are more changed files than can be listed"
	}
	return err.Error()
}

// bound sorts the items, the most telling first, and cuts them.
func (r *DriftReport) bound(most int) {
	rank := map[DriftKind]int{DriftForeign: 0, DriftUnclaimed: 1, DriftClaimed: 2}
	slices.SortFunc(r.Items, func(a, b Drift) int {
		return cmp.Or(cmp.Compare(rank[a.Kind], rank[b.Kind]), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Worktree, b.Worktree))
	})
	if over := len(r.Items) - most; over > 0 {
		r.Items, r.Omitted = r.Items[:most], int64(over)
	}
}
