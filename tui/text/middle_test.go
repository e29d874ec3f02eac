package text

import "testing"

func TestTruncateMiddle(t *testing.T) {
	for _, c := range []struct {
		s    string
		w    int
		want string
	}{
		{"claude-code", 11, "claude-code"},
		{"claude-code-2", 12, "claud…code-2"},
		{"claude-code-12", 12, "claud…ode-12"},
		{"claude-code-2", 3, "c…2"},
		{"claude-code-2", 2, "c…"},
		{"claude-code-2", 0, ""},
		{"日本語エージェント", 9, "日本…ント"},
		{"日本語エージェント", 8, "日…ント"},
	} {
		got := TruncateMiddle(c.s, c.w, "…")
		if got != c.want || Width(got) > c.w {
			t.Errorf("TruncateMiddle(%q, %d) = %q of %d cells, want %q", c.s, c.w, got, Width(got), c.want)
		}
		if got := FitMiddle(c.s, c.w, "…"); Width(got) != c.w {
			t.Errorf("FitMiddle(%q, %d) has %d cells", c.s, c.w, Width(got))
		}
	}
}
