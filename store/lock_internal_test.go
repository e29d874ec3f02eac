package store

import (
	"testing"
	"time"
)

// Who has waited longer looks more often, until it is clear that somebody holds
// the lock for long; whoever waits spends little on looking.
func TestPause(t *testing.T) {
	looks := 0
	for waited := time.Duration(0); waited < 10*time.Second; looks++ {
		p := pause(waited)
		if p < 100*time.Microsecond || p > 20*time.Millisecond {
			t.Fatalf("pause after %v is %v", waited, p)
		}
		waited += p
	}
	if looks > 3000 {
		t.Errorf("%d looks in ten seconds", looks)
	}
	if young, old := pause(100*time.Millisecond), pause(500*time.Millisecond); old >= young {
		t.Errorf("after 100 ms it is %v, after 500 ms %v", young, old)
	}
}

func TestTurn(t *testing.T) {
	var u turn
	now := time.Unix(1, 0)
	step := func(d time.Duration) bool {
		now = now.Add(d)
		over := u.over(now)
		u.ended = now
		return over
	}
	overs := 0
	for range 1000 { // one write after another
		if step(500 * time.Microsecond) {
			overs++
		}
	}
	if want := int(1000 * 500 * time.Microsecond / turnTime); overs < want-1 || overs > want {
		t.Errorf("%d turns ended, want %d", overs, want)
	}
	for range 1000 { // with gaps
		if step(2 * turnGap) {
			t.Fatal("a writer with gaps was told to step aside")
		}
	}
}
