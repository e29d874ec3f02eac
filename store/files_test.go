package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/agentloadout/loadout/store"
	"github.com/agentloadout/loadout/store/storetest"
)

func TestFiles(t *testing.T) {
	for _, name := range []string{"KILL_SWITCH", "bundles/x.json", "a/b/c"} {
		t.Run(name, func(t *testing.T) {
			l := store.Open(newDir(t), store.Options{})
			if _, err := l.ReadFile(name, 100); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("error %v", err)
			}
			if err := l.Remove(name); err != nil {
				t.Fatal(err)
			}
			if err := l.Create(name, []byte("one")); err != nil {
				t.Fatal(err)
			}
			wantError(t, l.Create(name, []byte("two")), store.ErrExists)
			wantContent(t, l, name, "one")
			if err := l.WriteFile(name, []byte("three")); err != nil {
				t.Fatal(err)
			}
			wantContent(t, l, name, "three")
			if err := l.WriteFile(name, nil); err != nil {
				t.Fatal(err)
			}
			wantContent(t, l, name, "")
			for path := filepath.Join(l.Dir(), name); path != filepath.Dir(l.Dir()); path = filepath.Dir(path) {
				if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s has mode %v", path, info.Mode())
				}
			}
			if err := l.Remove(name); err != nil {
				t.Fatal(err)
			}
			if _, err := l.ReadFile(name, 100); !errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("error %v", err)
			}
		})
	}
}

func wantContent(t testing.TB, l *store.Log, name, want string) {
	t.Helper()
	if got, err := l.ReadFile(name, 100); err != nil || string(got) != want {
		t.Fatalf("%s holds %q, want %q, error %v", name, got, want, err)
	}
}

func TestFileNames(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	for _, name := range []string{"", ".", "..", "../x", "/etc/passwd", "a/../../x", "a/.."} {
		wantError(t, l.WriteFile(name, nil), store.ErrUnsafe)
		wantError(t, l.Create(name, nil), store.ErrUnsafe)
		wantError(t, l.Remove(name), store.ErrUnsafe)
		_, err := l.ReadFile(name, 10)
		wantError(t, err, store.ErrUnsafe)
	}
	if _, err := os.Stat(l.Dir()); err == nil {
		t.Fatal("the directory was created for a refused name")
	}
}

func TestFileTooLarge(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	if err := l.WriteFile("x", []byte("12345")); err != nil {
		t.Fatal(err)
	}
	if got, err := l.ReadFile("x", 5); err != nil || len(got) != 5 {
		t.Fatalf("%q %v", got, err)
	}
	_, err := l.ReadFile("x", 4)
	wantError(t, err, store.ErrTooLarge)
}

// A write that fails leaves the old content and nothing beside it.
func TestFailingFile(t *testing.T) {
	for _, op := range []storetest.Op{storetest.Open, storetest.Write, storetest.Sync, storetest.Close} {
		testFailingFile(t, storetest.Fault{Op: op, Name: "x.*.tmp", Err: syscall.ENOSPC})
	}
	testFailingFile(t, storetest.Fault{Op: storetest.Rename, Name: "x", Err: syscall.EIO})
}

func testFailingFile(t *testing.T, fault storetest.Fault) {
	t.Helper()
	fsys := storetest.New()
	l := store.Open(newDir(t), store.Options{FS: fsys})
	if err := l.WriteFile("x", []byte("old")); err != nil {
		t.Fatal(err)
	}
	fsys.Inject(fault)
	wantError(t, l.WriteFile("x", []byte("new")), fault.Err)
	wantContent(t, l, "x", "old")
	if names := entries(t, l); !slices.Equal(names, []string{"x"}) {
		t.Fatalf("%s failed: directory has %v", fault.Op, names)
	}
}

// The presence of a file may be all that matters, so that it stays when its
// content could not be written.
func TestCreateOnFullDisk(t *testing.T) {
	fsys := storetest.New()
	l := store.Open(newDir(t), store.Options{FS: fsys})
	fsys.Inject(storetest.Fault{Op: storetest.Write, Name: "KILL_SWITCH", Err: syscall.ENOSPC})
	wantError(t, l.Create("KILL_SWITCH", []byte("{}")), syscall.ENOSPC)
	wantContent(t, l, "KILL_SWITCH", "")
}

// Readers see one of the contents that were written, whole.
func TestConcurrentWriteFile(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	content := func(i int) string { return strings.Repeat(string(rune('a'+i)), 100_000) }
	if err := l.WriteFile("x", []byte(content(0))); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 10 {
				if err := l.WriteFile("x", []byte(content(i))); err != nil {
					t.Error(err)
				}
				got, err := l.ReadFile("x", 1<<20)
				if err != nil || len(got) != 100_000 || string(got) != content(int(got[0]-'a')) {
					t.Errorf("%d bytes, error %v", len(got), err)
				}
			}
		})
	}
	wg.Wait()
	if names := entries(t, l); !slices.Equal(names, []string{"x"}) {
		t.Fatalf("left behind: %v", names)
	}
}
