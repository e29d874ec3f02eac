package contracts

import (
	"context"
	"fmt"
	"slices"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/pane"
)

// maxLoaded bounds the bodies and differences that are kept.
const maxLoaded = 64

// result is what a Load brought.
type result struct {
	body engine.ContractText
	diff engine.ContractDiff
	err  error
}

// step chooses the revision before or after the one shown.
func (p *Pane) step(d int) {
	if c := p.selected(); c != nil {
		p.revision = neighbour(c, p.shown(c), d)
	}
}

// stepBase chooses the revision before or after the one that is compared with, but never the one shown, and shows the difference.
func (p *Pane) stepBase(d int) {
	c := p.selected()
	if c == nil {
		return
	}
	p.diff = true
	next := neighbour(c, p.from(c), d)
	if next == p.shown(c) {
		next = neighbour(c, next, d)
	}
	if next != p.shown(c) {
		p.base = next
	}
}

// neighbour is the revision d places after one in the history, or the last one in that direction.
func neighbour(c *state.Contract, revision int64, d int) int64 {
	at := slices.IndexFunc(c.History, func(r state.Revision) bool { return r.Revision == revision })
	if at < 0 {
		return revision
	}
	return c.History[max(min(at+d, len(c.History)-1), 0)].Revision
}

// shown is the revision that the detail shows.
func (p *Pane) shown(c *state.Contract) int64 {
	if p.revision == 0 {
		return c.Revision
	}
	return p.revision
}

// before is the revision that a revision replaced, 0 for the first.
func before(c *state.Contract, revision int64) int64 {
	var older int64
	for _, r := range c.History {
		if r.Revision < revision && r.Revision > older {
			older = r.Revision
		}
	}
	return older
}

// from is the revision that the one shown is compared with, 0 for nothing.
func (p *Pane) from(c *state.Contract) int64 {
	if p.base == 0 || p.base == p.shown(c) {
		return before(c, p.shown(c))
	}
	return p.base
}

// want asks for what the detail shows and has not loaded yet.
func (p *Pane) want() pane.Action {
	c := p.selected()
	if c == nil || !p.DetailShown() {
		return nil
	}
	name, revision, from := c.Name, p.shown(c), p.from(c)
	key := p.key(c)
	if _, ok := p.loaded[key]; ok || key == p.pending {
		return nil
	}
	if p.diff {
		p.pending = key
		return pane.Load{Key: key, Run: func(ctx context.Context, s pane.Source) (any, error) {
			return s.Diff(ctx, name, from, revision)
		}}
	}
	if revision == c.Revision {
		return nil
	}
	p.pending = key
	return pane.Load{Key: key, Run: func(ctx context.Context, s pane.Source) (any, error) {
		return s.ContractBody(ctx, name, revision)
	}}
}

func (p *Pane) key(c *state.Contract) string {
	if p.diff {
		return fmt.Sprintf("%d %d %s", p.from(c), p.shown(c), c.Name)
	}
	return fmt.Sprintf("%d %s", p.shown(c), c.Name)
}

// Loaded takes a body or a difference.
func (p *Pane) Loaded(key string, value any, err error) pane.Action {
	if key != p.pending {
		return nil // of a log that is gone, or not wanted any more
	}
	p.pending = ""
	if len(p.loaded) >= maxLoaded {
		clear(p.loaded)
	}
	r := result{err: err}
	switch v := value.(type) {
	case engine.ContractText:
		r.body = v
	case engine.ContractDiff:
		r.diff = v
	}
	p.loaded[key] = r
	p.Changed()
	return p.want()
}
