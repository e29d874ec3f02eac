package pane_test

import (
	"slices"
	"testing"

	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/panetest"
)

// A list shows one mark for each item, a difference one for each line.
func TestMarks(t *testing.T) {
	look := panetest.Look(t, false)
	d := pane.NewDetail(look, 12)
	d.Marked("! ", "what does not\nfit is wrapped", look.Text)
	d.Quoted("+ ", "what does not fit", look.Text)
	var got []string
	for _, line := range d.Lines() {
		got = append(got, line[0].Text)
	}
	want := []string{"! what does", "  not", "  fit is", "  wrapped", "+ what does", "+ not fit"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
