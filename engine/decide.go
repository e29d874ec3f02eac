package engine

import (
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// decide turns a command into the events that carry it out, or refuses it with a typed error. It is pure: the same view and the
// same command give the same answer. The events are drafts: ID, Seq, Timestamp, Key and By are not set.
//
// A claim whose time has passed counts as ended; expire makes the record of that, which is stored before the drafts.
func decide(v View, c Command) ([]event.Event, error) { panic("later") }

// expire makes the record of every claim whose time has passed: drafts for the next writer to store before its own events.
func expire(v View) ([]event.Event, error) { panic("later") }

// retried finds what a request with the same retry key stored before. redact is what the write path does to a draft. found
// is false when the key is new. When the key belongs to a different write the error is a *ConflictError of kind key.
func retried(v View, r Request, redact func(*event.Event)) (seq int64, found bool, err error) {
	panic("later")
}

// stamp is a time for people: absolute, UTC.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
