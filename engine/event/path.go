package event

import (
	"path"
	"strings"
)

// CleanPath is the stored form of a path relative to the top of the project: slashes, no "." or empty segments, no slash at the
// end, "." for the top itself. An absolute path and one that leads out of the project are refused with an *InvalidError.
// Paths need not exist; letters are kept as they are.
func CleanPath(p string) (string, error) {
	for {
		// Once more when something changed: cleaning can uncover a blank or a drive at the start, as in "./ a".
		clean, err := cleanOnce(p)
		if err != nil || clean == p {
			return clean, err
		}
		p = clean
	}
}

func cleanOnce(p string) (string, error) {
	p = strings.ReplaceAll(trim(p), `\`, "/")
	if strings.HasPrefix(p, "/") || hasDrive(p) {
		return "", invalid("path", "is absolute: "+Clip(p, 80))
	}
	p = path.Clean(p)
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", invalid("path", "leads out of the project: "+Clip(p, 80))
	}
	return p, nil
}

// hasDrive reports whether p starts with a drive: X:/ or X: alone.
func hasDrive(p string) bool {
	if len(p) < 2 || p[1] != ':' || len(p) > 2 && p[2] != '/' {
		return false
	}
	c := p[0] | 0x20
	return 'a' <= c && c <= 'z'
}
