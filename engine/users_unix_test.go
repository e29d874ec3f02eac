//go:build unix

package engine

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const nobodyID = 65534

// TestAnotherUserIsRefused: a project belongs to one user of the system. Another one is refused in words, and changes nothing.
func TestAnotherUserIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to become another user")
	}
	s := newScene(t)
	s.do(note("codex", "mine"))
	self := filepath.Join(s.Project().Root, "self")
	binary, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for dir := s.Project().Root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the other user has to come in
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(self, binary, 0o755); err != nil { //nolint:gosec // as above
		t.Fatal(err)
	}
	asNobody := role(t.Context(), "do", s.Project().Root, "gemini", "theirs")
	cmd := exec.CommandContext(t.Context(), self, asNobody.Args[1:]...) //nolint:gosec // the test binary itself
	cmd.Env, cmd.Dir = asNobody.Env, s.Project().Root
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobodyID, Gid: nobodyID}}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "belongs to") {
		t.Errorf("another user: %v, %s", err, out)
	}
	if s.lines() != 1 {
		t.Errorf("log %s", s.log())
	}

	// The other way round, root is no exception.
	err = filepath.WalkDir(s.path(""), func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, nobodyID, nobodyID))
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Engine = s.open(Options{})
	if _, err := s.Do(t.Context(), Request{Command: note("codex", "x")}); err == nil || !strings.Contains(err.Error(), "belongs to") {
		t.Errorf("root in a foreign project: %v", err)
	}
	if _, err := s.View(t.Context()); err == nil {
		t.Error("root reads a foreign project")
	}
}
