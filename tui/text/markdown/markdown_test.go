package markdown

import (
	"strings"
	"testing"

	"github.com/agentloadout/loadout/tui/theme"
)

func render(t testing.TB, s string, w int) []string {
	t.Helper()
	th, err := theme.New(theme.Options{Name: theme.None})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, spans := range Render(th, s, w) {
		lines = append(lines, strings.TrimRight(plain(spans), " "))
	}
	return lines
}

func TestRender(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"paragraphs", "one two three four five six\nseven\n\neight", "one two three four\nfive six seven\n\neight"},
		{"heading", "# Why *REST*\ntext", "Why REST\ntext"},
		{"emphasis", "a **bold**, *soft* and `code x`", "a bold, soft and\ncode x"},
		{"bullets", "- one two three four five\n- two\n  - nested", "· one two three four\n  five\n· two\n  · nested"},
		{"numbers", "3. three\n4. four", "3. three\n4. four"},
		{"quote", "> said\n> so\n\nme", "│ said so\n\nme"},
		{"code", "```go\nif x {\n\ty()\n}\n```", "  if x {\n      y()\n  }"},
		{"rule", "a\n\n---\n\nb", "a\n\n────────────────────\n\nb"},
		{"link", "see [the spec](https://x.io)", "see the spec\n(https://x.io)"},
		{"long word", "aaaaaaaaaaaaaaaaaaaaaaaaa b", "aaaaaaaaaaaaaaaaaaaa\naaaaa b"},
		{"escapes", `a \*not\* bold`, "a *not* bold"},
		{"html", "<b>x</b> &#27;[2J", "<b>x</b> &#27;[2J"},
		{"wide", "日本語の説明を折り返す e\u0301 שלום", "日本語の説明を折り返\nす e\u0301 שלום"},
		{"empty", "", ""},
		{"marks that mark nothing", "2 * 3 * 4, snake_case_name, **", "2 * 3 * 4,\nsnake_case_name, **"},
		{"sharp", "# C#\n## closed ##", "C#\nclosed"},
		{"loose list", "- a\n\n- b\n\n  more of b\n\nafter", "· a\n\n· b\n\n  more of b\n\nafter"},
		{"code in a list", "- a\n  ```\n  x  y\n  ```\n- b", "· a\n    x  y\n· b"},
		{"an open fence", "```\nx", "  x"},
		{"hard break", "one  \ntwo\\\nthree", "one\ntwo\nthree"},
		{"autolink", "<https://x.io> <b>", "https://x.io <b>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(render(t, c.in, 20), "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Whatever it is, nothing can move the cursor.
func FuzzRender(f *testing.F) {
	f.Add("# x\n> - 1. `a`\n```\n\x1b[2J\n", 20)
	f.Add(strings.Repeat("> ", 60)+"deep", 30)
	f.Add("[a](b \"c\") ![i](u) <https://x.io> \u202e\x07", 14)
	f.Fuzz(func(t *testing.T, s string, w int) {
		if len(s) > 4000 || w < 1 || w > 300 {
			return
		}
		for _, line := range render(t, s, w) {
			if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e }) {
				t.Fatalf("%q has a control character", line)
			}
		}
	})
}

func BenchmarkRender(b *testing.B) {
	s := strings.Repeat("## Title\n\nSome *text* with `code` in it, and more of it to fill a line or two of the column.\n\n- a\n- b\n\n", 10)
	for b.Loop() {
		render(b, s, 80)
	}
}
