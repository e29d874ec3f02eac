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

// Connect says what becomes of the hook, nil when it is there already.
func (g *Git) Connect() (*Change, error) {
	f, err := read(g.path())
	if err != nil {
		return nil, &RefusedError{g.path(), err.Error()}
	}
	text := f.text
	switch {
	case text == nil:
		text, f.mode = []byte(shebang), 0o755
	case runtime.GOOS != "windows" && f.mode&0o111 == 0:
		return nil, &RefusedError{g.path(), "git does not run it, as it is not executable; make it so, or remove it"}
	case !isShell(text):
		return g.chain(&f)
	}
	after, err := g.guard().put(text)
	if err != nil {
		return nil, &RefusedError{g.path(), err.Error()}
	}
	return f.change(after), nil
}

// chain puts our hook in the place of one that is no shell script, which it runs first.
func (g *Git) chain(f *file) (*Change, error) {
	moved := filepath.Join(g.Hooks, chained)
	if _, err := os.Lstat(moved); !errors.Is(err, fs.ErrNotExist) {
		return nil, &RefusedError{moved, "is in the way of the hook that is there now"}
	}
	after, err := g.guard().put([]byte(shebang + relay))
	if err != nil {
		return nil, &RefusedError{g.path(), err.Error()}
	}
	ours := file{path: f.path, target: f.path, mode: 0o755}
	change := ours.change(after)
	change.text, change.Moved = f.text, moved
	return change, nil
}

// Disconnect says what becomes of the hook, nil when ours is not there.
func (g *Git) Disconnect() (*Change, error) {
	f, err := read(g.path())
	if err != nil || f.text == nil {
		return nil, err
	}
	after, err := g.guard().cut(f.text)
	if err != nil {
		return nil, &RefusedError{g.path(), err.Error()}
	}
	switch string(after) {
	case shebang:
		after = nil
	case shebang + relay:
		change := f.change(nil)
		change.Moved = filepath.Join(g.Hooks, chained)
		return change, nil
	}
	return f.change(after), nil
}

// Apply carries a change out.
func (g *Git) Apply(c *Change, connecting bool) error {
	if _, err := makeFolders(g.Hooks); err != nil {
		return err
	}
	at := g.path()
	if c.Target != "" {
		at = c.Target
	}
	if c.Moved != "" && connecting {
		if err := os.Rename(at, c.Moved); err != nil {
			return fmt.Errorf("move the hook: %w", err)
		}
	}
	switch {
	case c.after != nil:
		if err := replaceFile(at, c.after, c.mode); err != nil {
			return fmt.Errorf("write hook: %w", err)
		}
	default:
		if err := os.Remove(at); err != nil {
			return fmt.Errorf("remove hook: %w", err)
		}
	}
	if c.Moved != "" && !connecting {
		if err := os.Rename(c.Moved, at); err != nil {
			return fmt.Errorf("move the hook back: %w", err)
		}
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
