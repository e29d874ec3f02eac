package state

import (
	"strconv"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// Bounds of what a State remembers of turns. Everything older is in the log.
const (
	MaxSessions  = 1000 // sessions without a turn to be made, beside those that the bridge drives
	MaxOpenTurns = 256  // turns that are not over, or that wait for a person
	MaxEnded     = 200  // turns that are over
	MaxCaused    = 1000 // events that bridged turns caused
	MaxMeters    = 1000 // agents by what they used

	// MaxAttempts is how often a turn is started that is known to have cost nothing: twice again after it failed.
	MaxAttempts = 3

	// DefaultMaxTurns bounds the automatic turns of a session that no cap was set for.
	DefaultMaxTurns = 20
)

// Causes of a TurnCancelled event.
const (
	CauseHalt   = "halt"   // the kill switch
	CausePerson = "person" // a person cancelled this turn
	CauseEnd    = "end"    // the bridge ended
	CauseDepth  = "depth"  // of a TurnHeld event: the chain of turns that caused one another is too long
)

// spentNothing is what a failure says that is known to have cost nothing.
const spentNothing = "nothing"

// TurnStatus is where a turn stands.
type TurnStatus string

// The states of a turn.
const (
	TurnQueued    TurnStatus = "queued"
	TurnHeld      TurnStatus = "held" // waits until a person lets it go on
	TurnRunning   TurnStatus = "running"
	TurnFinished  TurnStatus = "finished"
	TurnFailed    TurnStatus = "failed"
	TurnCancelled TurnStatus = "cancelled"
	TurnUncertain TurnStatus = "uncertain" // nobody knows what came of it
	TurnSkipped   TurnStatus = "skipped"
)

// Usage is what turns used. Cost is in millionths of a US dollar, of the turns that a cost is known of.
type Usage struct {
	Input      int64 `json:"input"`
	Cached     int64 `json:"cached"`
	Output     int64 `json:"output"`
	CostMicros int64 `json:"costMicros"`
	Priced     bool  `json:"priced"`
	Known      bool  `json:"known"`
}

// Tokens is the sum that caps and meters count.
func (u Usage) Tokens() int64 { return u.Input + u.Output }

func (u Usage) add(v Usage) Usage {
	return Usage{
		u.Input + v.Input, u.Cached + v.Cached, u.Output + v.Output, u.CostMicros + v.CostMicros, u.Priced || v.Priced, u.Known || v.Known,
	}
}

func usageOf(u *event.TurnUsage) Usage {
	if u == nil {
		return Usage{}
	}
	return Usage(*u)
}

// Session is one session of an agent program that turns can be given to.
type Session struct {
	Agent    string    `json:"agent"`
	Provider string    `json:"provider"`
	ID       string    `json:"sessionId"`
	Scripted bool      `json:"scripted,omitempty"`
	Attached time.Time `json:"attached"`
	Cursor   int64     `json:"cursor"`            // every event up to here is dealt with, -1 for none
	Turns    int64     `json:"turns"`             // automatic turns that may have cost something
	Usage    Usage     `json:"usage"`             // of those
	Total    Usage     `json:"total"`             // what the program reported last as the session's total
	MaxTurns int64     `json:"maxTurns"`          // cap on Turns, 0 for none
	Running  string    `json:"running,omitempty"` // id of the turn that is running
	Stopped  string    `json:"stopped,omitempty"` // the cap that keeps it from the next turn
	Paused   bool      `json:"paused,omitempty"`  // a failed turn waits for a person: no other is started before
	Seq      int64     `json:"seq"`               // its newest event
}

// Turn is one turn of a session.
type Turn struct {
	ID         string        `json:"id"`
	Agent      string        `json:"agent"`
	Provider   string        `json:"provider"`
	Session    string        `json:"session,omitempty"`
	Scripted   bool          `json:"scripted,omitempty"`
	Why        event.TurnWhy `json:"why"`
	Thread     string        `json:"thread,omitempty"` // the discussion that it makes a statement for
	Status     TurnStatus    `json:"status"`
	Seqs       []int64       `json:"seqs,omitempty"` // the events that triggered it, as long as it is not over
	Events     int64         `json:"events"`         // how many triggered it
	Depth      int64         `json:"depth,omitempty"`
	Attempt    int64         `json:"attempt"`
	Queued     time.Time     `json:"queued"`
	Started    *time.Time    `json:"started,omitempty"`
	Ended      *time.Time    `json:"ended,omitempty"`
	Seq        int64         `json:"seq"` // the event that queued it
	Cause      string        `json:"cause,omitempty"`
	Spent      string        `json:"spent,omitempty"`
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
	Duration   time.Duration `json:"duration,omitempty"`
	Usage      Usage         `json:"usage"`

	lines []int64 // its events, as long as it is not over: a compaction keeps them
}

// Over reports whether nothing more is to be done about the turn.
func (t *Turn) Over() bool {
	switch t.Status {
	case TurnFinished, TurnSkipped:
		return true
	case TurnCancelled:
		return t.Why != event.WhyDelivery || t.Cause == CausePerson
	case TurnFailed, TurnUncertain:
		return t.Why != event.WhyDelivery
	case TurnQueued, TurnHeld, TurnRunning:
	}
	return false
}

// Repeats reports whether the turn is to be started again without asking: it did not succeed, is known to have cost nothing, and
// was not tried too often.
func (t *Turn) Repeats() bool {
	if t.Why != event.WhyDelivery || t.Spent != spentNothing {
		return false
	}
	return t.Status == TurnFailed && t.Attempt < MaxAttempts || t.Status == TurnCancelled && t.Cause == CauseEnd
}

// Waits reports whether the turn waits for a person, who may have it made (again) or skip it.
func (t *Turn) Waits() bool {
	switch t.Status {
	case TurnHeld, TurnFailed, TurnCancelled, TurnUncertain:
		return !t.Over() && !t.Repeats()
	case TurnQueued, TurnRunning, TurnFinished, TurnSkipped:
	}
	return false
}

// Cap is a bound on automatic turns and how much of it is used.
type Cap struct {
	Kind    event.TurnCap `json:"kind"`
	Agent   string        `json:"agent,omitempty"` // whose, of CapTurns
	Used    int64         `json:"used"`            // turns, tokens, or millionths of a US dollar
	Limit   int64         `json:"limit"`           // 0 for none
	Stopped bool          `json:"stopped"`         // it keeps a next turn from being started
}

// Amount is a number of what the cap bounds, in words without a unit where it counts something.
func (c *Cap) Amount(n int64) string {
	if c.Kind == event.CapCost {
		places := 4
		if n%100 != 0 {
			places = 6
		}
		return "$" + strconv.FormatFloat(float64(n)/1e6, 'f', places, 64)
	}
	return strconv.FormatInt(n, 10)
}

// Tell says how much of the cap is used: "18 of 60 used".
func (c *Cap) Tell() string { return c.Amount(c.Used) + " of " + c.Amount(c.Limit) + " used" }

// Meter is what was delivered to one agent and what it used, with all kinds of turns.
type Meter struct {
	Agent     string `json:"agent"`
	Delivered int64  `json:"delivered"` // events in turns that were answered, or in prompts of the program itself
	Passive   int64  `json:"passive"`   // events that woke nobody
	Duplicate int64  `json:"duplicate"` // events left out because another one says the same
	Turns     int64  `json:"turns"`     // turns started
	Failed    int64  `json:"failed"`    // of those, the ones without an answer
	Usage     Usage  `json:"usage"`
	Seq       int64  `json:"seq"` // its newest event
}

// Bridge is the bridge as the log tells it. Whether it still runs, its lock says.
type Bridge struct {
	Agents []string  `json:"agents"` // whose sessions it drives, or drove last
	Since  time.Time `json:"since"`
	Open   bool      `json:"open"` // it has not said that it ended
	Seq    int64     `json:"seq"`
}
