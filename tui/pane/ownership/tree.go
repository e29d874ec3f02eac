package ownership

import (
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
)

// node is a path in the tree of claimed paths. A directory that holds one entry and no claim is drawn in one row with it.
type node struct {
	path     string
	claims   []state.Claim
	drift    []engine.Drift // changes where another agent works than the ones that claimed the path
	children []*node
}

// row is one line of the pane: a node, or a further holder of the node above.
type row struct {
	node   *node
	claim  *state.Claim // nil on a directory without a claim of its own
	label  string       // the part of the path that this row adds
	trunk  []bool       // for each level above: whether more rows of that level follow
	last   bool         // no sibling follows
	again  bool         // the path is that of the row above
	closed bool         // what lies below is hidden
	kind   rowKind
}

// rowKind is what a row is about.
type rowKind int

const (
	ofPath      rowKind = iota
	ofUnclaimed         // the heading of the changed files that nobody has claimed
	ofChange            // one of them
)

// key tells a row from all others, also when the rows were made anew.
func (r *row) key() string {
	switch {
	case r.kind != ofPath:
		return "\x00" + r.node.path + "\x00" + worktree(r.node)
	case r.claim == nil:
		return r.node.path
	}
	return r.node.path + "\x00" + r.claim.Agent
}

func worktree(n *node) string {
	if len(n.drift) == 0 {
		return ""
	}
	return n.drift[0].Worktree
}

// buildTree sorts claims, and changes under them, into a tree. The claims are sorted by path, then agent.
func buildTree(claims []state.Claim, changes []engine.Drift) *node {
	root := &node{}
	for _, c := range claims {
		n := root.at(c.Path)
		n.claims = append(n.claims, c)
	}
	for i := range changes {
		n := root.at(changes[i].Path)
		n.drift = append(n.drift, changes[i])
	}
	return root
}

func (n *node) at(path string) *node {
	if path == "." {
		return n
	}
	for part := range strings.SplitSeq(path, "/") {
		n = n.child(part)
	}
	return n
}

func (n *node) child(part string) *node {
	path := part
	if n.path != "" {
		path = n.path + "/" + part
	}
	i, found := slices.BinarySearchFunc(n.children, path, func(c *node, p string) int { return strings.Compare(c.path, p) })
	if !found {
		n.children = slices.Insert(n.children, i, &node{path: path})
	}
	return n.children[i]
}

// rows lists the tree in the order in which it is drawn.
func (n *node) rows(closed map[string]bool) []row {
	var rows []row
	if len(n.claims) > 0 { // a claim on everything
		rows = appendNode(rows, n, ".", nil, true, closed)
	}
	return appendChildren(rows, n, nil, closed)
}

func appendChildren(rows []row, n *node, trunk []bool, closed map[string]bool) []row {
	for i, c := range n.children {
		label := c.path[len(n.path):]
		for len(c.claims) == 0 && len(c.drift) == 0 && len(c.children) == 1 && !closed[c.path] {
			c = c.children[0]
			label = c.path[len(n.path):]
		}
		label = strings.TrimPrefix(label, "/")
		last := i == len(n.children)-1
		rows = appendNode(rows, c, label, trunk, last, closed)
		if !closed[c.path] {
			rows = appendChildren(rows, c, append(slices.Clip(trunk), !last), closed)
		}
	}
	return rows
}

func appendNode(rows []row, n *node, label string, trunk []bool, last bool, closed map[string]bool) []row {
	if len(n.children) > 0 && n.path != "" {
		label += "/"
	}
	r := row{node: n, label: label, trunk: trunk, last: last, closed: closed[n.path] && len(n.children) > 0}
	if len(n.claims) == 0 {
		return append(rows, r)
	}
	for i := range n.claims {
		r.claim = &n.claims[i]
		r.again = i > 0
		rows = append(rows, r)
	}
	return rows
}

// below counts the claims under a node.
func (n *node) below() int {
	count := 0
	for _, c := range n.children {
		count += len(c.claims) + c.below()
	}
	return count
}
