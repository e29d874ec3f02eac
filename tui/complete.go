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

// completing is a form whose text is being completed. What is typed meanwhile waits: it may belong to the next input.
type completing struct {
	form *overlay.Form // nil: none
	keys []tea.KeyMsg
}

// waits keeps a key until the completion has come. Esc does not wait: it gives the form up.
func (c *completing) waits(o overlay.Overlay, k tea.KeyMsg) bool {
	if c.form == nil || o != overlay.Overlay(c.form) {
		return false
	}
	if k.Type == tea.KeyEsc {
		*c = completing{}
		return false
	}
	c.keys = append(c.keys, k)
	return true
}

// completeInput asks what the current text of a form could become.
func (m *model) completeInput(f *overlay.Form) tea.Cmd {
	m.completing = completing{form: f}
	in := f.Current()
	typed := in.Text()
	return func() tea.Msg { return inputMsg{f, in, typed, in.Complete(typed)} }
}

// completedInput completes the text, and goes on with what was typed meanwhile.
func (m *model) completedInput(msg inputMsg) tea.Cmd {
	if m.completing.form != msg.form {
		return nil // the form was given up
	}
	m.dirty = true
	keys := m.completing.keys
	m.completing = completing{}
	msg.form.Completed(msg.input, msg.typed, commonPrefix(msg.candidates), msg.candidates)
	cmds := make([]tea.Cmd, len(keys))
	for i, k := range keys {
		cmds[i] = m.oneKey(k)
	}
	return tea.Batch(cmds...)
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
