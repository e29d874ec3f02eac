//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestCtrlCIsTheEditors interrupts an editor that leaves the terminal as it is. The cockpit and what was typed in its form stay; an
// interrupt ends it again once the editor is gone.
func TestCtrlCIsTheEditors(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(t.TempDir(), "editor")
	const text = "#!/bin/sh\ntrap 'echo GOT IT; exit 9' INT\necho EDITING\nwhile :; do sleep 0.02; done\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := program(t.Context(), t, dir, "tui")
	cmd.Env = append(cmd.Env, "EDITOR="+script)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() }) // what waits for it then fails
	t.Cleanup(func() {
		late.Stop()
		_ = tty.Close()
	})
	o := &onTerminal{T: t, tty: tty}
	o.until("no log yet")
	for range 2 {
		o.press("A")
		o.until("what you want to know")
		o.press("gemini\tCents or francs?\x0f")
		o.until("EDITING")
		o.shown.Reset()
		o.press("\x03")
		o.until("GOT IT")
		o.until("exit status 9")
		o.until("francs?") // the form is drawn anew with it
		o.press("\x1b")
		o.shown.Reset()
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	o.until("\x1b[?1049l")
	if code := codeOf(t, cmd.Wait()); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
}
