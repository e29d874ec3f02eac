package engine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gitRepository makes a repository with one commit that has the file README.
func gitRepository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	gitOutput(t, dir, "init", "-q", "-b", "main")
	writeFile(t, filepath.Join(dir, "README"), "one\n")
	gitOutput(t, dir, "add", ".")
	gitOutput(t, dir, "commit", "-q", "-m", "first")
	return dir
}

func gitOutput(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...) //nolint:gosec // git with the test's own words
	cmd.Dir = dir
	cmd.Env = append(gitEnv(os.Environ()), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestParseStatus(t *testing.T) {
	out := strings.Join([]string{
		"1 .M N... 100644 100644 100644 aaa bbb src/a b.go",
		"1 A. N... 000000 100644 100644 000 bbb new.go",
		"1 .D N... 100644 100644 000000 aaa bbb gone.go",
		"u UU N... 100644 100644 100644 100644 a b c both.go",
		"? loose file",
		"! ignored",
		"1 nonsense",
		"? cut off",
	}, "\x00")
	want := []gitChange{
		{"src/a b.go", "modified"},
		{"new.go", "added"},
		{"gone.go", "deleted"},
		{"both.go", "conflicted"},
		{"loose file", "untracked"},
	}
	if diff := cmp.Diff(want, parseStatus([]byte(out))); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if got := parseStatus(nil); got != nil {
		t.Errorf("changes of nothing: %v", got)
	}
}

func TestGitStatus(t *testing.T) {
	dir := gitRepository(t)
	writeFile(t, filepath.Join(dir, "README"), "two\n")
	writeFile(t, filepath.Join(dir, "sub", "new.txt"), "x")
	t.Setenv("GIT_DIR", "/nowhere") // as in a hook
	got, err := gitStatus(t.Context(), dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]gitChange{{"README", "modified"}, {"sub/new.txt", "untracked"}}, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := gitStatus(ctx, dir, "."); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := gitStatus(t.Context(), t.TempDir(), "."); err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("outside: %v", err)
	}
}

func TestBoundedBuffer(t *testing.T) {
	b := boundedBuffer{max: 5}
	if _, err := b.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if n, err := b.Write([]byte("defg")); n != 2 || !errors.Is(err, errGitOutput) || b.String() != "abcde" {
		t.Errorf("%d, %v, %q", n, err, b.String())
	}
}
