package bridge

import (
	"context"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/fence"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/suggest"
	"github.com/agentloadout/loadout/engine/turn"
)

// What holds where Options say nothing.
const (
	DefaultDepth     = 3
	DefaultSettle    = 300 * time.Millisecond
	DefaultMaxSettle = 2 * time.Second
	DefaultBackoff   = 2 * time.Second
	DefaultPrompt    = 32 << 10 // bytes
)

const (
	backoffFactor = 4                // each wait is so much longer than the one before
	leaseAgain    = time.Second      // how soon to look again whether a session is free that another process gave a turn to
	errorAgain    = 2 * time.Second  // how soon to go on after the log could not be read or written
	beatEvery     = time.Minute      // how often a bridge says that its sessions live
	endWait       = 30 * time.Second // how long to try to record the end of a turn
	sendWait      = 10 * time.Second // how long a message waits for the session to be free
)

// Options tune a bridge and single turns.
type Options struct {
	Providers []turn.Provider
	By        string // who asks: user, or an agent; empty: user

	MaxDepth    int                                           // longest chain of turns that cause one another, default DefaultDepth
	Deadline    time.Duration                                 // of a turn, default turn.DefaultDeadline
	Settle      time.Duration                                 // how long it must be quiet before what waits is delivered, default DefaultSettle
	MaxSettle   time.Duration                                 // how long to wait for that, default DefaultMaxSettle
	Backoff     time.Duration                                 // before a failed turn is started again, default DefaultBackoff
	MaxPrompt   int                                           // bytes of a prompt, default DefaultPrompt
	Permissions func(provider, agent string) turn.Permissions // what turns may do, nil: what the programs do by themselves
	Mark        func() string                                 // makes the mark of a prompt's fence, default random; tests set it

	// Report is told every step. It is called from several goroutines, never twice at once, and must not block. nil: nobody is told.
	Report func(Progress)
}

func (o Options) withDefaults() Options {
	if o.By == "" {
		o.By = event.User
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = DefaultDepth
	}
	if o.Deadline <= 0 {
		o.Deadline = turn.DefaultDeadline
	}
	if o.Settle <= 0 {
		o.Settle = DefaultSettle
	}
	if o.MaxSettle <= 0 {
		o.MaxSettle = DefaultMaxSettle
	}
	if o.Backoff <= 0 {
		o.Backoff = DefaultBackoff
	}
	if o.MaxPrompt <= 0 {
		o.MaxPrompt = DefaultPrompt
	}
	if o.Permissions == nil {
		o.Permissions = func(string, string) turn.Permissions { return turn.Permissions{} }
	}
	if o.Mark == nil {
		o.Mark = fence.Mark
	}
	if o.Report == nil {
		o.Report = func(Progress) {}
	}
	return o
}

// provider finds a program by its name.
func (o *Options) provider(name string) (turn.Provider, error) {
	var names []string
	for _, p := range o.Providers {
		if p.Name() == name {
			return p, nil
		}
		names = append(names, p.Name())
	}
	return nil, &engine.NotFoundError{
		Kind: "agent program", Name: name, Suggestions: suggest.Closest(name, names), Hints: []string{"loadout coord agents detect    for the ones that are here"},
	}
}

// Ref names a session: by its program and the program's own id, or by the agent that it is.
type Ref struct {
	Agent    string
	Provider string
	Session  string
}

// describe says what turns of an agent may do. What the program does not know is a *UsageError: nothing failed.
func (o *Options) describe(p turn.Provider, agent string) (string, error) {
	may, err := p.Describe(o.Permissions(p.Name(), agent))
	if err != nil {
		return "", &engine.UsageError{Message: err.Error(), Hints: engine.Hints(err)}
	}
	return may, nil
}

// check finds the program of a session. One that the program cannot have, and permissions that it does not know, are refused with a
// *UsageError before anything is stored: nothing failed.
func (o *Options) check(s state.Session) (turn.Provider, error) {
	p, err := o.provider(s.Provider)
	if err != nil {
		return nil, err
	}
	if checker, ok := p.(turn.SessionChecker); ok {
		if err := checker.CheckSession(s.ID); err != nil {
			return nil, &engine.UsageError{Message: err.Error(), Hints: engine.Hints(err)}
		}
	}
	_, err = o.describe(p, s.Agent)
	return p, err
}

// detect asks the program of an agent's turns whether it is there and signed in, which spends nothing.
func (o *Options) detect(ctx context.Context, p turn.Provider, agent string) error {
	if _, err := p.Detect(ctx, o.Permissions(p.Name(), agent).Command); err != nil {
		return providerError(p.Name(), err)
	}
	return nil
}

// ParseRef reads PROGRAM:SESSION, or AGENT. An id may have colons.
func ParseRef(s string) (Ref, error) {
	provider, session, found := strings.Cut(strings.TrimSpace(s), ":")
	switch {
	case !found && provider != "":
		return Ref{Agent: provider}, nil
	case found && provider != "" && session != "" && len(session) <= event.MaxSession:
		return Ref{Provider: provider, Session: session}, nil
	}
	return Ref{}, &engine.ValidationError{
		Field: "session", Reason: "is neither PROGRAM:SESSION, such as claude-code:3f1c…, nor the name of an agent",
		Hints: []string{"loadout coord agents list    for the sessions that are known"},
	}
}

// Limits are caps to set; nil leaves one as it is, zero lifts it.
type Limits = event.TurnLimits
