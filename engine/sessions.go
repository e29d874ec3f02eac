package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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
	Cwd       string    `json:"cwd"`             // in the file relative to the top of the project when it lies in it
	UsedAt    time.Time `json:"usedAt,omitzero"` // when its newest turn began or ended

	other string // members that this version does not know, a JSON object; empty: none
}

// MarshalJSON writes a record with what this version does not know of it.
func (r SessionRecord) MarshalJSON() ([]byte, error) {
	type known SessionRecord
	return withOther(known(r), r.other)
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

	other string // as SessionRecord.other
}

// MarshalJSON writes the file with what this version does not know of it.
func (f sessionsFile) MarshalJSON() ([]byte, error) {
	type known sessionsFile
	return withOther(known(f), f.other)
}

// withOther is v, a struct, as JSON, with further members.
func withOther(v any, other string) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil || other == "" {
		return data, err
	}
	return append(append(data[:len(data)-1], ','), other[1:]...), nil
}

// otherMembers are the members of a JSON object that v, which was read from it, has no field for; empty when there are none.
func otherMembers(object map[string]json.RawMessage, v any) string {
	for field := range reflect.TypeOf(v).Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		delete(object, name)
	}
	if len(object) == 0 {
		return ""
	}
	data, _ := json.Marshal(object) // it was JSON before
	return string(data)
}

// SessionRecords reads sessions.json. A file that is there and cannot be read is an error: what is in it must not be lost.
func (e *Engine) SessionRecords() ([]SessionRecord, error) {
	f, err := e.readSessions()
	return f.Sessions, err
}

func (e *Engine) readSessions() (sessionsFile, error) {
	data, err := e.log.ReadFile(SessionsName, maxSessionsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return sessionsFile{Sessions: []SessionRecord{}}, nil
	}
	if err != nil {
		return sessionsFile{}, damagedSessions(err.Error())
	}
	f := sessionsFile{Sessions: []SessionRecord{}}
	if err := json.Unmarshal(data, &f); err != nil {
		return sessionsFile{}, damagedSessions(jsonFault(err))
	}
	for i, r := range f.Sessions {
		switch {
		case r.SessionID == "" || len(r.SessionID) > event.MaxSession:
			return sessionsFile{}, damagedSessions(fmt.Sprintf("session %d has no usable sessionId", i+1))
		case event.CheckName(r.Agent) != nil, event.CheckName(r.Provider) != nil:
			return sessionsFile{}, damagedSessions(fmt.Sprintf("session %d has no usable agent or provider", i+1))
		case r.Cwd == "", r.Cursor < -1:
			return sessionsFile{}, damagedSessions(fmt.Sprintf("session %d has no usable cwd or cursor", i+1))
		}
		if local := filepath.FromSlash(r.Cwd); filepath.IsLocal(local) {
			f.Sessions[i].Cwd = filepath.Join(e.project.Root, local)
		} else if !filepath.IsAbs(local) {
			return sessionsFile{}, damagedSessions(fmt.Sprintf("session %d has a cwd that leads out of the project", i+1))
		}
	}
	var whole map[string]json.RawMessage
	var each struct{ Sessions []map[string]json.RawMessage }
	if err := errors.Join(json.Unmarshal(data, &whole), json.Unmarshal(data, &each)); err != nil {
		return sessionsFile{}, damagedSessions(jsonFault(err))
	}
	f.other = otherMembers(whole, f)
	for i := range f.Sessions {
		f.Sessions[i].other = otherMembers(each.Sessions[i], f.Sessions[i])
	}
	f.Sessions = orEmpty(f.Sessions)
	return f, nil
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
	if dir == "" {
		dir = e.project.Root
	}
	record := SessionRecord{
		SessionID: b.Session, Agent: b.Agent, Provider: b.Provider, Active: true, Cursor: *b.Through, StartedAt: e.now(), Cwd: dir,
	}
	records = slices.DeleteFunc(records, func(r SessionRecord) bool {
		same := r.SessionID == b.Session && r.Provider == b.Provider
		if same {
			record.other = r.other
		}
		return same || event.SameName(r.Agent, b.Agent)
	})
	return append(records, record)
}

// noteSessions brings sessions.json up to date with what was just stored. It runs under the lock.
func (e *Engine) noteSessions(dir string, own []event.Event) error {
	var f *sessionsFile
	changed, durable := false, false
	for i := range own {
		body, err := own[i].Body()
		if err != nil {
			return err
		}
		b, isTurn := body.(event.Turn)
		agent, isAgent := body.(event.Agent)
		isTurn, isAgent = isTurn && b.Agent != "", isAgent && agent.Action == event.AgentRenamed
		if !isTurn && !isAgent {
			continue
		}
		if f == nil {
			read, err := e.readSessions()
			if err != nil {
				return err
			}
			f = &read
		}
		if isAgent {
			of := func(r SessionRecord) bool { return event.SameName(r.Agent, agent.Previous) }
			if at := slices.IndexFunc(f.Sessions, of); at >= 0 {
				f.Sessions[at].Agent = agent.Name
				changed, durable = true, true
			}
			continue
		}
		if b.Action == event.TurnAttached {
			f.Sessions = e.keepSession(f.Sessions, &b, dir)
			changed, durable = true, true
			continue
		}
		if b.Action == event.TurnForgotten {
			f.Sessions = slices.DeleteFunc(f.Sessions, func(r SessionRecord) bool { return event.SameName(r.Agent, b.Agent) })
			changed, durable = true, true
			continue
		}
		at := slices.IndexFunc(f.Sessions, func(r SessionRecord) bool { return event.SameName(r.Agent, b.Agent) })
		if at >= 0 {
			changed = e.noteStep(&f.Sessions[at], &b) || changed
		}
	}
	if !changed {
		return nil
	}
	return e.writeSessions(f, durable)
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
func (e *Engine) writeSessions(f *sessionsFile, durable bool) error {
	stored := *f
	stored.UpdatedAt, stored.Sessions = e.now(), slices.Clone(f.Sessions)
	for i, r := range stored.Sessions {
		if inside, err := filepath.Rel(e.project.Root, r.Cwd); err == nil && filepath.IsLocal(inside) { // it moves with the project
			stored.Sessions[i].Cwd = filepath.ToSlash(inside)
		}
	}
	data, err := json.MarshalIndent(stored, "", "  ")
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
