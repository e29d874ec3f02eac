package engine

import (
	"context"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// Bounds of a snapshot: each list keeps its newest items.
const (
	MaxSnapshotTasks     = 50
	MaxSnapshotContracts = 50
	MaxSnapshotOwnership = 500
	MaxSnapshotDecisions = 10
	MaxSnapshotUnacked   = 100

	// MaxSnapshotBodies bounds the contract bodies of one snapshot together, in bytes; the newest come first.
	MaxSnapshotBodies = 128 << 10
)

// Snapshot is what one agent must know, bounded, and honest about what it leaves out.
type Snapshot struct {
	Agent     string             `json:"agent"`
	AsOf      int64              `json:"asOf"`   // the log was read up to this sequence number, -1 when it is empty
	ReadTo    int64              `json:"readTo"` // the agent has acknowledged up to here, -1 for nothing
	LogLines  int64              `json:"logLines"`
	HighSeq   int64              `json:"highSeq"` // same as AsOf
	Skipped   state.Skips        `json:"skipped"`
	Halted    *HaltInfo          `json:"halted,omitempty"`
	Tasks     []state.Task       `json:"pendingTasks"`    // open ones from, to or taken by the agent, or for everybody
	Contracts []SnapshotContract `json:"activeContracts"` // by sequence number
	Ownership []SnapshotClaim    `json:"ownership"`       // by sequence number
	Decisions []state.Decision   `json:"recentDecisions"`
	Unacked   []state.Ref        `json:"unackedForAgent"` // news for the agent above ReadTo
	Truncated Truncated          `json:"truncated"`
	More      []string           `json:"more,omitempty"` // commands that show what was left out
}

// Truncated counts what the bounds of a snapshot left out.
type Truncated struct {
	Tasks     int64 `json:"pendingTasks"`
	Contracts int64 `json:"activeContracts"`
	Ownership int64 `json:"ownership"`
	Decisions int64 `json:"recentDecisions"`
	Unacked   int64 `json:"unackedForAgent"`
	Bodies    int64 `json:"contractBodies"` // contracts that are listed without their body
}

// Total is how many items were left out.
func (t Truncated) Total() int64 {
	return t.Tasks + t.Contracts + t.Ownership + t.Decisions + t.Unacked + t.Bodies
}

// SnapshotContract is the latest revision of a contract as a snapshot shows it.
type SnapshotContract struct {
	Name        string         `json:"name"`
	Revision    int64          `json:"revision"`
	Body        string         `json:"body"`
	BodyOmitted bool           `json:"bodyOmitted,omitempty"` // the body was left out for its size
	Format      string         `json:"format,omitempty"`
	Publisher   string         `json:"publisher"`
	EventID     string         `json:"eventId"`
	Seq         int64          `json:"seq"`
	At          time.Time      `json:"at"`
	Readers     []state.Reader `json:"readers"`
	Yours       int64          `json:"yours"` // the revision that the agent has acknowledged, 0 for none
}

// SnapshotClaim is one claim as a snapshot shows it.
type SnapshotClaim struct {
	Agent     string     `json:"agent"`
	Paths     []string   `json:"paths"` // the one path, as a list
	Mode      event.Mode `json:"mode"`
	Seq       int64      `json:"seq"`
	Fence     int64      `json:"fence"`
	Reason    string     `json:"reason,omitempty"`
	Since     time.Time  `json:"since"`
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
	Stale     bool       `json:"stale,omitempty"` // its holder's session has ended
}

// HaltInfo says who stopped everything, when and why.
type HaltInfo struct {
	By      string    `json:"activatedBy"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"activatedAt"`
	Damaged bool      `json:"damaged,omitempty"` // the file says none of this in a form that can be read
}

// Snapshot reads the state for one agent. It moves no cursor.
func (e *Engine) Snapshot(ctx context.Context, agent string) (Snapshot, error) { panic("later") }
