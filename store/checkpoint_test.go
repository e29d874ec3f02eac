package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/store"
)

const version = "test 1"

// checkpointed returns a log with n lines and a checkpoint at its end.
func checkpointed(t testing.TB, n int) (*store.Log, store.Checkpoint) {
	t.Helper()
	dir, _ := writeLog(t, n)
	l := store.Open(dir, store.Options{})
	c := checkpointOf(t, l)
	if err := l.SaveCheckpoint(c); err != nil {
		t.Fatal(err)
	}
	return l, c
}

func checkpointOf(t testing.TB, l *store.Log) store.Checkpoint {
	t.Helper()
	c := store.Checkpoint{Version: version}
	var err error
	c.Pos, err = l.Read(testContext(t), store.Position{}, func(b store.Batch) error {
		c.Index.Observe(b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.State = fmt.Appendf(nil, "state of\n%d lines\x00", c.Pos.Lines)
	return c
}

func checkpointPath(l *store.Log) string { return filepath.Join(l.Dir(), "cache", "checkpoint") }

func TestCheckpoint(t *testing.T) {
	l, want := checkpointed(t, 2000)
	appendRaw(t, l.Path(), text(2000, 2001))
	got, err := l.LoadCheckpoint(version)
	if err != nil {
		t.Fatal(err)
	}
	if got.Version != version || got.Pos != want.Pos || !bytes.Equal(got.State, want.State) || got.Index.Before(1500) != want.Index.Before(1500) {
		t.Fatalf("got %+v, want %+v", got, want)
	}
	if lines, _ := read(t, l, got.Pos); len(lines) != 2 {
		t.Fatalf("%d lines after it", len(lines))
	}
	for _, path := range []string{checkpointPath(l), filepath.Dir(checkpointPath(l))} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
	}
	if names := entries(t, l); len(names) != 2 { // the log and the cache, no lock
		t.Errorf("directory has %v", names)
	}
}

func TestCheckpointEmpty(t *testing.T) {
	l := logWith(t, "", store.Options{})
	if err := l.SaveCheckpoint(store.Checkpoint{Version: version}); err != nil {
		t.Fatal(err)
	}
	if c, err := l.LoadCheckpoint(version); err != nil || c.Pos.Offset != 0 || len(c.State) != 0 {
		t.Fatalf("%+v %v", c, err)
	}
}

func TestCheckpointNotUsable(t *testing.T) {
	for name, test := range map[string]struct {
		change func(t *testing.T, l *store.Log)
		want   error
	}{
		"none":            {func(t *testing.T, l *store.Log) { remove(t, checkpointPath(l)) }, store.ErrNoCheckpoint},
		"log deleted":     {func(t *testing.T, l *store.Log) { remove(t, l.Path()) }, store.ErrMissing},
		"log cut":         {func(t *testing.T, l *store.Log) { truncate(t, l.Path(), 100) }, store.ErrReplaced},
		"log emptied":     {func(t *testing.T, l *store.Log) { truncate(t, l.Path(), 0) }, store.ErrReplaced},
		"checkpoint cut":  {func(t *testing.T, l *store.Log) { truncate(t, checkpointPath(l), 200) }, store.ErrDamaged},
		"emptied":         {func(t *testing.T, l *store.Log) { truncate(t, checkpointPath(l), 0) }, store.ErrDamaged},
		"one bit flipped": {func(t *testing.T, l *store.Log) { flip(t, checkpointPath(l), -3) }, store.ErrDamaged},
		"header changed":  {func(t *testing.T, l *store.Log) { flip(t, checkpointPath(l), 60) }, store.ErrDamaged},
		"nonsense":        {func(t *testing.T, l *store.Log) { writeFile(t, checkpointPath(l), "nonsense\n") }, store.ErrDamaged},
		"last line changed in place": {func(t *testing.T, l *store.Log) {
			flip(t, l.Path(), -30)
		}, store.ErrReplaced},
		"first line changed in place": {func(t *testing.T, l *store.Log) { flip(t, l.Path(), 10) }, store.ErrReplaced},
		"copied back": {func(t *testing.T, l *store.Log) {
			keepInode(t, l.Path())
			copied := readFile(t, l.Path())
			remove(t, l.Path())
			writeFile(t, l.Path(), copied)
		}, store.ErrReplaced},
		"compacted": {func(t *testing.T, l *store.Log) {
			if _, err := rewrite(t, l, 190); err != nil {
				t.Fatal(err)
			}
		}, store.ErrReplaced},
		"link": {func(t *testing.T, l *store.Log) {
			rename(t, checkpointPath(l), checkpointPath(l)+".x")
			symlink(t, checkpointPath(l)+".x", checkpointPath(l))
		}, store.ErrUnsafe},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := checkpointed(t, 200)
			test.change(t, l)
			c, err := l.LoadCheckpoint(version)
			wantError(t, err, test.want)
			if c.State != nil {
				t.Fatal("a state was returned")
			}
		})
	}
	t.Run("other version", func(t *testing.T) {
		l, _ := checkpointed(t, 10)
		_, err := l.LoadCheckpoint("test 2")
		wantError(t, err, store.ErrVersion)
		if !strings.Contains(err.Error(), version) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("no log to save for", func(t *testing.T) {
		l, c := checkpointed(t, 10)
		remove(t, l.Path())
		wantError(t, l.SaveCheckpoint(c), store.ErrMissing)
	})
	t.Run("position of another log", func(t *testing.T) {
		l, c := checkpointed(t, 10)
		c.Pos.Tail = "x"
		wantError(t, l.SaveCheckpoint(c), store.ErrReplaced)
	})
}

func truncate(t testing.TB, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// flip changes one byte of a file in place; a negative offset is from its end.
func flip(t testing.TB, path string, offset int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if offset < 0 {
		offset += info.Size()
	}
	var b [1]byte
	if _, err = f.ReadAt(b[:], offset); err == nil {
		b[0] ^= 1
		_, err = f.WriteAt(b[:], offset)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestMarks(t *testing.T) {
	l := logWith(t, "", store.Options{})
	if _, err := l.LoadMark(100, version); err == nil {
		t.Fatal("a mark was found")
	}
	const step, n = 10, 180
	for i := range int64(n) {
		appendRaw(t, l.Path(), text(i*step))
		c := checkpointOf(t, l)
		if err := l.SaveMark(i*step, c); err != nil {
			t.Fatal(err)
		}
	}
	marks, err := os.ReadDir(filepath.Join(l.Dir(), "cache"))
	if err != nil || len(marks) != 128 {
		t.Fatalf("%d marks, error %v", len(marks), err)
	}
	widest := int64(0)
	for seq := int64(0); seq < n*step; seq += 7 {
		c, err := l.LoadMark(seq, version)
		if err != nil || c.Pos.MaxSeq > seq {
			t.Fatalf("mark for %d is at %d, error %v", seq, c.Pos.MaxSeq, err)
		}
		widest = max(widest, seq-c.Pos.MaxSeq)
	}
	if widest > 8*step {
		t.Errorf("up to %d numbers lie between a mark and a place", widest)
	}
	if c, err := l.LoadMark(n*step+100, version); err != nil || c.Pos.MaxSeq != (n-1)*step {
		t.Errorf("the newest mark is at %d, error %v", c.Pos.MaxSeq, err)
	}
	flip(t, filepath.Join(l.Dir(), "cache", fmt.Sprintf("mark-%d", (n-1)*step)), -1)
	if c, err := l.LoadMark(n*step, version); err != nil || c.Pos.MaxSeq >= (n-1)*step {
		t.Errorf("instead of a damaged mark the one at %d, error %v", c.Pos.MaxSeq, err)
	}
	if _, err := rewrite(t, l, 1000); err != nil {
		t.Fatal(err)
	}
	_, err = l.LoadMark(n*step, version)
	wantError(t, err, store.ErrNoCheckpoint)
}

// BenchmarkLoadCheckpoint must cost the same whatever the size of the log.
func BenchmarkLoadCheckpoint(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l, _ := checkpointed(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.LoadCheckpoint(version); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
