package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// writeNothing is one update of a log that writes nothing.
func writeNothing(t *testing.T, l *Log) {
	t.Helper()
	if err := l.Update(t.Context(), func(*Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// inRun makes the next write of a log one that comes right after another one, however slow this machine is.
func inRun(l *Log) { l.turn.ended = time.Now().Add(time.Hour) }

// hasTurn reports whether a log has a turn now.
func hasTurn(l *Log) bool {
	l.writer <- struct{}{}
	defer func() { <-l.writer }()
	return l.turn.held != nil
}

// A write that comes right after another one is part of a turn, which is given back when no further one comes. A single write is not.
func TestTurnOfARun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), DirName)
	synctest.Test(t, func(t *testing.T) {
		l := Open(dir, Options{})
		for range 3 {
			writeNothing(t, l)
			if hasTurn(l) {
				t.Fatal("a single write has taken a turn")
			}
			time.Sleep(2 * turnGap)
		}
		for range 3 {
			writeNothing(t, l)
		}
		if !hasTurn(l) {
			t.Fatal("a run of writes has taken no turn")
		}
		time.Sleep(2 * turnCheck)
		synctest.Wait()
		if hasTurn(l) {
			t.Error("the turn was kept for nobody")
		}
	})
}

// The timer that gives a turn back can ring while a write goes on.
func TestTurnDuringAWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), DirName)
	synctest.Test(t, func(t *testing.T) {
		l := Open(dir, Options{})
		writeNothing(t, l)
		writeNothing(t, l)
		if err := l.Update(t.Context(), func(*Tx) error {
			time.Sleep(2 * turnCheck)
			if l.turn.held == nil {
				t.Error("the turn was given back during a write of it")
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * turnCheck)
		synctest.Wait()
		if hasTurn(l) {
			t.Error("the turn was kept for nobody")
		}
	})
}

// Of those that write without a pause, all come to their turn, and give it back.
func TestTurnsAreFew(t *testing.T) {
	const crowd = 3 * turns
	dir := filepath.Join(t.TempDir(), DirName)
	var (
		wg  sync.WaitGroup
		mu  sync.Mutex
		had = map[*Log]bool{}
	)
	for range crowd {
		l := Open(dir, Options{})
		wg.Go(func() {
			for over := false; !over; {
				if err := l.Update(t.Context(), func(*Tx) error {
					mu.Lock()
					defer mu.Unlock()
					if l.turn.held != nil {
						had[l] = true
					}
					over = len(had) == crowd
					return nil
				}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, f := range turnFiles(t, dir) {
		if err := f.acquire(t.Context(), 5*time.Second); err != nil {
			t.Errorf("a turn was not given back: %v", err)
		} else if err := f.release(); err != nil {
			t.Error(err)
		}
	}
}

// turnFiles is the lock file of every turn.
func turnFiles(t *testing.T, dir string) []*lockFile {
	t.Helper()
	l := Open(dir, Options{})
	if !l.turn.prepare() {
		t.Fatal("no turns")
	}
	return l.turn.files
}

// Where all turns are taken a run waits for one, and goes on without when that takes too long: turns exclude nobody.
func TestTurnsExcludeNobody(t *testing.T) {
	dir := filepath.Join(t.TempDir(), DirName)
	l := Open(dir, Options{LockWait: 50 * time.Millisecond})
	writeNothing(t, l)
	for _, f := range turnFiles(t, dir) {
		if err := f.acquire(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.release() }()
	}
	inRun(l)
	writeNothing(t, l)
	if hasTurn(l) {
		t.Error("it has a turn that is somebody else's")
	}
}

// Who has waited for a turn still has time to wait for the lock, and waits for another turn the next time: whoever has that one may
// be stopped.
func TestTurnInVain(t *testing.T) {
	const wait = 200 * time.Millisecond
	dir := filepath.Join(t.TempDir(), DirName)
	var after time.Time // the wait for a turn
	l := Open(dir, Options{LockWait: wait, Waited: func(context.Context, ReadFunc) { after = time.Now() }})
	writeNothing(t, l)
	for _, f := range turnFiles(t, dir) {
		if err := f.acquire(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.release() }()
	}
	if err := Open(dir, Options{}).Update(t.Context(), func(*Tx) error {
		inRun(l)
		err := l.Update(t.Context(), func(*Tx) error { return nil })
		if locked := (*LockedError)(nil); !errors.As(err, &locked) || locked.Waited < wait {
			t.Errorf("error %v", err)
		}
		if after.IsZero() || time.Since(after) < wait/4 {
			t.Error("it has not waited for the lock")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	had := map[string]bool{}
	for range turns {
		had[l.turn.files[0].path] = true
		inRun(l)
		writeNothing(t, l)
	}
	if len(had) != turns {
		t.Errorf("it waits for %v only", had)
	}
}

// What keeps turns from being taken keeps nobody from writing.
func TestNoTurns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), DirName)
	l := Open(dir, Options{FS: noCache{OS()}})
	writeNothing(t, l)
	inRun(l)
	writeNothing(t, l)
}

type noCache struct{ FS }

func (noCache) Lstat(name string) (fs.FileInfo, error) {
	if filepath.Base(name) == "cache" {
		return nil, errors.New("no")
	}
	return OS().Lstat(name)
}

// What somebody has put where the turns lie is not used, and keeps nobody from writing.
func TestPlantedTurns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), DirName)
	elsewhere := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(elsewhere, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := Open(dir, Options{LockWait: 50 * time.Millisecond})
	for i, f := range turnFiles(t, dir) {
		if i > 0 {
			if err := os.Mkdir(f.path, 0o700); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Symlink(elsewhere, f.path); err != nil {
			t.Skipf("skipped: no symbolic links can be made: %v", err)
		}
	}
	for range 3 {
		inRun(l)
		writeNothing(t, l)
	}
	if hasTurn(l) {
		t.Error("it uses what was planted")
	}
}
