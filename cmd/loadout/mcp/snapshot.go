package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/safetext"
)

type agentIn struct{ Agent string }

// snapshotOut is a snapshot with its label.
type snapshotOut struct {
	engine.Snapshot
	Notice string `json:"notice"`

	data []byte // what encode made of it, nil: nothing yet
}

func (s snapshotOut) encoding() []byte { return s.data }

func snapshot() tool {
	return handled(tool{
		name: "snapshot", title: "What you must know", effect: reads,
		about: "Everything that concerns you now, bounded: open tasks and questions, contracts with their latest text, who holds which files, what you " +
			"have not acknowledged, recent decisions. It says as of which sequence number, and what it leaves out. Call it first.",
		input: object(agentArgument()),
		echo:  "---\nJSON:\n%s",
	}, func(ctx context.Context, s *Server, in agentIn) ([]string, snapshotOut, error) {
		agent, err := s.reader(ctx, in.Agent)
		if err != nil {
			return nil, snapshotOut{}, err
		}
		snap, err := s.boundedSnapshot(ctx, agent)
		if err != nil {
			return nil, snapshotOut{}, err
		}
		return []string{snapshotText(&snap.Snapshot)}, snap, nil
	})
}

// boundedSnapshot is the snapshot of an agent, cut to what an answer may hold. It counts what it leaves out.
func (s *Server) boundedSnapshot(ctx context.Context, agent string) (snapshotOut, error) {
	snap, err := s.engine.Snapshot(ctx, agent)
	if err != nil {
		return snapshotOut{}, err
	}
	cuts := []func(*engine.Snapshot) bool{cutBodies, cutContext, cutLists, cutLists, cutLists, cutLists}
	for {
		out := snapshotOut{Snapshot: snap, Notice: untrusted}
		out.More = slices.Clip(out.More)
		if out.Truncated.Bodies > 0 {
			out.More = append(out.More, "resource "+scheme+kindContract+"/NAME    the body of a contract")
		}
		if out.Truncated.Unacked > 0 {
			out.More = append(out.More, fmt.Sprintf("subscribe with cursor %d    every event that you have not acknowledged", out.ReadTo))
		}
		if out.data, err = encode(out); err != nil || len(out.data) <= maxAnswer || len(cuts) == 0 {
			return out, err
		}
		for less := false; !less && len(cuts) > 0; cuts = cuts[1:] {
			less = cuts[0](&snap)
		}
	}
}

// cutBodies leaves out contract bodies, the largest first, until all are small together. Like the others it says whether it left out
// anything.
func cutBodies(s *engine.Snapshot) (cut bool) {
	total := 0
	for _, c := range s.Contracts {
		total += len(c.Body)
	}
	for total > maxAnswer/2 {
		largest := 0
		for i := range s.Contracts {
			if len(s.Contracts[i].Body) > len(s.Contracts[largest].Body) {
				largest = i
			}
		}
		c := &s.Contracts[largest]
		total -= len(c.Body)
		c.Body, c.BodyOmitted = "", true
		s.Truncated.Bodies++
		cut = true
	}
	return cut
}

// cutContext shortens long texts.
func cutContext(s *engine.Snapshot) (cut bool) {
	clip := func(text *string) {
		short := event.Clip(*text, maxText)
		cut = cut || short != *text
		*text = short
	}
	for i := range s.Tasks {
		clip(&s.Tasks[i].Context)
		clip(&s.Tasks[i].Description)
	}
	for i := range s.Decisions {
		clip(&s.Decisions[i].Rationale)
	}
	if cut {
		s.More = append(s.More, "resource "+scheme+kindEvent+"/SEQ    a task or decision whole: long texts are cut here")
	}
	return cut
}

// cutLists halves every list, the newest stay.
func cutLists(s *engine.Snapshot) bool {
	before := s.Truncated
	halve(&s.Ownership, &s.Truncated.Ownership)
	halve(&s.Contracts, &s.Truncated.Contracts)
	halve(&s.Tasks, &s.Truncated.Tasks)
	halve(&s.Unacked, &s.Truncated.Unacked)
	halve(&s.Decisions, &s.Truncated.Decisions)
	return s.Truncated != before
}

func halve[T any](items *[]T, left *int64) {
	over := len(*items) / 2
	*items, *left = (*items)[over:], *left+int64(over)
}

// maxNews is how many unread events the text of a snapshot lists; the data has all.
const maxNews = 20

func snapshotText(s *engine.Snapshot) string {
	var p page
	p.linef("Coordination snapshot (seq %d)", s.AsOf)
	p.linef("for %s; read to seq %d, %d lines in the log", s.Agent, s.ReadTo, s.LogLines)
	p.linef("%s", untrusted)
	if s.Halted != nil {
		p.linef("HALTED: %s. Stop; only a person lifts it.", s.Halted.Error())
	}
	if len(s.Tasks)+len(s.Contracts)+len(s.Ownership)+len(s.Unacked)+len(s.Decisions) == 0 {
		p.linef("\nNo active coordination state.")
	}
	p.section("Pending tasks (%d):", len(s.Tasks))
	for i := range s.Tasks {
		p.task(&s.Tasks[i])
	}
	p.section("Active contracts (%d):", len(s.Contracts))
	for _, c := range s.Contracts {
		p.linef("  %s rev%d by %s; you have read rev%d", c.Name, c.Revision, c.Publisher, c.Yours)
	}
	p.section("File ownership (%d paths):", len(s.Ownership))
	for i := range s.Ownership {
		p.ownership(&s.Ownership[i])
	}
	p.section("Unacknowledged events (%d):", len(s.Unacked))
	news := s.Unacked[max(0, len(s.Unacked)-maxNews):]
	for _, r := range news {
		old := ""
		if r.SupersededBy > 0 {
			old = fmt.Sprintf(" (superseded by seq %d)", r.SupersededBy)
		}
		p.linef("  seq=%d [%s] %s: %s%s", r.Seq, r.Type, r.From, r.Description, old)
	}
	if older := len(s.Unacked) - len(news); older > 0 {
		p.linef("  … and %d before", older)
	}
	if len(news) > 0 {
		p.linef("  when taken into account: ack with eventSeq %d", s.AsOf)
	}
	p.section("Recent decisions (%d):", len(s.Decisions))
	for _, d := range s.Decisions {
		old := ""
		if d.SupersededBy != "" {
			old = " (superseded by " + d.SupersededBy + ")"
		}
		p.linef("  [%s] %s: %s%s", d.ID, d.From, d.Title, old)
	}
	if s.Skipped.Bad > 0 {
		p.linef("%d lines of the log cannot be read", s.Skipped.Bad)
	}
	if n := s.Truncated.Total(); n > 0 {
		p.linef("\n%d items left out of this answer:", n)
	}
	for _, how := range s.More {
		p.linef("  %s", how)
	}
	return p.text()
}

// section begins a part that has something to show.
func (p *page) section(title string, n int) {
	if n > 0 {
		p.linef("\n"+title, n)
	}
}

func (p *page) task(t *engine.OpenTask) {
	kind, mark := "", ""
	if t.Question {
		kind = "question "
	}
	switch {
	case t.Stuck != "":
		mark = " (" + t.Stuck + "; what settles it: " + t.Command() + ")"
	case t.TakenBy != "":
		mark = " (taken by " + t.TakenBy + ")"
	case len(t.Waiting) > 0:
		mark = " (waits for " + strings.Join(t.Waiting, ", ") + ")"
	}
	p.linef("  [%s] %s%s → %s: %s%s", t.ID, kind, t.From, t.To, t.Description, mark)
}

func (p *page) ownership(c *engine.SnapshotClaim) {
	because, until, stale := "", "", ""
	if c.Reason != "" {
		because = ", because: " + c.Reason
	}
	if c.ExpiresAt != nil {
		until = ", until " + stamp(*c.ExpiresAt)
	}
	if c.Stale {
		stale = ", stale: its session does not run"
	}
	p.linef("  %s: %s (%s, fence %d, since %s%s%s%s)", c.Agent, strings.Join(c.Paths, ", "), string(c.Mode), c.Fence, stamp(c.Since), until, because, stale)
}

// block writes text of several lines.
func (p *page) block(text string) {
	p.WriteString(strings.TrimSuffix(safetext.Block(text), "\n") + "\n")
}
