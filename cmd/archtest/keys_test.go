package archtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/tui/keymap"
)

// TestKeysAreDocumented compares docs/cockpit.md with the key map, so that neither changes alone.
func TestKeysAreDocumented(t *testing.T) {
	text := documents(t)["docs/cockpit.md"]
	documented := map[string]bool{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| `") {
			documented[strings.TrimSpace(line)] = true
		}
	}
	keys := keymap.Default()
	seen := map[string]bool{}
	for _, pane := range []keymap.Scope{keymap.Ownership, keymap.Contracts, keymap.Timeline, keymap.Agents} {
		for _, group := range keys.Help(pane) {
			for _, b := range group.Bindings {
				row := fmt.Sprintf("| `%s` | %s | %s |", b.Help().Key, group.Scope, b.Help().Desc)
				if !documented[row] && !seen[row] {
					t.Errorf("docs/cockpit.md lacks\n%s", row)
				}
				seen[row] = true
			}
		}
	}
	for row := range documented {
		if !seen[row] {
			t.Errorf("docs/cockpit.md has a key that does not exist:\n%s", row)
		}
	}
}
