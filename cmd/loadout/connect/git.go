package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// Git is the hook of a git repository that looks at a commit before it is made.
type Git struct {
	Hooks   string // the folder that git runs hooks from
	Command string
	Kept    string // folder for copies of what was there
}

// chained is where a hook that is no shell script is moved; ours runs it first.
const chained = "pre-commit.loadout-chained"

func (g *Git) path() string { return filepath.Join(g.Hooks, "pre-commit") }

// guard is what the hook does. A machine without this program commits all the same.
func (g *Git) guard() block {
	command := shellQuoted(g.Command)
	return script(fmt.Sprintf("if command -v %[1]s >/dev/null 2>&1; then\n\t%[1]s hook git-pre-commit || exit $?\nfi\n", command), true)
}

func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

const shebang = "#!/bin/sh\n"

// relay is the hook in the place of one that is no shell script.
const relay = `"$(dirname "$0")/` + chained + `" "$@" || exit $?` + "\n"

// target is the hook as a file whose one part is ours.
func (g *Git) target() target { return target{g.path(), []edit{marked(g.guard())}} }

// Connect says what becomes of the hook, nil when it is there already.
func (g *Git) Connect() (*Change, error) {
	f, err := read(g.path())
	switch {
	case err != nil:
		return nil, &RefusedError{g.path(), err.Error()}
	case f.text == nil:
	case runtime.GOOS != "windows" && f.mode&0o111 == 0:
		return nil, &RefusedError{g.path(), "git does not run it, as it is not executable; make it so, or remove it"}
	case !isShell(f.text):
		return g.chain(&f)
	}
	return g.plan(func(f *file, t target, _ *record) ([]byte, error) {
		if f.text == nil {
			f.mode = 0o755
			return t.with([]byte(shebang))
		}
		return t.with(f.text)
	})
}

func (g *Git) plan(after func(*file, target, *record) ([]byte, error)) (*Change, error) {
	change, err := g.target().plan(keeper{g.Kept}, after)
	if err != nil {
		return nil, &RefusedError{g.path(), err.Error()}
	}
	return change, nil
}

// chain puts our hook in the place of one that is no shell script, which it runs first.
func (g *Git) chain(f *file) (*Change, error) {
	moved := filepath.Join(g.Hooks, chained)
	if there, err := os.Lstat(moved); !errors.Is(err, fs.ErrNotExist) {
		if at, atErr := os.Lstat(f.path); err != nil || atErr != nil || !os.SameFile(there, at) { // the same: interrupted half way
			return nil, &RefusedError{moved, "is in the way of the hook that is there now"}
		}
	}
	after, err := g.guard().put([]byte(shebang + relay))
	if err != nil {
		return nil, &RefusedError{g.path(), err.Error()}
	}
	ours := file{path: f.path, target: f.path, mode: 0o755}
	change := ours.change(after)
	change.Action, change.text, change.Target, change.Moved = Edit, f.text, f.target, moved
	if f.target == f.path {
		change.Target = ""
	}
	return change, nil
}

// Disconnect says what becomes of the hook, nil when ours is not there.
func (g *Git) Disconnect() (*Change, error) {
	change, err := g.plan(func(f *file, t target, kept *record) ([]byte, error) {
		after, err := t.without(f.text, kept)
		if text := string(after); text == shebang+relay || text == shebang && (kept == nil || !kept.Existed) {
			return nil, err
		}
		return after, err
	})
	if err != nil || change == nil || change.after != nil || !bytes.Contains(change.text, []byte(relay)) {
		return change, err
	}
	moved := filepath.Join(g.Hooks, chained)
	if _, err := os.Lstat(moved); err == nil {
		change.Moved = moved
	}
	return change, nil
}

// Apply carries a change out.
func (g *Git) Apply(c *Change, connecting bool) error {
	if c.Moved == "" {
		return apply(keeper{g.Kept}, []*Change{c}, connecting)
	}
	if err := c.check(); err != nil {
		return err
	}
	if !connecting {
		if err := os.Rename(c.Moved, c.Path); err != nil {
			return fmt.Errorf("move the hook back: %w", err)
		}
		return nil
	}
	if err := os.Link(c.Path, c.Moved); err != nil && !errors.Is(err, fs.ErrExist) { // no moment without a hook
		return fmt.Errorf("move the hook: %w", err)
	}
	if err := replaceFile(c.Path, c.after, c.mode); err != nil {
		return fmt.Errorf("write hook: %w", err)
	}
	return nil
}

// isShell reports whether a hook is a script of a shell that understands sh.
func isShell(text []byte) bool {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	words := strings.Fields(strings.TrimPrefix(string(line), "#!"))
	if !bytes.HasPrefix(line, []byte("#!")) || len(words) == 0 {
		return false
	}
	interpreter := path.Base(words[0])
	if interpreter == "env" && len(words) > 1 {
		interpreter = words[len(words)-1]
	}
	switch interpreter {
	case "sh", "bash", "dash", "zsh", "ksh", "ash":
		return true
	}
	return false
}
