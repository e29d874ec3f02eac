package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// speaker is the agent that a server speaks for.
type speaker struct {
	mu      sync.Mutex
	client  string          // what the client's program calls itself
	name    string          // empty until the agent is known
	mine    bool            // the session is this process, which ends it
	session engine.Register // what was registered
}

func (sp *speaker) known() string {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	return sp.name
}

// meet learns from the first message who the client is, and introduces the agent where the project is coordinated already: a server
// that is configured for every project leaves no trace in those where nobody uses it. Nothing that goes wrong here keeps the client
// from connecting: the tools try again and say why.
func (s *Server) meet(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method != "initialize" && method != "server/discover" {
			s.greet.Do(func() { close(s.met) })
			return next(ctx, method, req)
		}
		res, err := next(ctx, method, req)
		if err != nil {
			return res, err
		}
		if known, ok := req.(interface{ ClientInfo() *sdk.Implementation }); ok {
			if info := known.ClientInfo(); info != nil {
				s.speaker.mu.Lock()
				s.speaker.client = info.Name
				s.speaker.mu.Unlock()
			}
		}
		if _, err := os.Stat(s.engine.Project().Dir); err != nil {
			return res, nil //nolint:nilerr // not coordinated yet
		}
		brief, cancel := context.WithTimeout(ctx, registerWait)
		defer cancel()
		name, err := s.agent(brief)
		if err != nil {
			s.options.Note("not registered yet: %v", err)
			return res, nil //nolint:nilerr // as above
		}
		you := fmt.Sprintf("Here you are the agent %q.\n\n", name)
		switch r := res.(type) {
		case *sdk.InitializeResult:
			r.Instructions = you + r.Instructions
		case *sdk.DiscoverResult:
			r.Instructions = you + r.Instructions
		}
		return res, nil
	}
}

// agent is the agent that the server speaks for, introduced if it is not yet, or no more.
func (s *Server) agent(ctx context.Context) (string, error) {
	sp := &s.speaker
	sp.mu.Lock()
	defer sp.mu.Unlock()
	v, err := s.engine.View(ctx)
	if err != nil {
		return "", err
	}
	if sp.name != "" {
		if name, ok := sp.still(v.State); ok {
			sp.name = name
			return name, nil
		}
	}
	name, err := s.engine.Identify(ctx, cmp.Or(s.options.Agent, engine.Me), s.options.As)
	var nobody *engine.UsageError
	if errors.As(err, &nobody) && s.options.Agent == "" && s.options.As == "" {
		name, err = "", nil
	}
	if err != nil {
		return "", err
	}
	if name != "" && s.engine.InTurn() { // the agent of the turn is known, and lives longer than this process
		sp.name = name
		return name, nil
	}
	if a, ok := v.State.Agent(name); name != "" && ok && a.Registered && v.Live(a.Name).Live {
		sp.name, sp.mine, sp.session = a.Name, false, engine.Register{PID: a.PID, Start: a.Start, Boot: a.Boot, Host: a.Host}
		s.engine.Beat(ctx, a.Name)
	} else if err := s.register(ctx, v.State, name); err != nil {
		return "", err
	}
	s.options.Note("speaks for %s", sp.name)
	return sp.name, nil
}

// still is the name of the agent now, if its session goes on: somebody may have renamed it, and its name may be another session's.
func (sp *speaker) still(s *state.State) (string, bool) {
	if sp.session.PID == 0 {
		a, ok := s.Agent(sp.name)
		return a.Name, ok && a.Registered
	}
	for _, a := range s.Agents() {
		if a.Registered && sp.session.SameProcess(a) {
			return a.Name, true
		}
	}
	return "", false
}

// register registers the session, under a name that was given, or under one of its own. The caller holds the speaker.
//
// The session is that of the agent program above this process, so that hooks and shells of the same program are the same agent.
// Where none is known, or it is another agent already, it is this process, which lives as long as its client.
func (s *Server) register(ctx context.Context, known *state.State, name string) error {
	r, err := s.engine.Registration(engine.Register{}, nil)
	if err != nil {
		return err
	}
	ours := r.Base == engine.UnknownProgram
	if ours {
		r.Base = baseName(s.speaker.client)
	}
	r.Name, r.Resume = name, name != ""
	for _, a := range known.Agents() {
		if a.Registered && r.SameProcess(a) && name != "" {
			ours = true
		}
	}
	if ours {
		pid := os.Getpid()
		if here, err := s.engine.Registration(r, &pid); err == nil {
			r = here
		}
	}
	receipt, err := s.engine.Do(ctx, engine.Request{Command: r})
	if err != nil {
		return err
	}
	s.speaker.name, s.speaker.mine, s.speaker.session = receipt.Agent, ours, r
	return nil
}

// maxBase is how long a name that is made from a program's may be, in bytes.
const maxBase = 40

// baseName makes a name for an agent from what a program calls itself.
func baseName(client string) string {
	name := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, client)
	name = strings.Trim(name[:min(len(name), maxBase)], "-_.")
	for _, taken := range []string{"", event.User, engine.Me, event.Loadout} {
		if event.SameName(name, taken) {
			return engine.UnknownProgram
		}
	}
	return name
}

// actor is whom a tool acts as: the server's agent unless the call names another. A name without a live session is taken as typed.
func (s *Server) actor(ctx context.Context, named string) (string, error) {
	own, err := s.agent(ctx)
	if err != nil {
		return "", err
	}
	return s.choose(ctx, named, own)
}

func (s *Server) choose(ctx context.Context, named, own string) (string, error) {
	named = strings.TrimSpace(named)
	if named == "" || event.SameName(named, engine.Me) || event.SameName(named, own) {
		return own, nil
	}
	v, err := s.engine.View(ctx)
	if err != nil {
		return "", err
	}
	if a, ok := v.State.Agent(named); ok && a.Registered && v.Live(a.Name).Live {
		return "", &engine.ConflictError{
			Kind:    engine.ConflictIdentity,
			Message: fmt.Sprintf("%s is another live session; this server speaks for %s", a.Name, own),
			Hints:   []string{"leave the argument agent out to act as " + own, "ask, with to " + a.Name + ", when it is to do something"},
		}
	}
	return named, nil
}

// reader is actor for a tool that only reads: being read by its agent is a sign of life.
func (s *Server) reader(ctx context.Context, named string) (string, error) {
	own, err := s.readingAgent(ctx)
	if err != nil {
		return "", err
	}
	name, err := s.choose(ctx, named, own)
	if err == nil && name == s.speaker.known() {
		s.engine.Beat(ctx, name)
	}
	return name, err
}

// readingAgent is agent for what only reads. While the kill switch is on nobody can be introduced; reading goes on under the name that
// the agent would ask for.
func (s *Server) readingAgent(ctx context.Context) (string, error) {
	name, err := s.agent(ctx)
	var halted *engine.HaltedError
	if !errors.As(err, &halted) {
		return name, err
	}
	if name, err := s.engine.Identify(ctx, cmp.Or(s.options.Agent, engine.Me), s.options.As); err == nil {
		return name, nil
	}
	r, err := s.engine.Registration(engine.Register{}, nil)
	if r.Base == engine.UnknownProgram {
		s.speaker.mu.Lock()
		r.Base = baseName(s.speaker.client)
		s.speaker.mu.Unlock()
	}
	return r.Base, err
}

// leave ends a session that is this process. One of a host goes on: the host may start another server, and ends it by its hook or
// by dying.
func (s *Server) leave(ctx context.Context) {
	sp := &s.speaker
	sp.mu.Lock()
	defer sp.mu.Unlock()
	if !sp.mine {
		return
	}
	v, err := s.engine.View(ctx)
	if err == nil {
		if name, ok := sp.still(v.State); ok {
			_, err = s.engine.Do(ctx, engine.Request{Command: engine.EndAgent{Name: name, Reason: "its client is gone"}})
		}
	}
	if err != nil {
		s.options.Note("the end of %s could not be recorded: %v", sp.name, err)
	}
	sp.mine = false
}
