package keymap

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A key that two scopes of one pane claim would silently do only the first thing.
func TestNoKeyMeansTwoThings(t *testing.T) {
	m := Default()
	for _, pane := range Panes() {
		seen := map[string]Binding{}
		for _, group := range m.Help(pane) {
			for _, b := range group.Bindings {
				for _, k := range b.Keys() {
					if other, ok := seen[k]; ok {
						t.Errorf("%s: %q means %q and %q", pane, k, other.Help().Desc, b.Help().Desc)
					}
					seen[k] = b
				}
			}
		}
	}
}

func TestEveryIntentHasAKeyAndHelp(t *testing.T) {
	m := Default()
	bound := map[Intent]bool{}
	for _, bindings := range m.bindings {
		for _, b := range bindings {
			bound[b.Intent] = true
			if b.Help().Key == "" || b.Help().Desc == "" {
				t.Errorf("%v has no help", b.Keys())
			}
		}
	}
	for i := None + 1; i <= GoOn; i++ {
		if i.String() == "" {
			t.Errorf("intent %d has no name", i)
		}
		if !bound[i] {
			t.Errorf("intent %d has no key", i)
		}
	}
}

func TestResolve(t *testing.T) {
	m := Default()
	tests := []struct {
		pane Scope
		key  string
		want Intent
	}{
		{Timeline, "f", Follow},
		{Ownership, "f", None},
		{Contracts, "d", Diff},
		{Agents, "K", Kill},
		{Agents, "ctrl+c", Quit},
		{Ownership, " ", PageDown},
		{Ownership, "7", Focus},
		{Ownership, "f13", None},
	}
	for _, tt := range tests {
		if got := m.Resolve(tt.pane, tt.key); got != tt.want {
			t.Errorf("%s %q: %v, want %v", tt.pane, tt.key, got, tt.want)
		}
	}
}

func TestCustomKeys(t *testing.T) {
	m, err := New(map[string][]string{"quit": {"ctrl+q", "w"}, "follow": {"space"}, "page-down": {"pgdown"}, "suspend": {}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		pane Scope
		key  string
		want Intent
	}{
		{Ownership, "w", Quit},
		{Ownership, "ctrl+c", Quit}, // always
		{Ownership, "q", None},
		{Timeline, " ", Follow},
		{Discussion, " ", Follow}, // wherever it means something
		{Timeline, "f", None},
		{Ownership, "ctrl+z", None},
		{Ownership, "K", Kill},
	}
	for _, tt := range tests {
		if got := m.Resolve(tt.pane, tt.key); got != tt.want {
			t.Errorf("%s %q: %v, want %v", tt.pane, tt.key, got, tt.want)
		}
	}
	if hints := m.Hints(Ownership); !slices.ContainsFunc(hints, func(b Binding) bool { return b.Hint.Key == "ctrl+q" }) {
		t.Error("the footer does not name the new key")
	}
}

func TestWrongCustomKeys(t *testing.T) {
	tests := []struct {
		name    string
		keys    map[string][]string
		want    string
		intents []string
	}{
		{"unknown", map[string][]string{"quitt": {"x"}}, "did you mean quit?", []string{"quitt"}},
		{"no key", map[string][]string{"quit": {"hyper+x"}}, `"hyper+x" is no key`, []string{"quit"}},
		{"a key that is another", map[string][]string{"zoom": {"ctrl+m"}}, `"ctrl+m" is no key`, []string{"zoom"}},
		{"numbers", map[string][]string{"focus": {"x"}}, "cannot be changed", []string{"focus"}},
		{"with a default", map[string][]string{"quit": {"K"}}, "the key K is both kill and quit", []string{"kill", "quit"}},
		{"with each other", map[string][]string{"quit": {"x"}, "help": {"x"}}, "the key x is both quit and help", []string{"quit", "help"}},
		{"with a pane's", map[string][]string{"help": {"d"}}, "the key d is both diff and help", []string{"diff", "help"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(tt.keys)
			var wrong *WrongError
			if !errors.As(err, &wrong) || !strings.Contains(wrong.Reason, tt.want) || !slices.Equal(wrong.Intents, tt.intents) {
				t.Errorf("%v of %+v", err, wrong)
			}
		})
	}
}

func TestKeysThatExist(t *testing.T) {
	for k, want := range map[string]bool{
		"x": true, " ": true, "ä": true, "alt+x": true, "ctrl+x": true, "ctrl+c": false, "f1": true, "f20": true, "f21": false, "f01": false,
		"shift+tab": true, "ctrl+left": true, "": false, "\x1b": false, "xx": false, "alt+": false,
	} {
		if valid(k) != want {
			t.Errorf("%q: %v", k, !want)
		}
	}
}

// The table in docs/cockpit.md has every key, and the name by which the settings change it.
func TestKeysAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "cockpit.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := Default()
	for _, scope := range append([]Scope{Everywhere, Act, Move}, Panes()...) {
		for _, b := range m.bindings[scope] {
			row := "| `" + b.Help().Key + "` | " + string(scope) + " | " + b.Help().Desc + " | `" + b.Intent.String() + "` |"
			if !strings.Contains(string(text), row+"\n") {
				t.Errorf("docs/cockpit.md lacks\n%s", row)
			}
		}
	}
}
