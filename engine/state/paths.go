package state

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Overlap reports whether two paths in stored form have something in common: one is the other, or lies below it. "." is
// everything. Paths are compared by segments, in Unicode's composed form; with foldCase, src/API is src/api.
func Overlap(a, b string, foldCase bool) bool {
	a, b = comparable(a, foldCase), comparable(b, foldCase)
	return within(a, b) || within(b, a)
}

// Within reports whether path is dir, or lies below it. Paths are compared as by Overlap.
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
	return norm.NFC.String(strings.Map(foldRune, path))
}

// pathKey tells paths apart as a file system does that minds case.
func pathKey(path string) string { return norm.NFC.String(path) }

// foldRune is one letter for all that differ only in case, as file systems that do not mind case see them: letter by letter, so
// that ß is not ss.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		return unicode.ToLower(r)
	}
	least := r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		least = min(least, c)
	}
	if least < utf8.RuneSelf {
		return unicode.ToLower(least)
	}
	return least
}

// SamePath reports whether a and b are the same path in stored form, also when their characters are composed differently.
func SamePath(a, b string) bool { return a == b || pathKey(a) == pathKey(b) }
