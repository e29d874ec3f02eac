package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestOverwrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), DirName)
	l := Open(dir, Options{})
	s := l.Slate("cache/head")
	for _, text := range []string{"0001", "0002"} {
		if err := s.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if data, err := l.ReadFile("cache/head", 8); err != nil || string(data) != text {
			t.Errorf("got %q, %v, want %q", data, err, text)
		}
	}
	path := filepath.Join(dir, "cache", "head")
	for name, change := range map[string]func() error{
		"removed":  func() error { return os.Remove(path) },
		"replaced": func() error { return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, []byte("9"), 0o600)) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		data, err := s.Read(8)
		if name == "removed" && !errors.Is(err, fs.ErrNotExist) || name == "replaced" && string(data) != "9" {
			t.Errorf("%s: read %q, %v", name, data, err)
		}
		if err := s.Write([]byte("0003")); err != nil {
			t.Fatal(err)
		}
		for who, s := range map[string]*Slate{"the writer": s, "another": Open(dir, Options{}).Slate("cache/head")} {
			if data, err := s.Read(8); err != nil || string(data) != "0003" {
				t.Errorf("%s: %s reads %q, %v", name, who, data, err)
			}
		}
	}
	elsewhere := filepath.Join(t.TempDir(), "x")
	if err := errors.Join(os.WriteFile(elsewhere, []byte("kept"), 0o600), os.Remove(filepath.Join(dir, "cache", "head")),
		os.Symlink(elsewhere, filepath.Join(dir, "cache", "head"))); err != nil {
		t.Skipf("skipped: no symbolic links can be made: %v", err)
	}
	if data, err := s.Read(8); !errors.Is(err, ErrUnsafe) {
		t.Errorf("read through a link: %q, %v", data, err)
	}
	if err := s.Write([]byte("0003")); !errors.Is(err, ErrUnsafe) {
		t.Errorf("through a link: %v", err)
	}
	if data, err := os.ReadFile(elsewhere); err != nil || string(data) != "kept" {
		t.Errorf("the target of the link holds %q, %v", data, err)
	}
}
