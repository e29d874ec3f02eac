package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine/words"
)

// A list is bounded, so that a large project floods neither a terminal nor what an agent can read: it keeps what counts most and says how
// much it leaves out.
const (
	maxLines   = 50   // entries of a list in a text
	maxItems   = 1000 // in JSON
	maxReaders = 10   // of each contract of a list, in a text
)

// bounded is the flag of verbs that lift the bounds of their lists.
type bounded struct {
	All bool `help:"Everything, however long a list is. Without it a list names 50 entries, with --json 1000."`
}

// most is how many entries a list may have.
func (c *call) most(all bool) int {
	switch {
	case all:
		return math.MaxInt
	case c.JSON:
		return maxItems
	}
	return maxLines
}

// keep is the n entries of a list that weigh most, of equal ones the later, in their order, and how many it leaves out.
func keep[T any](list []T, n int, weight func(*T) int64) (kept []T, omitted int) {
	if len(list) <= n {
		return orEmpty(list), 0
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(weight(&list[b]), weight(&list[a])), b-a)
	})
	order = order[:n]
	slices.Sort(order)
	kept = make([]T, n)
	for i, at := range order {
		kept[i] = list[at]
	}
	return kept, len(list) - n
}

// newest is the last n entries of a list, and how many it leaves out.
func newest[T any](list []T, n int) (kept []T, omitted int) {
	omitted = max(0, len(list)-n)
	return orEmpty(list[omitted:]), omitted
}

// enumerated is a list in a sentence.
func enumerated(list []string) string {
	shown := list[:min(len(list), maxLines)]
	text := strings.Join(shown, ", ")
	if over := len(list) - len(shown); over > 0 {
		text += fmt.Sprintf(" and %d more", over)
	}
	return text
}

// more says how many entries a list has left out, and how to get them.
func (c *call) more(omitted int, what, how string) {
	if omitted > 0 {
		c.printf("  … and %s: loadout %s\n", words.Plural(omitted, "more "+what), how)
	}
}
