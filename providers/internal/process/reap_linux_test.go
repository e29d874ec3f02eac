package process

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/internal/misbehave"
)

// TestReapEndsWhatOneTurnLeft starts programs of two turns. One is ended with all that it started, by a process that runs on its behalf.
func TestReapEndsWhatOneTurnLeft(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begin := func(how, mark string, processes int) (p *Process, note string) {
		c, note := bad(t, how)
		c.Mark = mark
		p, err := Start(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		p.Stdin.Close()
		go func() { _, _ = readAllFrom(p) }()
		await(t, func() bool { pids, _ := misbehave.Noted(note); return len(pids) == processes })
		return p, note
	}
	lost := turn.Mark("/project", "lost")
	daemons, daemonsNote := begin(misbehave.OwnSession, lost, 3)
	bare, bareNote := begin(misbehave.Bare, lost, 2)
	copied, _ := begin(misbehave.Hang, turn.Mark("/copy", "lost"), 1)
	other, _ := begin(misbehave.Hang, turn.Mark("/project", "lost2"), 1)

	reaper, err := Run(t.Context(), Command{Path: os.Args[0], Env: []string{"TEST_REAP=" + lost}, Mark: lost, Deadline: time.Minute}, "", nil)
	if err != nil || reaper.Code != 0 || reaper.Signal != "" {
		t.Errorf("the process that reaps: %+v, %v", reaper, err)
	}
	for _, p := range []*Process{daemons, bare} {
		if r := p.Wait(); r.End != Exited || r.Signal != "killed" {
			t.Errorf("ended by itself: %+v", r)
		}
	}
	allEnded(t, daemonsNote)
	allEnded(t, bareNote)
	for _, p := range []*Process{copied, other} {
		if _, alive := lookUp(p.cmd.Process.Pid); !alive {
			t.Error("the program of another turn was ended")
		}
		p.Kill()
		p.Wait()
	}
}
