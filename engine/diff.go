package engine

import "context"

// ContractDiff is the line by line difference between two revisions of a contract.
type ContractDiff struct {
	Name          string       `json:"name"`
	FromRevision  int64        `json:"fromRevision"` // 0: before the first, empty
	ToRevision    int64        `json:"toRevision"`
	FromPublisher string       `json:"fromPublisher"`
	ToPublisher   string       `json:"toPublisher"`
	Added         []string     `json:"added"`   // every line that is new, changed ones included
	Removed       []string     `json:"removed"` // every line that is gone, changed ones included
	Changed       []LineChange `json:"changed"` // a removed line and the added one in its place
	Summary       string       `json:"summary"`
	Hunks         []Hunk       `json:"hunks"`
}

// LineChange is a line that was replaced. Line is its number in the newer text, from 1.
type LineChange struct {
	Line int    `json:"line"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Hunk is one region of change with up to three unchanged lines around it.
type Hunk struct {
	FromLine  int        `json:"fromLine"` // first line of the older text, from 1; 0 when the hunk has none of it
	FromCount int        `json:"fromCount"`
	ToLine    int        `json:"toLine"`
	ToCount   int        `json:"toCount"`
	Lines     []DiffLine `json:"lines"`
}

// DiffKind is what became of a line.
type DiffKind string

// The kinds of a DiffLine.
const (
	DiffSame    DiffKind = "same"
	DiffAdded   DiffKind = "added"
	DiffRemoved DiffKind = "removed"
)

// DiffLine is one line of a hunk, for unified rendering.
type DiffLine struct {
	Kind DiffKind `json:"kind"`
	From int      `json:"from,omitempty"` // line number in the older text, from 1; 0 for an added line
	To   int      `json:"to,omitempty"`   // line number in the newer text, from 1; 0 for a removed line
	Text string   `json:"text"`           // without the newline
}

// DiffRow is one row of a hunk, for side by side rendering: nil where a side has no line.
type DiffRow struct {
	From, To *DiffLine
}

// Rows pairs removed with added lines for side by side rendering.
func (h Hunk) Rows() []DiffRow { panic("later") }

// Unified is the difference as unified diff text, empty when there is none.
func (d ContractDiff) Unified() string { panic("later") }

// Diff compares two revisions of a contract. to 0 is the latest; from 0 is the one before to, so that either may be given
// alone. The first revision compares with nothing.
func (e *Engine) Diff(ctx context.Context, name string, from, to int64) (ContractDiff, error) {
	panic("later")
}
