package words_test

import (
	"slices"
	"testing"

	"github.com/agentloadout/loadout/engine/words"
)

func TestSplit(t *testing.T) {
	got, err := words.Split(`coord  own me 'a b'/c "d \"e\"" f\ g '' '\' "it's"` + "\tü")
	want := []string{"coord", "own", "me", "a b/c", `d "e"`, "f g", "", `\`, "it's", "ü"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	for _, line := range []string{`"open`, `'open \'x'`, `end\`} {
		if got, err := words.Split(line); err == nil {
			t.Errorf("%q is accepted: %q", line, got)
		}
	}
	if got, err := words.Split("  "); err != nil || len(got) != 0 {
		t.Errorf("%q, %v", got, err)
	}
}

func TestUnfinished(t *testing.T) {
	tests := []struct {
		line   string
		before []string
		last   string
		start  int
	}{
		{"", nil, "", 0},
		{"coord ", []string{"coord"}, "", 6},
		{"coord ow", []string{"coord"}, "ow", 6},
		{"own 'a b", []string{"own"}, "a b", 4},
		{`own "a b/"c`, []string{"own"}, "a b/c", 4},
		{`own a\ b`, []string{"own"}, "a b", 4},
		{`own a\`, []string{"own"}, "a", 4},
		{"own '", []string{"own"}, "", 4},
		{"ü x", []string{"ü"}, "x", 3},
	}
	for _, tt := range tests {
		before, last, start := words.Unfinished(tt.line)
		if !slices.Equal(before, tt.before) || last != tt.last || start != tt.start {
			t.Errorf("%q: %q %q %d", tt.line, before, last, start)
		}
	}
}

func TestCompleteIsOneWord(t *testing.T) {
	for _, tt := range []struct {
		word   string
		goesOn bool
		want   string
	}{
		{"src/", true, "src/"},
		{"my dir/", true, "'my dir/"},
		{"my file", false, "'my file'"},
		{"it's/", true, `'it'\''s/`},
		{"*", false, "'*'"},
	} {
		got := words.Complete(tt.word, tt.goesOn)
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.word, got, tt.want)
		}
		if before, last, start := words.Unfinished(got); len(before) != 0 || last != tt.word || start != 0 {
			t.Errorf("%q reads back as %q %q %d", got, before, last, start)
		}
	}
}
