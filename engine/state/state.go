package state

import (
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// Version names the marshalled form and the meaning of the fold. A checkpoint of another version is of no use.
const Version = "8"

// Bounds of what a State remembers. Everything older is in the log.
const (
	MaxSettled   = 1000  // settled tasks and questions
	MaxDecisions = 1000  // decisions
	MaxHistory   = 100   // revisions of one contract
	MaxThreads   = 200   // discussions
	MaxKeys      = 10000 // retry keys
	MaxRefs      = 512   // events in short, for News and Recent
	MaxNews      = 4096  // events by number, for exact counts of unread ones
	MaxStrangers = 1000  // names without a session that hold nothing
	MaxBadRefs   = 20    // unreadable lines by name

	// MaxSettledText bounds the texts of what is settled, in UTF-16 code units.
	MaxSettledText = 2000

	// MaxRefDescription bounds Ref.Description, in UTF-16 code units.
	MaxRefDescription = 200
)

// State is what holds after some events. Use New or Unmarshal to make one.
type State struct {
	head  int64     // highest sequence number seen, also on lines that were left out; -1 for none
	count int64     // events folded
	at    time.Time // newest timestamp
	skips Skips
	last  struct { // the event folded last
		seq int64
		id  []byte
	}

	members   roster
	claims    claims
	contracts map[string]*contract
	tasks     tasks
	decisions ring[Decision]
	threads   map[string]*thread
	halt      *Halt
	keys      ring[keyed]
	news      news
	refs      ring[Ref]
	turns     turns
	work      work
	gates     gates
	texts     arena // of refs

	reader  event.Reader
	scratch []reading // of ApplyLines
	epoch   *epoch
}

// epoch marks what a State may change in place: what carries another epoch is shared with a Clone and is copied first.
type epoch struct{ _ byte }

// New is the state before the first event.
func New() *State {
	s := &State{
		head:      -1,
		claims:    claims{byPath: map[string][]Claim{}, sources: map[int64]int{}},
		contracts: map[string]*contract{},
		tasks:     tasks{open: map[string]*task{}, waiting: map[string][]string{}},
		threads:   map[string]*thread{},
		turns:     newTurns(),
		work:      newWork(),
		gates:     newGates(),
		epoch:     new(epoch),
	}
	s.members.index = map[string]int{}
	s.news.dropped = -1
	s.last.seq = -1
	return s
}

// Apply folds one event and keeps no part of it, so that a borrowed one will do. An *event.InvalidError means that its payload
// breaks a rule: the event is counted as bad and changes nothing but the head, so that its number is not used again. A line that
// repeats the event just before is counted and skipped.
func (s *State) Apply(e *event.Event) error { return s.ApplyLine(e, 0) }

// ApplyLine is Apply with the number of the line that the event stands on, for the reference of a bad one.
func (s *State) ApplyLine(e *event.Event, line int64) error {
	body, err := s.reader.Brief(e)
	return s.apply(&reading{event: *e, body: body, at: e.Time(), err: err, line: line})
}

// apply folds an event that was read.
func (s *State) apply(r *reading) error {
	e := &r.event
	err := r.err
	if err == nil && s.count > 0 && e.Seq == s.last.seq && e.ID == string(s.last.id) {
		s.skips.Duplicate++
		return nil
	}
	if err == nil {
		err = s.refuses(e, r.body)
	}
	if err != nil {
		s.Skip(r.line, e.Seq, err.Error())
		return err
	}
	late := s.begin(e, r.at)
	from, to := s.parties(e, r.at)
	s.turns.noteCaused(e)
	s.fold(e, r.body, r.at)
	s.deliver(e, from, to, late)
	s.remember(e, from, to, r.at)
	if e.Key != "" {
		s.addKey(e)
	}
	return nil
}

// refuses says why an event cannot be folded although its payload is in order.
func (s *State) refuses(e *event.Event, body event.Body) error {
	switch b := body.(type) {
	case event.Task, event.Question:
		if s.taken(e, body) == nil && s.tasks.open[e.ID] != nil {
			return &event.InvalidError{Field: "id", Reason: "is that of an open task already"}
		}
	case event.Ack:
		if b.EventSeq > max(s.head, e.Seq) {
			return &event.InvalidError{Field: "payload.eventSeq", Reason: "is above every number stored so far"}
		}
	case event.Status:
		if _, err := readCarried(b); err != nil && e.From == event.Loadout {
			return &event.InvalidError{Field: "payload.carried", Reason: "cannot be read: " + err.Error()}
		}
	case event.Handoff, event.Done, event.Error, event.Cancel, event.Contract, event.Ownership, event.Decision,
		event.Update, event.Discussion, event.Agent, event.Halt, event.Turn,
		event.Work, event.Gate, event.Wave, event.Unknown:
	}
	return nil
}

// begin counts the event and reports whether its number is not above all before it.
func (s *State) begin(e *event.Event, at time.Time) (late bool) {
	if late = e.Seq <= s.head; late {
		s.skips.OutOfOrder++
	}
	s.head = max(s.head, e.Seq)
	s.count++
	if at.After(s.at) {
		s.at = at
	}
	s.last.seq, s.last.id = e.Seq, append(s.last.id[:0], e.ID...)
	return late
}

// fold changes what the event's type is about.
func (s *State) fold(e *event.Event, body event.Body, at time.Time) {
	switch b := body.(type) {
	case event.Task:
		s.foldTask(e, b, at)
	case event.Question:
		s.foldQuestion(e, at)
	case event.Done:
		s.settle(e, TaskDone, b.Evidence, at)
	case event.Error:
		s.settle(e, TaskFailed, "", at)
	case event.Cancel:
		s.settle(e, TaskCancelled, "", at)
	case event.Status:
		s.foldSummary(e, b)
	case event.Contract:
		s.foldContract(e, b, at)
	case event.Ownership:
		s.foldOwnership(e, b, at)
	case event.Decision:
		s.foldDecision(e, b, at)
	case event.Update:
		s.foldConsumes(e, b)
	case event.Ack:
		s.foldAck(e, b)
	case event.Discussion:
		s.foldStatement(e, b, at)
	case event.Agent:
		s.foldAgent(b, at)
		s.turns.foldAgent(&b)
	case event.Halt:
		s.foldHalt(e, b, at)
	case event.Turn:
		s.turns.foldTurn(e, &b, at)
	case event.Work:
		s.work.fold(e, &b, at)
	case event.Gate:
		s.gates.foldGate(e, b, at)
	case event.Wave:
		s.gates.foldWave(e, b, at)
	case event.Handoff, event.Unknown: // news, and no more
	}
}

func (s *State) foldHalt(e *event.Event, b event.Halt, at time.Time) {
	if s.halt != nil {
		s.supersede(s.halt.Seq, e.Seq)
	}
	switch b.Action {
	case event.HaltSet:
		s.halt = &Halt{By: strings.Clone(e.From), Reason: b.Reason, At: at, Seq: e.Seq}
	case event.HaltLifted:
		s.halt = nil
	}
}

// Skip counts a line that cannot be read. seq is what number can be found on it, else -1: it is not used again.
func (s *State) Skip(line, seq int64, reason string) {
	s.skips.Bad++
	s.head = max(s.head, seq)
	recent := s.skips.Recent
	if len(recent) == MaxBadRefs {
		recent = recent[1:]
	}
	s.skips.Recent = append(recent[:len(recent):len(recent)], BadRef{Line: line, Seq: seq, Reason: reason})
}

// Head is the highest sequence number seen, also on lines that were left out; -1 for none.
func (s *State) Head() int64 { return s.head }

// Count is how many events were folded.
func (s *State) Count() int64 { return s.count }

// At is the newest timestamp seen, the zero time before the first event.
func (s *State) At() time.Time { return s.at }

// Skips says what was left out.
func (s *State) Skips() Skips {
	skips := s.skips
	skips.Recent = append([]BadRef{}, skips.Recent...)
	return skips
}

// Halt is the kill switch as the log tells it, nil when it is off. Whether it is on now, its file says.
func (s *State) Halt() *Halt {
	if s.halt == nil {
		return nil
	}
	halt := *s.halt
	return &halt
}
