package store

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// TestEndTurnWaitsForTheWriter: the timer that gives a kept lock back can ring while the goroutine that has kept it still has the
// writer's place. Nobody would give the lock back after that.
func TestEndTurnWaitsForTheWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), DirName)
	synctest.Test(t, func(t *testing.T) {
		busy, other := Open(dir, Options{}), Open(dir, Options{LockWait: -1})
		if _, err := busy.makeDir(); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second one comes right after the first, so the lock is kept
			release, err := busy.lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if busy.turn.run {
				if err := busy.giveBack(); err != nil || !busy.turn.keeps {
					t.Fatalf("the lock is not kept: %v", err)
				}
				time.Sleep(2 * turnGap) // the timer rings
				synctest.Wait()
				<-busy.writer // as release ends
				continue
			}
			if err := release(); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		release, err := other.lock(t.Context())
		if err != nil {
			t.Fatalf("the lock was kept for nobody: %v", err)
		}
		if err := release(); err != nil {
			t.Fatal(err)
		}
	})
}

// A run of writes keeps the lock in turns of turnTime; single writes do not.
func TestTurn(t *testing.T) {
	var u turn
	now := time.Unix(1, 0)
	given := 0 // back
	write := func(gap, wait time.Duration) {
		now = now.Add(gap)
		u.next(now)
		if !u.keeps {
			now = now.Add(wait)
			u.began = now
		}
		now = now.Add(500 * time.Microsecond)
		if u.keeps = u.goesOn(now); !u.keeps {
			given++
		}
	}
	const writes = 1000
	for range writes { // others have their turns in between
		write(100*time.Microsecond, 300*time.Millisecond)
	}
	turns := int(writes * 600 * time.Microsecond / turnTime)
	if given < turns/2 || given > turns+2 {
		t.Errorf("the lock was given back %d times in %d turns", given, turns)
	}
	given = 0
	for range writes {
		u.keeps = false // as endTurn does
		write(2*turnGap, 0)
	}
	if given != writes {
		t.Errorf("after %d single writes the lock was kept %d times", writes, writes-given)
	}
}
