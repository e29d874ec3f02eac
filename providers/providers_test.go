package providers

import (
	"slices"
	"testing"
)

func TestAll(t *testing.T) {
	var names []string
	scripted := 0
	for _, p := range All(map[string][]string{"opencode": {"opencode", "acp"}, "gemini": {"gemini", "--acp"}, "codex": {"imposter"}}) {
		names = append(names, p.Name())
		if p.Scripted() {
			scripted++
		}
	}
	if want := []string{"claude-code", "codex", "sim", "gemini", "opencode"}; !slices.Equal(names, want) || scripted != 1 {
		t.Errorf("providers %v, %d scripted", names, scripted)
	}
}
