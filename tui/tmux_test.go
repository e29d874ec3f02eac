//go:build !windows

package tui

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tmux is a shell in a terminal that tmux keeps.
type tmux struct {
	*testing.T
	socket, dir string
}

// startTmux starts a shell of 100×30 and waits until it answers.
func startTmux(t *testing.T) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: the scenarios in it are not run")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no shell with job control")
	}
	dir, err := os.MkdirTemp("", "t") //nolint:usetesting // a short path: sockets have a limit
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	tm := &tmux{T: t, socket: filepath.Join(dir, "s"), dir: dir}
	tm.call("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30",
		"env", "-i", child+"=plain", "GORACE=log_path="+filepath.Join(dir, "race"), "TERM=screen-256color", "PATH="+os.Getenv("PATH"), "XDG_STATE_HOME="+dir, "COCKPIT="+os.Args[0], "PS1=$ ",
		bash, "--norc", "--noprofile")
	t.Cleanup(func() { // what the race detector finds goes beside the screen, which is looked at
		reports, _ := filepath.Glob(filepath.Join(dir, "race*"))
		for _, name := range reports {
			report, _ := os.ReadFile(name)
			t.Logf("%s", report)
		}
	})
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", tm.socket, "kill-server").Run() })
	tm.keys("stty -a > "+dir+"/before; echo RE\"ADY\"", "Enter")
	tm.shows("READY")
	return tm
}

func (t *tmux) call(args ...string) string {
	t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", t.socket}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// keys sends text, and keys by their names, as tmux has them.
func (t *tmux) keys(keys ...string) {
	t.Helper()
	t.call(append([]string{"send-keys"}, keys...)...)
}

func (t *tmux) shows(texts ...string) string {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		screen := t.call("capture-pane", "-p")
		missing := ""
		for _, s := range texts {
			if !strings.Contains(screen, s) {
				missing = s
			}
		}
		if missing == "" {
			return screen
		}
		if time.Now().After(deadline) {
			t.Fatalf("never shows %q:\n%s", missing, screen)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// asBefore fails unless the modes of the line and the screen are those from before the cockpit.
func (t *tmux) asBefore() {
	t.Helper()
	t.keys("stty -a > "+t.dir+"/after; echo DO\"NE\"", "Enter")
	screen := t.shows("READY", "DONE")
	if strings.Contains(screen, "Ownership") {
		t.Errorf("the cockpit is still on the screen:\n%s", screen)
	}
	before, err := os.ReadFile(filepath.Join(t.dir, "before"))
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(t.dir, "after"))
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Errorf("the modes of the line were\n%sand are\n%s", before, after)
	}
}

func TestTmuxActAndQuit(t *testing.T) {
	tm := startTmux(t)
	tm.keys(`"$COCKPIT"`, "Enter")
	tm.shows("1 Ownership", "live")
	tm.keys("c")
	tm.shows("Claim ")
	tm.keys("src/tmux", "Enter")
	tm.shows("user holds src/tmux")
	tm.call("resize-window", "-x", "80", "-y", "24")
	tm.shows("8 Agents", "user holds src/tmux")
	tm.keys(":status", "Enter")
	tm.shows("all is well")
	tm.keys("Escape")
	tm.call("resize-window", "-x", "100", "-y", "30")
	tm.shows(" loadout  ") // as it says from 100 columns on: the terminal is as wide as before
	tm.keys("q")
	tm.shows("bye")
	tm.asBefore()
}

func TestTmuxSuspendAndContinue(t *testing.T) {
	tm := startTmux(t)
	tm.keys(`"$COCKPIT"`, "Enter")
	tm.shows("1 Ownership", "live")
	tm.keys("C-z")
	tm.shows("READY", "Stopped")
	tm.call("resize-window", "-x", "80", "-y", "24")
	tm.keys("fg", "Enter")
	tm.shows("1 Ownership", "live", "8 Agents ─") // as it is at 80×24
	tm.call("resize-window", "-x", "100", "-y", "30")
	tm.shows(" loadout  ")
	tm.keys("q")
	tm.shows("bye")
	tm.asBefore()
}

func TestTmuxTerminated(t *testing.T) {
	for _, signal := range []string{"TERM", "HUP"} {
		t.Run(signal, func(t *testing.T) {
			tm := startTmux(t)
			tm.keys(`"$COCKPIT" & fg`, "Enter")
			tm.shows("1 Ownership", "live")
			out, err := exec.Command("pkill", "-"+signal, "-P", strings.TrimSpace(tm.call("display-message", "-p", "#{pane_pid}"))).CombinedOutput()
			if err != nil {
				t.Skipf("cannot send a signal: %v %s", err, out)
			}
			tm.shows("READY", "context canceled")
			tm.asBefore()
		})
	}
}
