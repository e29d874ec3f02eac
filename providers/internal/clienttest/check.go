package clienttest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine/turn"
)

// WantFailure checks that an error is the failure of a provider of this kind and cost, and that it says what can be done.
func WantFailure(t *testing.T, provider string, kind turn.Kind, spent turn.Spent, err error) {
	t.Helper()
	var failure *turn.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("got %v, want a failure of kind %s", err, kind)
	}
	if failure.Kind != kind || failure.Spent != spent || failure.Provider != provider {
		t.Errorf("got %s of %s, spent %s: %v; want %s, spent %s", failure.Kind, failure.Provider, failure.Spent, failure, kind, spent)
	}
	if kind != turn.Cancelled && len(failure.Hint()) == 0 {
		t.Errorf("no hint for %v", failure)
	}
}

// Patience bounds what a test waits for, on a loaded machine too; it is only reached by a failure.
const Patience = time.Minute

// Receive waits for what another goroutine has to say, but not for ever: who waits in vain fails, and does not hang.
func Receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(Patience):
		t.Fatal("waited in vain")
		panic("unreachable")
	}
}

// Write writes a file of a test, with its folders.
func Write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// CommandLines are those of all running processes in which a name occurs: as /proc has them, where there is none as ps shows them.
func CommandLines(t *testing.T, name string) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, 0, len(paths))
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil { // it runs still
			all = append(all, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	if len(paths) == 0 {
		shown, err := exec.CommandContext(t.Context(), "ps", "-A", "-ww", "-o", "args=").Output()
		if errors.Is(err, exec.ErrNotFound) {
			t.Skip("skipped: there is neither /proc nor ps to see command lines with")
		}
		if err != nil {
			t.Fatal(err)
		}
		all = strings.Split(string(shown), "\n")
	}
	return slices.DeleteFunc(all, func(line string) bool { return !strings.Contains(line, name) })
}
