package codex

import (
	"strconv"
	"strings"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/process"
	"github.com/agentloadout/loadout/providers/internal/program"
)

// failure is why a run that exited has no answer that counts, or nil. Only an exit status of 0, a completed turn in the right session and a
// message with text are an answer: an empty reply and a prompt that a hook blocked exit with 0 too.
func (s *stream) failure(lines process.Lines) *turn.Failure {
	switch {
	case s.failed != "":
		return s.byText(s.failed)
	case lines.Code != 0:
		return s.exited(lines)
	case !s.completed || s.session == "":
		missing := "no completed turn in its output"
		if s.garbage > 0 {
			missing += "; lines that were no JSON: " + strconv.Itoa(s.garbage)
		}
		return codex.NoAnswer(lines, s.spent(turn.Maybe), missing)
	case strings.TrimSpace(s.answer) != "":
		return nil
	}
	if this, _ := s.usage(); this.Known && this.Tokens() == 0 && !s.worked {
		return codex.Failure(turn.Rejected, turn.Nothing, "the prompt did not reach the model: a hook may have blocked it", nil)
	}
	return codex.Failure(turn.Nonsense, s.spent(turn.Maybe), "the answer is empty", nil)
}

// exited is the failure of a run that ended with an error and without saying so on stdout.
func (s *stream) exited(lines process.Lines) *turn.Failure {
	const badUsage = 2 // of the parser of its command line
	said := reason(lines.Stderr)
	if lines.Code == badUsage {
		return codex.Failure(turn.Rejected, turn.Nothing, "it refused its command line: "+said, nil)
	}
	if said == "" {
		said = s.notice
	}
	if said == "" {
		return codex.NoAnswer(lines, s.spent(turn.Maybe), "")
	}
	failure := s.byText(said)
	if failure.Kind == turn.Rejected {
		failure.Kind = turn.Crashed
	}
	if s.session == "" && s.garbage == 0 {
		failure.Spent = turn.Nothing // a session is announced before its model is asked
	}
	return failure
}

// reason is the line of stderr that starts with Error, or the last one. Others are warnings, which are normal, and backtraces.
func reason(stderr string) string {
	for line := range strings.Lines(stderr) {
		for _, prefix := range []string{"Error: ", "error: "} {
			if text, ok := strings.CutPrefix(line, prefix); ok {
				return strings.TrimSpace(text)
			}
		}
	}
	return program.LastLine(stderr)
}

// phrases are the words by which failures are known; the first that fits counts.
var phrases = []struct {
	text  string // in lower case
	kind  turn.Kind
	spent turn.Spent
}{
	{"no rollout found for thread id", turn.UnknownSession, turn.Nothing},
	{"already has an active writer", turn.SessionBusy, turn.Nothing},
	{"status 401", turn.NotSignedIn, turn.Nothing},
	{"status 403", turn.NotSignedIn, turn.Nothing},
	{"401 unauthorized", turn.NotSignedIn, turn.Nothing},
	{"missing environment variable", turn.NotSignedIn, turn.Nothing},
	{"not logged in", turn.NotSignedIn, turn.Nothing},
	{"quota exceeded", turn.Quota, turn.Nothing},
	{"usage limit", turn.Quota, turn.Nothing},
	{"429 too many requests", turn.Quota, turn.Nothing},
	{"ran out of room in the model's context", turn.TooLong, turn.Maybe},
	{"input exceeds the maximum length", turn.TooLong, turn.Nothing},
	{"experiencing high demand", turn.Overloaded, turn.Maybe},
	{"status 503", turn.Overloaded, turn.Nothing},
	{"at capacity", turn.Overloaded, turn.Nothing},
	{"idle timeout", turn.Timeout, turn.Maybe},
	{"connection failed", turn.Unreachable, turn.Nothing},
	{"error sending request", turn.Unreachable, turn.Nothing},
	{"stream disconnected", turn.Unreachable, turn.Maybe},
	{"status 4", turn.Rejected, turn.Nothing},
	{"status 5", turn.Overloaded, turn.Maybe},
}

// byText is the failure that a message names. One that nothing is known of was a refusal.
func (s *stream) byText(message string) *turn.Failure {
	var refusal struct {
		Error struct {
			Message string `json:"message"`
			Code    string `json:"code"`
		} `json:"error"`
	}
	if fits([]byte(message), &refusal) && refusal.Error.Message != "" {
		// The body of a 400, as the model's side sent it.
		kind := turn.Rejected
		if refusal.Error.Code == "context_length_exceeded" {
			kind = turn.TooLong
		}
		return codex.Failure(kind, s.spent(turn.Nothing), refusal.Error.Message, nil)
	}
	lower := strings.ToLower(message)
	for _, phrase := range phrases {
		if strings.Contains(lower, phrase.text) {
			return codex.Failure(phrase.kind, s.spent(phrase.spent), message, nil)
		}
	}
	return codex.Failure(turn.Rejected, s.spent(turn.Maybe), message, nil)
}
