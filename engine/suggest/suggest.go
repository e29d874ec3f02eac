// Package suggest finds what could have been meant by a name that is none of those that exist.
package suggest

import (
	"slices"
	"strings"
)

// Closest lists up to three names that could be meant by a name that is none of them, the closest first.
func Closest(name string, names []string) []string {
	type match struct {
		name     string
		distance int
	}
	var matches []match
	low := strings.ToLower(name)
	for _, n := range names {
		candidate := strings.ToLower(n)
		d := distance([]rune(low), []rune(candidate))
		if d <= max(1, len(low)/3) || strings.HasPrefix(candidate, low) || strings.HasPrefix(low, candidate) {
			matches = append(matches, match{n, d})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return a.distance - b.distance })
	matches = matches[:min(3, len(matches))]
	out := make([]string, 0, len(matches))
	for _, m := range matches {
		out = append(out, m.name)
	}
	return out
}

// distance is how many characters must be added, removed or replaced to get from a to b (Levenshtein).
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
