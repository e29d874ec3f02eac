package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui"
)

const (
	completionWait = 100 * time.Millisecond // a key was pressed: what is not known by then is not offered
	maxFolder      = 4096                   // entries of a folder that are looked at
	maxRevisions   = 20                     // revisions that are offered, the newest
	maxAbout       = 60                     // cells of what is said about a candidate
)

// values lists what may be given to a flag or argument. Its tag says of which kind that is:
//
//	agent      who takes part, and me
//	party      that, the person and everybody
//	path       files and folders of the working tree
//	claim      what the agent named before holds
//	file, dir  files and folders, folders
//	contract   contracts
//	revision   revisions of the contract named before
//	fence      the numbers of what the agent named before holds
//	thread     discussions
//	task, question, open, decision
//	           open tasks, open questions, both, and decisions
//	seq        the highest sequence number
//	pane       panes of the cockpit
//
// A value without the tag and without an enum is free text, for which there is nothing to offer.
func (c *completer) values(ctx context.Context, p *place, v *kong.Value, typed string) []candidate {
	if v.Enum != "" {
		return named(v.EnumSlice())
	}
	switch kind := v.Tag.Get("complete"); kind {
	case "":
		return nil
	case "pane":
		return named(tui.Panes())
	case "path":
		return c.files(typed, func(name string) bool { return name != ".handoff" && name != ".git" })
	case "file":
		return c.files(typed, func(string) bool { return true })
	case "dir":
		return slices.DeleteFunc(c.files(typed, func(string) bool { return true }), func(x candidate) bool { return !x.GoesOn })
	default:
		return c.stored(ctx, p, kind)
	}
}

func named(list []string) []candidate {
	found := make([]candidate, len(list))
	for i, word := range list {
		found[i].Word = word
	}
	return found
}

// stored lists candidates that the log knows. When it cannot be read now there are none: the verb itself will say why.
func (c *completer) stored(ctx context.Context, p *place, kind string) []candidate {
	ctx, cancel := context.WithTimeout(ctx, completionWait)
	defer cancel()
	asked, err := c.open(p)
	if err != nil {
		return nil
	}
	view, err := asked.opened.View(ctx)
	if err != nil {
		return nil
	}
	switch kind {
	case "agent", "party":
		return agentCandidates(view, kind == "party")
	case "contract":
		return contractCandidates(view.State)
	case "revision":
		return revisionCandidates(view, p.first("name"))
	case "task", "question", "open":
		return taskCandidates(view.State, func(t state.Task) bool { return kind == "open" || t.Question == (kind == "question") })
	case "thread":
		return threadCandidates(view.State)
	case "decision":
		return decisionCandidates(view.State)
	case "seq":
		if head := view.State.Head(); head >= 0 {
			return []candidate{{Word: strconv.FormatInt(head, 10), Help: "the newest event"}}
		}
	case "claim", "fence":
		holder, err := asked.agent(ctx, asked.opened, cmp.Or(p.first("agent"), engine.Me))
		if err != nil {
			return nil
		}
		return asked.claimCandidates(view, holder, kind == "fence")
	}
	return nil
}

// open is the call that the engine is asked through, for the project that the line names.
func (c *completer) open(p *place) (*call, error) {
	project := cmp.Or(p.first("--project"), c.common.Project)
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.opened[project]; ok {
		return known, nil
	}
	asked := &call{app: c.app, common: c.common, name: "completion"}
	asked.Project = project
	if _, err := asked.open(0); err != nil {
		return nil, err
	}
	c.opened[project] = asked
	return asked, nil
}

// agentCandidates are the agents, those that live first and those whose session is over last. A party may also be the person or
// everybody.
func agentCandidates(v *engine.View, party bool) []candidate {
	agents := agentsOf(v)
	rank := func(a agentStatus) int {
		switch {
		case a.lives():
			return 0
		case a.Ended == nil:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(agents, func(a, b agentStatus) int { return cmp.Compare(rank(a), rank(b)) })
	found := make([]candidate, 0, len(agents)+3)
	for _, a := range agents {
		if a.Name != event.User {
			found = append(found, candidate{Word: a.Name, Help: aboutAgent(a, v.Now)})
		}
	}
	found = append(found, candidate{Word: engine.Me, Help: "who calls"})
	if party {
		found = append(found, candidate{Word: event.User, Help: "the person"}, candidate{Word: event.Broadcast, Help: "everybody"})
	}
	return found
}

func aboutAgent(a agentStatus, now time.Time) string {
	switch {
	case a.lives():
		return "live"
	case a.Ended != nil:
		return "session ended " + words.Ago(now, *a.Ended)
	case a.LastAt != nil:
		return "last event " + words.Ago(now, *a.LastAt)
	}
	return ""
}

func contractCandidates(s *state.State) []candidate {
	contracts := s.Contracts()
	found := make([]candidate, len(contracts))
	for i, k := range contracts {
		found[i] = candidate{Word: k.Name, Help: fmt.Sprintf("rev%d by %s", k.Revision, k.Publisher)}
	}
	return found
}

func revisionCandidates(v *engine.View, name string) []candidate {
	k, _ := v.State.Contract(name)
	var found []candidate
	for _, r := range slices.Backward(k.History[max(0, len(k.History)-maxRevisions):]) {
		found = append(found, candidate{
			Word: strconv.FormatInt(r.Revision, 10),
			Help: "by " + r.Publisher + ", " + words.Since(v.Now, r.At),
		})
	}
	return found
}

func taskCandidates(s *state.State, wanted func(state.Task) bool) []candidate {
	var found []candidate
	for _, t := range s.Pending() {
		if wanted(t) {
			found = append(found, candidate{Word: t.ID, Help: about(t.From + " → " + t.To + ": " + t.Description)})
		}
	}
	return found
}

// decisionCandidates are the decisions that hold, the newest first.
func decisionCandidates(s *state.State) []candidate {
	var found []candidate
	for _, d := range slices.Backward(s.Decisions()) {
		if d.SupersededBy == "" {
			found = append(found, candidate{Word: d.ID, Help: about(d.Title)})
		}
	}
	return found
}

// threadCandidates are the discussions, the newest first.
func threadCandidates(s *state.State) []candidate {
	var found []candidate
	for _, t := range slices.Backward(s.Threads()) {
		found = append(found, candidate{Word: t.ID, Help: about(t.Status + ": " + t.Topic)})
	}
	return found
}

// claimCandidates are the paths that an agent holds as one would type them here, or the fences of its claims.
func (c *call) claimCandidates(v *engine.View, holder string, fences bool) []candidate {
	here, err := c.opened.Project().Rel(c.dir, ".")
	if err != nil {
		here = "."
	}
	var found []candidate
	for _, claim := range v.State.ClaimsOf(holder) {
		typed, err := filepath.Rel(here, filepath.FromSlash(claim.Path))
		if err != nil {
			continue
		}
		x := candidate{Word: filepath.ToSlash(typed), Help: about(string(claim.Mode) + because(claim.Reason))}
		if fences {
			x = candidate{Word: strconv.FormatInt(claim.Fence, 10), Help: claim.Path}
		}
		if !slices.ContainsFunc(found, func(y candidate) bool { return y.Word == x.Word }) {
			found = append(found, x)
		}
	}
	return found
}

// about is untrusted text beside a candidate.
func about(text string) string { return string(clip(text, maxAbout)) }

// files lists what is in the folder that a path names so far. Names that begin with a dot are there for who types the dot; those
// with control characters cannot be typed.
func (c *completer) files(typed string, wanted func(name string) bool) []candidate {
	folder, begun := path.Split(filepath.ToSlash(typed))
	at := filepath.FromSlash(folder)
	if !filepath.IsAbs(at) {
		at = filepath.Join(c.app.dir, at)
	}
	if info, err := os.Stat(at); err != nil || !info.IsDir() { // opening what is no folder may wait for ever
		return nil
	}
	dir, err := os.Open(at) //nolint:gosec // looking where the person points is the job
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(maxFolder) // what was read before an error is as good
	var found []candidate
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasPrefix(name, begun) || !wanted(name) || strings.HasPrefix(name, ".") && begun == "" || safetext.Line(name) != name {
			continue
		}
		x := candidate{Word: folder + name}
		if isFolder(at, entry) {
			x.Word, x.GoesOn = x.Word+"/", true
		}
		found = append(found, x)
	}
	slices.SortFunc(found, func(a, b candidate) int { return strings.Compare(a.Word, b.Word) })
	return found
}

// isFolder reports whether an entry is a folder, or a link to one.
func isFolder(at string, entry os.DirEntry) bool {
	if entry.Type()&os.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := os.Stat(filepath.Join(at, entry.Name()))
	return err == nil && info.IsDir()
}
