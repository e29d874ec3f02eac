//go:build !windows

package tui

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A frame says how the log stands, and so do the sentences, as the cockpit that follows it does.
func TestFramesSayHowTheLogStands(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, ".handoff", "coordination.jsonl")
	e := realEngine(dir, false)
	shows := func(polling bool, mode string, said ...string) {
		t.Helper()
		o := Options{Engine: realEngine(dir, polling), At: Now, Environment: noEnv} // of another process: it remembers nothing
		frame, err := Frame(t.Context(), o, 160, 24, false)
		if err != nil {
			t.Fatal(err)
		}
		header, _, _ := strings.Cut(frame, "\n")
		for _, want := range append([]string{mode}, said...) {
			if !strings.Contains(header, want) {
				t.Errorf("no %q in %q", want, header)
			}
		}
	}
	tells := func(said string) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var plain bytes.Buffer
		w := writerFunc(func(b []byte) (int, error) {
			if bytes.HasPrefix(b, []byte("New events follow")) {
				cancel()
			}
			return plain.Write(b)
		})
		if err := Plain(ctx, Options{Engine: realEngine(dir, false), At: Now, Environment: noEnv}, w); err != nil {
			t.Error(err)
		}
		if strings.Count(plain.String(), "Note: "+said) != 1 {
			t.Errorf("not once %q:\n%s", said, &plain)
		}
	}
	shows(false, "no log yet")
	mustOwn(t, e, "codex", "src")
	shows(false, "● live", "#0")
	shows(true, "● polling", "#0")
	older, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	mustOwn(t, e, "codex", "docs")
	if err := os.WriteFile(log, older, 0o600); err != nil {
		t.Fatal(err)
	}
	shows(false, "! older log", "the log is an older copy, which ends at seq 0")
	tells("the log is an older copy, which ends at seq 0")
	if err := os.Remove(log); err != nil {
		t.Fatal(err)
	}
	shows(false, "! log is gone", "the log is gone: it had reached seq 1")
	tells("the log is gone: it had reached seq 1")
	if err := os.Mkdir(log, 0o700); err != nil {
		t.Fatal(err)
	}
	shows(false, "! unreadable", "read log: ")
}
