package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/store"
)

// FuzzRepair writes after whatever a log may hold: no byte of it is lost, the new
// line is whole, its number is above every one that can be read, and reading in
// two parts gives what reading at once gives.
func FuzzRepair(f *testing.F) {
	for _, seed := range []string{
		"", "\n", text(0, 1), text(0) + `{"seq":1`, event(3), "\x00\x00", "bad\n" + text(2), text(5) + `{"seq":9,"x":"` + "\n\n", "\xff\n{", text(3, 1) + "\r\n  \n",
	} {
		f.Add([]byte(seed), uint16(7))
	}
	f.Fuzz(func(t *testing.T, content []byte, cut uint16) {
		dir := filepath.Join(t.TempDir(), store.DirName)
		l := store.Open(dir, store.Options{})
		mkdir(t, dir)
		half := content[:min(int(cut), len(content))]
		writeFile(t, l.Path(), string(half))
		first, middle := read(t, l, store.Position{})
		writeFile(t, l.Path(), string(content)) // in place: what was read is still there
		rest, end := read(t, l, middle)
		whole, endOfWhole := read(t, l, store.Position{})
		if end != endOfWhole || len(first)+len(rest) != len(whole) {
			t.Fatalf("in parts %d and %d lines up to %+v, at once %d up to %+v", len(first), len(rest), end, len(whole), endOfWhole)
		}
		if endOfWhole.MaxSeq >= 1<<53-10 {
			return // there is no higher number
		}
		write(t, l, 1)
		after := []byte(readFile(t, l.Path()))
		if !bytes.HasPrefix(after, content) {
			t.Fatal("bytes were lost")
		}
		lines, pos := read(t, l, store.Position{})
		last := lines[len(lines)-1]
		if last.Bad != "" || last.Seq <= last.Prior || !strings.HasSuffix(string(after), "\n"+last.Raw+"\n") && string(after) != last.Raw+"\n" {
			t.Fatalf("the new line is %+v", last)
		}
		for _, line := range lines[:len(lines)-1] {
			if line.Seq >= last.Seq {
				t.Fatalf("number %d is not above that of %+v", last.Seq, line)
			}
		}
		backwards, err := l.Last(testContext(t), len(lines))
		if err != nil || len(backwards) != len(lines) {
			t.Fatalf("backwards %d lines, forwards %d, error %v", len(backwards), len(lines), err)
		}
		for i, line := range backwards {
			if string(line.Raw) != lines[i].Raw || line.Seq != lines[i].Seq || line.Offset != lines[i].Offset || (line.Err == nil) != (lines[i].Bad == "") {
				t.Fatalf("backwards line %d is %+v, forwards %+v", i, line, lines[i])
			}
		}
		if pos.Offset != int64(len(after)) {
			t.Fatalf("read up to %d of %d", pos.Offset, len(after))
		}
	})
}

// FuzzRel types any path: what is accepted is local, clean, slashed, names the
// same file from each directory, and is what it is when typed again.
func FuzzRel(f *testing.F) {
	root, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	for _, dir := range []string{"top/.handoff", "top/src/api", "outside"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			f.Fatal(err)
		}
	}
	symlink(f, filepath.Join(root, "outside"), filepath.Join(root, "top/out"))
	symlink(f, "api", filepath.Join(root, "top/src/link"))
	top := filepath.Join(root, "top")
	p, err := store.Discover(store.Where{Dir: top})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"src", "src/../..", "./src//link/x", "out/x", "..", "a/.git/x", ".handoff", "/etc/passwd", top, top + "/src/", "src/link/../api", "...", "a/../b", "~", " ", "\\", "a\\..\\b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		got, err := p.Rel(filepath.Join(top, "src"), typed)
		if err != nil {
			if refused := (*store.PathError)(nil); !asError(err, &refused) {
				t.Fatalf("error %v", err)
			}
			return
		}
		local := filepath.FromSlash(got)
		if !filepath.IsLocal(local) || filepath.Clean(local) != local {
			t.Fatalf("%q became %q", typed, got)
		}
		for element := range strings.SplitSeq(strings.ToLower(got), "/") {
			if element == ".git" || element == store.DirName {
				t.Fatalf("%q became %q", typed, got)
			}
		}
		again, err := p.Rel(top, got)
		if err != nil || again != got {
			t.Fatalf("%q became %q, and typed again %q, error %v", typed, got, again, err)
		}
	})
}
