package state

import (
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

func (s *State) foldDecision(e *event.Event, b event.Decision, at time.Time) {
	d := Decision{
		ID: strings.Clone(e.ID), Seq: e.Seq, From: strings.Clone(e.From), Title: b.Title, Rationale: b.Rationale,
		At: at, Supersedes: b.Supersedes, DiscussionID: b.DiscussionID,
	}
	if old := s.findDecision(b.Supersedes); old >= 0 {
		s.decisions.own()
		superseded := s.decisions.at(old)
		superseded.SupersededBy = d.ID
		s.supersede(superseded.Seq, e.Seq)
	}
	s.decisions.push(d, MaxDecisions)
}

// findDecision returns the place of the decision with that id, or else of the newest with that title, which is how other programs
// name one; -1 for none.
func (s *State) findDecision(name string) int {
	if name == "" {
		return -1
	}
	titled := -1
	for i, d := range s.decisions.newest() {
		if d.ID == name {
			return i
		}
		if titled < 0 && d.Title == name {
			titled = i
		}
	}
	return titled
}

// Decisions lists decisions, newest last.
func (s *State) Decisions() []Decision { return s.decisions.list() }

// Decision finds a decision by its id.
func (s *State) Decision(id string) (Decision, bool) {
	for _, d := range s.decisions.newest() {
		if d.ID == id {
			return *d, true
		}
	}
	return Decision{}, false
}
