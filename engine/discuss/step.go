package discuss

import (
	"fmt"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/words"
)

// The roles, also the places of the participants: the proposer is the first.
const (
	Proposer = "proposer"
	Reviewer = "reviewer"
	system   = "system"
)

// Step is one statement that is to be made.
type Step struct {
	Kind  event.DiscussionKind // proposal, critique, revision, or summary for the synthesis
	Round int
	Role  string
	Who   int // the participant who makes it
}

// StepAt is the nth statement of a discussion, from 0; false behind the last one.
func StepAt(n, rounds int) (Step, bool) {
	switch {
	case n < 0 || n > 2*rounds:
		return Step{}, false
	case n == 2*rounds:
		return Step{event.KindSummary, rounds, Proposer, 0}, true
	case n%2 == 1:
		return Step{event.KindCritique, n/2 + 1, Reviewer, 1}, true
	case n == 0:
		return Step{event.KindProposal, 1, Proposer, 0}, true
	}
	return Step{event.KindRevision, n/2 + 1, Proposer, 0}, true
}

// Statement is one event of a discussion, as it was stored.
type Statement struct {
	event.Discussion
	ID    string
	Seq   int64
	From  string
	Title string // the event's description: of a summary, the decision
	At    time.Time
	Terms Terms // of the first one
}

// NewStatement reads an event; false when it is none of a discussion.
func NewStatement(e *event.Event) (Statement, bool) {
	if e.Type != event.TypeDiscussion {
		return Statement{}, false
	}
	body, err := e.Body()
	if err != nil {
		return Statement{}, false
	}
	d, ok := body.(event.Discussion)
	s := Statement{Discussion: d, ID: e.ID, Seq: e.Seq, From: e.From, Title: e.Description, At: e.Time()}
	if s.Kind == event.KindStarted {
		s.Terms = ParseTerms(e.Context)
	}
	return s, ok
}

// Said are the statements that participants made.
func Said(list []Statement) []Statement {
	var said []Statement
	for _, s := range list {
		switch s.Kind {
		case event.KindProposal, event.KindCritique, event.KindRevision, event.KindSummary:
			said = append(said, s)
		case event.KindStarted, event.KindClosed:
		}
	}
	return said
}

// checkOrder says which statement breaks the order in which participants speak, "" when none does.
func checkOrder(said []Statement, participants []string, rounds int) string {
	for n, s := range said {
		step, ok := StepAt(n, rounds)
		switch {
		case !ok:
			return fmt.Sprintf("#%d comes after the end of %s", s.Seq, words.Plural(rounds, "round"))
		case s.Kind != step.Kind || int(s.Round) != step.Round || !event.SameName(s.From, participants[step.Who]):
			return fmt.Sprintf("#%d is %s of round %d by %s where %s of round %d by %s is due",
				s.Seq, s.Kind, s.Round, s.From, step.Kind, step.Round, participants[step.Who])
		}
	}
	return ""
}
