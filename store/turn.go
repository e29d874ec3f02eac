package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Of the processes that write again and again, a few do so at a time, in turns: so
// many that one of them syncs while another one writes, and so few that they do not
// keep each other from the processor. A single write waits for no turn.
const (
	turns     = 3
	turnTime  = 20 * time.Millisecond
	turnGap   = time.Millisecond       // a longer one between two writes ends a run of them
	turnCheck = 5 * time.Millisecond   // how often it is looked whether the run has ended: a timer for each write costs too much
	turnPause = 500 * time.Microsecond // after a turn: the system only wakes who is first in the queue, and the turn is for whoever takes it
	turnWait  = time.Second            // who waits for longer writes without
)

// turn is the part of a process in the turns. Whoever has the writer's place uses it.
type turn struct {
	log   *Log
	files []*lockFile // each is one turn at a time; the first is waited for
	held  *lockFile   // nil: none
	began time.Time   // when it was taken
	ended time.Time   // when the last write had ended
	check *time.Timer // looks at the turn
}

// begin makes sure that a write which comes right after another one is part of a turn, unless that takes too long, and reports whether
// a turn was waited for. Turns only save time, so whatever keeps them from being taken is no error.
func (t *turn) begin(ctx context.Context) (waited bool) {
	now := time.Now()
	if now.Sub(t.ended) > turnGap {
		return false
	}
	if t.held != nil {
		if now.Sub(t.began) < turnTime {
			return false
		}
		t.giveBack()
		time.Sleep(turnPause)
	}
	if t.files == nil && !t.prepare() {
		return false
	}
	for _, f := range t.files {
		if f.acquire(ctx, 0) == nil {
			t.held = f
			break
		}
	}
	if f := t.files[0]; t.held == nil {
		if f.acquire(ctx, min(turnWait, t.log.options.LockWait/2)) == nil {
			t.held = f
		} else { // whoever has it may be stopped
			t.files = append(t.files[1:], f)
		}
	}
	t.began = time.Now()
	switch {
	case t.held == nil:
	case t.check == nil:
		t.check = time.AfterFunc(turnCheck, t.expire)
	default:
		t.check.Reset(turnCheck)
	}
	return true
}

// prepare makes the folder of the lock files.
func (t *turn) prepare() bool {
	for i := range turns { // each process begins with another one
		path, err := t.log.prepareFile(filepath.Join("cache", fmt.Sprint("turn", (os.Getpid()+i)%turns)))
		if err != nil {
			t.files = nil
			return false
		}
		t.files = append(t.files, t.log.newLockFile(path, t.log.options.Command))
	}
	return true
}

// expire gives a turn back when no write has come for a while.
func (t *turn) expire() {
	t.log.writer <- struct{}{}
	defer func() { <-t.log.writer }()
	switch {
	case t.held == nil:
	case time.Since(t.ended) < turnGap:
		t.check.Reset(turnCheck)
	default:
		t.giveBack()
	}
}

func (t *turn) giveBack() {
	_ = t.held.release() // a file that was closed has given it back
	t.held = nil
}
