package event

import "encoding/json"

// Body is the typed payload of an event.
//
//sumtype:decl
type Body interface{ isBody() }

// Task asks somebody for work. With Event.Resolves naming a task it takes that task instead of adding one.
type Task struct {
	Needs   []string `json:"needs,omitempty"`   // ids of tasks that must be done first, at most MaxNeeds
	Handoff bool     `json:"handoff,omitempty"` // it was handed over with a message
}

// Handoff passes work on with words for the next agent.
type Handoff struct{}

// Question asks; a Done or Error that resolves its id is the answer.
type Question struct{}

// Done settles the task or question that Event.Resolves names.
type Done struct {
	Evidence string `json:"evidence,omitempty"` // what shows that it is done, at most MaxEvidence
}

// Status is a remark, or, with CompactedCount, the summary that a compaction leaves.
type Status struct {
	CompactedCount int64           `json:"compactedCount,omitempty"`
	CompactedRange *SeqRange       `json:"compactedRange,omitempty"`
	Agents         []string        `json:"agents,omitempty"`
	TypeCounts     map[Type]int64  `json:"typeCounts,omitempty"`
	CompactedAt    string          `json:"compactedAt,omitempty"`
	Carried        json.RawMessage `json:"carried,omitempty"` // counters of the fold that the removed lines had built
}

// SeqRange is a range of sequence numbers, both ends included.
type SeqRange struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Error reports a failure; with Event.Resolves it settles a task as failed.
type Error struct{}

// Cancel settles a task or question that is no longer wanted.
type Cancel struct{}

// Contract publishes one revision of a named agreement.
type Contract struct {
	Name     string `json:"name"`
	Revision int64  `json:"revision"`
	Body     string `json:"body"`
	Format   string `json:"format,omitempty"`
}

// Ownership claims or releases paths.
type Ownership struct {
	Paths     []string    `json:"paths"`
	Mode      Mode        `json:"mode"`
	Reason    string      `json:"reason,omitempty"`
	ExpiresAt string      `json:"expiresAt,omitempty"` // RFC 3339, UTC: the claim lapses then
	Cause     Cause       `json:"cause,omitempty"`
	Holder    string      `json:"holder,omitempty"`    // of a release: whose claims end, when not Event.From's
	Displaced []Displaced `json:"displaced,omitempty"` // of a claim by force or takeover: whose claims it ended
}

// Displaced is a claim that somebody else's claim ended.
type Displaced struct {
	Agent string `json:"agent"`
	Path  string `json:"path"`
	Mode  Mode   `json:"mode"`
	Fence int64  `json:"fence"`
}

// Decision records what was decided and why.
type Decision struct {
	Title        string `json:"title"`
	Rationale    string `json:"rationale"`
	Supersedes   string `json:"supersedes,omitempty"` // id of an older decision event; other programs may name its title
	DiscussionID string `json:"discussionId,omitempty"`
}

// Update reports progress.
type Update struct {
	Files    []string     `json:"files,omitempty"`
	Commands []CommandRun `json:"commands,omitempty"`
	Note     string       `json:"note,omitempty"`
	Blockers []string     `json:"blockers,omitempty"`
	Next     string       `json:"next,omitempty"`
	Consumes []string     `json:"consumes,omitempty"` // names of contracts that Event.From builds on from now on
}

// CommandRun is a command that an agent ran and how it ended.
type CommandRun struct {
	Command  string `json:"command"`
	ExitCode *int64 `json:"exitCode,omitempty"`
	Summary  string `json:"summary,omitempty"`
}

// Ack says that Event.From has read everything up to EventSeq.
type Ack struct {
	EventSeq int64  `json:"eventSeq"`
	Note     string `json:"note,omitempty"`
}

// Discussion is one statement of a bounded design discussion.
type Discussion struct {
	ThreadID     string         `json:"threadId"`
	Kind         DiscussionKind `json:"kind"`
	Round        int64          `json:"round"`
	Role         string         `json:"role"` // system, proposer, reviewer
	Content      string         `json:"content"`
	Participants []string       `json:"participants,omitempty"` // exactly two
	ReplyTo      string         `json:"replyTo,omitempty"`
	Alternatives []string       `json:"alternatives,omitempty"`
	Unresolved   []string       `json:"unresolved,omitempty"`
	Outcome      string         `json:"outcome,omitempty"` // decided, failed
}

// Agent reports the life of an agent's session.
type Agent struct {
	Action   AgentAction `json:"action"`
	Name     string      `json:"name"`
	Previous string      `json:"previous,omitempty"` // of a renaming: the old name
	Base     string      `json:"base,omitempty"`     // the program, e.g. claude-code
	Human    string      `json:"human,omitempty"`    // whose session it is
	Session  string      `json:"session,omitempty"`  // the host's session id
	PID      int         `json:"pid,omitempty"`      // the process whose life is the session's
	Start    string      `json:"start,omitempty"`    // its start time, so that a reused pid is not taken for it
	Boot     string      `json:"boot,omitempty"`     // the machine's boot id
	Host     string      `json:"host,omitempty"`     // the machine's name
	Reason   string      `json:"reason,omitempty"`
}

// Halt records that the kill switch was set or lifted.
type Halt struct {
	Action HaltAction `json:"action"`
	Reason string     `json:"reason,omitempty"`
}

// Unknown is the payload of a type that this build does not know.
type Unknown struct {
	Raw json.RawMessage
}

func (Task) isBody()       {}
func (Handoff) isBody()    {}
func (Question) isBody()   {}
func (Done) isBody()       {}
func (Status) isBody()     {}
func (Error) isBody()      {}
func (Cancel) isBody()     {}
func (Contract) isBody()   {}
func (Ownership) isBody()  {}
func (Decision) isBody()   {}
func (Update) isBody()     {}
func (Ack) isBody()        {}
func (Discussion) isBody() {}
func (Agent) isBody()      {}
func (Halt) isBody()       {}
func (Unknown) isBody()    {}
