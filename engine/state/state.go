package state

import (
	"encoding/json"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// Version names the marshalled form and the meaning of the fold. A checkpoint of another version is of no use.
const Version = "1"

// State is what holds after some events.
type State struct{}

// New is the state before the first event.
func New() *State { panic("later") }

// Apply folds one event. An *event.InvalidError means that its payload broke a rule: it is counted as bad and changed nothing.
func (s *State) Apply(e *event.Event) error { panic("later") }

// ApplyLine is Apply with the line that the event stood on, for the reference of a bad one.
func (s *State) ApplyLine(e *event.Event, line int64) error { panic("later") }

// Skip counts a line that could not be read.
func (s *State) Skip(line, seq int64, reason string) { panic("later") }

// Clone makes an independent copy.
func (s *State) Clone() *State { panic("later") }

// Head is the highest sequence number seen, -1 for none.
func (s *State) Head() int64 { panic("later") }

// Count is how many events were folded.
func (s *State) Count() int64 { panic("later") }

// At is the newest timestamp seen.
func (s *State) At() time.Time { panic("later") }

// Skips says what was left out.
func (s *State) Skips() Skips { panic("later") }

// Claims lists all claims by path, then agent.
func (s *State) Claims() []Claim { panic("later") }

// ClaimsOf lists an agent's claims by path.
func (s *State) ClaimsOf(agent string) []Claim { panic("later") }

// Overlapping lists the claims that overlap path, by path, then agent.
func (s *State) Overlapping(path string, foldCase bool) []Claim { panic("later") }

// Contracts lists the contracts by name.
func (s *State) Contracts() []Contract { panic("later") }

// Contract finds a contract.
func (s *State) Contract(name string) (Contract, bool) { panic("later") }

// Consumers lists who declared to build on a contract, by name.
func (s *State) Consumers(contract string) []string { panic("later") }

// Tasks lists open ones first come first, then settled ones newest first.
func (s *State) Tasks() []Task { panic("later") }

// Task finds a task or question by its id.
func (s *State) Task(id string) (Task, bool) { panic("later") }

// Pending lists open tasks and questions by sequence number.
func (s *State) Pending() []Task { panic("later") }

// Ready lists the tasks that an agent could take now, by sequence number.
func (s *State) Ready(agent string) []Task { panic("later") }

// Decisions lists decisions, newest last.
func (s *State) Decisions() []Decision { panic("later") }

// Decision finds a decision by its id.
func (s *State) Decision(id string) (Decision, bool) { panic("later") }

// Agents lists everybody who has taken part, by name.
func (s *State) Agents() []Agent { panic("later") }

// Agent finds somebody by name.
func (s *State) Agent(name string) (Agent, bool) { panic("later") }

// Unread counts the news for an agent above its cursor.
func (s *State) Unread(agent string) Unread { panic("later") }

// News lists the newest max events above after that concern agent, oldest first, and how many it left out.
func (s *State) News(agent string, after int64, max int) (refs []Ref, omitted int64) { panic("later") }

// Recent lists the newest n events, oldest first.
func (s *State) Recent(n int) []Ref { panic("later") }

// Threads lists discussions, newest last.
func (s *State) Threads() []Thread { panic("later") }

// Halt is the kill switch as the log tells it, nil when it is off.
func (s *State) Halt() *Halt { panic("later") }

// SeenKey finds the event that from stored with a retry key.
func (s *State) SeenKey(from, key string) (seq int64, ok bool) { panic("later") }

// Roots says which lines the state is built from: a compaction keeps them.
func (s *State) Roots() func(seq int64) bool { panic("later") }

// Carry is what the summary of a compaction carries (event.Status.Carried), so that folding what is left gives this state:
// kept is the fold of the lines that stay, since the sequence number from which on all stay.
func (s *State) Carry(kept *State, since int64) (json.RawMessage, error) { panic("later") }

// MarshalBinary is the compact form for a checkpoint.
func (s *State) MarshalBinary() ([]byte, error) { panic("later") }

// Unmarshal reads what MarshalBinary wrote.
func Unmarshal(data []byte) (*State, error) { panic("later") }

// Equal compares everything but the counts of lines, and says what differs.
func Equal(a, b *State) (bool, string) { panic("later") }

// Overlap reports whether one path is the other, or lies below it.
func Overlap(a, b string, foldCase bool) bool { panic("later") }

// Within reports whether path is dir, or lies below it.
func Within(path, dir string, foldCase bool) bool { panic("later") }

// FoldName is the form in which names are compared.
func FoldName(name string) string { return event.FoldName(name) }

// SameName reports whether two names stand for the same agent.
func SameName(a, b string) bool { return event.SameName(a, b) }
