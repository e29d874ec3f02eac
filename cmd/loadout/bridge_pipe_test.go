package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
)

// TestNobodyReadsTheBridge any more: it ends in order, with the turn that it has begun.
func TestNobodyReadsTheBridge(t *testing.T) {
	for _, further := range [][]string{nil, {"--json"}} {
		dir := t.TempDir()
		for _, args := range [][]string{{"coord", "agents", "start", "sim"}, {"coord", "ask", "sim", "Cents?"}} {
			if out, err := program(t.Context(), t, dir, args...).CombinedOutput(); err != nil {
				t.Fatalf("%q: %v: %s", args, err, out)
			}
		}
		bridge := program(t.Context(), t, dir, append([]string{"coord", "agents", "bridge", "sim", "--from", "0", "--mode", "hang"}, further...)...)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		bridge.Stdout = w
		if err := errors.Join(bridge.Start(), w.Close()); err != nil {
			t.Fatal(err)
		}
		first, err := bufio.NewReader(r).ReadString('\n')
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatalf("%q, %v", first, err)
		}
		err = bridge.Wait()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != exitUnexpected {
			t.Errorf("%q: ended with %v", further, err)
		}
		e := engine.Open(engine.Project{Root: dir, Dir: filepath.Join(dir, ".handoff")}, engine.Options{})
		v, err := e.View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range v.State.OpenTurns() {
			if turn.Status == state.TurnRunning {
				t.Errorf("%q: it left %+v", further, turn)
			}
		}
		if v.State.Bridge().Open || !strings.Contains(first, "sim") {
			t.Errorf("%q: it said %q and left %+v", further, first, v.State.Bridge())
		}
	}
}
