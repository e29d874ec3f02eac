package tui

import (
	"strings"
	"testing"

	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/overlay"
)

// TestFormsSayAllOfWhatTheyAskFor opens every form in a window of 80 columns: none cuts a placeholder, a label or a choice.
func TestFormsSayAllOfWhatTheyAskFor(t *testing.T) {
	f := bridgeStory(t)
	f.turn(t, "t1", "claude-code", "queued", "started", "failed")
	d, _ := driveBridge(t, f)
	d.resize(80, 24)
	opened := map[string]bool{}
	for i := range d.m.panes {
		d.m.setFocus(i)
		for _, group := range d.m.keys.Help(d.m.panes[i].Scope()) {
			for _, b := range group.Bindings {
				if !acts(b.Intent) && b.Intent != keymap.Kill {
					continue
				}
				d.press(b.Keys()[0])
				form, ok := d.m.overlays.Top().(*overlay.Form)
				if !ok {
					continue
				}
				box := strings.Join(form.View(80, 24), "\n")
				opened[d.m.panes[i].ID()+" "+b.Help().Desc] = true
				if strings.Contains(box, "…") {
					t.Errorf("%s of %s cuts something:\n%s", b.Help().Desc, d.m.panes[i].ID(), box)
				}
				d.press("esc")
			}
		}
	}
	for _, want := range []string{"ownership claim", "bridge take in a session that there is", "bridge raise or lower the caps", "ownership halt everything"} {
		if !opened[want] {
			t.Errorf("%s opened no form; those that did: %v", want, opened)
		}
	}
}
