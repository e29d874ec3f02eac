package engine

import (
	"context"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// Preview says which of some paths an agent could claim now.
type Preview struct {
	Agent     string            `json:"agent"`
	Requested []string          `json:"requestedPaths"`
	Conflicts []PreviewConflict `json:"conflicts"`
	Safe      []string          `json:"safe"`
	Timestamp time.Time         `json:"timestamp"`
	AsOf      int64             `json:"asOf"`
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

// Preview compares paths, in stored form, with the claims of others. Shared claims count too.
func (e *Engine) Preview(ctx context.Context, agent string, paths []string) (Preview, error) {
	panic("later")
}
