package event

import (
	"path"
	"strings"
)

// CleanPath is the stored form of a path relative to the top of the project: slashes, no "." or empty segments, no slash at the
// end, "." for the top itself. An absolute path and one that leads out of the project are refused with an *InvalidError.
// Paths need not exist; letters are kept as they are.
func CleanPath(p string) (string, error) {
	for before := ""; ; before = p {
		p = strings.ReplaceAll(trim(p), `\`, "/")
		if strings.HasPrefix(p, "/") || hasDrive(p) {
			return "", invalid("path", "is absolute: "+Clip(p, 80))
		}
		p = path.Clean(p)
		if p == ".." || strings.HasPrefix(p, "../") {
			return "", invalid("path", "leads out of the project: "+Clip(p, 80))
		}
		if p == before {
			return p, nil
		}
		// Once more: cleaning can uncover a blank or a drive at the start, as in "./ a".
	}
}

// hasDrive reports whether p starts with a drive: X:/ or X: alone.
func hasDrive(p string) bool {
	if len(p) < 2 || p[1] != ':' || len(p) > 2 && p[2] != '/' {
		return false
	}
	c := p[0] | 0x20
	return 'a' <= c && c <= 'z'
}
