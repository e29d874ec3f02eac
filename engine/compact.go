package engine

import (
	"context"
	"time"
)

// What compaction keeps by default.
const (
	DefaultMaxEvents = 10000
	DefaultMaxAge    = 30 * 24 * time.Hour
)

// CompactOptions say what may go. What the state is built from always stays.
type CompactOptions struct {
	MaxEvents int64         // keep at most so many of the newest events, at least 1
	MaxAge    time.Duration // of those, keep the ones at most so old; 0: none is young enough; negative: any age
	DryRun    bool          // only say what would happen
}

// CompactResult says what compaction did, or would do.
type CompactResult struct {
	Before       int64    `json:"before"`  // lines before
	After        int64    `json:"after"`   // lines after, the summary included
	Removed      int64    `json:"removed"` // events taken out of the log; the archive has them
	Compacted    bool     `json:"compacted"`
	DryRun       bool     `json:"dryRun,omitempty"`
	Roots        int64    `json:"roots"` // older events kept because the state is built from them
	Bad          int64    `json:"bad"`   // unreadable lines moved beside the archive
	BytesBefore  int64    `json:"bytesBefore"`
	BytesAfter   int64    `json:"bytesAfter"` // 0 for a dry run
	Archive      string   `json:"archive,omitempty"`
	ArchiveBytes int64    `json:"archiveBytes"` // of all archives together
	Notes        []string `json:"notes,omitempty"`
}

// Compact archives the log and removes old events that the state does not need. It proves that the state stays equal
// before it replaces anything; else it leaves the log as it was and says what would have differed.
func (e *Engine) Compact(ctx context.Context, o CompactOptions) (CompactResult, error) {
	panic("later")
}
