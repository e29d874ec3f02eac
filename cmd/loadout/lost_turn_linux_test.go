package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKilledTurnLeavesNothing kills loadout in the middle of a turn, so that nobody can end the agent's program: whoever looks at the
// turns next does.
func TestKilledTurnLeavesNothing(t *testing.T) {
	dir, config := t.TempDir(), t.TempDir()
	note := filepath.Join(dir, "note")
	script := filepath.Join(dir, "claude.sh")
	settings := map[string]any{"providers": map[string]any{"claude-code": map[string]any{"command": []string{"/bin/sh", script}}}}
	data, err := json.Marshal(settings)
	if err == nil {
		err = os.Mkdir(filepath.Join(config, "loadout"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(config, "loadout", "config.json"), data, 0o600)
	}
	if err == nil {
		// It leaves another process in a session of its own behind, and reads no more.
		err = os.WriteFile(script, []byte("setsid sleep 60 &\necho $! $$ >"+note+".new; mv "+note+".new "+note+"; exec sleep 60\n"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	loadout := func(args ...string) string {
		t.Helper()
		cmd := program(t.Context(), t, dir, args...)
		cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+config)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
		return string(out)
	}
	loadout("coord", "agents", "attach", "claude-code:0199a0f3-1111-7222-8333-444455556666")
	sending := program(t.Context(), t, dir, "coord", "agents", "send", "claude-code", "hello")
	sending.Env = append(sending.Env, "XDG_CONFIG_HOME="+config)
	if err := sending.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []string
	until(t, func() bool {
		said, err := os.ReadFile(note)
		pids = strings.Fields(string(said))
		return err == nil
	})
	if err := sending.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = sending.Wait() // it was killed
	for _, pid := range pids {
		if !lives(pid) {
			t.Fatalf("process %s has ended by itself", pid)
		}
	}
	if out := loadout("coord", "agents", "list", "--all"); !strings.Contains(out, "uncertain") {
		t.Errorf("listed: %s", out)
	}
	for _, pid := range pids {
		if lives(pid) {
			t.Errorf("process %s of %s was left behind", pid, pids)
			if n, err := strconv.Atoi(pid); err == nil {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
	}
}

// lives reports whether a process runs: one that only waits for its parent to read the exit status does not.
func lives(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// until waits for what another process does.
func until(t *testing.T, ok func() bool) {
	t.Helper()
	limit := time.After(20 * time.Second)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-limit:
			t.Fatal("what the test waits for did not happen")
		}
	}
}
