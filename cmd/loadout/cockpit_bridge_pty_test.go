//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
)

// cockpitOn opens the bridge pane on a terminal, with the person's own settings.
func cockpitOn(t *testing.T, dir, settings string) (*onTerminal, *exec.Cmd) {
	t.Helper()
	cmd := program(t.Context(), t, dir, "tui", "--pane", "bridge")
	config := t.TempDir()
	file := filepath.Join(config, "loadout", "config.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(settings), 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+config)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 160})
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // what waits for it then fails
	t.Cleanup(func() {
		late.Stop()
		_ = tty.Close()
	})
	return &onTerminal{T: t, tty: tty}, cmd
}

// begin starts the bridge from the pane.
func (o *onTerminal) begin() {
	o.Helper()
	o.until("not running")
	o.press("B")
	o.until("see what that means")
	o.press("\r")
	o.until(" may: ")
	o.press("\r")
	o.until("runs here")
}

func view(t *testing.T, dir string) *engine.View {
	t.Helper()
	v, err := opened(dir).View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// nothingRuns fails unless the project has neither a bridge nor a turn that runs.
func nothingRuns(t *testing.T, dir string) {
	t.Helper()
	v := view(t, dir)
	for _, turn := range v.State.OpenTurns() {
		if turn.Status == state.TurnRunning {
			t.Errorf("it still runs: %+v", turn)
		}
	}
	if holder, err := opened(dir).BridgeHolder(t.Context()); err != nil || holder != nil || v.State.Bridge().Open {
		t.Errorf("a bridge is there: %v, %v, %+v", holder, err, v.State.Bridge())
	}
}

func TestABridgeInTheCockpit(t *testing.T) {
	dir := t.TempDir()
	inProcess(t, dir, "coord", "agents", "start", "sim")
	o, cmd := cockpitOn(t, dir, `{"providers": {"sim": {"permissions": {"mode": "slow"}}}}`)
	o.begin()
	inProcess(t, dir, "coord", "own", "codex", "src")
	o.until("[scripted] Turn")
	for limit := time.Now().Add(patience); view(t, dir).State.Meter("sim").Delivered == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("no message was delivered")
		}
	}
	o.press("m") // the bridge is selected, and no session
	o.until("choose a session first")
	o.press("B")
	o.until("Stop the bridge?")
	o.press("\r")
	o.until("the bridge has ended")
	o.press("q")
	if code := codeOf(t, cmd.Wait()); code != exitDone {
		t.Errorf("exit %d", code)
	}
	nothingRuns(t, dir)
	if m := view(t, dir).State.Meter("sim"); m.Turns != 2 || m.Delivered != 1 || m.Failed != 0 {
		t.Errorf("%+v", m)
	}
}

// TestTheEndLeavesNoProgram ends a cockpit while a program that never answers, and what it has started, run.
func TestTheEndLeavesNoProgram(t *testing.T) {
	for name, end := range map[string]struct {
		by   func(o *onTerminal, cmd *exec.Cmd)
		code int
	}{
		"asked": {func(o *onTerminal, _ *exec.Cmd) {
			o.press("q")
			o.until("This cockpit makes turns: the bridge.")
			o.press("\r")
		}, exitDone},
		"at once": {func(o *onTerminal, _ *exec.Cmd) { o.press("\x03\x03") }, exitDone},
		"signal":  {func(_ *onTerminal, cmd *exec.Cmd) { _ = cmd.Process.Signal(syscall.SIGTERM) }, exitInterrupted},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			pids, script := filepath.Join(dir, "pids"), filepath.Join(dir, "claude")
			text := "#!/bin/sh\nsleep 300 & echo $$ $! >" + pids + ".new\nmv " + pids + ".new " + pids + "\nwait\n"
			if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
				t.Fatal(err)
			}
			inProcess(t, dir, "coord", "agents", "attach", "claude-code:3f1c2a4e-0000-4000-8000-000000000000")
			o, cmd := cockpitOn(t, dir, `{"providers": {"claude-code": {"command": [`+strconv.Quote(script)+`]}}}`)
			o.begin()
			inProcess(t, dir, "coord", "own", "codex", "src")
			o.until("has said nothing yet")
			var started []byte
			for started == nil {
				started, _ = os.ReadFile(pids)
				time.Sleep(time.Millisecond)
			}
			end.by(o, cmd)
			o.until("\x1b[?1049l")
			if code := codeOf(t, cmd.Wait()); code != end.code {
				t.Errorf("exit %d", code)
			}
			for _, pid := range strings.Fields(string(started)) {
				// What is dead and was not collected by its new parent is no program any more. ps fails for a process that there is not.
				if stat, err := exec.CommandContext(t.Context(), "ps", "-o", "stat=", "-p", pid).Output(); err == nil && !bytes.HasPrefix(bytes.TrimSpace(stat), []byte("Z")) {
					t.Errorf("process %s is left: %s", pid, stat)
				}
			}
			nothingRuns(t, dir)
		})
	}
}
