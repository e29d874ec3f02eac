package ownership

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/theme"
)

// maxOwn bounds the holder's own changes that a detail lists.
const maxOwn = 20

// Detail tells everything about the selected row.
func (p *rows) Detail(w int) []theme.Spans {
	r := (*Pane)(p).selected()
	if r == nil {
		return nil
	}
	d := pane.NewDetail(p.Look, w)
	if r.kind == ofUnclaimed {
		p.aboutUnclaimed(d)
		return d.Lines()
	}
	path := cmp.Or(r.node.path, ".")
	d.Title(path)
	for i := range r.node.claims {
		d.Gap()
		p.aboutClaim(d, &r.node.claims[i])
	}
	for _, c := range r.node.drift {
		d.Gap()
		p.aboutChange(d, c)
	}
	if len(r.node.claims)+len(r.node.drift) == 0 {
		d.Text("Nobody holds this directory as a whole.", p.Dim)
	}
	if len(r.node.claims) > 0 {
		p.changesUnder(d, &r.node.claims[0])
	}
	p.around(d, path)
	return d.Lines()
}

func (p *rows) aboutClaim(d *pane.Detail, c *state.Claim) {
	d.Field("holder", c.Agent, p.Owners.Style(c.Agent))
	p.session(d, c.Agent)
	d.Field("mode", string(c.Mode), p.Text)
	d.Field("since", pane.Stamp(p.snap.Now, c.Since)+", "+words.Ago(p.snap.Now, c.Since), p.Text)
	if until := c.ExpiresAt; until != nil {
		style := p.Text
		if until.Sub(p.snap.Now) < soon {
			style = p.Warn
		}
		d.Field("until", pane.Stamp(p.snap.Now, *until)+", "+words.Left(p.snap.Now, *until), style)
	}
	d.Field("reason", c.Reason, p.Text)
	d.Field("fence", strconv.FormatInt(c.Fence, 10), p.Dim)
	d.Field("event", fmt.Sprintf("#%d", c.Seq), p.Dim)
}

// session says whether the holder's session lives. The past does not know.
func (p *rows) session(d *pane.Detail, agent string) {
	a, ok := p.snap.State.Agent(agent)
	live := p.snap.Live[a.Name]
	heard := ""
	if !live.LastBeat.IsZero() {
		heard = ", last heard of " + words.Ago(p.snap.Now, live.LastBeat)
	}
	switch {
	case !ok || p.snap.Past:
	case live.Live:
		d.Field("session", p.Live+" live"+heard, p.Good)
	case engine.Stale(a, live):
		d.Field("session", p.Warning+" over"+heard+"; what it holds may be taken over", p.Warn)
	}
}

func (p *rows) aboutChange(d *pane.Detail, c engine.Drift) {
	d.Field("file", c.Status, p.Warn)
	d.Field("worktree", c.Worktree, p.Text)
	d.Field("branch", c.Branch, p.Text)
	d.Field("at work", strings.Join(c.Agents, ", "), p.Text)
	owner := "nobody has claimed it; c claims it"
	if len(c.Owners) > 0 {
		owner = fmt.Sprintf("%s, by the %s claim on %s", strings.Join(c.Owners, ", "), c.Mode, c.Claim)
	}
	d.Field("owner", owner, p.Text)
	for _, also := range c.Also {
		d.Field("also in", also, p.Warn)
	}
}

// changesUnder lists what git shows as changed under a claim: what others may have changed first.
func (p *rows) changesUnder(d *pane.Detail, c *state.Claim) {
	if foreign := (*Pane)(p).foreignTo(c); len(foreign) > 0 {
		d.Heading("changed where another agent works")
		for _, f := range foreign {
			said := f.Path + "  in " + f.Worktree
			if f.Branch != "" {
				said += " (" + f.Branch + ")"
			}
			if len(f.Agents) > 0 {
				said += " by " + strings.Join(f.Agents, ", ")
			}
			d.Field(p.Drift+" "+f.Status, said, p.Warn)
		}
	}
	own := p.drift.own[claimKey(c.Path, p.snap.FoldCase)]
	if len(own) == 0 {
		return
	}
	d.Heading(words.Plural(len(own), "changed file") + " under the claim")
	for i, f := range own {
		if i == maxOwn {
			d.Text(fmt.Sprintf("and %d more", len(own)-maxOwn), p.Dim)
			break
		}
		d.Field(f.Status, f.Path, p.Text)
	}
}

// around lists the claims that overlap a path.
func (p *rows) around(d *pane.Detail, path string) {
	first := true
	for _, c := range p.snap.State.Overlapping(path, p.snap.FoldCase) {
		if c.Path == path {
			continue
		}
		if first {
			d.Heading("also around it")
			first = false
		}
		d.Field(c.Agent, c.Path+"  "+string(c.Mode), p.Text)
	}
}

// aboutUnclaimed says where files were looked for, and what could not be read.
func (p *rows) aboutUnclaimed(d *pane.Detail) {
	d.Title(words.Plural(p.drift.bare, "changed file") + " claimed by nobody")
	d.Gap()
	for _, w := range p.snap.Drift.Worktrees {
		said := fmt.Sprintf("%s, %s", w.Path, words.Plural(w.Changed, "changed file"))
		if len(w.Agents) > 0 {
			said += ", " + strings.Join(w.Agents, ", ") + " at work"
		}
		d.Field(cmp.Or(w.Branch, "detached"), said, p.Text)
		d.Field("", w.Note, p.Warn)
	}
	if n := p.snap.Drift.Omitted; n > 0 {
		d.Text(words.Plural(n, "more file")+" left out; loadout coord drift counts them", p.Dim)
	}
}
