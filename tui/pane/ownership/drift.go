package ownership

import (
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/pane"
)

// maxInTree bounds the changes that have a row of their own under a claim. The claim's detail has all.
const maxInTree = 200

// drift is what git shows as changed, sorted by what the pane does with it.
type drift struct {
	foreign   map[string][]engine.Drift // under a claim, where another agent works; by claimKey
	own       map[string][]engine.Drift // under a claim, and nothing says that it was somebody else
	inTree    []engine.Drift            // those of foreign that match the filter, at most maxInTree
	unclaimed []engine.Drift            // under no claim, that match the filter
	files     int                       // foreign ones
	bare      int                       // under no claim, whatever the filter
}

// claimKey names a claim as drift knows it: whoever shares the path shares the drift.
func claimKey(path string, fold bool) string {
	if fold {
		return strings.ToLower(path)
	}
	return path
}

// sortDrift compares the report, which may be older than the claims, with the claims as they are.
func sortDrift(s *pane.Snapshot, claims []state.Claim, filter string) drift {
	d := drift{foreign: map[string][]engine.Drift{}, own: map[string][]engine.Drift{}}
	if s.Drift == nil {
		return d
	}
	held := make(map[string]bool, len(claims))
	for _, c := range claims {
		held[claimKey(c.Path, s.FoldCase)] = true
	}
	for _, item := range s.Drift.Items {
		key := claimKey(item.Claim, s.FoldCase)
		switch {
		case item.Kind == engine.DriftUnclaimed && !covered(item.Path, held, s.FoldCase):
			d.bare++
			if matches(filter, item) {
				d.unclaimed = append(d.unclaimed, item)
			}
		case item.Kind == engine.DriftUnclaimed, !held[key]:
		case item.Kind == engine.DriftForeign:
			d.files++
			d.foreign[key] = append(d.foreign[key], item)
			if len(d.inTree) < maxInTree && matches(filter, item) {
				d.inTree = append(d.inTree, item)
			}
		case item.Kind == engine.DriftClaimed:
			d.own[key] = append(d.own[key], item)
		}
	}
	return d
}

// covered reports whether a path lies under one that is held.
func covered(path string, held map[string]bool, fold bool) bool {
	path = claimKey(path, fold)
	for !held[path] {
		i := strings.LastIndexByte(path, '/')
		if i < 0 {
			return held["."]
		}
		path = path[:i]
	}
	return true
}

func matches(filter string, d engine.Drift) bool {
	return pane.Matches(filter, append([]string{d.Path, d.Status, d.Branch, string(d.Kind), "drift", strings.Join(d.Owners, " ")}, d.Agents...)...)
}

// foreignTo are the changes under a claim that others than its holders may have made.
func (p *Pane) foreignTo(c *state.Claim) []engine.Drift {
	return p.drift.foreign[claimKey(c.Path, p.snap.FoldCase)]
}

// who says where a change was made, and by whom as far as that is known.
func who(d engine.Drift) string {
	place := d.Branch
	if place == "" {
		place = d.Worktree[strings.LastIndexAny(d.Worktree, `/\`)+1:]
	}
	if len(d.Agents) == 0 {
		return place
	}
	return strings.Join(d.Agents, ", ") + " in " + place
}
