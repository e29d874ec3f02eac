package tui

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
)

func TestCompletePath(t *testing.T) {
	top := t.TempDir()
	for _, dir := range []string{"src/api", "src/app", ".handoff", "empty"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"src/main.go", "src/a\u202eb"} {
		if err := os.WriteFile(filepath.Join(top, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		typed string
		want  []string
	}{
		{"s", []string{"src/"}},
		{"src/ap", []string{"src/api/", "src/app/"}},
		{"src/", []string{"src/api/", "src/app/", "src/main.go"}},
		{"src/main.go", []string{"src/main.go"}},
		{"src/main.go/", nil},
		{"empty/", nil},
		{".han", nil},
		{"../", nil},
		{"/", nil},
		{"no/such", nil},
	} {
		if got := completePath(top, c.typed); !slices.Equal(got, c.want) {
			t.Errorf("%q becomes %q, want %q", c.typed, got, c.want)
		}
	}
}

func TestFormsCompletePathsAndNames(t *testing.T) {
	f := story(t)
	f.root = t.TempDir()
	if err := os.MkdirAll(filepath.Join(f.root, "packages", "checkout"), 0o700); err != nil {
		t.Fatal(err)
	}
	d := drive(t, f)
	d.press("c", "pa", "tab", "ch", "tab")
	d.shows("packages/checkout/", "tab next")
	d.press("esc", "A", "shift+tab", "c", "tab") // claude-code and codex
	d.shows("claude-code  codex")
	d.press("o", "tab")
	d.shows("codex", "tab next")
	d.press("tab", "what next?", "enter")
	if ask, ok := d.last().(engine.Ask); !ok || ask.To != "codex" || ask.Text != "what next?" {
		t.Errorf("asked %+v", d.last())
	}
}

// What is typed while a completion is under way goes where it would have gone without the wait.
func TestTypingAheadOfACompletion(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.press("c", "src/new")
	ahead := []tea.Msg{named["tab"], tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("mine")}, named["enter"]}
	asked := d.m.update(named["tab"])
	for _, msg := range ahead {
		if cmd := d.m.update(msg); cmd != nil {
			settle(d.m, cmd)
		}
	}
	settle(d.m, asked)
	if own, ok := d.last().(engine.Own); !ok || own.Paths[0] != "src/new" || own.Reason != "mine" {
		t.Errorf("claimed %+v", d.last())
	}

	d.sync()
	d.press("c", "src/other")
	asked = d.m.update(named["tab"])
	d.run(named["esc"])
	settle(d.m, asked)
	d.hides("Claim ─")
	d.press("c", "src/third", "enter")
	if own, ok := d.last().(engine.Own); !ok || own.Paths[0] != "src/third" {
		t.Errorf("claimed %+v", d.last())
	}
}
