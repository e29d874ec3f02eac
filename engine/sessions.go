package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// SessionsName is the file that tells other programs, and a later bridge, which sessions there are and where they work.
const SessionsName = "sessions.json"

const (
	maxSessionsBytes = 4 << 20
	sessionRests     = 30 * 24 * time.Hour // a session that was not used for so long is stale
)

// SessionRecord is one session as sessions.json has it. What the log tells too is kept up to date with it.
type SessionRecord struct {
	SessionID string    `json:"sessionId"`
	Agent     string    `json:"agent"`
	Provider  string    `json:"provider"`
	Active    bool      `json:"active"` // it takes part
	Busy      bool      `json:"busy"`   // a turn of it runs
	Cursor    int64     `json:"cursor"` // everything up to here is dealt with, -1 for nothing
	StartedAt time.Time `json:"startedAt"`
	Cwd       string    `json:"cwd"`
	UsedAt    time.Time `json:"usedAt,omitzero"` // when its newest turn began or ended
}

// Stale says why the session may not be of use any more, "" when nothing speaks against it.
func (r *SessionRecord) Stale(now time.Time) string {
	if info, err := os.Stat(r.Cwd); err != nil || !info.IsDir() {
		return "its folder " + r.Cwd + " is gone"
	}
	last := r.StartedAt
	if r.UsedAt.After(last) {
		last = r.UsedAt
	}
	if now.Sub(last) > sessionRests {
		return "not used for more than 30 days"
	}
	return ""
}

// sessionsFile is sessions.json.
type sessionsFile struct {
	Sessions  []SessionRecord `json:"sessions"`
	UpdatedAt time.Time       `json:"updatedAt"`
}

// SessionRecords reads sessions.json. A file that is there and cannot be read is an error: what is in it must not be lost.
func (e *Engine) SessionRecords() ([]SessionRecord, error) {
	data, err := e.log.ReadFile(SessionsName, maxSessionsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return []SessionRecord{}, nil
	}
	if err != nil {
		return nil, err
	}
	var f sessionsFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, damagedSessions(jsonFault(err))
	}
	for i, r := range f.Sessions {
		switch {
		case r.SessionID == "" || len(r.SessionID) > event.MaxSession:
			return nil, damagedSessions(fmt.Sprintf("session %d has no usable sessionId", i+1))
		case event.CheckName(r.Agent) != nil, event.CheckName(r.Provider) != nil:
			return nil, damagedSessions(fmt.Sprintf("session %d has no usable agent or provider", i+1))
		case r.Cwd == "", r.Cursor < -1:
			return nil, damagedSessions(fmt.Sprintf("session %d has no usable cwd or cursor", i+1))
		}
	}
	return orEmpty(f.Sessions), nil
}

func damagedSessions(reason string) error {
	return &ValidationError{
		Field: SessionsName, Reason: "cannot be used: " + reason,
		Hints: []string{"mend the file, or move it away and attach the sessions again: loadout coord agents attach PROVIDER:ID"},
	}
}

// SessionRecord finds the record of an agent's session.
func (e *Engine) SessionRecord(agent string) (SessionRecord, bool, error) {
	records, err := e.SessionRecords()
	if err != nil {
		return SessionRecord{}, false, err
	}
	for _, r := range records {
		if event.SameName(r.Agent, agent) {
			return r, true, nil
		}
	}
	return SessionRecord{}, false, nil
}

// keepSession puts the record of a session that was attached in the place of the one that it had.
func (e *Engine) keepSession(records []SessionRecord, b *event.Turn, dir string) []SessionRecord {
	records = slices.DeleteFunc(records, func(r SessionRecord) bool {
		return event.SameName(r.Agent, b.Agent) || r.SessionID == b.Session && r.Provider == b.Provider
	})
	if dir == "" {
		dir = e.project.Root
	}
	return append(records, SessionRecord{
		SessionID: b.Session, Agent: b.Agent, Provider: b.Provider, Active: true, Cursor: *b.Through, StartedAt: e.now(), Cwd: dir,
	})
}

// noteSessions brings sessions.json up to date with what was just stored. It runs under the lock.
func (e *Engine) noteSessions(dir string, own []event.Event) error {
	var records []SessionRecord
	changed, durable := false, false
	for i := range own {
		body, err := own[i].Body()
		if err != nil {
			return err
		}
		b, ok := body.(event.Turn)
		if !ok || b.Agent == "" {
			continue
		}
		if records == nil {
			if records, err = e.SessionRecords(); err != nil {
				return err
			}
		}
		if b.Action == event.TurnAttached {
			records = e.keepSession(records, &b, dir)
			changed, durable = true, true
			continue
		}
		if b.Action == event.TurnForgotten {
			records = slices.DeleteFunc(records, func(r SessionRecord) bool { return event.SameName(r.Agent, b.Agent) })
			changed, durable = true, true
			continue
		}
		at := slices.IndexFunc(records, func(r SessionRecord) bool { return event.SameName(r.Agent, b.Agent) })
		if at >= 0 {
			changed = e.noteStep(&records[at], &b) || changed
		}
	}
	if !changed {
		return nil
	}
	return e.writeSessions(records, durable)
}

// noteStep follows one step of a turn and reports whether the record changed.
func (e *Engine) noteStep(r *SessionRecord, b *event.Turn) bool {
	before := *r
	if b.Through != nil {
		r.Cursor = max(r.Cursor, *b.Through)
	}
	switch b.Action {
	case event.TurnStarted:
		r.Busy, r.UsedAt = true, e.now()
	case event.TurnDelivered:
		r.UsedAt = e.now()
	case event.TurnFinished, event.TurnFailed, event.TurnCancelled, event.TurnUncertain:
		r.Busy, r.UsedAt = false, e.now()
	case event.TurnAttached, event.TurnForgotten, event.TurnOpened, event.TurnClosed, event.TurnPassed, event.TurnQueued,
		event.TurnHeld,
		event.TurnRetried, event.TurnSkipped, event.TurnStopped, event.TurnCapped:
	}
	return *r != before
}

// writeSessions replaces sessions.json. Only what the log does not tell must be on disk before anything goes on.
func (e *Engine) writeSessions(records []SessionRecord, durable bool) error {
	data, err := json.MarshalIndent(sessionsFile{orEmpty(records), e.now()}, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", SessionsName, err)
	}
	if !durable {
		_ = e.log.WriteCache(SessionsName, append(data, '\n')) // the next step writes it again
		return nil
	}
	if err := e.log.WriteFile(SessionsName, append(data, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", SessionsName, err)
	}
	return nil
}
