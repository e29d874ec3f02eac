package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKilledTurnLeavesNothing kills loadout in the middle of a turn, so that nobody can end the agent's program: whoever looks at the
// turns next does, and the kill switch.
func TestKilledTurnLeavesNothing(t *testing.T) {
	for _, ends := range [][]string{{"coord", "agents", "list"}, {"kill", "enough"}} {
		t.Run(ends[0], func(t *testing.T) {
			leavesNothing(t, func(_ string, loadout func(args ...string) string) { loadout(ends...) })
		})
	}
	t.Run("cockpit", func(t *testing.T) {
		leavesNothing(t, func(dir string, _ func(args ...string) string) {
			o, cmd := cockpitOn(t, dir, "{}")
			o.until("not running")
			o.press("K")
			o.until("Halt everything")
			o.press("enough\r")
			o.until("A turn of claude-code was lost")
			o.press("\x03")
			if code := codeOf(t, cmd.Wait()); code != exitDone {
				t.Errorf("exit %d", code)
			}
		})
	})
}

// leavesNothing kills loadout in the middle of a turn and has something end what that left running.
func leavesNothing(t *testing.T, ends func(dir string, loadout func(args ...string) string)) {
	t.Helper()
	dir := t.TempDir()
	note := filepath.Join(dir, "note")
	// It leaves another process in a session of its own behind, and reads no more.
	start := claudeScript(t, dir, "setsid sleep 60 &\necho $! $$ >"+note+".new; mv "+note+".new "+note+"; exec sleep 60\n")
	loadout := func(args ...string) string {
		t.Helper()
		out, err := start(args...).Output()
		if err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
		return string(out)
	}
	loadout("coord", "agents", "attach", "claude-code:0199a0f3-1111-7222-8333-444455556666")
	sending := start("coord", "agents", "send", "claude-code", "hello")
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
	ends(dir, loadout)
	for _, pid := range pids {
		if lives(pid) {
			t.Errorf("process %s of %s was left behind", pid, pids)
			if n, err := strconv.Atoi(pid); err == nil {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
	}
	if out := loadout("coord", "agents", "list", "--all"); !strings.Contains(out, "uncertain") {
		t.Errorf("listed: %s", out)
	}
}

// claudeScript makes a shell script the claude-code of a project, and returns what starts loadout there.
func claudeScript(t *testing.T, dir, text string) (start func(args ...string) *exec.Cmd) {
	t.Helper()
	config := t.TempDir()
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
		err = os.WriteFile(script, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func(args ...string) *exec.Cmd {
		cmd := program(t.Context(), t, dir, args...)
		cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+config)
		return cmd
	}
}

// TestUnrecordedAnswer has a turn answered whose end cannot be recorded: the answer is printed all the same, and the verb fails.
func TestUnrecordedAnswer(t *testing.T) {
	dir := t.TempDir()
	start := claudeScript(t, dir, `echo damaged >.handoff/sessions.json
for last; do if [ "$flag" = --resume ]; then id=$last; fi; flag=$last; done
echo '{"type":"system","subtype":"init","session_id":"'$id'","tools":[],"mcp_servers":[]}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"Well, noted.","session_id":"'$id'"}'
`)
	const session = "0199a0f3-1111-7222-8333-444455556666"
	for _, form := range []string{"text", "json"} {
		if err := os.RemoveAll(filepath.Join(dir, ".handoff")); err != nil {
			t.Fatal(err)
		}
		if out, err := start("coord", "agents", "attach", "claude-code:"+session).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		send := start("coord", "agents", "send", "claude-code", "hello")
		if form == "json" {
			send.Args = append(send.Args, "--json")
		}
		var said, noted strings.Builder
		send.Stdout, send.Stderr = &said, &noted
		if code := codeOf(t, send.Run()); code != exitUnexpected {
			t.Errorf("exit %d", code)
		}
		told := noted.String()
		if form == "json" {
			told = said.String()
		}
		if !strings.Contains(said.String(), "Well, noted.") || !strings.Contains(told, "what came of the turn could not be recorded") {
			t.Errorf("%s: %s\n%s", form, &said, &noted)
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
	limit := time.After(patience)
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
