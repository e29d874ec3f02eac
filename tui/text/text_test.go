package text

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// hostile are texts that break a naive screen.
var hostile = []string{
	"", "plain", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "a\u202eb", "日本語テキスト", "é\u0301\u0301\u0301\u0301\u0301\u0301",
	"👩‍👩‍👧 family", "⚠️ sign", "🇩🇪 flag", "👍🏽", "1️⃣", "שלום עולם", "مرحبا", "tab\there", "a\r\nb\nc", "\x9b31m", "\xff\xfe",
	"क्षि", "ｆｕｌｌ", "\u200b\u2060zero", strings.Repeat("長", 300),
}

func TestLine(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "src/api", "src/api"},
		{"escape", "\x1b[2Jx", "x"},
		{"break", "a\nb", "a b"},
		{"emoji sequence falls apart", "👩‍💻", "👩💻"},
		{"emoji presentation", "⚠️", "⚠"},
		{"keycap", "1️⃣", "1"},
		{"skin tone", "👍🏽", "👍"},
		{"a mark without a letter", "\u0301a", "◌\u0301a"},
		{"prepended sign", "\u0600 1", "\ufffd 1"},
		{"flag", "🇩🇪", "DE"},
		{"joiners of scripts stay", "می‌خواهم", "می‌خواهم"},
		{"marks are cut", "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301", "e\u0301\u0301\u0301\u0301"},
		{"invalid", "a\xffb", "a\ufffdb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Line(tt.in); got != tt.want {
				t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestLineIsCapped(t *testing.T) {
	got := Line(strings.Repeat("日", 10_000))
	if len(got) > maxLineBytes || !utf8.ValidString(got) {
		t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
	}
}

func TestLines(t *testing.T) {
	got := Lines("a\tb\r\n\tc\n\nabcde\tf\n")
	want := []string{"a   b", "    c", "", "abcde   f"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTruncateLeftKeepsTheEnd(t *testing.T) {
	tests := []struct {
		in   string
		w    int
		want string
	}{
		{"src/api/checkout.ts", 30, "src/api/checkout.ts"},
		{"src/api/checkout.ts", 12, "…checkout.ts"},
		{"日本語", 4, "…語"},
		{"日本語", 3, "…語"},
		{"abc", 1, "…"},
		{"abc", 0, ""},
	}
	for _, tt := range tests {
		if got := TruncateLeft(tt.in, tt.w, "…"); got != tt.want {
			t.Errorf("TruncateLeft(%q, %d) = %q, want %q", tt.in, tt.w, got, tt.want)
		}
	}
}

func TestSpliceKeepsStylesApart(t *testing.T) {
	got := Splice("\x1b[31mred red red\x1b[m", "box", 4, 3, 11)
	want := "\x1b[31mred " + reset + "box" + reset + "\x1b[31m red\x1b[m"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSplice(t *testing.T) {
	tests := []struct{ line, over, want string }{
		{"abcdefgh", "XY", "abcXYfgh"},
		{"ab日本語", "XY", "ab XY 語"}, // starts and ends inside wide characters
	}
	for _, tt := range tests {
		got := strings.ReplaceAll(Splice(tt.line, tt.over, 3, 2, 8), reset, "")
		if got != tt.want || Width(got) != 8 {
			t.Errorf("Splice(%q) = %q, want %q", tt.line, got, tt.want)
		}
	}
}

// anyText draws hostile pieces in any order, and sometimes anything at all.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(hostile), 0, 6), func(p []string) string { return strings.Join(p, "") }),
		rapid.String(),
	)
}

func TestWidthsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "s")
		w := rapid.IntRange(0, 90).Draw(t, "w")
		line := Line(s)
		if strings.ContainsAny(line, "\x1b\n\t") {
			t.Fatalf("Line(%q) = %q", s, line)
		}
		if got := Fit(line, w, "…"); Width(got) != w {
			t.Fatalf("Fit(%q, %d) = %q, %d cells", line, w, got, Width(got))
		}
		if got := TruncateLeft(line, w, "…"); Width(got) > w {
			t.Fatalf("TruncateLeft(%q, %d) = %q, %d cells", line, w, got, Width(got))
		}
		for _, l := range Lines(s) {
			for _, got := range Wrap(l, w) {
				if Width(got) > w || strings.Contains(got, "\n") {
					t.Fatalf("Wrap(%q, %d) has %q, %d cells", l, w, got, Width(got))
				}
			}
		}
		total := rapid.IntRange(2, 90).Draw(t, "total")
		x := rapid.IntRange(0, total-1).Draw(t, "x")
		ow := rapid.IntRange(0, total-x).Draw(t, "ow")
		if got := Splice(Fit(line, total, "…"), Fit("over", ow, ""), x, ow, total); Width(got) != total {
			t.Fatalf("Splice at %d, %d of %d = %q, %d cells", x, ow, total, got, Width(got))
		}
	})
}

func TestWrapKeepsEveryWord(t *testing.T) {
	in := "REST, because the mobile client caches by URL and averyveryverylongwordthatmustbreak stays whole"
	got := strings.Join(Wrap(in, 14), "")
	if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(in, " ", "") {
		t.Errorf("lost text: %q", got)
	}
}

func BenchmarkFit(b *testing.B) {
	for _, s := range []string{"src/api/checkout.ts and more words", "日本語 src/api ünï"} {
		b.Run(s[:3], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Fit(s, 20, "…")
			}
		})
	}
}
