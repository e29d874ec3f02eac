package mcp

import (
	"context"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

type pathsIn struct {
	Agent string
	Paths []string
}

type releaseOut struct {
	stored
	Released []string `json:"released"`
}

func releaseOwnership() tool {
	return handled(tool{
		name: "release_ownership", title: "Release files", effect: ends,
		about: "Release paths that you hold, and what you hold below them, as soon as you are done with them. All or none.",
		input: object(agentArgument(),
			required("paths", list(text(1, event.MaxPath, "A file or folder."), 1, event.MaxPaths,
				"Paths to release, relative to the folder of this server, or absolute; . for everything below it."))),
	}, func(ctx context.Context, s *Server, in pathsIn) ([]string, releaseOut, error) {
		var out releaseOut
		agent, err := s.actor(ctx, in.Agent)
		if err != nil {
			return nil, out, err
		}
		paths, err := s.paths(in.Paths)
		if err != nil {
			return nil, out, err
		}
		r, about, err := s.write(ctx, engine.ReleasePaths{Agent: agent, Paths: paths}, agent)
		if err != nil {
			return nil, out, err
		}
		out = releaseOut{about, []string{}}
		for i := range r.Events {
			if body, err := r.Events[i].Body(); err == nil {
				if o, ok := body.(event.Ownership); ok {
					out.Released = append(out.Released, o.Paths...)
				}
			}
		}
		var p page
		p.linef("Released ownership: %s (seq %d)", strings.Join(out.Released, ", "), about.Seq)
		return p.said(about), out, nil
	})
}

func conflicts() tool {
	return handled(tool{
		name: "conflicts", title: "Who holds these files", effect: reads,
		about: "Say who else holds paths, since when and why, and what git shows changed there, without claiming them.",
		input: object(agentArgument(),
			required("paths", list(text(1, event.MaxPath, "A file or folder."), 1, event.MaxPaths,
				"Paths, relative to the folder of this server, or absolute."))),
	}, func(ctx context.Context, s *Server, in pathsIn) ([]string, engine.Preview, error) {
		agent, err := s.reader(ctx, in.Agent)
		if err != nil {
			return nil, engine.Preview{}, err
		}
		paths, err := s.paths(in.Paths)
		if err != nil {
			return nil, engine.Preview{}, err
		}
		v, err := s.engine.Preview(ctx, agent, paths)
		if err != nil {
			return nil, v, err
		}
		cutDiffs(v.Conflicts)
		var p page
		p.linef("%d conflicts for %s (as of seq %d)", len(v.Conflicts), agent, v.AsOf)
		if len(v.Conflicts) > 0 {
			p.linef("%s", untrusted)
		}
		for _, c := range v.Conflicts {
			p.linef("  %s: held by %s (%s) through %s since %s, fence %d; git: %s, %d lines changed",
				c.Path, c.Owner, string(c.OwnerMode), c.OwnerPath, stamp(c.Since), c.Fence, c.Status, c.LinesChanged)
			if c.Reason != "" {
				p.linef("    because: %s", c.Reason)
			}
		}
		if len(v.Safe) > 0 {
			p.linef("free: %s", strings.Join(v.Safe, ", "))
		}
		for _, n := range v.Notes {
			p.linef("note: %s", n)
		}
		return []string{p.text()}, v, nil
	})
}

// maxDiffs is how many bytes of differences a preview shows together.
const maxDiffs = 16 << 10

// cutDiffs leaves out the differences for which there is no room.
func cutDiffs(conflicts []engine.PreviewConflict) {
	room := maxDiffs
	for i := range conflicts {
		if room -= len(conflicts[i].Diff); room < 0 {
			conflicts[i].Diff = "left out for its size: git diff -- " + conflicts[i].Path
			room += len(conflicts[i].Diff)
		}
	}
}

type publishContractIn struct {
	Agent, Name, Body, Format string
	Revision, Base            *int64
}

type publishContractOut struct {
	stored
	Name     string         `json:"name"`
	Revision int64          `json:"revision"`
	Readers  []state.Reader `json:"readers"` // who builds on it, and how far behind
}

func publishContract() tool {
	return handled(tool{
		name: "publish_contract", title: "Publish a contract", effect: adds,
		about: "Publish an agreement between agents, such as an API, a schema or a type: others build on it and are told of each revision. The next " +
			"revision is numbered by itself. Give base when you changed a revision that you read: it is refused if somebody published meanwhile.",
		input: object(agentArgument(),
			required("name", text(1, event.MaxContractName, "The contract, e.g. checkout-api.")),
			required("body", text(0, event.MaxContractBody, "The whole text.")),
			optional("revision", whole(1, event.MaxSeq, "Refuse unless this is the next revision.")),
			optional("base", whole(0, event.MaxSeq, "Refuse unless this is the latest revision; 0: unless there is none.")),
			optional("format", text(1, event.MaxFormat, "What the text is, e.g. openapi-yaml, typescript."))),
	}, func(ctx context.Context, s *Server, in publishContractIn) ([]string, publishContractOut, error) {
		var out publishContractOut
		agent, err := s.actor(ctx, in.Agent)
		if err != nil {
			return nil, out, err
		}
		r, about, err := s.write(ctx, engine.Publish{
			Agent: agent, Name: in.Name, Body: in.Body, Format: in.Format, Revision: in.Revision, Base: in.Base,
		}, agent)
		if err != nil {
			return nil, out, err
		}
		out = publishContractOut{stored: about, Name: in.Name, Readers: []state.Reader{}}
		if ev, ok := eventOf(r, event.TypeContract); ok {
			if body, err := ev.Body(); err == nil {
				if c, ok := body.(event.Contract); ok {
					out.Name, out.Revision = c.Name, c.Revision
				}
			}
		}
		if v, err := s.engine.View(ctx); err == nil {
			if c, ok := v.State.Contract(out.Name); ok && len(c.Readers) > 0 {
				out.Readers = c.Readers
			}
		}
		var p page
		p.linef("Published contract '%s' rev%d (seq %d)", out.Name, out.Revision, about.Seq)
		for _, reader := range out.Readers {
			p.linef("  %s has read rev%d, %d behind", reader.Agent, reader.Revision, reader.Behind)
		}
		return p.said(about), out, nil
	})
}

type diffIn struct {
	Agent, Name string
	From, To    int64
}

type diffOut struct {
	Name         string `json:"name"`
	FromRevision int64  `json:"fromRevision"` // 0: before the first, empty
	ToRevision   int64  `json:"toRevision"`
	Summary      string `json:"summary"`
	Unified      string `json:"unified"`
	Cut          bool   `json:"cut"` // the difference is longer
}

func diff() tool {
	return handled(tool{
		name: "diff", title: "Compare revisions of a contract", effect: reads,
		about: "Show what changed between two revisions of a contract, as a unified diff. By default the latest and the one before.",
		input: object(agentArgument(),
			required("name", text(1, event.MaxContractName, "The contract.")),
			optional("from", whole(1, event.MaxSeq, "The older revision; default: the one before to.")),
			optional("to", whole(1, event.MaxSeq, "The newer revision; default: the latest."))),
	}, func(ctx context.Context, s *Server, in diffIn) ([]string, diffOut, error) {
		if _, err := s.reader(ctx, in.Agent); err != nil {
			return nil, diffOut{}, err
		}
		d, err := s.engine.Diff(ctx, in.Name, in.From, in.To)
		if err != nil {
			return nil, diffOut{}, err
		}
		out := diffOut{Name: d.Name, FromRevision: d.FromRevision, ToRevision: d.ToRevision, Summary: d.Summary, Unified: d.Unified()}
		if len(out.Unified) > maxAnswer {
			out.Unified, out.Cut = out.Unified[:strings.LastIndexByte(out.Unified[:maxAnswer], '\n')+1], true
		}
		var p page
		p.linef("%s rev%d to rev%d: %s", d.Name, d.FromRevision, d.ToRevision, d.Summary)
		if len(d.Hunks) > 0 {
			p.linef("%s", untrusted)
			p.block(out.Unified)
		}
		if out.Cut {
			p.linef("cut here; read resource %s for the whole text", contractURI(d.Name))
		}
		return []string{p.text()}, out, nil
	})
}
