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
		superseded := &s.decisions.all(MaxDecisions)[old]
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
	list := s.decisions.all(MaxDecisions)
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].ID == name {
			return i
		}
		if titled < 0 && list[i].Title == name {
			titled = i
		}
	}
	return titled
}

// Decisions lists decisions, newest last.
func (s *State) Decisions() []Decision { return append([]Decision{}, s.decisions.all(MaxDecisions)...) }

// Decision finds a decision by its id.
func (s *State) Decision(id string) (Decision, bool) {
	list := s.decisions.all(MaxDecisions)
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].ID == id {
			return list[i], true
		}
	}
	return Decision{}, false
}
