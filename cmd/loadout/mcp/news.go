package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

// gather is how long news is gathered before subscribers are told, so that a burst is one notification.
const gather = 100 * time.Millisecond

// news is what subscribers wait for.
type news struct {
	mu        sync.Mutex
	wanted    map[string]int  // subscriptions, by URI
	changed   map[string]bool // URIs to tell of
	contracts map[string]bool // listed ones
	halted    bool            // the kill switch was on when it was looked at last

	wake chan struct{} // something changed

	listing sync.Mutex // held while a list is answered: one that looked at the log before must not take off what another has found since
}

func (n *news) init() {
	n.wanted, n.changed, n.contracts = map[string]int{}, map[string]bool{}, map[string]bool{}
	n.wake = make(chan struct{}, 1)
}

// subscribed notes that a client wants to be told of a resource, which need not exist yet.
func (s *Server) subscribed(_ context.Context, r *sdk.SubscribeRequest) error {
	if _, err := parseURI(r.Params.URI); err != nil {
		return sdk.ResourceNotFoundError(r.Params.URI)
	}
	s.news.mu.Lock()
	defer s.news.mu.Unlock()
	s.news.wanted[r.Params.URI]++
	return nil
}

func (s *Server) unsubscribed(_ context.Context, r *sdk.UnsubscribeRequest) error {
	s.news.mu.Lock()
	defer s.news.mu.Unlock()
	if s.news.wanted[r.Params.URI]--; s.news.wanted[r.Params.URI] <= 0 {
		delete(s.news.wanted, r.Params.URI)
	}
	return nil
}

// follow keeps the list of contracts up to date and notes what changed, until ctx ends. Where the log cannot be followed it says so
// and looks again later: the tools answer in any case.
func (s *Server) follow(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.followOnce(ctx); err != nil && ctx.Err() == nil {
			s.options.Note("news cannot be followed: %v", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(beatEvery):
		}
	}
}

func (s *Server) followOnce(ctx context.Context) error {
	v, err := s.engine.View(ctx)
	if err != nil {
		return err
	}
	s.listContracts(v)
	return s.engine.FollowFrom(ctx, v, func(d engine.Delivery) error {
		if d.Reset {
			if v, err := s.engine.View(ctx); err == nil {
				s.listContracts(v)
			}
		}
		s.note(&d)
		return nil
	})
}

// listFresh brings the list of contracts up to date before it is answered.
func (s *Server) listFresh(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "resources/list" {
			s.news.listing.Lock()
			defer s.news.listing.Unlock()
			v, err := s.engine.View(ctx)
			if err != nil {
				return nil, err
			}
			s.listContracts(v)
		}
		return next(ctx, method, req)
	}
}

// listContracts lists the contracts that there are, and no others.
func (s *Server) listContracts(v *engine.View) {
	there := map[string]bool{}
	for _, c := range v.State.Contracts() {
		there[c.Name] = true
		s.listContract(c.Name)
	}
	s.news.mu.Lock()
	defer s.news.mu.Unlock()
	for name := range s.news.contracts {
		if !there[name] {
			delete(s.news.contracts, name)
			s.protocol.RemoveResources(contractURI(name))
		}
	}
}

// listContract lists a contract; when it returns it is listed, whoever has done it.
func (s *Server) listContract(name string) {
	s.news.mu.Lock()
	defer s.news.mu.Unlock()
	if !s.news.contracts[name] {
		s.news.contracts[name] = true
		s.addContract(name)
	}
}

// note notes which resources a delivery changes.
func (s *Server) note(d *engine.Delivery) {
	changed := map[string]bool{}
	anything := d.Reset
	for i := range d.Events {
		ev := &d.Events[i]
		changed[eventURI(ev.Seq)] = true
		anything = anything || isNews(ev.Type)
		if ev.Type != event.TypeContract {
			continue
		}
		if body, err := ev.Body(); err == nil {
			if c, ok := body.(event.Contract); ok {
				changed[contractURI(c.Name)] = true
				s.listContract(c.Name)
			}
		}
	}
	n := &s.news
	n.mu.Lock()
	defer n.mu.Unlock()
	if halted := d.Halted != nil; halted != n.halted {
		n.halted, anything = halted, true
	}
	told := false
	for uri := range n.wanted {
		at, err := parseURI(uri)
		if changed[uri] || err == nil && anything && at.kind == kindSnapshot {
			n.changed[uri], told = true, true
		}
	}
	if told {
		select {
		case n.wake <- struct{}{}:
		default: // it is awake
		}
	}
}

// isNews reports whether events of a type are worth waking somebody: acknowledgements and the records of turns are not.
func isNews(t event.Type) bool {
	return t != event.TypeAck && t != event.TypeTurn
}

// tell tells subscribers what changed, a burst at once.
func (s *Server) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.news.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(gather):
		}
		s.news.mu.Lock()
		changed := s.news.changed
		s.news.changed = map[string]bool{}
		s.news.mu.Unlock()
		for uri := range changed {
			if err := s.protocol.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
				s.options.Note("tell of %s: %v", uri, err)
			}
		}
	}
}
