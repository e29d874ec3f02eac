package keymap

import "testing"

// A key that two scopes of one pane claim would silently do only the first thing.
func TestNoKeyMeansTwoThings(t *testing.T) {
	m := Default()
	for _, pane := range []Scope{Ownership, Contracts, Timeline, Agents} {
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
	for i := None + 1; i <= Travel; i++ {
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
