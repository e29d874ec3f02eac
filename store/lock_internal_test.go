package store

import (
	"testing"
	"time"
)

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
