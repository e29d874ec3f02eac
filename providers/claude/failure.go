package claude

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/process"
)

// statusOverloaded is the API's own.
const statusOverloaded = 529

// limitReset is how the program tells when a limit of the plan ends: a time in seconds since 1970 after a bar.
var limitReset = regexp.MustCompile(`limit reached\|(\d{9,11})`)

// failure is why a run that exited has no answer that counts, or nil. Only an exit status of 0 with a result that claims success, in the
// right session, and with text, is an answer: the program exits with 0 when interrupted, and claims success with an empty text.
func (s *stream) failure(lines process.Lines) *turn.Failure {
	r := s.result
	switch {
	case r == nil:
		return s.noResult(lines)
	case r.Session != "" && r.Session != s.session:
		return claude.Failure(turn.UnknownSession, s.spent(turn.Maybe), "it answered in session "+r.Session+", not in "+s.session, nil)
	case r.IsError || r.Subtype != "success" || lines.Code != 0:
		return s.refused()
	case r.Turns == 0:
		// A prompt that a hook of the person's settings blocked, or that was taken for a command.
		return claude.Failure(turn.Rejected, s.spent(turn.Nothing), "the prompt did not reach the model: "+r.Text, nil)
	case s.turn.Schema != nil && len(r.Structured) == 0:
		return claude.Failure(turn.Nonsense, turn.Yes, "the answer does not follow the schema", nil)
	case strings.TrimSpace(r.Text) == "":
		return claude.Failure(turn.Nonsense, turn.Yes, "the answer is empty", nil)
	}
	return nil
}

// noResult is the failure of a run that ended before its last line.
func (s *stream) noResult(lines process.Lines) *turn.Failure {
	if failure := s.byText(lines.Stderr); failure != nil && lines.Code != 0 {
		return failure
	}
	missing := "no result in its output"
	if s.garbage > 0 {
		missing += "; lines that were no JSON: " + strconv.Itoa(s.garbage)
	}
	spent := turn.Maybe
	if !s.started && lines.Code != 0 && s.garbage == 0 {
		spent = turn.Nothing // it refused its command line: whatever reaches the model comes after the first line
	}
	return claude.NoAnswer(lines, s.spent(spent), missing)
}

// refused is the failure that a result reports.
func (s *stream) refused() *turn.Failure {
	r := s.result
	message := r.Text
	if len(r.Errors) > 0 {
		message = strings.Join(r.Errors, "; ")
	}
	if failure := s.byText(message); failure != nil {
		return failure
	}
	kind, spent := byStatus(r.Status)
	failure := claude.Failure(kind, s.spent(spent), message, nil)
	if s.retry != nil && (kind == turn.Quota || kind == turn.Overloaded) {
		failure.RetryAfter = time.Duration(s.retry.DelayMS * float64(time.Millisecond))
	}
	return failure
}

// byStatus is what an HTTP status of the API means. Requests that the API refused are not charged; of those that broke on its side that is
// not known.
func byStatus(status int) (turn.Kind, turn.Spent) {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return turn.NotSignedIn, turn.Nothing
	case status == http.StatusRequestEntityTooLarge:
		return turn.TooLong, turn.Nothing
	case status == http.StatusTooManyRequests, status == http.StatusPaymentRequired:
		return turn.Quota, turn.Nothing
	case status == statusOverloaded, status == http.StatusServiceUnavailable:
		return turn.Overloaded, turn.Nothing
	case status >= http.StatusInternalServerError:
		return turn.Overloaded, turn.Maybe
	case status >= http.StatusBadRequest:
		return turn.Rejected, turn.Nothing
	}
	return turn.Crashed, turn.Maybe
}

// phrases are the words by which failures without a status of their own are known.
var phrases = []struct {
	text  string // in lower case
	kind  turn.Kind
	spent turn.Spent
}{
	{"no conversation found with session id", turn.UnknownSession, turn.Nothing},
	{"--resume requires a valid session id", turn.UnknownSession, turn.Nothing},
	{"is already in use", turn.SessionBusy, turn.Nothing},
	{"not logged in", turn.NotSignedIn, turn.Nothing},
	{"please run /login", turn.NotSignedIn, turn.Nothing},
	{"invalid api key", turn.NotSignedIn, turn.Nothing},
	{"failed to authenticate", turn.NotSignedIn, turn.Nothing},
	{"credit balance is too low", turn.Quota, turn.Nothing},
	{"usage limit reached", turn.Quota, turn.Nothing},
	{"hit your limit", turn.Quota, turn.Nothing},
	{"prompt is too long", turn.TooLong, turn.Nothing},
	{"input exceeds 10mb", turn.TooLong, turn.Nothing},
	{"529 overloaded", turn.Overloaded, turn.Nothing},
	{"unable to connect to api", turn.Unreachable, turn.Nothing},
	{"connection to the api was lost", turn.Unreachable, turn.Maybe},
	{"request timed out", turn.Timeout, turn.Maybe},
	{"empty or malformed response", turn.Nonsense, turn.Maybe},
	{"aborted by user", turn.Cancelled, turn.Maybe},
}

// byText is the failure that a message names, or nil. For an API error with a status, the status says more.
func (s *stream) byText(message string) *turn.Failure {
	lower := strings.ToLower(message)
	for _, phrase := range phrases {
		if !strings.Contains(lower, phrase.text) {
			continue
		}
		failure := claude.Failure(phrase.kind, s.spent(phrase.spent), message, nil)
		if m := limitReset.FindStringSubmatch(lower); m != nil {
			if at, err := strconv.ParseInt(m[1], 10, 64); err == nil {
				failure.RetryAfter = max(0, time.Until(time.Unix(at, 0)))
			}
		}
		return failure
	}
	return nil
}
