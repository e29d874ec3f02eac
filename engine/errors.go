package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/store"
)

// UsageError says that the words of a call do not make sense. Nothing was written.
type UsageError struct {
	Message string
	Hints   []string // commands that help, in the order in which to try them
}

func (e *UsageError) Error() string { return e.Message }

// Hint is what the caller can do next.
func (e *UsageError) Hint() []string { return e.Hints }

// ValidationError says that a value breaks a limit or a rule of form. Nothing was written.
type ValidationError struct {
	Field  string // as the log names it: "payload.name"
	Reason string // what is wrong, completing "FIELD …"
	Hints  []string
}

func (e *ValidationError) Error() string {
	if e.Field == "" {
		return e.Reason
	}
	return (&event.InvalidError{Field: e.Field, Reason: e.Reason}).Error()
}

// Hint is what the caller can do next.
func (e *ValidationError) Hint() []string { return e.Hints }

// NotFoundError says that a name stands for nothing that exists. Nothing was written.
type NotFoundError struct {
	Kind        string // task, question, decision, contract, agent, event, …
	Name        string
	Reason      string   // why it is not there, completing "no KIND NAME"; may be empty
	Suggestions []string // names that exist and are close
	Hints       []string
}

func (e *NotFoundError) Error() string {
	text := fmt.Sprintf("no %s %s", e.Kind, e.Name)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	if len(e.Suggestions) > 0 {
		text += "; did you mean " + strings.Join(e.Suggestions, " or ") + "?"
	}
	return text
}

// Hint is what the caller can do next.
func (e *NotFoundError) Hint() []string { return e.Hints }

// ConflictKind is the rule that refused a command.
type ConflictKind string

// The rules that refuse.
const (
	ConflictOwnership ConflictKind = "ownership" // somebody else holds an overlapping path
	ConflictRelease   ConflictKind = "release"   // what should be released is not held by who asks
	ConflictFence     ConflictKind = "fence"     // the claim that the fence stands for has ended
	ConflictRevision  ConflictKind = "revision"  // another revision of the contract is the latest
	ConflictAck       ConflictKind = "ack"       // nothing was stored yet with that number
	ConflictTask      ConflictKind = "task"      // the task is settled, or somebody else has taken it
	ConflictDecision  ConflictKind = "decision"  // the decision is superseded already
	ConflictIdentity  ConflictKind = "identity"  // who asks may not do this, or is not who it says
	ConflictName      ConflictKind = "name"      // the name is taken, or too close to a live one
	ConflictKey       ConflictKind = "key"       // the retry key belongs to another write
)

// ConflictError says that a rule refused a command, and whom to talk to. Nothing was written.
type ConflictError struct {
	Kind      ConflictKind
	Message   string     // complete, for people; may have several lines
	Conflicts []Conflict // of kinds ownership, release and fence: who holds what
	Want      int64      // the number that was asked for: revision, base, fence, seq; -1 for none
	Have      int64      // the number that holds now, or the seq of what stands in the way; -1 for none
	Hints     []string
}

func (e *ConflictError) Error() string { return e.Message }

// Hint is what the caller can do next.
func (e *ConflictError) Hint() []string { return e.Hints }

// Conflict is one claim that stands in the way of one requested path.
type Conflict struct {
	Requested     string      `json:"path"`
	RequestedMode event.Mode  `json:"requestedMode"`
	RequestedBy   string      `json:"requestedBy"`
	Claim         state.Claim `json:"claim"`
	Session       string      `json:"session,omitempty"`
	Human         string      `json:"human,omitempty"`
	LastBeat      *time.Time  `json:"lastBeat,omitempty"` // last sign of life of the holder's session
	Stale         bool        `json:"stale"`              // the holder's session has ended or died
}

// HaltedError says that the kill switch is on.
type HaltedError struct {
	By      string    `json:"activatedBy"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"activatedAt"`
	Seen    time.Time `json:"-"`                 // when the switch was looked at, in the reader's zone
	Damaged bool      `json:"damaged,omitempty"` // the file does not say who, when and why
}

func (e *HaltedError) Error() string {
	if e.Damaged {
		return "halted: the kill switch is on; its file does not say by whom or why"
	}
	return fmt.Sprintf("halted by %s at %s: %s", e.By, words.Stamp(e.Seen, e.At), e.Reason)
}

// Hint is what the caller can do next.
func (e *HaltedError) Hint() []string {
	return []string{"loadout resume    when a person says that work may go on"}
}

// LockedError says that a lock was not free in time, and who holds it.
type LockedError = store.LockedError

// ProviderError says that an agent program failed, timed out or answered nonsense.
type ProviderError struct {
	Provider string
	Err      error
	Hints    []string
}

func (e *ProviderError) Error() string {
	said := e.Err.Error()
	if strings.HasPrefix(said, e.Provider+": ") { // it names the program itself
		return said
	}
	return e.Provider + ": " + said
}

func (e *ProviderError) Unwrap() error { return e.Err }

// Hint is what the caller can do next.
func (e *ProviderError) Hint() []string { return e.Hints }

// Hints is what err suggests to do next; nil when it suggests nothing.
func Hints(err error) []string {
	var hinter interface{ Hint() []string }
	if errors.As(err, &hinter) {
		return hinter.Hint()
	}
	var locked *LockedError
	if errors.As(err, &locked) {
		return []string{
			"try again: the lock is free as soon as its holder is done or dead",
			"the same command with --lock-wait 60s    to wait longer",
		}
	}
	return nil
}

// ErrorCode is the short stable name of a refusal, for programs; "internal_error" for what is no refusal.
func ErrorCode(err error) string {
	var (
		usage      *UsageError
		validation *ValidationError
		invalid    *event.InvalidError
		missing    *NotFoundError
		conflict   *ConflictError
		halted     *HaltedError
		locked     *LockedError
		provider   *ProviderError
	)
	switch {
	case errors.As(err, &usage):
		return "usage"
	case errors.As(err, &validation), errors.As(err, &invalid):
		return "invalid_request"
	case errors.As(err, &missing):
		return "not_found"
	case errors.As(err, &conflict):
		return conflict.Kind.code()
	case errors.As(err, &halted):
		return "kill_switch_active"
	case errors.As(err, &locked):
		return "locked"
	case errors.As(err, &provider):
		return "provider_failed"
	}
	return "internal_error"
}

// code is the ErrorCode of a conflict. The first four are those of the coordination protocol.
func (k ConflictKind) code() string {
	switch k {
	case ConflictOwnership:
		return "ownership_conflict"
	case ConflictRelease:
		return "ownership_release_conflict"
	case ConflictRevision:
		return "contract_revision_conflict"
	case ConflictAck:
		return "acknowledgement_conflict"
	case ConflictFence:
		return "fence_conflict"
	case ConflictTask:
		return "task_conflict"
	case ConflictDecision:
		return "decision_conflict"
	case ConflictIdentity:
		return "identity_conflict"
	case ConflictName:
		return "name_conflict"
	case ConflictKey:
		return "key_conflict"
	}
	return "conflict"
}

// Details are the facts of a refusal, for programs; nil when there are none beyond its text.
func Details(err error) map[string]any {
	details := map[string]any{}
	if hints := Hints(err); len(hints) > 0 {
		details["hints"] = hints
	}
	var (
		validation *ValidationError
		invalid    *event.InvalidError
		missing    *NotFoundError
		conflict   *ConflictError
		halted     *HaltedError
		locked     *LockedError
	)
	switch {
	case errors.As(err, &validation):
		details["field"] = validation.Field
	case errors.As(err, &invalid):
		details["field"] = invalid.Field
	case errors.As(err, &missing):
		details["kind"], details["name"] = missing.Kind, missing.Name
		details["suggestions"] = orEmpty(missing.Suggestions)
	case errors.As(err, &conflict):
		conflict.addTo(details)
	case errors.As(err, &halted):
		details["activatedBy"], details["reason"], details["damaged"] = halted.By, halted.Reason, halted.Damaged
		details["activatedAt"] = halted.At
	case errors.As(err, &locked):
		details["path"], details["owner"], details["waitedMs"] = locked.Path, locked.Owner, locked.Waited.Milliseconds()
	}
	if len(details) == 0 {
		return nil
	}
	return details
}

// maxDetailed is how many conflicts the details of a refusal list.
const maxDetailed = 100

func (e *ConflictError) addTo(details map[string]any) {
	details["kind"] = e.Kind
	conflicts := orEmpty(e.Conflicts)
	if over := len(conflicts) - maxDetailed; over > 0 {
		conflicts, details["omitted"] = conflicts[:maxDetailed], over
	}
	if len(conflicts) > 0 {
		details["conflicts"] = conflicts
	}
	switch e.Kind {
	case ConflictOwnership, ConflictRelease:
		details["conflicts"] = conflicts
	case ConflictFence:
		details["conflicts"] = conflicts
		details["want"], details["have"] = e.Want, e.Have
	case ConflictRevision, ConflictAck, ConflictTask, ConflictDecision, ConflictKey:
		details["want"], details["have"] = e.Want, e.Have
	case ConflictIdentity, ConflictName:
	}
}

// orEmpty makes an absent list an empty one, so that programs always find a list.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
