package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// misplaced tells of claimed paths that were typed in a folder as if it were the top: they name nothing there, and from the top they
// would.
func (e *Engine) misplaced(c Own) []string {
	top := e.project.Worktree
	if top == "" {
		top = e.project.Root
	}
	if c.Typed == "" || c.Typed == "." {
		return nil
	}
	var notes []string
	for _, p := range c.Paths {
		typed, below := strings.CutPrefix(p, c.Typed+"/")
		if below && strings.Contains(typed, "/") && !exists(top, p) && exists(top, typed) {
			notes = append(notes, fmt.Sprintf("%s does not exist yet; if the %s at the top was meant, name it as %s",
				told(p), told(typed), word(strings.Repeat("../", strings.Count(c.Typed, "/")+1)+path.Clean(typed))))
		}
	}
	return notes
}

func exists(top, p string) bool {
	_, err := os.Lstat(filepath.Join(top, filepath.FromSlash(p))) //nolint:gosec // a look at a claimed path; nothing is opened
	return !errors.Is(err, fs.ErrNotExist)
}
