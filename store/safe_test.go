//go:build unix

package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agentloadout/loadout/store"
)

func TestUnsafePaths(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, dir string){
		"directory is a link": func(t *testing.T, dir string) {
			other := filepath.Join(filepath.Dir(dir), "other")
			mkdir(t, other)
			symlink(t, other, dir)
		},
		"directory is a file": func(t *testing.T, dir string) { writeFile(t, dir, "") },
		"directory is foreign": func(t *testing.T, dir string) {
			mkdir(t, dir)
			chown(t, dir)
		},
		"log is a link": func(t *testing.T, dir string) {
			mkdir(t, dir)
			target := filepath.Join(filepath.Dir(dir), "target")
			writeFile(t, target, text(0))
			symlink(t, target, filepath.Join(dir, store.LogName))
		},
		"log is a dangling link": func(t *testing.T, dir string) {
			mkdir(t, dir)
			symlink(t, filepath.Join(filepath.Dir(dir), "target"), filepath.Join(dir, store.LogName))
		},
		"log is a pipe": func(t *testing.T, dir string) {
			mkdir(t, dir)
			if err := syscall.Mkfifo(filepath.Join(dir, store.LogName), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"log is a directory": func(t *testing.T, dir string) {
			mkdir(t, dir)
			mkdir(t, filepath.Join(dir, store.LogName))
		},
		"log is foreign": func(t *testing.T, dir string) {
			mkdir(t, dir)
			writeFile(t, filepath.Join(dir, store.LogName), text(0))
			chown(t, filepath.Join(dir, store.LogName))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := store.Open(newDir(t), store.Options{})
			prepare(t, l.Dir())
			_, _, err := tryWrite(t, l, 1)
			if name == "log is a directory" && err != nil {
				return // refused by the system already
			}
			wantError(t, err, store.ErrUnsafe)
			if _, err = l.Read(testContext(t), store.Position{}, ignore); name != "log is a dangling link" || err != nil {
				wantError(t, err, store.ErrUnsafe)
			}
		})
	}
}

func TestUnsafeLockFile(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, path string){
		"link":    func(t *testing.T, path string) { symlink(t, path+".target", path) },
		"foreign": func(t *testing.T, path string) { writeFile(t, path, ""); chown(t, path) },
	} {
		t.Run(name, func(t *testing.T) {
			l := store.Open(newDir(t), store.Options{})
			mkdir(t, l.Dir())
			path := filepath.Join(l.Dir(), store.LockName)
			prepare(t, path)
			_, _, err := tryWrite(t, l, 1)
			wantError(t, err, store.ErrUnsafe)
			if _, err := os.Lstat(path + ".target"); err == nil {
				t.Fatal("the target of the link was created")
			}
		})
	}
}

func TestNarrowing(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	mkdir(t, l.Dir())
	other := filepath.Join(l.Dir(), "KILL_SWITCH")
	for _, path := range []string{l.Path(), other} {
		writeFile(t, path, "")
		chmod(t, path, 0o644)
	}
	outside := filepath.Join(filepath.Dir(l.Dir()), "outside")
	writeFile(t, outside, "")
	chmod(t, outside, 0o644)
	symlink(t, outside, filepath.Join(l.Dir(), "link"))
	chmod(t, l.Dir(), 0o755)
	_, notes, err := tryWrite(t, l, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(notes) != 3 || !strings.Contains(notes[0], "0755") || !strings.Contains(notes[0], "0700") {
		t.Errorf("notes %q", notes)
	}
	for path, want := range map[string]fs.FileMode{l.Dir(): 0o700, l.Path(): 0o600, other: 0o600, outside: 0o644} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
	}

	chmod(t, l.Path(), 0o640) // in a narrow directory
	if _, notes, err := tryWrite(t, l, 1); err != nil || len(notes) != 1 {
		t.Errorf("notes %q, error %v", notes, err)
	}
	if info, err := os.Stat(l.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the log has mode %v", info.Mode())
	}
}

func TestUnsafeFiles(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	mkdir(t, l.Dir())
	outside := filepath.Join(filepath.Dir(l.Dir()), "outside")
	writeFile(t, outside, "secret")
	symlink(t, outside, filepath.Join(l.Dir(), "link"))
	symlink(t, filepath.Dir(l.Dir()), filepath.Join(l.Dir(), "folder"))
	mkdir(t, filepath.Join(l.Dir(), "directory"))
	if err := syscall.Mkfifo(filepath.Join(l.Dir(), "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "folder/outside", "directory", "pipe"} {
		wantError(t, l.WriteFile(name, []byte("x")), store.ErrUnsafe)
		if _, err := l.ReadFile(name, 100); name != "folder/outside" {
			wantError(t, err, store.ErrUnsafe)
		}
	}
	if got := readFile(t, outside); got != "secret" {
		t.Fatalf("the file outside holds %q", got)
	}
}
