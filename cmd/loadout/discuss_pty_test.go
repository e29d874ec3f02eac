//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// onTerminal is a program on a terminal of its own, with all that it has shown.
type onTerminal struct {
	*testing.T
	tty   *os.File
	shown bytes.Buffer
}

func (o *onTerminal) until(text string) {
	o.Helper()
	buf := make([]byte, 4096)
	for !strings.Contains(o.shown.String(), text) {
		n, err := o.tty.Read(buf)
		if err != nil {
			o.Fatalf("waited in vain for %q: %v\n%q", text, err, o.shown.String())
		}
		o.shown.Write(buf[:n])
	}
}

func (o *onTerminal) press(keys string) {
	o.Helper()
	if _, err := io.WriteString(o.tty, keys); err != nil {
		o.Fatal(err)
	}
}

// TestADiscussionOnATerminal is asked for, refused, asked for again, watched, and left.
func TestADiscussionOnATerminal(t *testing.T) {
	dir := t.TempDir()
	for _, answer := range []string{"n", "y"} {
		cmd := program(t.Context(), t, dir, "coord", "discuss", "start", "Queue or cron?", "--agents", "sim,sim", "--rounds", "1", "--thread-id", "queue")
		cmd.Env = append(cmd.Environ(), "TERM=xterm-256color")
		tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
		if err != nil {
			t.Fatal(err)
		}
		o := &onTerminal{T: t, tty: tty}
		o.until("3 paid turns: sim proposes, sim reviews")
		o.until("Go on? [y/N] ")
		o.press(answer + "\r")
		if answer == "n" {
			o.until("not confirmed; nothing was spent")
			if code := codeOf(t, cmd.Wait()); code != exitUsage {
				t.Errorf("exit %d", code)
			}
			if _, err := os.Stat(filepath.Join(dir, ".handoff", "coordination.jsonl")); err == nil {
				t.Error("something was stored")
			}
		} else {
			o.until("\x1b[?1049h") // it is drawn
			o.until("turn 3/3")
			o.until("closed")
			o.press("q")
			o.until("\x1b[?1049l")
			o.until("3 turns used") // told on the terminal as it was before
			if code := codeOf(t, cmd.Wait()); code != exitDone {
				t.Errorf("exit %d", code)
			}
		}
		_ = tty.Close()
	}
}
