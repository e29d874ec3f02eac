package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentloadout/loadout/store"
	"github.com/agentloadout/loadout/store/storetest"
)

// rewrite keeps the lines from a number on and adds extra.
func rewrite(t testing.TB, l *store.Log, from int64, extra ...string) (store.Archive, error) {
	t.Helper()
	ctx := testContext(t)
	var archive store.Archive
	err := l.Update(ctx, func(tx *store.Tx) (err error) {
		var lines [][]byte
		for _, line := range extra {
			lines = append(lines, []byte(line))
		}
		archive, err = tx.Rewrite(ctx, func(line store.Line) bool { return line.Seq >= from }, lines)
		return err
	})
	return archive, err
}

// entries lists what is in the directory of the log.
func entries(t testing.TB, l *store.Log) (names []string) {
	t.Helper()
	list, err := os.ReadDir(l.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		names = append(names, entry.Name())
	}
	return names
}

func TestRewrite(t *testing.T) {
	long := strings.Repeat("x", store.MaxLineBytes+7)
	bad := []string{"bad", "\x00\x00", long, `{"seq":3,"x":` + "\xff" + `}`}
	before := text(0, 1) + bad[0] + "\n" + text(2) + bad[1] + "\n\n" + bad[2] + "\n" + text(3) + bad[3] + "\n" + text(4)
	l := logWith(t, before+`{"seq":5,"torn`, store.Options{})
	archive, err := rewrite(t, l, 3, event(6))
	if err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, l.Path()); got != text(3, 4, 6) {
		t.Errorf("log is %q", got)
	}
	if got := readFile(t, archive.Path); got != before+"{\"seq\":5,\"torn\n" || archive.Size != int64(len(got)) {
		t.Errorf("the archive differs, size %d", archive.Size)
	}
	corrupt := strings.TrimSuffix(archive.Path, ".archive") + ".corrupt"
	if got := readFile(t, corrupt); got != strings.Join(append(bad, `{"seq":5,"torn`), "\n")+"\n" {
		t.Errorf("the corrupt lines are %.100q", got)
	}
	for _, path := range []string{archive.Path, corrupt, l.Path()} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
	if names := entries(t, l); len(names) != 4 {
		t.Errorf("directory has %v", names)
	}
	archives, err := l.Archives()
	if err != nil || !slices.Equal(archives, []store.Archive{archive}) {
		t.Fatalf("archives %+v, error %v", archives, err)
	}
	var seqs []int64
	if err := l.ReadArchive(testContext(t), archive, func(b store.Batch) error {
		seqs = append(seqs, seqsOf(keep(b))...)
		return nil
	}); err != nil || !slices.Equal(seqs, []int64{0, 1, -1, 2, -1, -1, 3, 3, 4, 5}) {
		t.Fatalf("archive has %v, error %v", seqs, err)
	}
	write(t, l, 1)
	wantSeqs(t, l, 3, 4, 6, 7)
}

func TestRewriteManyTimes(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	const rounds = 20
	for i := range int64(rounds) {
		write(t, l, 2)
		if _, err := rewrite(t, l, 2*i+1); err != nil {
			t.Fatal(err)
		}
	}
	archives, err := l.Archives()
	if err != nil || len(archives) != rounds {
		t.Fatalf("%d archives, error %v", len(archives), err)
	}
	for i, a := range archives[1:] {
		if !a.Created.After(archives[i].Created) {
			t.Fatalf("archives %v and %v", archives[i], a)
		}
	}
	wantSeqs(t, l, 2*rounds-1)
}

func TestRewriteKeepsNumbersRising(t *testing.T) {
	l := logWith(t, text(0, 1, 2)+`{"seq":7,"bad`+"\n", store.Options{})
	before := readFile(t, l.Path())
	_, err := rewrite(t, l, 0)
	wantError(t, err, store.ErrSequence)
	_, err = rewrite(t, l, 0, event(7))
	wantError(t, err, store.ErrLine)
	left := slices.DeleteFunc(entries(t, l), func(name string) bool { return name == "cache" })
	if readFile(t, l.Path()) != before || len(left) != 2 {
		t.Fatalf("a refused rewrite left %v", left)
	}
	if _, err := rewrite(t, l, 0, event(8)); err != nil {
		t.Fatal(err)
	}
	wantSeqs(t, l, 0, 1, 2, 8)
}

// Whatever fails, the log is what it was and nothing is left beside it.
func TestRewriteFails(t *testing.T) {
	full, broken := syscall.ENOSPC, syscall.EIO
	archive, corrupt, tmp := "*.archive", "*.corrupt", "*.tmp"
	for name, fault := range map[string]storetest.Fault{
		"archive not created":     {Op: storetest.Open, Name: archive, Err: full},
		"archive not written":     {Op: storetest.Write, Name: archive, Bytes: 9, Err: full},
		"archive not synced":      {Op: storetest.Sync, Name: archive, Err: broken},
		"archive not closed":      {Op: storetest.Close, Name: archive, Err: broken},
		"directory not synced":    {Op: storetest.SyncDir, Name: store.DirName, Times: 1, Err: broken},
		"not synced again":        {Op: storetest.SyncDir, Name: store.DirName, Skip: 1, Times: 1, Err: broken},
		"bad lines not created":   {Op: storetest.Open, Name: corrupt, Err: full},
		"bad lines not written":   {Op: storetest.Write, Name: corrupt, Bytes: 1, Err: full},
		"bad lines not synced":    {Op: storetest.Sync, Name: corrupt, Err: broken},
		"new log not created":     {Op: storetest.Open, Name: tmp, Err: full},
		"new log not written":     {Op: storetest.Write, Name: tmp, Bytes: 20, Err: full},
		"new log not synced":      {Op: storetest.Sync, Name: tmp, Err: broken},
		"new log not renamed":     {Op: storetest.Rename, Name: store.LogName, Err: broken},
		"old log not read":        {Op: storetest.Read, Name: store.LogName, Skip: 2, Err: broken},
		"old log not read at all": {Op: storetest.Read, Name: store.LogName, Err: broken},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := storetest.New()
			l := logWith(t, text(0, 1)+"bad\n"+text(2), store.Options{FS: fsys})
			before := readFile(t, l.Path())
			fsys.Inject(fault)
			if strings.HasPrefix(name, "archive") { // where the log cannot have two names it is copied
				fsys.Inject(storetest.Fault{Op: storetest.Link, Name: archive, Err: syscall.EPERM})
			}
			if _, err := rewrite(t, l, 1, event(3)); !errors.Is(err, fault.Err) {
				t.Fatalf("error %v", err)
			}
			if readFile(t, l.Path()) != before {
				t.Fatal("the log was changed")
			}
			if names := entries(t, l); !slices.Equal(names, []string{store.LogName, store.LockName}) {
				t.Fatalf("left behind: %v", names)
			}
			fsys.Heal()
			write(t, l, 1)
		})
	}
}

// TestArchiveWithoutALink: the archive is the file that was the log, or else a copy of it; what is written later is in neither.
func TestArchiveWithoutALink(t *testing.T) {
	for _, linked := range []bool{true, false} {
		fsys := storetest.New()
		if !linked {
			fsys.Inject(storetest.Fault{Op: storetest.Link, Name: "*.archive", Err: syscall.EPERM})
		}
		l := logWith(t, text(0, 1, 2)+`{"seq":3,"torn`, store.Options{FS: fsys})
		was, err := os.Stat(l.Path())
		if err != nil {
			t.Fatal(err)
		}
		a, err := rewrite(t, l, 2, event(4))
		if err != nil {
			t.Fatal(err)
		}
		write(t, l, 1)
		is, err := os.Stat(a.Path)
		if err != nil || os.SameFile(was, is) != linked || is.Size() != a.Size {
			t.Errorf("linked %t: %v", linked, err)
		}
		if got := readFile(t, a.Path); got != text(0, 1, 2)+"{\"seq\":3,\"torn\n" {
			t.Errorf("linked %t: the archive is %q", linked, got)
		}
		wantSeqs(t, l, 2, 4, 5)
	}
}

func TestRewriteCancelled(t *testing.T) {
	dir, _ := writeLog(t, 5000)
	l := store.Open(dir, store.Options{})
	ctx, cancel := context.WithCancel(testContext(t))
	err := l.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Rewrite(ctx, func(store.Line) bool { cancel(); return true }, nil)
		return err
	})
	wantError(t, err, context.Canceled)
	if names := entries(t, l); len(names) != 2 {
		t.Fatalf("left behind: %v", names)
	}
}

// A crash during a rewrite leaves a temporary file, which is in nobody's way.
func TestRewriteAfterCrash(t *testing.T) {
	l := logWith(t, text(0, 1, 2), store.Options{})
	writeFile(t, l.Path()+".tmp", "half")
	if _, err := rewrite(t, l, 2); err != nil {
		t.Fatal(err)
	}
	wantSeqs(t, l, 2)
	if _, err := os.Stat(l.Path() + ".tmp"); err == nil {
		t.Fatal("the temporary file is still there")
	}
}

func TestArchivesIgnoresOtherFiles(t *testing.T) {
	l := logWith(t, text(0), store.Options{})
	for _, name := range []string{"coordination.jsonl.x.archive", "coordination.jsonl.-5.archive", "other.5.archive", "coordination.jsonl.5.archive.tmp", "coordination.jsonl.5.corrupt"} {
		writeFile(t, filepath.Join(l.Dir(), name), "")
	}
	symlink(t, l.Path(), filepath.Join(l.Dir(), "coordination.jsonl.6.archive"))
	writeFile(t, filepath.Join(l.Dir(), "coordination.jsonl.7.archive"), text(0))
	archives, err := l.Archives()
	if err != nil || len(archives) != 1 || archives[0].Name != "coordination.jsonl.7.archive" || archives[0].Created.UnixMilli() != 7 {
		t.Fatalf("%+v %v", archives, err)
	}
	err = l.ReadArchive(testContext(t), store.Archive{Name: "../coordination.jsonl.7.archive"}, ignore)
	if err == nil {
		t.Fatal("a path was accepted as a name")
	}
	if archives, err := store.Open(newDir(t), store.Options{}).Archives(); err != nil || len(archives) != 0 {
		t.Fatalf("%+v %v", archives, err)
	}
}

// A number that cannot be right does not use up all others: its line leaves.
func TestRewriteBelow(t *testing.T) {
	const far = 1 << 52
	l := logWith(t, text(0, 1, far)+"bad\n"+text(2), store.Options{})
	ctx := testContext(t)
	var archive store.Archive
	err := l.Update(ctx, func(tx *store.Tx) (err error) {
		archive, err = tx.RewriteBelow(ctx, far, func(store.Line) bool { return true }, [][]byte{[]byte(event(3))})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wantSeqs(t, l, 0, 1, 2, 3)
	if got := readFile(t, strings.TrimSuffix(archive.Path, ".archive")+".corrupt"); got != text(far)+"bad\n" {
		t.Errorf("taken out: %q", got)
	}
	write(t, l, 1)
	wantSeqs(t, l, 0, 1, 2, 3, 4)
}

// When the log is gone, what lies beside it still tells which numbers were used.
func TestRemembered(t *testing.T) {
	remembered := func(l *store.Log, limit, seq int64, from string) {
		t.Helper()
		r, err := l.Remembered(testContext(t), limit)
		if err != nil || r.Seq != seq || !strings.Contains(r.From, from) || from == "" && r.From != "" {
			t.Errorf("below %d it is %+v, want %d from %q, error %v", limit, r, seq, from, err)
		}
	}
	l := store.Open(newDir(t), store.Options{})
	remembered(l, 1000, -1, "")
	write(t, l, 5)
	remembered(l, 1000, -1, "") // the log is not asked
	if _, err := rewrite(t, l, 4); err != nil {
		t.Fatal(err)
	}
	remembered(l, 1000, 4, ".archive")
	remembered(l, 3, 2, ".archive")
	write(t, l, 5)
	if err := l.SaveMark(9, checkpointOf(t, l)); err != nil {
		t.Fatal(err)
	}
	write(t, l, 2)
	if err := l.SaveCheckpoint(checkpointOf(t, l)); err != nil {
		t.Fatal(err)
	}
	remove(t, l.Path())
	remembered(l, 1000, 11, "checkpoint")
	remembered(l, 11, 9, "mark-9")
	remembered(l, 9, 4, ".archive")
	flip(t, checkpointPath(l), -1)
	remembered(l, 1000, 9, "mark-9")
}

func TestCheckpointTime(t *testing.T) {
	l := store.Open(newDir(t), store.Options{})
	if at, ok := l.CheckpointTime(); ok {
		t.Errorf("there is none, but it is from %v", at)
	}
	before := time.Now().Add(-time.Minute)
	write(t, l, 1)
	if err := l.SaveCheckpoint(checkpointOf(t, l)); err != nil {
		t.Fatal(err)
	}
	if at, ok := l.CheckpointTime(); !ok || at.Before(before) || at.After(time.Now().Add(time.Minute)) {
		t.Errorf("it is from %v, %v", at, ok)
	}
}

func TestRepeated(t *testing.T) {
	for content, want := range map[string][]int64{
		"": nil, text(0, 1, 2): nil, text(0, 1, 1, 2, 0): {3, 5},
		text(0) + `{"seq":0}` + "\n" + text(0) + "bad\nbad\n": {3},
	} {
		l := logWith(t, content, store.Options{})
		copies, err := store.Repeated(testContext(t), l.Read)
		if err != nil || len(copies) != len(want) {
			t.Errorf("%q: %v, want %v, error %v", content, copies, want, err)
		}
		for _, number := range want {
			if !copies[number] {
				t.Errorf("%q: line %d is missing in %v", content, number, copies)
			}
		}
	}
}
