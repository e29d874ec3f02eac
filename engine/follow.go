package engine

import (
	"context"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// Mode is how a follower learns of news.
type Mode string

// The modes of a Delivery.
const (
	ModeLive       Mode = "live"       // the system notifies
	ModePolling    Mode = "polling"    // no notifications: the size is looked at every so often
	ModeMissing    Mode = "missing"    // there is no log yet, or no more
	ModeUnreadable Mode = "unreadable" // the log is there and cannot be read
)

// Delivery is one batch of news. Its memory is the receiver's.
type Delivery struct {
	Events   []event.Event  // in log order
	Bad      []state.BadRef // lines that cannot be read
	Head     int64          // highest sequence number read, -1 for none
	Lines    int64          // lines read
	Mode     Mode
	Reset    bool         // the content before is no longer ours: fold again from an empty state
	Note     string       // what happened, for the status line: "log was compacted"; else empty
	Halted   *HaltedError // the kill switch as it is now, nil when off
	CaughtUp bool         // everything that the log held at this moment has been delivered
}

// Follow calls fn with every event after the sequence number after (Everything, NewOnly), then with each that is stored
// later, until ctx ends or fn returns an error, which it returns. It misses and repeats nothing, takes no lock, and survives
// compaction, replacement, deletion and re-creation of the log. fn is never called twice at once. A change of mode or of the
// kill switch is delivered too, with no events.
func (e *Engine) Follow(ctx context.Context, after int64, fn func(Delivery) error) error {
	panic("later")
}

// FollowFrom is Follow from where a View ended, without a gap: who folds the deliveries into v.State stays up to date and
// never reads the whole log. When the log was replaced in between, the first delivery is a Reset.
func (e *Engine) FollowFrom(ctx context.Context, v *View, fn func(Delivery) error) error {
	panic("later")
}

// Fold brings a state up to date with a delivery and returns it, a new one after a Reset.
func (d Delivery) Fold(s *state.State) *state.State { panic("later") }
