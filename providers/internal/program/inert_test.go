package program

import (
	"strings"
	"testing"
)

func TestInert(t *testing.T) {
	const z = zeroWidthSpace
	tests := []struct{ prompt, want string }{
		{"plain", "plain"},
		{"/compact", "\n/compact"},
		{" /compact", "\n /compact"},
		{"not /compact", "not /compact"},
		{"@a", "@" + z + "a"},
		{"see @a, @b", "see @" + z + "a, @" + z + "b"},
		{"@\"a b\"", "@" + z + "\"a b\""},
		{"mail bob@example.com", "mail bob@example.com"},
		{"`@a` \"@a\" (@a)", "`@a` \"@a\" (@a)"},
		{"[@a]\t@a\u00a0@a", "[@" + z + "a]\t@" + z + "a\u00a0@" + z + "a"},
		{"@@a", "@" + z + "@" + z + "a"},
		{"@" + z + "a", "@" + z + "a"},
		{"bad \xff", "bad \uFFFD"},
		{"@", "@" + z},
	}
	for _, tt := range tests {
		if got := Inert(tt.prompt); got != tt.want {
			t.Errorf("Inert(%q) = %q, want %q", tt.prompt, got, tt.want)
		}
		if once := Inert(tt.prompt); strings.TrimLeft(Inert(once), "\n") != strings.TrimLeft(once, "\n") {
			t.Errorf("Inert(%q) changes a second time", tt.prompt)
		}
	}
}

func FuzzInert(f *testing.F) {
	f.Add("/a @b")
	f.Add("@\xff@")
	f.Fuzz(func(t *testing.T, prompt string) {
		got := Inert(prompt)
		if strings.HasPrefix(got, "/") {
			t.Errorf("%q is a command", got)
		}
		before := ' '
		for i, r := range got {
			if r == '@' && !staysText(before) && !strings.HasPrefix(got[i+1:], zeroWidthSpace) {
				t.Errorf("%q attaches", got)
			}
			before = r
		}
		clean := strings.NewReplacer(zeroWidthSpace, "", "\n", "")
		if clean.Replace(got) != clean.Replace(strings.ToValidUTF8(prompt, "\uFFFD")) {
			t.Errorf("%q became %q", prompt, got)
		}
	})
}
