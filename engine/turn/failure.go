package turn

import (
	"fmt"
	"time"
)

// Kind is what went wrong with a turn.
type Kind string

// The kinds of a Failure.
const (
	NotInstalled   Kind = "not_installed"
	Broken         Kind = "broken" // the program is there and cannot be started
	NotSignedIn    Kind = "not_signed_in"
	UnknownSession Kind = "unknown_session" // the program does not know the session, or answered in another one
	SessionBusy    Kind = "session_busy"    // another process has a turn open in it
	Quota          Kind = "quota"           // a limit of the account: rate, credit, plan
	Overloaded     Kind = "overloaded"      // the other side cannot take more now
	Unreachable    Kind = "unreachable"     // no connection to the model
	TooLong        Kind = "too_long"        // prompt or session do not fit the model
	Timeout        Kind = "timeout"         // the deadline passed
	Cancelled      Kind = "cancelled"       // by a person, the kill switch, or the end of the program that waited
	Forbidden      Kind = "forbidden"       // the program acted although everything was forbidden
	Nonsense       Kind = "nonsense"        // the output is not what the program's format says, or empty
	Rejected       Kind = "rejected"        // the program or the model refused the request
	Crashed        Kind = "crashed"         // the program ended by a signal or without a word
)

// Spent says whether a failed turn may have been paid for.
type Spent string

// The values of Spent. Only Nothing may be tried again without asking.
const (
	Nothing Spent = "nothing" // known not to have reached a model
	Maybe   Spent = "maybe"
	Yes     Spent = "yes"
)

// Failure is a turn that did not succeed.
type Failure struct {
	Provider   string
	Kind       Kind
	Message    string // what the program said, one line, cleaned and shortened
	RetryAfter time.Duration
	Spent      Spent
	Hints      []string // what the person can do
	Err        error    // what it rests on
}

func (f *Failure) Error() string {
	if f.Message == "" {
		return f.Provider + ": " + f.Kind.text()
	}
	return fmt.Sprintf("%s: %s: %s", f.Provider, f.Kind.text(), f.Message)
}

func (f *Failure) Unwrap() error { return f.Err }

// Hint is what the person can do.
func (f *Failure) Hint() []string { return f.Hints }

func (k Kind) text() string {
	switch k {
	case NotInstalled:
		return "the program is not installed"
	case Broken:
		return "the program is there and cannot be started"
	case NotSignedIn:
		return "not signed in"
	case UnknownSession:
		return "no such session"
	case SessionBusy:
		return "the session is busy"
	case Quota:
		return "a limit of the account is reached"
	case Overloaded:
		return "the service is overloaded"
	case Unreachable:
		return "no connection to the model"
	case TooLong:
		return "too long for the model"
	case Timeout:
		return "no answer in time"
	case Cancelled:
		return "cancelled"
	case Forbidden:
		return "acted although that was forbidden"
	case Nonsense:
		return "an answer that cannot be used"
	case Rejected:
		return "the request was refused"
	case Crashed:
		return "the program broke off"
	default:
		return string(k)
	}
}
