// Package hook answers the events of an agent program's session, whatever program it is: who the session is, what is new for it, and
// whether a file may be edited. What goes wrong on this side never keeps a program from going on.
//
// An agent is told something only after it is on record that it was: a bridge that drives the same session and the hooks share the
// session's cursor, and nothing is delivered twice.
package hook

import (
	"context"
	"errors"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/settings"
	"github.com/agentloadout/loadout/engine/state"
)

// LockWait is how long a hook waits for the lock: a program stands still meanwhile.
const LockWait = 300 * time.Millisecond

// Event is an event of a program's session, by the name that most of them use.
type Event string

// The events.
const (
	SessionStart     Event = "SessionStart"
	UserPromptSubmit Event = "UserPromptSubmit"
	PreToolUse       Event = "PreToolUse"
	PostToolUse      Event = "PostToolUse"
	Stop             Event = "Stop"
	SessionEnd       Event = "SessionEnd"
)

// Events lists them.
func Events() []Event {
	return []Event{SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop, SessionEnd}
}

// ParseEvent finds an event by its name, or by the one that Gemini CLI has for it; the case of letters, dashes and underscores do not
// matter.
func ParseEvent(name string) (Event, bool) {
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	switch name {
	case "beforeagent":
		return UserPromptSubmit, true
	case "beforetool":
		return PreToolUse, true
	case "aftertool":
		return PostToolUse, true
	case "afteragent":
		return Stop, true
	}
	for _, e := range Events() {
		if name == strings.ToLower(string(e)) {
			return e, true
		}
	}
	return "", false
}

// Call is what a program tells of an event.
type Call struct {
	Event   Event
	Program string   // what it goes by in the log, such as codex; empty: as its process is known
	Session string   // its id of the session
	Dir     string   // where the session works
	Reason  string   // of SessionEnd: why
	Paths   []string // of the tool events: files that the tool edits, absolute or relative to Dir
	Late    bool     // the agent can be told something only after an edit, not before
}

// Verdict is what becomes of an edit.
type Verdict string

// The verdicts. The zero value has nothing to say about it.
const (
	Deny Verdict = "deny"
	Ask  Verdict = "ask" // the person
)

// Answer is what the program is to do. The zero value lets it go on.
type Answer struct {
	Context string // what the agent is told
	Verdict Verdict
	Reason  string   // of the verdict
	Notes   []string // what the person may want to know
}

// handler answers one call.
type handler struct {
	engine *engine.Engine
	guard  settings.Guard
	call   Call
	view   *engine.View
}

// Handle answers a call. The answer holds also when there is an error, which is one of ours. Nothing waits longer than LockWait for the
// lock if the engine was opened with it.
func Handle(ctx context.Context, e *engine.Engine, guard settings.Guard, c Call) (Answer, error) {
	v, err := e.View(ctx)
	if err != nil {
		return Answer{}, err
	}
	h := handler{e, guard, c, v}
	if v.Halted != nil {
		if c.Event != PreToolUse {
			return Answer{}, nil
		}
		return h.halted(), nil
	}
	if e.InTurn() && c.Event != PreToolUse && c.Event != PostToolUse {
		return Answer{}, nil // who makes the turn has introduced the session, and tells it what is new
	}
	switch c.Event {
	case SessionStart:
		return h.start(ctx)
	case UserPromptSubmit:
		return h.prompt(ctx)
	case PreToolUse:
		return h.before(ctx)
	case PostToolUse:
		return h.after(ctx)
	case SessionEnd:
		return h.end(ctx)
	case Stop:
	}
	return Answer{}, nil
}

// agent is who the session is, if that is known and registered.
func (h *handler) agent() (state.Agent, bool) {
	a, ok := h.view.State.Agent(h.engine.Caller(h.view, h.call.Session))
	return a, ok && a.Registered
}

// before judges an edit before it is made.
func (h *handler) before(ctx context.Context) (Answer, error) {
	paths := h.stored()
	if len(paths) == 0 {
		return Answer{}, nil
	}
	if refusal := h.mayEdit(paths); refusal != nil {
		return h.refuse(h.guard.Mode, refusal), nil
	}
	a, ok := h.agent()
	if !h.guard.Claim || !ok {
		return Answer{}, nil
	}
	_, err := h.engine.Do(ctx, engine.Request{Command: engine.Own{
		Agent: a.Name, Paths: h.unclaimed(a.Name, paths), TTL: claimFor, Reason: "edits it (claimed by a hook)",
	}})
	var conflict *engine.ConflictError
	var none *engine.ValidationError // nothing is left to claim
	switch {
	case errors.As(err, &conflict):
		return h.refuse(h.guard.Mode, conflict), nil
	case errors.As(err, &none):
		return Answer{}, nil
	}
	return Answer{}, err
}

// claimFor is how long a claim lasts that a hook makes. The next edit in the last half of it renews it.
const claimFor = 30 * time.Minute

// unclaimed lists the paths that an edit should claim: those under no claim, and those under one of its own that a hook made some time
// ago.
func (h *handler) unclaimed(agent string, paths []string) []string {
	var list []string
	for _, p := range paths {
		held := false
		for _, c := range h.view.State.Overlapping(p, h.view.FoldCase) {
			if c.Lapsed(h.view.Now) || !state.Within(p, c.Path, h.view.FoldCase) {
				continue
			}
			old := c.Path == p && event.SameName(c.Agent, agent) && c.ExpiresAt != nil && c.ExpiresAt.Sub(h.view.Now) < claimFor/2
			held = held || !old
		}
		if !held {
			list = append(list, p)
		}
	}
	return list
}

// mayEdit says why the session should not edit paths, nil when nothing is in the way.
func (h *handler) mayEdit(paths []string) *engine.ConflictError {
	return h.view.MayEdit(h.engine.Caller(h.view, h.call.Session), paths)
}

// refuse answers an edit that is in somebody's way.
func (h *handler) refuse(mode string, refusal error) Answer {
	text := "Loadout: " + refusal.Error()
	if hints := engine.Hints(refusal); len(hints) > 0 {
		text += "\nWhat helps:\n  " + strings.Join(hints, "\n  ")
	}
	switch mode {
	case "warn":
		if h.call.Late && h.call.Event == PreToolUse {
			return Answer{}
		}
		return Answer{Context: text}
	case "ask":
		return Answer{Verdict: Ask, Reason: text}
	}
	return Answer{Verdict: Deny, Reason: text}
}

func (h *handler) halted() Answer {
	if len(h.call.Paths) == 0 {
		return Answer{}
	}
	return h.refuse(h.guard.Halted, h.view.Halted)
}

// after notes what was edited, and that the session lives. Where a warning could not be told before the edit it is told now.
func (h *handler) after(ctx context.Context) (Answer, error) {
	var answer Answer
	paths := h.stored()
	if h.call.Late && h.guard.Mode == "warn" {
		if refusal := h.mayEdit(paths); refusal != nil {
			answer = h.refuse(h.guard.Mode, refusal)
		}
	}
	a, ok := h.agent()
	if !ok {
		return answer, nil
	}
	h.engine.Beat(ctx, a.Name)
	return answer, h.engine.Touch(a.Name, paths)
}

// stored lists the edited files in stored form. Those outside of the project are nobody's here.
func (h *handler) stored() []string {
	var list []string
	for _, p := range h.call.Paths {
		if stored, ok := h.storedPath(p); ok {
			list = append(list, stored)
		}
	}
	return list
}

func (h *handler) storedPath(p string) (string, bool) {
	stored, err := h.engine.Project().Rel(h.call.Dir, p)
	if err != nil && strings.ContainsFunc(p, unicode.IsControl) { // nobody can claim it, but somebody the folder that it is in
		stored, ok := h.storedPath(filepath.Dir(p))
		return path.Join(stored, filepath.Base(p)), ok
	}
	return stored, err == nil
}

// end ends the session. One whose program only forgets what was said goes on under the same name.
func (h *handler) end(ctx context.Context) (Answer, error) {
	a, ok := h.agent()
	if !ok || h.call.Reason == "clear" || h.elsewhere(a) {
		return Answer{}, nil
	}
	reason := "its program ended the session"
	if h.call.Reason != "" {
		reason += " (" + event.Clip(h.call.Reason, 100) + ")"
	}
	return Answer{}, h.finish(ctx, a.Name, reason)
}

// finish ends a session, if no other hook has done so meanwhile.
func (h *handler) finish(ctx context.Context, agent, reason string) error {
	_, err := h.engine.Do(ctx, engine.Request{Command: engine.EndAgent{Name: agent, Reason: reason}})
	var conflict *engine.ConflictError
	if errors.As(err, &conflict) && conflict.Kind == engine.ConflictName {
		return nil
	}
	return err
}
