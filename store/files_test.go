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

func TestAppendFile(t *testing.T) {
	const name = "messages.jsonl"
	l := store.Open(newDir(t), store.Options{})
	add := func(text string) {
		t.Helper()
		if err := l.AppendFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	add("one\n")
	add("two\nthree\n")
	wantContent(t, l, name, "one\ntwo\nthree\n")
	appendRaw(t, filepath.Join(l.Dir(), name), "torn")
	add("four\n")
	wantContent(t, l, name, "one\ntwo\nthree\ntorn\nfour\n")
	if info, err := os.Stat(filepath.Join(l.Dir(), name)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	symlink(t, l.Path(), filepath.Join(l.Dir(), "link"))
	wantError(t, l.AppendFile("link", []byte("x\n")), store.ErrUnsafe)
	wantError(t, l.AppendFile("../x", []byte("x\n")), store.ErrUnsafe)
}

func TestAppendFileFails(t *testing.T) {
	for _, op := range []storetest.Op{storetest.Open, storetest.Write, storetest.Sync, storetest.Close} {
		fsys := storetest.New()
		l := store.Open(newDir(t), store.Options{FS: fsys})
		fsys.Inject(storetest.Fault{Op: op, Name: "x", Times: 1, Bytes: 2, Err: syscall.ENOSPC})
		wantError(t, l.AppendFile("x", []byte("one\n")), syscall.ENOSPC)
		if err := l.AppendFile("x", []byte("two\n")); err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, filepath.Join(l.Dir(), "x")); !strings.HasSuffix("\n"+got, "\ntwo\n") {
			t.Errorf("after a failing %s: %q", op, got)
		}
	}
}

func TestWriteCacheDoesNotSync(t *testing.T) {
	fsys := storetest.New()
	l := store.Open(newDir(t), store.Options{FS: fsys})
	if err := l.WriteCache("beats", []byte("x")); err != nil {
		t.Fatal(err)
	}
	wantContent(t, l, "beats", "x")
	if n := fsys.Calls(storetest.Sync); n != 0 {
		t.Errorf("%d syncs", n)
	}
}

// Whatever is at a name, it can be seen and be put aside without being lost.
func TestMoveAside(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	if aside, err := l.MoveAside("x"); err != nil || aside != "" {
		t.Errorf("without a directory: %q %v", aside, err)
	}
	mkdir(t, l.Dir())
	for name, make := range map[string]func(path string){
		"file":          func(path string) { writeFile(t, path, "text") },
		"folder":        func(path string) { mkdir(t, path) },
		"dangling link": func(path string) { symlink(t, "nowhere", path) },
	} {
		seen := map[string]bool{}
		for range 3 {
			make(filepath.Join(l.Dir(), "x"))
			if there, err := l.Exists("x"); err != nil || !there {
				t.Fatalf("%s: there %v, error %v", name, there, err)
			}
			aside, err := l.MoveAside("x")
			if err != nil || seen[aside] {
				t.Fatalf("%s: moved to %q again, error %v", name, aside, err)
			}
			seen[aside] = true
			if there, err := l.Exists("x"); err != nil || there {
				t.Errorf("%s: still there %v, error %v", name, there, err)
			}
			if there, err := l.Exists(aside); err != nil || !there {
				t.Errorf("%s: nothing at %s, error %v", name, aside, err)
			}
		}
	}
	if aside, err := l.MoveAside("x"); err != nil || aside != "" {
		t.Errorf("nothing became %q, error %v", aside, err)
	}
}
