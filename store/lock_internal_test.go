package store

import (
	"testing"
	"time"
)

// A run of writes keeps the lock in turns of turnTime; single writes do not.
func TestTurn(t *testing.T) {
	var u turn
	now := time.Unix(1, 0)
	held := false // the lock, from one write to the next
	given := 0    // back
	write := func(gap time.Duration) {
		now = now.Add(gap)
		if !held {
			u.take(now)
		}
		now = now.Add(500 * time.Microsecond)
		if held = u.goesOn(now); !held {
			given++
		}
	}
	const writes = 1000
	for range writes {
		write(100 * time.Microsecond)
	}
	// The first write of a turn gives the lock back as a single one would.
	turns := int(writes * 600 * time.Microsecond / turnTime)
	if given < turns || given > 2*turns+2 {
		t.Errorf("the lock was given back %d times in %d turns", given, turns)
	}
	if held {
		write(0)
	}
	given = 0
	for range writes {
		held = false // as endTurn does
		write(2 * turnGap)
	}
	if given != writes {
		t.Errorf("after %d single writes the lock was kept %d times", writes, writes-given)
	}
}
