package engine

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

const (
	beatsName     = "beats.json"
	maxBeatsBytes = 1 << 20

	beatEvery  = 10 * time.Second    // an agent's beats are at least so far apart
	beatLasts  = 10 * time.Minute    // how long a beat speaks for a process that cannot be looked at
	beatForget = 30 * 24 * time.Hour // older beats are dropped
)

// beat is the last sign of life of a registered agent.
type beat struct {
	At       time.Time `json:"at"`
	Worktree string    `json:"worktree,omitempty"` // where it worked
}

// beats is the private file of beats, by folded name. It is no part of the coordination state: it may be lost, and a beat that is
// overwritten by another process's at the same moment comes again within seconds. So nothing here is locked or synced.
type beats struct {
	mu   sync.Mutex
	mine map[string]time.Time // what this engine wrote
}

// Beat notes that a registered agent is alive, at most every ten seconds. Best effort: a beat that cannot be written is
// no reason for anything to fail.
func (e *Engine) Beat(ctx context.Context, agent string) {
	if e.warmUp(ctx) != nil {
		return
	}
	e.mu.Lock()
	a, ok := e.mem.state.Agent(agent)
	e.mu.Unlock()
	if ok && a.Registered {
		e.writeBeat(event.FoldName(a.Name))
	}
}

// Rest notes that agents do nothing any more, whatever they were heard of before. Best effort, like Beat.
func (e *Engine) Rest(agents ...string) {
	e.beats.mu.Lock()
	defer e.beats.mu.Unlock()
	all := e.readBeats()
	for _, agent := range agents {
		name := event.FoldName(agent)
		delete(all, name)
		delete(e.beats.mine, name)
	}
	e.storeBeats(all)
}

// beatFor is Beat for who has just written ev. A registration counts at once, though it is folded later; that of a session that somebody
// else made known is no sign of life of it.
func (e *Engine) beatFor(ctx context.Context, ev *event.Event) {
	if ev.Type != event.TypeAgent {
		e.Beat(ctx, ev.From)
		return
	}
	body, err := ev.Body()
	if err != nil {
		return
	}
	if a, ok := body.(event.Agent); ok && a.Action == event.AgentRegistered && (a.PID > 0 || a.Session == "") {
		e.writeBeat(event.FoldName(a.Name))
	}
}

func (e *Engine) writeBeat(name string) {
	e.beats.mu.Lock()
	defer e.beats.mu.Unlock()
	now := e.now()
	if recent(e.beats.mine[name], now) {
		return
	}
	all := e.readBeats()
	if e.beats.mine == nil {
		e.beats.mine = map[string]time.Time{}
	}
	e.beats.mine[name] = now
	if b, ok := all[name]; ok && recent(b.At, now) && b.Worktree == e.project.Worktree {
		return
	}
	all[name] = beat{At: now, Worktree: e.project.Worktree}
	maps.DeleteFunc(all, func(_ string, b beat) bool { return now.Sub(b.At) > beatForget })
	e.storeBeats(all)
}

func (e *Engine) storeBeats(all map[string]beat) {
	if data, err := json.Marshal(all); err == nil {
		_ = e.log.WriteCache(beatsName, append(data, '\n'))
	}
}

func recent(at, now time.Time) bool { return !at.After(now) && now.Sub(at) < beatEvery }

// readBeats is what the file says; a file that is missing or damaged says nothing.
func (e *Engine) readBeats() map[string]beat {
	all := map[string]beat{}
	data, err := e.log.ReadFile(beatsName, maxBeatsBytes)
	if err != nil || json.Unmarshal(data, &all) != nil {
		return map[string]beat{}
	}
	return all
}

// liveness answers whether an agent of s is alive. The file of beats is read when it is first asked.
func (e *Engine) liveness(s *state.State, now time.Time) func(agent string) Liveness {
	all := sync.OnceValue(e.readBeats)
	return func(agent string) Liveness {
		a, ok := s.Agent(agent)
		if !ok || !a.Registered {
			return Liveness{}
		}
		b := all()[event.FoldName(a.Name)]
		last := lastSign(a, b)
		if session, ok := keptSession(s, a); ok {
			live := session.Running != "" || now.Sub(b.At) < beatLasts
			return Liveness{Known: true, Live: live, Idle: !live, LastBeat: last}
		}
		return Liveness{Known: true, Live: e.isAlive(a, last, now), LastBeat: last}
	}
}

// keptSession is the session of an agent that has no process of its own: it goes on whenever it is given a turn. One that a program
// registered for itself ends with that program.
func keptSession(s *state.State, a state.Agent) (state.Session, bool) {
	session, ok := s.Session(a.Name)
	return session, ok && a.PID == 0 && (a.Session == "" || a.Registered && a.Session == session.ID)
}

// lastSign is the last sign of life of an agent: a beat, its newest event, or its registration.
func lastSign(a state.Agent, b beat) time.Time {
	last := b.At
	for _, t := range []*time.Time{a.Since, a.LastAt} {
		if t != nil && t.After(last) {
			last = *t
		}
	}
	return last
}

// isAlive looks at the agent's process when it is one of this machine; else its last word must not be long ago.
func (e *Engine) isAlive(a state.Agent, last, now time.Time) bool {
	if a.PID > 0 && a.Host == e.options.Host.Name() {
		return e.options.Host.Alive(Process{PID: a.PID, Start: a.Start, Boot: a.Boot})
	}
	return now.Sub(last) < beatLasts
}
