package state

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/agentloadout/loadout/engine/event"
)

// Within reports whether path is dir, or lies below it; both in stored form. "." is everything. Paths are compared by segments, in
// Unicode's composed form; with foldCase, src/API is src/api.
func Within(path, dir string, foldCase bool) bool {
	return within(comparable(path, foldCase), comparable(dir, foldCase))
}

// within is Within for paths in comparable form.
func within(path, dir string) bool {
	if dir == "." {
		return true
	}
	return strings.HasPrefix(path, dir) && (len(path) == len(dir) || path[len(dir)] == '/')
}

// comparable is a path in the form in which it can be compared byte by byte.
func comparable(path string, foldCase bool) string {
	path = pathKey(path)
	if !foldCase {
		return path
	}
	// Folding can take a letter out of its composed form.
	return norm.NFC.String(strings.Map(event.FoldRune, path))
}

// pathKey tells paths apart as a file system does that minds case.
func pathKey(path string) string { return norm.NFC.String(path) }
