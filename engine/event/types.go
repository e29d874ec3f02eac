package event

// Type is the wire name of an event's kind.
type Type string

// The thirteen types of the protocol.
const (
	TypeTask       Type = "task"
	TypeHandoff    Type = "handoff"
	TypeQuestion   Type = "question"
	TypeDone       Type = "done"
	TypeStatus     Type = "status"
	TypeError      Type = "error"
	TypeCancel     Type = "cancel"
	TypeContract   Type = "contract"
	TypeOwnership  Type = "ownership"
	TypeDecision   Type = "decision"
	TypeUpdate     Type = "update"
	TypeAck        Type = "ack"
	TypeDiscussion Type = "discussion"
)

// Loadout's own types, in the same envelope.
const (
	TypeAgent Type = "agent" // an agent was registered, renamed, or ended
	TypeHalt  Type = "halt"  // the kill switch was set or lifted
	TypeTurn  Type = "turn"  // a session, its automatic turns, and what bounds them
	TypeWork  Type = "work"  // what becomes of a typed work item
	TypeGate  Type = "gate"  // a ledger of acceptance gates, as a check found it
	TypeWave  Type = "wave"  // a wave of launched agents, after a step of it
)

// Broadcast is the To of an event that is meant for everybody.
const Broadcast = "*"

// Names that are not agents.
const (
	User    = "user"    // the person
	Loadout = "loadout" // this program
)

// Mode is how a path is held, or that it is let go.
type Mode string

// The modes of an ownership event.
const (
	Exclusive Mode = "exclusive"
	Shared    Mode = "shared"
	Release   Mode = "release"
)

// Cause says why a claim ended or was taken other than by its holder's wish.
type Cause string

// The causes that an ownership event may carry.
const (
	CauseExpired  Cause = "expired"  // its time limit passed
	CauseForced   Cause = "forced"   // a person used force
	CauseTakeover Cause = "takeover" // its holder's session had ended
)

// AgentAction is what an agent event reports.
type AgentAction string

// The actions of an agent event.
const (
	AgentRegistered AgentAction = "registered"
	AgentRenamed    AgentAction = "renamed"
	AgentEnded      AgentAction = "ended"
	AgentForgotten  AgentAction = "forgotten"
)

// HaltAction is what a halt event reports.
type HaltAction string

// The actions of a halt event.
const (
	HaltSet    HaltAction = "halted"
	HaltLifted HaltAction = "resumed"
)

// DiscussionKind is the place of a statement in a discussion.
type DiscussionKind string

// The kinds of a discussion event.
const (
	KindStarted  DiscussionKind = "started"
	KindProposal DiscussionKind = "proposal"
	KindCritique DiscussionKind = "critique"
	KindRevision DiscussionKind = "revision"
	KindSummary  DiscussionKind = "summary"
	KindClosed   DiscussionKind = "closed"
)
