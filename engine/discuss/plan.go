package discuss

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/engine/words"
)

// Bounds of a discussion.
const (
	MinRounds       = 1
	MaxRounds       = event.MaxRound
	DefaultRounds   = 2
	DefaultMaxTurns = 2*MaxRounds + 1 // as many as the longest discussion takes

	MinTimeout     = turn.MinDeadline
	MaxTimeout     = turn.MaxDeadline
	DefaultTimeout = turn.DefaultDeadline

	MaxTopic    = event.MaxDescription // characters; the topic is the description of the first event
	maxThreadID = event.MaxName
)

// Turns is how many turns a discussion of so many rounds takes: two a round, and the synthesis.
func Turns(rounds int) int { return 2*rounds + 1 }

// Request asks for a discussion.
type Request struct {
	Topic     string
	Thread    string       // its id; empty: a new one is made
	Initiator string       // who asks, default the person
	Programs  []string     // two agent programs of which new sessions take part, or
	Sessions  []bridge.Ref // two sessions that there are already
	Proposer  string       // the program or agent that speaks first, default the first named
	Rounds    int
	MaxTurns  int // most turns that may be paid for
	Timeout   time.Duration
	Dir       string // where new sessions work; empty: at the top of the project
}

// check refuses what cannot be held, before anything is looked at.
func (r *Request) check() error {
	r.Topic = Clean(r.Topic)
	switch {
	case r.Topic == "":
		return &engine.ValidationError{Field: "topic", Reason: "is empty: what is to be decided?"}
	case event.Clip(r.Topic, MaxTopic) != r.Topic:
		return &engine.ValidationError{Field: "topic", Reason: fmt.Sprintf("is longer than %d characters", MaxTopic)}
	case len(r.Programs) > 0 && len(r.Sessions) > 0:
		return &engine.UsageError{Message: "a discussion is held by new sessions or by existing ones, not by both", Hints: hintStart}
	case len(r.Programs) == 0 && len(r.Sessions) == 0:
		return &engine.UsageError{Message: "a discussion needs two participants", Hints: hintStart}
	case len(r.Programs)+len(r.Sessions) != 2: // one of them is empty
		return &engine.UsageError{
			Message: fmt.Sprintf("a discussion has two participants, not %d", len(r.Programs)+len(r.Sessions)), Hints: hintStart,
		}
	case len(r.Sessions) == 2 && r.Sessions[0] == r.Sessions[1]:
		return errItself
	}
	if strings.HasPrefix(r.Thread, "-") {
		return &engine.ValidationError{Field: "thread-id", Reason: "begins as a flag does"}
	}
	if r.Thread != "" {
		if err := event.CheckName(r.Thread); err != nil {
			return &engine.ValidationError{Field: "thread-id", Reason: strings.TrimPrefix(err.Error(), "name ")}
		}
	}
	if err := checkBounds(r.Rounds, r.Timeout); err != nil {
		return err
	}
	return checkBudget(r.MaxTurns, Turns(r.Rounds), "a discussion of "+words.Plural(r.Rounds, "round")+" takes", "--rounds N    for fewer")
}

var errItself = &engine.UsageError{Message: "a session cannot discuss with itself", Hints: hintStart}

var hintStart = []string{
	`loadout coord discuss start "REST or GraphQL?" --agents claude-code,codex`,
	`loadout coord discuss start "REST or GraphQL?" --sessions claude-code:ID codex:ID`,
}

// checkBounds refuses numbers out of bounds.
func checkBounds(rounds int, timeout time.Duration) error {
	switch {
	case rounds < MinRounds || rounds > MaxRounds:
		return &engine.ValidationError{
			Field: "rounds", Reason: fmt.Sprintf("is %d; a discussion has from %d to %d", rounds, MinRounds, MaxRounds),
		}
	case timeout < MinTimeout || timeout > MaxTimeout || timeout%time.Second != 0:
		return &engine.ValidationError{
			Field:  "timeout",
			Reason: fmt.Sprintf("is %s; a statement may take from %d to %d whole seconds", timeout, MinTimeout/time.Second, MaxTimeout/time.Second),
		}
	}
	return nil
}

// checkBudget refuses to pay for fewer turns than are needed, and says what takes as many.
func checkBudget(maxTurns, needed int, what string, hints ...string) error {
	if maxTurns >= needed {
		return nil
	}
	return &engine.ValidationError{
		Field: "max-turns", Reason: fmt.Sprintf("is %d, but %s %d turns", maxTurns, what, needed),
		Hints: append([]string{fmt.Sprintf("--max-turns %d    to pay for them", needed)}, hints...),
	}
}

// Terms are what a discussion was begun with, beyond what its first event says by the protocol. They are the context of that event, in
// words that people read too.
type Terms struct {
	Rounds   int           // 0: not told
	Timeout  time.Duration // of a statement, 0: not told
	Programs []string      // of the participants, in their order
	Fresh    bool          // the sessions were opened for the discussion
}

// String is the context of a first event.
func (t Terms) String() string {
	sessions := "existing"
	if t.Fresh {
		sessions = "fresh"
	}
	return fmt.Sprintf("rounds: %d\ntimeout: %d s\nprograms: %s\nsessions: %s",
		t.Rounds, t.Timeout/time.Second, strings.Join(t.Programs, ", "), sessions)
}

// ParseTerms reads the context of a first event. What is not there, or out of bounds, is not told.
func ParseTerms(context string) Terms {
	var t Terms
	for line := range strings.SplitSeq(context, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		value = strings.TrimSpace(value)
		switch key {
		case "rounds":
			if n, err := strconv.Atoi(value); err == nil && n >= MinRounds && n <= MaxRounds {
				t.Rounds = n
			}
		case "timeout":
			n, err := strconv.Atoi(strings.TrimSuffix(value, " s"))
			if d := time.Duration(n) * time.Second; err == nil && d >= MinTimeout && d <= MaxTimeout {
				t.Timeout = d
			}
		case "programs":
			if list := strings.Split(value, ", "); len(list) == 2 && !slices.Contains(list, "") {
				t.Programs = list
			}
		case "sessions":
			t.Fresh = value == "fresh"
		}
	}
	return t
}
