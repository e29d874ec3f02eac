package state

import (
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// Claim is one agent's hold on one path and everything below it.
type Claim struct {
	Path      string     `json:"path"`
	Agent     string     `json:"agent"`
	Mode      event.Mode `json:"mode"` // exclusive or shared
	Reason    string     `json:"reason,omitempty"`
	Since     time.Time  `json:"since"`
	Seq       int64      `json:"seq"`   // the event that made or last renewed it
	Fence     int64      `json:"fence"` // the seq of the event that first made it: grows with every new holding, kept by renewal
	ExpiresAt *time.Time `json:"expiresAt,omitempty"`
}

// Lapsed reports whether the claim's time limit has passed at now.
func (c Claim) Lapsed(now time.Time) bool { return c.ExpiresAt != nil && !now.Before(*c.ExpiresAt) }

// Contract is the latest revision of a named agreement, with what came before and who builds on it.
type Contract struct {
	Name      string     `json:"name"`
	Revision  int64      `json:"revision"`
	Body      string     `json:"body"`
	Format    string     `json:"format,omitempty"`
	Publisher string     `json:"publisher"`
	EventID   string     `json:"eventId"`
	Seq       int64      `json:"seq"`
	At        time.Time  `json:"at"`
	History   []Revision `json:"history"` // the newest MaxHistory revisions, oldest first, the latest included; bodies are read from the log
	Older     int64      `json:"older"`   // how many revisions came before those
	Readers   []Reader   `json:"readers"` // by agent name
}

// Revision is one published version of a contract, without its body.
type Revision struct {
	Revision  int64     `json:"revision"`
	Publisher string    `json:"publisher"`
	Format    string    `json:"format,omitempty"`
	EventID   string    `json:"eventId"`
	Seq       int64     `json:"seq"`
	At        time.Time `json:"at"`
}

// Reader is an agent that declared to build on a contract, or that acknowledged a revision of it.
type Reader struct {
	Agent    string `json:"agent"`
	Declared bool   `json:"declared"` // it said so with --consume; else only its acknowledgements show it
	Revision int64  `json:"revision"` // the newest revision that it has acknowledged or published, 0 for none
	Behind   int64  `json:"behind"`   // how many revisions are newer than that
}

// TaskStatus is where a task stands.
type TaskStatus string

// The states of a task.
const (
	TaskOpen      TaskStatus = "open"      // nobody has taken it
	TaskTaken     TaskStatus = "taken"     // somebody works on it
	TaskDone      TaskStatus = "done"      // settled by a done event
	TaskFailed    TaskStatus = "failed"    // settled by an error event
	TaskCancelled TaskStatus = "cancelled" // settled by a cancel event
)

// Task is a piece of work, or a question that waits for its answer.
type Task struct {
	ID          string     `json:"id"`
	Seq         int64      `json:"seq"`
	From        string     `json:"from"`
	To          string     `json:"to"`
	Question    bool       `json:"question,omitempty"`
	Handoff     bool       `json:"handoff,omitempty"` // came as a handoff message
	Description string     `json:"description"`
	Context     string     `json:"context,omitempty"` // kept while the task is open
	At          time.Time  `json:"at"`
	Needs       []string   `json:"needs,omitempty"`
	Waiting     []string   `json:"waiting,omitempty"` // those of Needs that are not done
	Status      TaskStatus `json:"status"`
	TakenBy     string     `json:"takenBy,omitempty"`
	TakenAt     *time.Time `json:"takenAt,omitempty"`
	SettledBy   string     `json:"settledBy,omitempty"`
	SettledAt   *time.Time `json:"settledAt,omitempty"`
	SettledSeq  int64      `json:"settledSeq,omitempty"`
	Answer      string     `json:"answer,omitempty"`   // description of the settling event, of a question
	Evidence    string     `json:"evidence,omitempty"` // of a done task
}

// Open reports whether the task still waits to be settled.
func (t Task) Open() bool { return t.Status == TaskOpen || t.Status == TaskTaken }

// Decision is a recorded decision.
type Decision struct {
	ID           string    `json:"id"`
	Seq          int64     `json:"seq"`
	From         string    `json:"from"`
	Title        string    `json:"title"`
	Rationale    string    `json:"rationale,omitempty"`
	At           time.Time `json:"at"`
	Supersedes   string    `json:"supersedes,omitempty"`
	SupersededBy string    `json:"supersededBy,omitempty"`
	DiscussionID string    `json:"discussionId,omitempty"`
}

// Agent is a name that has taken part: registered, or only seen in From or To of an event.
type Agent struct {
	Name       string     `json:"name"`
	Registered bool       `json:"registered"` // an agent event registered it and none ended it
	Ended      *time.Time `json:"ended,omitempty"`
	Base       string     `json:"base,omitempty"`
	Human      string     `json:"human,omitempty"`
	Session    string     `json:"session,omitempty"`
	PID        int        `json:"pid,omitempty"`
	Start      string     `json:"start,omitempty"`
	Boot       string     `json:"boot,omitempty"`
	Host       string     `json:"host,omitempty"`
	Since      *time.Time `json:"since,omitempty"` // registered at
	Cursor     int64      `json:"cursor"`          // has acknowledged everything up to this seq, -1 for nothing
	LastSeq    int64      `json:"lastSeq"`         // its newest event, -1 for none
	LastAt     *time.Time `json:"lastAt,omitempty"`
	Unread     Unread     `json:"unread"`
}

// Unread counts the news for an agent above its cursor: events that concern it and are neither acks nor agent or halt records.
type Unread struct {
	Count int64 `json:"count"`
	Exact bool  `json:"exact"` // false: at most Count, because an old acknowledgement fell between remembered places
}

// Skips says what the fold left out, so that nothing is lost silently.
type Skips struct {
	Bad        int64    `json:"bad"`        // lines that cannot be read, or whose payload breaks its type's rules
	Duplicate  int64    `json:"duplicate"`  // lines that repeat the event just before
	OutOfOrder int64    `json:"outOfOrder"` // events whose seq was not above all before; they count
	Recent     []BadRef `json:"recent"`     // the newest bad lines, at most 20
}

// BadRef names one line that was left out and why.
type BadRef struct {
	Line   int64  `json:"line"`
	Seq    int64  `json:"seq"` // -1 when it has none
	Reason string `json:"reason"`
}

// Halt is the kill switch as the log tells it.
type Halt struct {
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	Seq    int64     `json:"seq"`
}

// Thread is a discussion in short.
type Thread struct {
	ID           string    `json:"id"`
	Topic        string    `json:"topic"`
	Participants []string  `json:"participants"`
	Status       string    `json:"status"` // open, closed, failed
	Decision     string    `json:"decision,omitempty"`
	Statements   int64     `json:"statements"`
	Started      time.Time `json:"started"`
	Updated      time.Time `json:"updated"`
	Seq          int64     `json:"seq"` // of its newest event
}

// Ref is an event in one line, for lists of news.
type Ref struct {
	Seq          int64      `json:"seq"`
	ID           string     `json:"id"`
	Type         event.Type `json:"type"`
	From         string     `json:"from"`
	To           string     `json:"to"`
	Description  string     `json:"description"` // clipped to MaxRefDescription
	At           time.Time  `json:"at"`
	SupersededBy int64      `json:"supersededBy,omitempty"` // seq of what made this old news: a later revision, decision, release, settlement
}
