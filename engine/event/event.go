package event

import (
	"encoding/json"
	"strings"
	"time"
)

// TimeFormat is how timestamps are written: UTC with exactly three fraction digits.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// Event is one line of the log. The zero Seq is a real number: the first event of a log has it.
//
// The strings of a decoded Event share one copy of its line: whoever keeps one for long clones it.
type Event struct {
	ID          string
	Seq         int64
	Type        Type
	From        string
	To          string // an agent's name, or Broadcast
	Description string
	Context     string
	Timestamp   string // as stored; Time parses it
	Resolves    string // id of the event that this one settles, answers or takes
	Payload     json.RawMessage
	Key         string // retry key: an event with the same Key and From is stored once
	By          string // who really acted, when a person acted as From
}

// Time is the event's timestamp, the zero time if it cannot be parsed.
func (e *Event) Time() time.Time {
	t, _ := ParseTime(e.Timestamp)
	return t
}

// Concerns reports whether the event is news for agent: meant for it or for everybody, and not its own.
func (e *Event) Concerns(agent string) bool {
	return !SameName(e.From, agent) && (e.To == Broadcast || SameName(e.To, agent))
}

// New makes an event that is not stored yet. ID, Seq and Timestamp are given under the lock.
func New(from, to, description string, body Body) (Event, error) {
	t, raw, err := encodeBody(body)
	if err != nil {
		return Event{}, err
	}
	return Event{Type: t, From: from, To: to, Description: description, Payload: raw}, nil
}

// IsNews reports whether an event of this type, sent by from, is something to read: not an acknowledgement, nor a record of sessions,
// the kill switch, turns, work, gates or waves, nor what this program notes of its own doing, such as a compaction.
func (t Type) IsNews(from string) bool {
	switch t {
	case TypeAck, TypeAgent, TypeHalt, TypeTurn, TypeWork, TypeGate, TypeWave:
		return false
	case TypeStatus:
		return from != Loadout
	case TypeTask, TypeHandoff, TypeQuestion, TypeDone, TypeError, TypeCancel, TypeContract, TypeOwnership, TypeDecision, TypeUpdate,
		TypeDiscussion:
	}
	return true
}

// ResolvesInWords is the id of what an event settles as old logs of other programs say it, "Resolves <id>" in the context; "" when
// the context does not.
func ResolvesInWords(context string) string {
	_, after, found := strings.Cut(context, "Resolves ")
	if !found {
		return ""
	}
	after = strings.TrimLeft(after, " ")
	end := strings.IndexFunc(after, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if end < 0 {
		return after
	}
	return after[:end]
}
