package engine

import (
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// Command is something that changes the state. Each kind has its rule in decide.
//
// Wherever a task, question or decision is named, its id, a unique beginning of at least four characters of it, or #SEQ is
// accepted.
//
//sumtype:decl
type Command interface {
	// spelled is the command with every agent that it names as the log spells that one.
	spelled(as func(name string) string) Command
}

// Own claims paths, all or none. Owning again renews: the claims keep their fences, and TTL counts anew.
type Own struct {
	Agent  string
	Paths  []string // in stored form, see Project.Rel
	Typed  string   // the folder that they were typed in, in stored form; "" for the top of the project
	Shared bool
	TTL    time.Duration // 0: until released
	Reason string        // why; needed for Force and to take over what an ended session holds
	Fence  *int64        // renew only the holding that has this fence
	Force  bool          // end the claims of others; for a person
}

// ReleasePaths ends the agent's claims on the paths and on everything below them, all or none.
type ReleasePaths struct {
	Agent  string
	Paths  []string // in stored form
	Fence  *int64   // release only the holding that has this fence
	Force  bool     // end the claims of others too; for a person
	Reason string   // needed for Force
}

// Publish stores a revision of a contract.
type Publish struct {
	Agent, Name, Body, Format string
	Revision                  *int64 // nil: the next one
	Base                      *int64 // refuse unless this is the latest revision; 0: unless there is none
}

// Consume declares that an agent builds on contracts.
type Consume struct {
	Agent string
	Names []string
}

// Decide records a decision.
type Decide struct {
	Agent, Title, Rationale string
	Supersedes              string // an older decision
}

// Report publishes an update. Its Consumes declares like Consume.
type Report struct {
	Agent string
	event.Update
}

// AddTask asks for work.
type AddTask struct {
	From, To, Text, Context string
	Needs                   []string // tasks that must be done first
	Handoff                 bool     // it is also a handoff message
}

// Ask asks a question.
type Ask struct {
	From, To, Text, Context string
}

// Answer answers a question.
type Answer struct {
	From, ID, Text string
}

// Next takes the oldest task that is ready for an agent. Without one the receipt has no events.
type Next struct {
	Agent string
}

// Finish settles a task.
type Finish struct {
	From, ID string
	Evidence string // what shows that it is done, or why it failed
	Failed   bool
}

// Cancel withdraws a task or question.
type Cancel struct {
	From, ID, Reason string
}

// Ack says that an agent has read everything up to Seq. When it has said so before, nothing is stored and the receipt has no
// events.
type Ack struct {
	Agent string
	Seq   int64
	Note  string
}

// Register gives a session a name that no other live session has: Name, or Base, Base-2, Base-3, ….
type Register struct {
	Base    string // the program, e.g. claude-code
	Name    string // empty: made from Base
	Human   string // whose session it is
	Session string // the host's session id
	Resume  bool   // a person gave Name for good: take it again with what an ended session left under it
	PID     int    // the process whose life is the session's, and what tells it from a later one with the same number
	Start   string
	Boot    string
	Host    string
}

// SameProcess reports whether an agent is registered as the process of this registration.
func (c Register) SameProcess(a state.Agent) bool {
	return c.PID > 0 && a.PID == c.PID && a.Start == c.Start && a.Boot == c.Boot && a.Host == c.Host
}

// EndAgent ends an agent's session. What it has taken becomes open again; its claims stay and may be taken over. One that holds
// something, or has edited files since its last update, leaves its handover card as an update.
type EndAgent struct {
	Name, Reason string
}

// ForgetAgent removes a name that holds nothing and has no live session.
type ForgetAgent struct {
	Name string
}

// RenameAgent gives an agent another name, with everything it holds.
type RenameAgent struct {
	Old, New string
}

// Emit stores an event of any known type. Claims, contracts, acknowledgements, decisions, tasks and what settles them go through the
// same rules as their own commands; events of this program itself (agent, halt) are refused.
type Emit struct {
	event.Event
}

func (c Own) spelled(as func(string) string) Command {
	c.Agent = as(c.Agent)
	return c
}

func (c ReleasePaths) spelled(as func(string) string) Command {
	c.Agent = as(c.Agent)
	return c
}

func (c Publish) spelled(as func(string) string) Command {
	c.Agent = as(c.Agent)
	return c
}

func (c Consume) spelled(as func(string) string) Command {
	c.Agent = as(c.Agent)
	return c
}

func (c Decide) spelled(as func(string) string) Command {
	c.Agent = as(c.Agent)
	return c
}

func (c Report) spelled(as func(string) string) Command {
	c.Agent = as(c.Agent)
	return c
}

func (c AddTask) spelled(as func(string) string) Command {
	c.From, c.To = as(c.From), as(c.To)
	return c
}

func (c Ask) spelled(as func(string) string) Command {
	c.From, c.To = as(c.From), as(c.To)
	return c
}

func (c Answer) spelled(as func(string) string) Command {
	c.From = as(c.From)
	return c
}

func (c Next) spelled(as func(string) string) Command {
	c.Agent = as(c.Agent)
	return c
}

func (c Finish) spelled(as func(string) string) Command {
	c.From = as(c.From)
	return c
}

func (c Cancel) spelled(as func(string) string) Command {
	c.From = as(c.From)
	return c
}

func (c Ack) spelled(as func(string) string) Command {
	c.Agent = as(c.Agent)
	return c
}

func (c Register) spelled(func(string) string) Command { return c } // it says how a name is spelled
func (c EndAgent) spelled(as func(string) string) Command {
	c.Name = as(c.Name)
	return c
}

func (c ForgetAgent) spelled(as func(string) string) Command {
	c.Name = as(c.Name)
	return c
}

func (c RenameAgent) spelled(as func(string) string) Command {
	c.Old = as(c.Old)
	return c
}

func (c Emit) spelled(as func(string) string) Command {
	c.From, c.To = as(c.From), as(c.To)
	return c
}

// Request is a command with what every command may carry.
type Request struct {
	Command Command
	Key     string // retry key: a second request with the same key and sender stores nothing and answers as the first did
	By      string // who really acts, when that is a person acting as an agent
}

// View is what a rule may look at.
type View struct {
	State    *state.State
	Now      time.Time                   // in the zone of the reader
	FoldCase bool                        // the file system takes src/API and src/api for the same
	Live     func(agent string) Liveness // nil: nothing is known about any session
	Person   bool                        // a person asks, not an agent
	Halted   *HaltedError                // nil: the kill switch is off
	Notes    []string                    // repairs and the like that the person should know

	at    place                      // where the log was read to, for FollowFrom
	typed func(stored string) string // how a path is typed where hints are followed; nil: as it is stored
}

// Stale reports whether an agent's session is known not to run: it ended, or it is registered and lives no more. What it holds may
// be taken over, also while it rests.
func Stale(a state.Agent, live Liveness) bool {
	if live.Known {
		return !live.Live
	}
	return !a.Registered && a.Ended != nil
}

// Liveness is what is known about an agent's session.
type Liveness struct {
	Known    bool // it is registered
	Live     bool // its process runs, or it was heard of lately
	Idle     bool // it has no process: a session that goes on when it is given a turn
	LastBeat time.Time
}
