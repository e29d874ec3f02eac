package main

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/providers/sim"
)

// TestTheCockpitSeesWhatItsDiscussionSays holds a discussion as the cockpit's command line does.
func TestTheCockpitSeesWhatItsDiscussionSays(t *testing.T) {
	a, _, _ := testApp(t)
	r := newRunner(&call{app: a})
	stage := r.app.stage
	seen := map[string]bool{} // what was being said, at some moment
	r.app.cast = []turn.Provider{sim.New(sim.Options{
		Script: func(_ int, given turn.Turn) sim.Step {
			s := sim.Step{Text: "Use a queue.", Pace: time.Second}
			if given.Schema != nil {
				s.Data = []byte(demoSynthesis)
			}
			return s
		},
		Wait: func(context.Context, time.Duration) error {
			select {
			case <-stage.Changed(): // the turn has begun, or has gone on
			case <-time.After(patience):
				return errors.New("nothing changed")
			}
			l := stage.Live()
			seen[l.Agent+" "+string(l.Step.Kind)+": "+l.Text] = true
			return nil
		},
	})}
	argv := []string{"coord", "discuss", "start", "Queue or cron?", "--agents", "sim,sim", "--rounds", "1", "--yes", "--plain"}
	if err := r.Run(t.Context(), argv, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sim proposal: [scripted] ", "sim proposal: [scripted] Use a ", "sim-2 critique: [scripted] Use ", "sim summary: [scripted] Use a "} {
		if !seen[want] {
			t.Errorf("nobody saw %q", want)
		}
	}
	receive(t, stage.Changed())
	if l := stage.Live(); l.Thread != "" || l.Over {
		t.Errorf("it is over, and shown all the same: %+v", l)
	}
}

// TestOneDiscussionIsOnTheStage at a time: one that is refused because another one is held does not take its place.
func TestOneDiscussionIsOnTheStage(t *testing.T) {
	a, _, _ := testApp(t)
	r := newRunner(&call{app: a})
	argv := []string{"coord", "discuss", "start", "Queue or cron?", "--agents", "sim,sim", "--rounds", "1", "--yes", "--thread-id"}
	asked := false
	r.app.cast = []turn.Provider{sim.New(sim.Options{Wait: func(ctx context.Context, _ time.Duration) error {
		if !asked {
			asked = true
			var locked *engine.LockedError
			if err := r.Run(ctx, append(argv, "second"), &bytes.Buffer{}); !errors.As(err, &locked) {
				t.Errorf("got %v", err)
			}
			if l := r.app.stage.Live(); l.Thread != "first" || l.Agent != "sim" {
				t.Errorf("on the stage is %+v", l)
			}
		}
		return nil
	}})}
	if err := r.Run(t.Context(), append(argv, "first"), &bytes.Buffer{}); err != nil || !asked {
		t.Fatal(err)
	}
}

// deaf is a reader that has gone.
type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestNobodyReadsTheDiscussion any more: it is interrupted, as nobody would see what the next turn is paid for.
func TestNobodyReadsTheDiscussion(t *testing.T) {
	a, _, stderr := testApp(t)
	a.stdout = deaf{}
	argv := []string{"coord", "discuss", "start", "Queue or cron?", "--agents", "sim,sim", "--rounds", "1", "--yes", "--thread-id", "queue"}
	if code := run(t.Context(), argv, a); code != exitUnexpected || !strings.Contains(stderr.String(), "goes on with: loadout coord discuss resume queue") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	e := engine.Open(engine.Project{Root: a.dir, Dir: filepath.Join(a.dir, ".handoff")}, engine.Options{})
	if th, err := discuss.Load(t.Context(), e, "queue"); err != nil || th.Status != discuss.StatusOpen || th.Said > 0 {
		t.Errorf("%v, %+v", err, th.Row)
	}
}
