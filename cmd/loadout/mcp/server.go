package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloadout/loadout/engine"
)

// Name is how the server calls itself.
const Name = "loadout-coordinator"

const (
	beatEvery    = 10 * time.Second       // between two signs of life
	registerWait = 700 * time.Millisecond // for the lock, while the client waits for its first answer; a tool call tries again
	endWait      = 3 * time.Second        // for the end of the session to be stored when the client is gone
)

// Options say for whom a server speaks.
type Options struct {
	Agent   string // the name to speak under; empty: LOADOUT_AGENT, the host's session, or a name of its own
	As      string // like Agent, also when that is the live session of another process
	Dir     string // the folder that typed paths are relative to
	Version string

	Note func(format string, args ...any) // what a person should know; never part of the protocol; nil: nobody listens
}

// Server speaks the protocol for one agent.
type Server struct {
	engine   *engine.Engine
	options  Options
	protocol *sdk.Server
	speaker  speaker
	news     news
	tools    map[string]int // place in the list, from 1

	greet   sync.Once
	met     chan struct{}   // closed when a client has introduced itself
	stopped <-chan struct{} // closed when the server is told to stop: what waits for its turn is not carried out any more
}

// New makes a server. It reads and writes nothing until a client comes.
func New(e *engine.Engine, o Options) (*Server, error) {
	note, noting := o.Note, sync.Mutex{}
	o.Note = func(format string, args ...any) {
		if note != nil {
			noting.Lock()
			defer noting.Unlock()
			note(format, args...)
		}
	}
	s := &Server{engine: e, options: o, tools: map[string]int{}, met: make(chan struct{})}
	s.news.init()
	s.protocol = sdk.NewServer(&sdk.Implementation{Name: Name, Title: "Loadout", Version: o.Version}, &sdk.ServerOptions{
		Instructions:       instructions,
		Capabilities:       &sdk.ServerCapabilities{},
		SubscribeHandler:   s.subscribed,
		UnsubscribeHandler: s.unsubscribed,
		CompletionHandler:  s.complete,
	})
	s.protocol.AddReceivingMiddleware(inOnePass, s.refuseAtEnd, s.meet, s.refuseUnknown, s.listFresh, s.inOrder)
	for _, t := range toolset() {
		if err := s.add(t); err != nil {
			return nil, fmt.Errorf("tool %s: %w", t.name, err)
		}
	}
	s.addResources()
	s.addPrompts()
	return s, nil
}

// Serve speaks with the client at the other end of in and out until in ends or ctx does. Then it ends the session that it registered.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	stop := s.start(ctx)
	defer stop()
	s.stopped = ctx.Done()
	err := s.protocol.Run(ctx, &lines{in: in, out: out, note: s.options.Note})
	for _, usual := range []error{io.EOF, io.ErrClosedPipe, syscall.EPIPE, syscall.EIO} { // a pipe ends, breaks under a message, a terminal hangs up
		if errors.Is(err, usual) {
			return nil
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// errEnding answers what comes, or has waited, after the server was told to stop.
var errEnding = errors.New("the server is ending")

// refuseAtEnd keeps a server from answering a long queue before it ends.
func (s *Server) refuseAtEnd(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		select {
		case <-s.stopped:
			return nil, errEnding
		default:
			return next(ctx, method, req)
		}
	}
}

// start begins what goes on beside the answers: signs of life, and news for subscribers. The returned function ends it, and the
// session.
func (s *Server) start(ctx context.Context) (stop func()) {
	beside, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { s.beat(beside) })
	wg.Go(func() {
		select {
		case <-beside.Done():
		case <-s.met: // before that nobody can be told anything
			wg.Go(func() { s.tell(beside) })
			s.follow(beside)
		}
	})
	return func() {
		cancel()
		wg.Wait()
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWait)
		defer cancel()
		s.leave(ending)
	}
}

// beat says every so often that the agent is alive.
func (s *Server) beat(ctx context.Context) {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if name := s.speaker.known(); name != "" {
				s.engine.Beat(ctx, name)
			}
		}
	}
}
