package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/engine/event"
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

// TestUnrecordedStatement has a statement made that cannot be recorded: it is shown all the same, where else it may be kept is told, and
// the verb fails.
func TestUnrecordedStatement(t *testing.T) {
	for _, form := range []string{"text", "json"} {
		t.Run(form, func(t *testing.T) {
			a, stdout, stderr := testApp(t)
			records := filepath.Join(a.dir, ".handoff", engine.SessionsName)
			turns := 0
			a.cast = []turn.Provider{sim.New(sim.Options{Wait: func(context.Context, time.Duration) error {
				if turns++; turns == 2 {
					return os.WriteFile(records, []byte("damaged"), 0o600)
				}
				return nil
			}})}
			argv := []string{"coord", "discuss", "start", "Queue or cron?", "--agents", "sim,sim", "--rounds", "1", "--yes", "--thread-id", "queue"}
			if form == "json" {
				argv = append(argv, "--json")
			}
			if code := run(t.Context(), argv, a); code != exitUnexpected {
				t.Errorf("exit %d", code)
			}
			if told := stderr.String(); !strings.Contains(told, "kept by session sim:sim-") || !strings.Contains(told, "anew by: loadout coord discuss resume queue") {
				t.Errorf("stderr: %s", told)
			}
			const why = "what came of the turn could not be recorded"
			if form == "text" {
				if said := stdout.String(); !strings.Contains(said, "[round 1] sim-2 · critique (not recorded)\n") || !strings.Contains(stderr.String(), why) {
					t.Errorf("%s\n%s", said, stderr)
				}
				return
			}
			var answer struct {
				discuss.Result
				Notes []string `json:"notes"`
			}
			if err := json.Unmarshal(stdout.Bytes(), &answer); err != nil || len(answer.Notes) != 1 || !strings.Contains(answer.Notes[0], why) {
				t.Fatalf("%v: %s", err, stdout)
			}
			if u := answer.Unrecorded; u == nil || u.Agent != "sim-2" || u.Kind != event.KindCritique || u.Text == "" || answer.TurnsUsed != 2 {
				t.Errorf("%s", stdout)
			}
		})
	}
}
