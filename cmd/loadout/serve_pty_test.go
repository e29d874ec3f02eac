//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"
)

// TestServeOnATerminal has both standard streams on a terminal, as some hosts start servers.
func TestServeOnATerminal(t *testing.T) {
	dir := t.TempDir()
	inProcess(t, dir, "coord", "own", "user", "docs")
	cmd := program(t.Context(), t, dir, "serve")
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close() //nolint:errcheck // a terminal of the test
	if _, err := term.MakeRaw(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	if _, err := io.WriteString(master, serveHello+serveCall); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(master)
	var text strings.Builder
	for !strings.Contains(text.String(), "Update published") {
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatalf("%v after %q", err, text.String())
		}
		text.WriteString(line)
	}
	wantMessages(t, strings.NewReader(text.String()), 2)
	if err := master.Close(); err != nil { // the terminal hangs up
		t.Fatal(err)
	}
	if code := codeOf(t, cmd.Wait()); code != exitDone {
		t.Errorf("exit %d\n%s", code, stderr.String())
	}
	if !strings.Contains(stderr.String(), "speaks the Model Context Protocol") {
		t.Errorf("stderr %q", stderr.String())
	}
}
