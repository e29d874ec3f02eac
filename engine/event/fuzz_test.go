package event

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/agentloadout/loadout/store/jsonline"
)

// Whatever is in a line: no panic, and what decodes survives being written and read again.
func FuzzDecode(f *testing.F) {
	data, err := os.ReadFile("testdata/golden.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n") {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"id":"\u0000","seq":1,"type":"x","from":"\ud800","to":" * ","description":"\u2028","timestamp":"2026-09-10T08:00:00+01:00","payload":{ "a" : [ ] }}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var o jsonline.Object
		if o.Parse(line) != nil {
			return
		}
		e, err := Decode(&o, line)
		if err != nil {
			return
		}
		written := e.AppendLine(nil)
		if !json.Valid(written) || !utf8.Valid(written) {
			t.Fatalf("written line is not JSON: %q", written)
		}
		again, err := decodeLine(string(written))
		if err != nil {
			t.Fatalf("written line is refused: %v\n%s", err, written)
		}
		if diff := cmp.Diff(e, again); diff != "" {
			t.Fatal(diff)
		}
		checkPayload(t, e)
	})
}

// checkPayload reads the payload both ways and normalises it: no panic, and no disagreement.
func checkPayload(t *testing.T, e Event) {
	t.Helper()
	_, err := e.Body()
	_, briefErr := new(Reader).Brief(&e)
	if (err == nil) != (briefErr == nil) {
		t.Fatalf("Body says %v, Brief says %v", err, briefErr)
	}
	if e.Normalize() != nil {
		return
	}
	line := string(e.AppendLine(nil))
	again, err := decodeLine(line)
	if err != nil {
		t.Fatalf("normalised line is refused: %v\n%s", err, line)
	}
	if _, err := again.Body(); err != nil {
		t.Fatalf("normalised payload is refused: %v\n%s", err, line)
	}
	if err := again.Normalize(); err != nil || string(again.AppendLine(nil)) != line {
		t.Fatalf("normalising again changes %s", line)
	}
}

func FuzzNames(f *testing.F) {
	f.Add("Codex", "codex")
	f.Add("ﬁ\u0345ΐ", "\u0130")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		if folded := FoldName(a); FoldName(folded) != folded {
			t.Errorf("folding %q twice gives %q, then %q", a, folded, FoldName(folded))
		}
		if SameName(a, b) != SameName(b, a) || !SameName(a, a) {
			t.Errorf("%q and %q: not symmetric or not reflexive", a, b)
		}
		Skeleton(a)
	})
}

func FuzzCleanPath(f *testing.F) {
	f.Add("./src//api/")
	f.Add(`a\..\b`)
	f.Add("./ 0")
	f.Add("./C:/x")
	f.Fuzz(func(t *testing.T, p string) {
		clean, err := CleanPath(p)
		if err != nil {
			return
		}
		again, err := CleanPath(clean)
		if err != nil || again != clean {
			t.Errorf("%q becomes %q, then %q, %v", p, clean, again, err)
		}
		if strings.HasPrefix(clean, "/") || clean == ".." || strings.HasPrefix(clean, "../") || clean == "" {
			t.Errorf("%q becomes %q", p, clean)
		}
	})
}
