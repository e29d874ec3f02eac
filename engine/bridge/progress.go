package bridge

import "time"

// Kind is what a Progress tells.
type Kind string

// The kinds of Progress.
const (
	KindSession   Kind = "session"   // a session takes part: Text says what its turns may do
	KindActive    Kind = "active"    // the bridge runs
	KindStarted   Kind = "started"   // a turn is about to be submitted
	KindText      Kind = "text"      // a further piece of an answer
	KindTool      Kind = "tool"      // the program uses a tool
	KindNotice    Kind = "notice"    // something that a person may want to know
	KindFinished  Kind = "finished"  // Text is the answer
	KindFailed    Kind = "failed"    // Text is why, Hints what can be done; Again when it is tried again by itself
	KindCancelled Kind = "cancelled" // Text says by whom
	KindUncertain Kind = "uncertain" // nobody knows what came of a turn
	KindHeld      Kind = "held"      // a chain of turns is too long: a person has to say so first
	KindStopped   Kind = "stopped"   // a cap keeps the next turn from being started
	KindClosed    Kind = "closed"    // the bridge has ended
)

// Progress is one step of a bridge. Its texts come from programs: they are to be cleaned before they are shown, and never stored.
type Progress struct {
	Kind     Kind          `json:"kind"`
	Agent    string        `json:"agent,omitempty"`
	Provider string        `json:"provider,omitempty"`
	Session  string        `json:"sessionId,omitempty"`
	Scripted bool          `json:"scripted,omitempty"` // no model answers: what it says is made up
	Turn     string        `json:"turn,omitempty"`
	Seqs     []int64       `json:"seqs,omitempty"`
	Attempt  int64         `json:"attempt,omitempty"`
	Text     string        `json:"text,omitempty"`
	Hints    []string      `json:"hints,omitempty"`
	Again    time.Duration `json:"againAfter,omitempty"` // nanoseconds
	Duration time.Duration `json:"duration,omitempty"`   // nanoseconds
	Tokens   int64         `json:"tokens,omitempty"`
	Cost     float64       `json:"cost,omitempty"` // US dollars, where the program reports it
	Denied   []string      `json:"denied,omitempty"`
}
