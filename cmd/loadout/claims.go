package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
)

type ownCmd struct {
	Holder string        `complete:"agent" arg:"" name:"agent" help:"Who claims."`
	Paths  []string      `complete:"path" arg:"" name:"path" type:"words" help:"Files or folders, relative to the working directory. All or none."`
	Shared bool          `help:"Others may share the paths; nobody can claim them exclusively."`
	TTL    time.Duration `name:"ttl" placeholder:"TIME" help:"The claim lapses after this time, unless it is renewed by owning again."`
	Reason string        `placeholder:"TEXT" help:"Why; whoever is refused sees it."`
	Fence  *int64        `complete:"fence" placeholder:"N" help:"Renew only the holding with this number; refused if it has lapsed."`
	Wait   time.Duration `placeholder:"TIME" help:"Wait this long for others to release the paths."`
	Force  bool          `help:"End the claims of others. For a person; needs --reason."`
	writing
}

func (ownCmd) Help() string {
	return examples(
		"loadout coord own claude-code src/api",
		"loadout coord own me src/api docs --ttl 30m --reason 'checkout endpoint'",
		"loadout coord own codex src/api/checkout.ts --wait 10m",
		"loadout coord own me src/api --fence 12 --ttl 30m --json",
	)
}

func (o *ownCmd) run(ctx context.Context, c *call) error {
	e, who, paths, err := c.claiming(ctx, o.writing, o.Holder, o.Paths)
	if err != nil {
		return err
	}
	folder, err := e.Project().Rel(c.dir, ".")
	if err != nil {
		folder = "" // outside: only the top or an absolute path was typed
	}
	own := engine.Own{
		Agent: who.name, Paths: paths, Typed: folder, Shared: o.Shared, TTL: o.TTL,
		Reason: o.Reason, Fence: o.Fence, Force: o.Force,
	}
	r, err := o.claim(ctx, c, e, engine.Request{Command: own, Key: o.Key, By: who.by})
	if err != nil {
		return err
	}
	c.noteReceipt(r)
	claims := claimsAt(ctx, e, who.name, paths)
	extra := struct {
		Claims []state.Claim `json:"claims"`
	}{claims}
	return c.answer(receipt(r, extra), func() {
		mode := event.Exclusive
		if o.Shared {
			mode = event.Shared
		}
		c.printf("%s now owns (%s): %s (%s)\n", who.name, mode, strings.Join(paths, ", "), seqAndFence(r, claims))
		for _, stored := range bodies[event.Ownership](r) {
			for _, d := range stored.Displaced {
				c.printf("  ended %s's claim on %s (%s, fence %d)\n", d.Agent, d.Path, d.Mode, d.Fence)
			}
		}
		if len(claims) > 0 && claims[0].ExpiresAt != nil {
			at := *claims[0].ExpiresAt
			c.printf("  until %s (%s); own again to renew\n", words.Stamp(c.now(), at), words.Left(c.now(), at))
		}
		if fences := distinctFences(claims); fences > 1 {
			for _, claim := range claims {
				c.printf("  fence %d  %s\n", claim.Fence, claim.Path)
			}
		}
	})
}

// claim stores the claim, waiting for it if that is wanted.
func (o *ownCmd) claim(ctx context.Context, c *call, e *engine.Engine, r engine.Request) (engine.Receipt, error) {
	if o.Wait == 0 {
		return e.Do(ctx, r)
	}
	said, when := "", time.Time{}
	return e.OwnWait(ctx, r, o.Wait, func(refused *engine.ConflictError, left time.Duration) {
		text, now := blockers(refused), c.now()
		if text == said && now.Sub(when) < 30*time.Second {
			return
		}
		said, when = text, now
		c.note("waiting for %s, %s left", text, words.Span(left))
	})
}

// blockers names who holds what is waited for.
func blockers(refused *engine.ConflictError) string {
	who := make([]string, 0, len(refused.Conflicts))
	for _, conflict := range refused.Conflicts {
		who = append(who, conflict.Claim.Agent+" to release "+conflict.Claim.Path)
	}
	if len(who) == 0 {
		return refused.Message
	}
	return enumerated(who)
}

type releaseCmd struct {
	Holder string   `complete:"agent" arg:"" name:"agent" help:"Who releases."`
	Paths  []string `complete:"claim" arg:"" name:"path" type:"words" help:"Files or folders; what lies below is released too. All or none."`
	Fence  *int64   `complete:"fence" placeholder:"N" help:"Release only the holding with this number."`
	Force  bool     `help:"End the claims of others too. For a person; needs --reason."`
	Reason string   `placeholder:"TEXT" help:"Why."`
	writing
}

func (releaseCmd) Help() string {
	return examples(
		"loadout coord release claude-code src/api",
		"loadout coord release me .",
		"loadout coord release codex src/web --force --reason 'its laptop is closed'",
	)
}

func (o *releaseCmd) run(ctx context.Context, c *call) error {
	e, who, paths, err := c.claiming(ctx, o.writing, o.Holder, o.Paths)
	if err != nil {
		return err
	}
	r, err := c.store(ctx, e, o.writing, who, engine.ReleasePaths{
		Agent: who.name, Paths: paths, Fence: o.Fence, Force: o.Force, Reason: o.Reason,
	})
	if err != nil {
		return err
	}
	released := []string{}
	for _, stored := range bodies[event.Ownership](r) {
		if stored.Mode == event.Release {
			released = append(released, stored.Paths...)
		}
	}
	extra := struct {
		Released []string `json:"released"`
	}{released}
	return c.answer(receipt(r, extra), func() {
		c.printf("%s released: %s (seq %d)\n", who.name, enumerated(released), r.Seq())
	})
}

// claiming opens the engine and resolves who acts on which paths.
func (c *call) claiming(ctx context.Context, w writing, named string, typed []string) (*engine.Engine, actor, []string, error) {
	e, err := c.open(w.LockWait)
	if err != nil {
		return nil, actor{}, nil, err
	}
	paths, err := c.paths(e, typed)
	if err != nil {
		return nil, actor{}, nil, err
	}
	who, err := c.acting(ctx, e, named)
	if err != nil {
		return nil, actor{}, nil, err
	}
	return e, who, paths, nil
}

// claimsAt is what an agent holds on exactly these paths. The write was answered already, so a log that cannot be read now
// means only that the fences are not shown.
func claimsAt(ctx context.Context, e *engine.Engine, agent string, paths []string) []state.Claim {
	claims := []state.Claim{}
	view, err := e.View(ctx)
	if err != nil {
		return claims
	}
	wanted := map[string]bool{}
	for _, p := range paths {
		wanted[p] = true
	}
	for _, claim := range view.State.ClaimsOf(agent) {
		if wanted[claim.Path] {
			claims = append(claims, claim)
		}
	}
	return claims
}

// seqAndFence names the number of a stored claim, and its fence where a renewal kept an older one.
func seqAndFence(r engine.Receipt, claims []state.Claim) string {
	s := fmt.Sprintf("seq %d", r.Seq())
	if distinctFences(claims) == 1 {
		s += fmt.Sprintf(", fence %d", claims[0].Fence)
	}
	return s
}

func distinctFences(claims []state.Claim) int {
	fences := map[int64]bool{}
	for _, claim := range claims {
		fences[claim.Fence] = true
	}
	return len(fences)
}

type conflictCmd struct {
	Holder string   `complete:"agent" arg:"" name:"agent" help:"Who would claim."`
	Paths  []string `complete:"path" arg:"" name:"path" type:"words" help:"Files or folders."`
}

func (conflictCmd) Help() string {
	return examples(
		"loadout coord conflicts codex src/api",
		"loadout coord conflicts me src/api src/web --json",
	)
}

func (o *conflictCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	paths, err := c.paths(e, o.Paths)
	if err != nil {
		return err
	}
	agent, err := c.reader(ctx, e, o.Holder)
	if err != nil {
		return err
	}
	preview, err := e.Preview(ctx, agent, paths)
	if err != nil {
		return err
	}
	if err := c.answer(preview, func() { c.printPreview(preview) }); err != nil {
		return err
	}
	if len(preview.Conflicts) > 0 {
		return errSilent(exitConflict)
	}
	return nil
}

func (c *call) printPreview(p engine.Preview) {
	if len(p.Conflicts) == 0 {
		c.printf("no conflicts: %s may claim %s (%s)\n", p.Agent, strings.Join(p.Safe, ", "), words.AsOf(p.AsOf))
		return
	}
	c.printf("%s for %s (%s)\n", words.Plural(len(p.Conflicts), "conflict"), p.Agent, words.AsOf(p.AsOf))
	for _, x := range p.Conflicts {
		c.printf("  %s: held by %s (%s) through %s since %s, fence %d\n", c.bold(x.Path), x.Owner, x.OwnerMode, x.OwnerPath, c.moment(x.Since), x.Fence)
		if x.Reason != "" {
			c.printf("    because: %s\n", x.Reason)
		}
		changed := ""
		if x.LinesChanged > 0 {
			changed = ", " + words.Plural(x.LinesChanged, "line") + " changed"
		}
		c.printf("    git: %s%s\n", x.Status, changed)
		if x.Diff != "" {
			c.block("    | ", x.Diff)
		}
	}
	if len(p.Safe) > 0 {
		c.printf("free: %s\n", strings.Join(p.Safe, ", "))
	}
	for _, n := range p.Notes {
		c.note("note: %s", n)
	}
	c.printf("  try: loadout coord own %s %s --wait 10m    to wait until it is free\n", styled(words.ShellWord(p.Agent)), styled(shellWords(p.Requested)))
}
