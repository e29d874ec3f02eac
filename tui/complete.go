package tui

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/tui/overlay"
)

// maxEntries bounds the entries of a folder that are looked at for a completion.
const maxEntries = 4096

// completeInput asks what the current text of a form could become.
func completeInput(f *overlay.Form) tea.Cmd {
	in := f.Current()
	typed := in.Text()
	return func() tea.Msg { return inputMsg{f, in, typed, in.Complete(typed)} }
}

// pathInput asks for a path of the project, and completes files and folders.
func (m *model) pathInput(value string) *overlay.Input {
	in := input("path", "path", value, "src/api")
	top := topOf(m.engine.Project())
	in.Complete = func(typed string) []string { return completePath(top, typed) }
	return in
}

// topOf is the folder that paths in the cockpit are relative to.
func topOf(p engine.Project) string {
	if p.Worktree != "" {
		return p.Worktree
	}
	return p.Root
}

// completePath lists the files and folders below top that begin with what was typed; a folder ends with a slash. Names that a form could
// not hold as they are have no completion.
func completePath(top, typed string) []string {
	folder, begun := path.Split(filepath.ToSlash(typed))
	if !filepath.IsLocal(filepath.FromSlash(folder + ".")) {
		return nil
	}
	dir, err := os.Open(filepath.Join(top, filepath.FromSlash(folder)) + string(filepath.Separator)) // which only a folder can have
	if err != nil {
		return nil
	}
	entries, err := dir.ReadDir(maxEntries)
	if errors.Join(err, dir.Close()) != nil { // an empty one is an error, too
		return nil
	}
	var found []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, begun) || name == ".git" || name == ".handoff" || safetext.Line(name) != name {
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		found = append(found, folder+name)
	}
	slices.Sort(found)
	return found
}
