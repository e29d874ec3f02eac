package safetext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "src/api/checkout.ts", "src/api/checkout.ts"},
		{"wide", "日本語 ünï 👩‍💻", "日本語 ünï 👩‍💻"},
		{"colour", "\x1b[31mred\x1b[0m", "red"},
		{"private CSI", "\x1b[?1049hx\x1b[2 qy", "xy"},
		{"unfinished CSI keeps the text", "a\x1b[31", "a[31"},
		{"title", "\x1b]0;evil\x07x", "]0;evilx"},
		{"clipboard", "\x1b]52;c;aGk=\x1b\\x", `]52;c;aGk=\x`},
		{"8-bit CSI as a rune", "a\u009b31mb", "a31mb"},
		{"8-bit CSI as a byte", "a\x9b31mb", "a\ufffd31mb"},
		{"nested", "\x1b\x1b[31m[32mx", "[32mx"},
		{"escape at the end", "x\x1b", "x"},
		{"breaks become one space", "a\r\n\nb\u2028c\vd", "a b c d"},
		{"tab", "a\tb", "a b"},
		{"backspace", "ab\b\bcd", "abcd"},
		{"NUL and DEL", "a\x00\x7fb", "ab"},
		{"bidi", "a\u202eb\u2066c\u200fd", "abcd"},
		{"invisible", "a\u200b\u2060\ufeff\U000e0041b", "ab"},
		{"invalid UTF-8", "a\xff\xc3", "a\ufffd\ufffd"},
		{"replacement character stays", "a\ufffdb", "a\ufffdb"},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Line(tt.in); got != tt.want {
				t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestBlock(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"lines stay", "a\n\n\tb\n", "a\n\n\tb\n"},
		{"line ends of other systems", "a\r\nb\rc\u0085d\u2029e\ff", "a\nb\nc\nd\ne\nf"},
		{"colour", "a\n\x1b[1mb", "a\nb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Block(tt.in); got != tt.want {
				t.Errorf("Block(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestSafeTextDoesNotAllocate(t *testing.T) {
	s := strings.Repeat("plain text, ünï 日本\n", 50)
	if n := testing.AllocsPerRun(100, func() { Block(s) }); n != 0 {
		t.Errorf("Block allocates %v times for safe text", n)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a\x1b[31mb", "\x1b]8;;x\x1b\\", "a\r\nb", "\xff\u202e", "\x1b\x1b[[m", "\u2028\t"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line, block := Line(s), Block(s)
		for _, got := range []string{line, block} {
			if !utf8.ValidString(got) {
				t.Fatalf("%q: not UTF-8: %q", s, got)
			}
			for _, r := range got {
				if r != '\n' && r != '\t' && (Unsafe(r) || isBreak(r)) {
					t.Fatalf("%q: %U survived in %q", s, r, got)
				}
			}
		}
		if strings.ContainsAny(line, "\n\t") {
			t.Fatalf("%q: Line has more than one line: %q", s, line)
		}
		if Line(line) != line || Block(block) != block {
			t.Fatalf("%q: not idempotent", s)
		}
	})
}
