//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestHeadlessVerbsLeaveTheTerminalAlone runs verbs on a terminal that answers nothing. A linked library would ask it for its
// colours and wait five seconds; tui/noprobe keeps it from that.
func TestHeadlessVerbsLeaveTheTerminalAlone(t *testing.T) {
	for _, args := range [][]string{
		{"version"},
		{"coord", "own", "codex", "src"},
		{"status", "--no-color"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			dir, started := t.TempDir(), time.Now()
			want, err := program(t.Context(), t, dir, args...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, want)
			}
			usual := time.Since(started)
			// The same again on a terminal, in a project of its own.
			dir = t.TempDir()
			cmd := program(t.Context(), t, dir, args...)
			started = time.Now()
			tty, err := pty.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			_, err = io.Copy(&got, tty) // Linux ends a terminal without a process with EIO
			if err != nil && !isEIO(err) {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			_ = tty.Close()
			if took := time.Since(started); took > usual+4*time.Second {
				t.Errorf("took %v, %v elsewhere", took, usual)
			}
			if bytes.ContainsRune(got.Bytes(), '\x1b') {
				t.Errorf("an escape character was sent: %q", got.String())
			}
			if text := strings.ReplaceAll(got.String(), "\r\n", "\n"); shape(text) != shape(string(want)) {
				t.Errorf("on a terminal: %q\nelsewhere: %q", text, want)
			}
		})
	}
}

// shape is text without what differs from run to run: the temporary directory.
func shape(text string) string {
	words := strings.Fields(text)
	words = slices.DeleteFunc(words, func(w string) bool { return strings.Contains(w, os.TempDir()) })
	return strings.Join(words, " ")
}

func isEIO(err error) bool {
	return strings.Contains(err.Error(), syscall.EIO.Error())
}

// TestInterruptedIs130 interrupts a claim that waits.
func TestInterruptedIs130(t *testing.T) {
	dir := t.TempDir()
	inProcess(t, dir, "coord", "own", "claude-code", "src")
	cmd := program(t.Context(), t, dir, "coord", "own", "codex", "src", "--wait", "1m")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, len("waiting for claude-code"))
	if _, err := io.ReadFull(stderr, first); err != nil || string(first) != "waiting for claude-code" {
		t.Errorf("%q, %v", first, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, stderr); err != nil {
		t.Error(err)
	}
	if code := codeOf(t, cmd.Wait()); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
}
