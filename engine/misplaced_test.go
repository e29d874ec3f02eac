package engine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestClaimTypedAsIfAtTheTop(t *testing.T) {
	s := newScene(t)
	for _, folder := range []string{"src/api", "src/deep/er"} {
		if err := os.MkdirAll(filepath.Join(s.Project().Root, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ typed, path, note string }{
		{"src", "src/src/api", "src/src/api does not exist yet; if the src/api at the top was meant, name it as ../src/api"},
		{"src/deep", "src/deep/src/api", "src/deep/src/api does not exist yet; if the src/api at the top was meant, name it as ../../src/api"},
		{"src", "src/api", ""},
		{"src", "src/src", ""},     // to be made there
		{"src", "src/new/api", ""}, // nor is that at the top
		{"", "src/api", ""},
		{".", "src/api", ""},
		{"docs", "src/api", ""},
	} {
		var want []string
		if c.note != "" {
			want = []string{c.note}
		}
		r := s.do(Own{Agent: "codex", Paths: []string{c.path}, Typed: c.typed})
		if len(r.Notes) != len(want) || len(want) > 0 && r.Notes[0] != want[0] {
			t.Errorf("%s in %s: notes %q, want %q", c.path, c.typed, r.Notes, want)
		}
	}
}
