package engine

import "context"

// DriftKind is why a changed file is worth a look.
type DriftKind string

// The kinds of drift.
const (
	DriftForeign   DriftKind = "foreign"   // changed where another agent works than the one that claimed it
	DriftUnclaimed DriftKind = "unclaimed" // changed and claimed by nobody
	DriftClaimed   DriftKind = "claimed"   // changed under a claim, by whom cannot be told
)

// Drift is one file that git shows as changed in one worktree.
type Drift struct {
	Path     string    `json:"path"`
	Kind     DriftKind `json:"kind"`
	Owners   []string  `json:"owners"`          // agents whose claims cover it
	Mode     string    `json:"mode,omitempty"`  // of the claim: exclusive or shared
	Claim    string    `json:"claim,omitempty"` // path of the claim
	Worktree string    `json:"worktree"`
	Branch   string    `json:"branch"`
	Agents   []string  `json:"agents"`         // agents known to work in that worktree
	Status   string    `json:"status"`         // added, modified, deleted, renamed, untracked, conflicted
	Also     []string  `json:"also,omitempty"` // other worktrees in which the same file is changed
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

// Drift asks git which files changed in every worktree and compares with the claims. It ends within five seconds.
func (e *Engine) Drift(ctx context.Context) (DriftReport, error) { panic("later") }
