package state

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
)

// claims is who holds what. Lists of holders are never changed in place, so that clones can share them.
type claims struct {
	byPath  map[string][]Claim // by pathKey, in order of their making
	sources map[int64]int      // how many claims stand on an event that made several
}

// foldOwnership folds a claim or a release. It trusts the log: whether a claim was allowed was decided when it was written.
func (s *State) foldOwnership(e *event.Event, b event.Ownership, at time.Time) {
	if b.Mode == event.Release {
		holder := b.Holder
		if holder == "" {
			holder = e.From
		}
		for _, path := range b.Paths {
			s.endClaim(path, holder, e.Seq)
		}
		return
	}
	for _, d := range b.Displaced {
		s.endClaim(d.Path, d.Agent, e.Seq)
	}
	for _, path := range b.Paths {
		s.addClaim(path, e, b, at)
	}
}

// addClaim makes or renews one claim. Renewal, also in another mode, keeps the fence. In logs of other programs an exclusive claim
// may take a path from its exclusive holder: the last writer wins there. All other holders of the path stay.
func (s *State) addClaim(path string, e *event.Event, b event.Ownership, at time.Time) {
	claim := Claim{
		Path: path, Agent: strings.Clone(e.From), Mode: b.Mode, Reason: b.Reason,
		Since: at, Seq: e.Seq, Fence: e.Seq,
	}
	if until, ok := event.ParseTime(b.ExpiresAt); ok {
		claim.ExpiresAt = &until
	}
	key := pathKey(path)
	held := s.claims.byPath[key]
	kept := make([]Claim, 0, len(held)+1)
	again := false // the event names the path twice
	for _, h := range held {
		switch {
		case event.SameName(h.Agent, e.From):
			again = again || h.Seq == e.Seq
			claim.Since, claim.Fence = h.Since, h.Fence
			claim.Reason = cmp.Or(claim.Reason, h.Reason)
		case h.Mode == event.Exclusive && b.Mode == event.Exclusive:
		default:
			kept = append(kept, h)
		}
	}
	s.claims.byPath[key] = append(kept, claim)
	if len(b.Paths) > 1 && !again {
		s.claims.sources[e.Seq]++
	}
	s.dropSources(held, kept, e.Seq)
}

// endClaim ends an agent's claim on exactly this path, if there is one.
func (s *State) endClaim(path, agent string, by int64) {
	key := pathKey(path)
	held := s.claims.byPath[key]
	i := slices.IndexFunc(held, func(c Claim) bool { return event.SameName(c.Agent, agent) })
	if i < 0 {
		return
	}
	kept := append(held[:i:i], held[i+1:]...)
	if len(kept) == 0 {
		delete(s.claims.byPath, key)
	} else {
		s.claims.byPath[key] = kept
	}
	s.dropSources(held, kept, by)
}

// dropSources forgets the sources of the claims in before that are not in after. An event on which nothing stands any more is
// old news, by the event by unless that is -1.
func (s *State) dropSources(before, after []Claim, by int64) {
	for i := range before {
		if slices.ContainsFunc(after, func(c Claim) bool { return c.Seq == before[i].Seq && c.Agent == before[i].Agent }) {
			continue
		}
		if source := before[i].Seq; s.claims.dropSource(source) && by >= 0 && source != by {
			s.supersede(source, by)
		}
	}
}

// dropSource takes one claim off an event and reports whether nothing stands on it any more.
func (c *claims) dropSource(seq int64) bool {
	left, several := c.sources[seq]
	switch {
	case !several:
		return true
	case left > 1:
		c.sources[seq] = left - 1
		return false
	}
	delete(c.sources, seq)
	return true
}

// renameClaims gives an agent's claims to another name. Where that name held the same path already, the newer claim stays.
func (s *State) renameClaims(previous, name string) {
	for key, held := range s.claims.byPath {
		if !slices.ContainsFunc(held, func(c Claim) bool { return event.SameName(c.Agent, previous) }) {
			continue
		}
		var newest *Claim
		kept := make([]Claim, 0, len(held))
		for i := range held {
			c := &held[i]
			if !event.SameName(c.Agent, previous) && !event.SameName(c.Agent, name) {
				kept = append(kept, *c)
				continue
			}
			if newest != nil {
				if newest.Seq > c.Seq {
					newest, c = c, newest
				}
				s.claims.dropSource(newest.Seq)
			}
			newest = c
		}
		renamed := *newest
		renamed.Agent = name
		s.claims.byPath[key] = append(kept, renamed)
	}
}

// Claims lists all claims by path, then agent.
func (s *State) Claims() []Claim { return s.claims.where(func(*Claim) bool { return true }) }

// ClaimsOf lists an agent's claims by path.
func (s *State) ClaimsOf(agent string) []Claim {
	return s.claims.where(func(c *Claim) bool { return event.SameName(c.Agent, agent) })
}

// Overlapping lists the claims that overlap path, by path, then agent.
func (s *State) Overlapping(path string, foldCase bool) []Claim {
	path = comparable(path, foldCase)
	return s.claims.where(func(c *Claim) bool {
		held := comparable(c.Path, foldCase)
		return within(path, held) || within(held, path)
	})
}

func (c *claims) where(wanted func(*Claim) bool) []Claim {
	list := []Claim{}
	for _, held := range c.byPath {
		for i := range held {
			if wanted(&held[i]) {
				list = append(list, held[i])
			}
		}
	}
	slices.SortFunc(list, func(a, b Claim) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Agent, b.Agent), cmp.Compare(a.Seq, b.Seq))
	})
	return list
}
