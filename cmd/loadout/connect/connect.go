package connect

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Scope is whose configuration is written.
type Scope string

// The scopes.
const (
	Project Scope = "project" // the files of one project, which others may share
	User    Scope = "user"    // the person's own, for all projects
)

// Config says what is to be connected.
type Config struct {
	Program string // claude-code, codex, cursor, gemini or opencode
	Scope   Scope
	Root    string                   // of the project
	Home    string                   // of the person
	Env     func(name string) string // of the process
	Command string                   // how this program is called
	Kept    string                   // folder for copies of what was there
}

// RefusedError says that a file is not one that can be edited. Nothing was written.
type RefusedError struct {
	Path   string
	Reason string
}

func (e *RefusedError) Error() string { return e.Path + ": " + e.Reason }

// target is a file with what is to be written into it.
type target struct {
	path  string
	edits []edit
}

// Connect says what would be written, nothing when it is there already.
func (c *Config) Connect() ([]*Change, error) {
	return c.plan(func(f *file, t target, kept *record) ([]byte, error) {
		text := f.text
		for _, e := range t.edits {
			var err error
			if text, err = e.put(text); err != nil {
				return nil, err
			}
		}
		return text, nil
	})
}

// Disconnect says what would be taken out. A file that nobody has changed since is as it was before, to the byte.
func (c *Config) Disconnect() ([]*Change, error) {
	return c.plan(func(f *file, t target, kept *record) ([]byte, error) {
		if f.text == nil {
			return nil, nil
		}
		if kept != nil && digest(f.text) == kept.After {
			return kept.before(), nil
		}
		text, err := t.cut(f.text)
		if err == nil && text == nil && kept != nil { // it was there, with nothing in it
			return kept.before(), nil
		}
		return text, err
	})
}

// before is the text that was there, nil for no file.
func (r *record) before() []byte {
	if !r.Existed {
		return nil
	}
	return append([]byte{}, r.Before...)
}

func (t target) cut(text []byte) ([]byte, error) {
	for _, e := range t.edits {
		var err error
		if text, err = e.cut(text); err != nil || text == nil {
			return nil, err
		}
	}
	return text, nil
}

// plan reads all files before anything is written, and refuses all when one of them is none that can be edited.
func (c *Config) plan(after func(*file, target, *record) ([]byte, error)) ([]*Change, error) {
	targets, err := c.targets()
	if err != nil {
		return nil, err
	}
	var changes []*Change
	for _, t := range targets {
		f, err := read(t.path)
		if err != nil {
			return nil, &RefusedError{t.path, err.Error()}
		}
		kept := keeper{c.Kept}.load(f.target)
		text, err := after(&f, t, kept)
		if err != nil {
			return nil, &RefusedError{t.path, err.Error()}
		}
		change := f.change(text)
		if change == nil {
			continue
		}
		change.kept = kept
		if change.Action != Remove && f.text != nil && (kept == nil || digest(f.text) != kept.After) {
			original, err := t.cut(f.text) // what was there before any part of ours
			if err != nil {
				return nil, &RefusedError{t.path, err.Error()}
			}
			change.kept = &record{Existed: original != nil, Before: original}
		}
		changes = append(changes, change)
	}
	return changes, nil
}

// Apply carries changes out, in their order. connecting says that they come from Connect.
func (c *Config) Apply(changes []*Change, connecting bool) error {
	var folders []string // that may be empty now
	for _, change := range changes {
		if err := c.apply(change, connecting); err != nil {
			return err
		}
		if !connecting && change.kept != nil {
			folders = append(folders, change.kept.Folders...)
		}
	}
	slices.SortFunc(folders, func(a, b string) int { return len(b) - len(a) })
	for _, folder := range folders {
		_ = os.Remove(folder) // where somebody else has put something there it stays
	}
	return nil
}

func (c *Config) apply(change *Change, connecting bool) error {
	path := change.Path
	if change.Target != "" {
		path = change.Target
	}
	now, err := read(path)
	if err != nil {
		return &RefusedError{path, err.Error()}
	}
	if (now.text == nil) != (change.text == nil) || !bytes.Equal(now.text, change.text) {
		return &RefusedError{path, "somebody has changed it this moment; try again"}
	}
	k := keeper{c.Kept}
	var folders []string
	if change.Action == Create {
		if folders, err = makeFolders(filepath.Dir(path)); err != nil {
			return err
		}
	}
	if connecting {
		r := record{Path: path, Mode: change.mode, After: digest(change.after), Folders: folders}
		if change.kept != nil {
			r.Existed, r.Before = change.kept.Existed, change.kept.Before
			r.Folders = slices.Concat(change.kept.Folders, folders)
		}
		if change.Backup, err = k.save(&r); err != nil {
			return err
		}
	}
	if change.Action != Remove {
		if err := replaceFile(path, change.after, change.mode); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	} else if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	if connecting {
		return nil
	}
	k.drop(path)
	return nil
}

// errNoHome says that a person's files cannot be found.
var errNoHome = errors.New("the home directory is not known")
