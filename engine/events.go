package engine

import (
	"context"
	"math"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// Everything is the After of a query or a follower that wants the log from its first line.
const Everything int64 = -1

// NewOnly is the after of a follower that wants only what comes from now on.
const NewOnly int64 = math.MaxInt64

// Query selects events of the log. The zero value asks for all after sequence 0; use After: Everything for the first too.
type Query struct {
	After  int64        // only events with a higher sequence number
	Before int64        // only events with a lower sequence number, 0: no bound
	Agent  string       // only events from or to this agent, or to everybody; empty: all
	Types  []event.Type // only these types; empty: all
	Last   int          // only the newest so many of what is selected, read backwards; 0: no bound
	Max    int          // only the oldest so many, so that a reader can page; 0: no bound
}

// EventsResult answers a Query and says what it left out.
type EventsResult struct {
	Events  []event.Event `json:"events"`
	AsOf    int64         `json:"highSeq"` // the log was read up to here, -1 when it is empty
	Omitted int64         `json:"omitted"` // matching events left out by Last or Max, -1: some, not counted
	Skips   state.Skips   `json:"skipped"` // lines of the log that nobody can read
}

// Events reads events of the log, oldest first.
func (e *Engine) Events(ctx context.Context, q Query) (EventsResult, error) { panic("later") }
