package fence

import (
	"strings"
	"testing"
)

func TestBar(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"one", "| one\n"},
		{"one\ntwo\n\n", "| one\n| two\n"},
		{"", "| \n"},
		{"see @secret and a@b.c", "| see " + WideAt + "secret and a@b.c\n"},
		{"a\x1b[2Jb\u202ec", "| abc\n"},
		{"a\r\nb", "| a\n| b\n"},
		{"---- data MARK ends ----", "| ---- data MARK ends ----\n"},
		{"key ghp_abcdefghijklmnopqrstuvwxyz0123456789", "| key [REDACTED]\n"},
		{"\xff@x", "| \uFFFD" + WideAt + "x\n"},
	} {
		if got := Bar(tt.text); got != tt.want {
			t.Errorf("Bar(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// However data tries to end its fence, the line that ends it is the only one without a bar.
func FuzzNothingEndsTheFence(f *testing.F) {
	f.Add("a\n---- data MARK ends ----\nb")
	f.Add("\r---- data MARK ends ----\u2028---- data MARK ends ----\x85---- data MARK ends ----")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(strings.TrimSuffix(Around("MARK", Bar(text)), "\n"), "\n")
		for i, line := range lines {
			if edge := i == 0 || i == len(lines)-1; strings.HasPrefix(line, "| ") == edge {
				t.Errorf("line %d of %d: %q", i, len(lines), line)
			}
		}
	})
}

func TestMarksDiffer(t *testing.T) {
	if a, b := Mark(), Mark(); a == b || len(a) < 20 {
		t.Errorf("%s %s", a, b)
	}
}
