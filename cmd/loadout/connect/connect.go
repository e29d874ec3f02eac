package connect

import (
	"bytes"
	"cmp"
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
	return c.plan(func(f *file, t target, _ *record) ([]byte, error) { return t.with(f.text) })
}

// Disconnect says what would be taken out. A file that nobody has changed since is as it was before, to the byte. What another program
// that is connected reads too stays.
func (c *Config) Disconnect() ([]*Change, error) {
	return c.plan(func(f *file, t target, kept *record) ([]byte, error) {
		if c.shares(f.target) {
			return f.text, nil
		}
		return t.without(f.text, kept)
	})
}

// shares reports whether another program that is connected reads a file too, as Codex and opencode both read AGENTS.md.
func (c *Config) shares(target string) bool {
	for _, program := range Programs() {
		other := *c
		other.Program = program
		targets, err := other.targets()
		if program == c.Program || err != nil {
			continue
		}
		for _, t := range targets[1:] {
			f, err := read(t.path)
			if err != nil || f.target != target {
				continue
			}
			server, err := read(targets[0].path)
			if err != nil {
				continue
			}
			if text, err := targets[0].without(server.text, nil); err == nil && !bytes.Equal(text, server.text) {
				return true
			}
		}
	}
	return false
}

// with is a text with our parts.
func (t target) with(text []byte) ([]byte, error) {
	for _, e := range t.edits {
		var err error
		if text, err = e.put(text); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// without is a text without our parts, nil when no file is left.
func (t target) without(text []byte, kept *record) ([]byte, error) {
	if text == nil {
		return nil, nil
	}
	if kept != nil && digest(text) == kept.After {
		return kept.before(), nil
	}
	after := text
	for _, e := range t.edits {
		var err error
		if after, err = e.cut(after); err != nil {
			return nil, err
		}
	}
	switch {
	case bytes.Equal(after, text) || !blank(after):
		return after, nil
	case kept == nil || !kept.Existed:
		return nil, nil
	case blank(kept.Before): // the blanks that were there
		return kept.before(), nil
	}
	return after, nil
}

// blank reports whether a file says nothing.
func blank(text []byte) bool {
	switch string(bytes.Join(bytes.Fields(bytes.TrimPrefix(text, bom)), nil)) {
	case "", "{}", `{"version":1}`:
		return true
	}
	return false
}

// before is the text that was there, nil for no file.
func (r *record) before() []byte {
	if !r.Existed {
		return nil
	}
	return append([]byte{}, r.Before...)
}

// plan reads all files before anything is written, and refuses all when one of them is none that can be edited.
func (c *Config) plan(after func(*file, target, *record) ([]byte, error)) ([]*Change, error) {
	targets, err := c.targets()
	if err != nil {
		return nil, err
	}
	var changes []*Change
	for _, t := range targets {
		change, err := t.plan(keeper{c.Kept}, after)
		if err != nil {
			return nil, &RefusedError{t.path, err.Error()}
		}
		if change != nil {
			changes = append(changes, change)
		}
	}
	return changes, nil
}

// plan says what becomes of one file, nil when it stays as it is.
func (t target) plan(k keeper, after func(*file, target, *record) ([]byte, error)) (*Change, error) {
	f, err := read(t.path)
	if err != nil {
		return nil, err
	}
	kept := k.load(f.target)
	text, err := after(&f, t, kept)
	if err != nil {
		return nil, err
	}
	change := f.change(text)
	if change == nil {
		return nil, nil //nolint:nilnil // it stays as it is
	}
	if f.mode&0o222 == 0 {
		return nil, errors.New("is read-only")
	}
	change.kept = kept
	if change.Action == Edit && (kept == nil || digest(f.text) != kept.After) {
		original, err := t.without(f.text, nil) // what was there before any part of ours
		if err != nil {
			return nil, err
		}
		change.kept = &record{Existed: original != nil, Before: original}
		if kept != nil {
			change.kept.Folders = kept.Folders
		}
	}
	return change, nil
}

// Apply carries changes out, in their order. connecting says that they come from Connect.
func (c *Config) Apply(changes []*Change, connecting bool) error {
	return apply(keeper{c.Kept}, changes, connecting)
}

func apply(k keeper, changes []*Change, connecting bool) (err error) {
	unlock, err := k.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	for _, change := range changes {
		if err := change.check(); err != nil {
			return err
		}
	}
	var folders []string // that may be empty now
	for i, change := range changes {
		if err := k.apply(change, connecting); err != nil {
			if i > 0 {
				return fmt.Errorf("%w; what comes before it is done, and the same command does the rest", err)
			}
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

// at is the file that is written: where the path leads.
func (c *Change) at() string { return cmp.Or(c.Target, c.Path) }

// check refuses a change of a file that is not as it was when the change was planned.
func (c *Change) check() error {
	now, err := read(c.Path)
	if err != nil {
		return &RefusedError{c.Path, err.Error()}
	}
	if now.target != c.at() || (now.text == nil) != (c.text == nil) || !bytes.Equal(now.text, c.text) {
		return &RefusedError{c.Path, "somebody has changed it this moment; try again"}
	}
	return nil
}

func (k keeper) apply(change *Change, connecting bool) error {
	if err := change.check(); err != nil {
		return err
	}
	path := change.at()
	if connecting {
		r := record{Path: path, After: digest(change.after)}
		if change.kept != nil {
			r.Existed, r.Before, r.Folders = change.kept.Existed, change.kept.Before, change.kept.Folders
		}
		for _, folder := range missing(filepath.Dir(path)) {
			if !slices.Contains(r.Folders, folder) {
				r.Folders = append(r.Folders, folder)
			}
		}
		var err error
		if change.Backup, err = k.save(&r); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as the programs make their own folders
		return fmt.Errorf("make folder: %w", err)
	}
	if change.Action != Remove {
		if err := replaceFile(path, change.after, change.mode); err != nil {
			return fmt.Errorf("write %s: %w", path, err)
		}
	} else if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	if !connecting {
		k.drop(path)
	}
	return nil
}

// ErrNoHome says that a person's files cannot be found.
var ErrNoHome = errors.New("the home directory is not known")
