package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PathError refuses a path that cannot be claimed.
type PathError struct {
	Path   string // as it was typed
	Reason string // completes "<path> …"
}

func (e *PathError) Error() string { return fmt.Sprintf("path %q %s", e.Path, e.Reason) }

// Rel returns the path that is stored for one that was typed in the directory
// cwd: relative to the top of the worktree it lies in, with slashes, "." for the
// top itself. An absolute path inside any worktree of the project is accepted
// too. Symbolic links are resolved as far as the path exists, so that two names
// of one file are one path; a link that leads out of the worktree stands for
// itself. Paths outside, in .git or in .handoff are refused with a *PathError.
func (p Project) Rel(cwd, typed string) (string, error) {
	if reason := unprintable(typed); reason != "" {
		return "", &PathError{Path: typed, Reason: reason}
	}
	path := filepath.FromSlash(typed)
	if !filepath.IsAbs(path) {
		path = cwd + string(filepath.Separator) + path // not cleaned: ".." after a link
	}
	tops, err := p.tops()
	if err != nil {
		return "", err
	}
	real, err := resolveExisting(path)
	if err != nil {
		return "", &PathError{Path: typed, Reason: "cannot be resolved: " + err.Error()}
	}
	rel, ok := below(tops, real)
	if !ok {
		// The last element may be a link that leads out: claim the link itself.
		if real, err = resolveExisting(filepath.Dir(path)); err == nil {
			rel, ok = below(tops, filepath.Join(real, filepath.Base(path)))
		}
	}
	if !ok {
		return "", &PathError{Path: typed, Reason: "is outside the project " + p.Root}
	}
	return rel, checkRel(typed, rel)
}

// unprintable says why a text cannot be a path in the log.
func unprintable(typed string) string {
	switch {
	case typed == "":
		return "is empty"
	case !utf8.ValidString(typed):
		return "is not UTF-8"
	case strings.ContainsFunc(typed, unicode.IsControl):
		return "has control characters"
	}
	return ""
}

// tops returns the directories that stored paths may be relative to.
func (p Project) tops() ([]string, error) {
	worktrees, err := p.Worktrees()
	if err != nil {
		return nil, err
	}
	if len(worktrees) == 0 {
		return []string{p.Root}, nil
	}
	tops := make([]string, len(worktrees))
	for i, w := range worktrees {
		tops[i] = w.Path
	}
	return tops, nil
}

// below returns path relative to the deepest of tops that has it: a worktree may
// lie inside another one.
func below(tops []string, path string) (rel string, ok bool) {
	deepest := -1
	for _, top := range tops {
		r, err := filepath.Rel(top, path)
		if err == nil && filepath.IsLocal(r) && len(top) > deepest {
			rel, ok, deepest = r, true, len(top)
		}
	}
	return filepath.ToSlash(rel), ok
}

// checkRel refuses what git and the log keep for themselves, at any depth and in
// any case.
func checkRel(typed, rel string) error {
	for element := range strings.SplitSeq(rel, "/") {
		if strings.EqualFold(element, ".git") || strings.EqualFold(element, DirName) {
			return &PathError{Path: typed, Reason: "is inside " + element}
		}
	}
	return nil
}

// resolveExisting resolves the symbolic links of the part of a path that exists
// and appends the rest.
func resolveExisting(path string) (string, error) {
	rest := ""
	for {
		real, err := filepath.EvalSymlinks(path)
		switch {
		case err == nil:
			return filepath.Join(real, rest), nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotDirectory):
			return "", err
		}
		trimmed := strings.TrimRight(path, string(filepath.Separator))
		i := strings.LastIndexByte(trimmed, filepath.Separator)
		if i < len(filepath.VolumeName(path)) {
			return "", err
		}
		rest = trimmed[i+1:] + string(filepath.Separator) + rest
		path = trimmed[:i+1]
	}
}
