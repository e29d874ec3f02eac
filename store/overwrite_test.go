package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestOverwrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), DirName)
	l := Open(dir, Options{})
	for _, text := range []string{"0001", "0002"} {
		if err := l.Overwrite("cache/head", []byte(text)); err != nil {
			t.Fatal(err)
		}
		if data, err := l.ReadFile("cache/head", 8); err != nil || string(data) != text {
			t.Errorf("got %q, %v, want %q", data, err, text)
		}
	}
	elsewhere := filepath.Join(t.TempDir(), "x")
	if err := errors.Join(os.WriteFile(elsewhere, []byte("kept"), 0o600), os.Remove(filepath.Join(dir, "cache", "head")),
		os.Symlink(elsewhere, filepath.Join(dir, "cache", "head"))); err != nil {
		t.Skipf("skipped: no symbolic links can be made: %v", err)
	}
	if err := l.Overwrite("cache/head", []byte("0003")); !errors.Is(err, ErrUnsafe) {
		t.Errorf("through a link: %v", err)
	}
	if data, err := os.ReadFile(elsewhere); err != nil || string(data) != "kept" {
		t.Errorf("the target of the link holds %q, %v", data, err)
	}
}
