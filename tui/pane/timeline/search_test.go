package timeline

import (
	"testing"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
)

// search presses the key for the next match, d: 1, or the one before, -1, as the cockpit does.
func (h *harness) search(words string, d int) bool {
	h.t.Helper()
	action, found := h.Search(words, d)
	h.do(action)
	return found
}

func TestSearchGoesThroughTheWholeLog(t *testing.T) {
	h := open(t, 120_000)
	for _, step := range []struct {
		words string
		d     int
		want  int64
	}{
		{"gemini", -1, 119_007},
		{"gemini", -1, 118_007},
		{"number 1007", -1, 111_007}, // part of a word is enough
		{"codex event number 30000", -1, 30_000},
		{"gemini", 1, 30_007},
		{"gemini", 1, 31_007},
		{"codex event number 30000", 1, 30_000}, // behind the end it begins anew
		{"gemini 119007", -1, 119_007},          // and before the start
	} {
		if !h.search(step.words, step.d) {
			t.Errorf("%q, %d: not found", step.words, step.d)
		}
		h.at(step.want)
	}
}

func TestSearchThatFindsNothingStaysWhereItIs(t *testing.T) {
	h := open(t, 30_000)
	h.search("gemini", -1)
	h.search("nowhere", 1)
	h.at(29_007)
	if got := h.Status(); got != "no event has nowhere" {
		t.Errorf("status is %q", got)
	}
	h.handle(keymap.Up)
	if got := h.Status(); got != "#29006 of #29999" {
		t.Errorf("status is %q", got)
	}
	h = open(t, 20)
	if h.search("nowhere", 1) {
		t.Error("found in a log that is in memory")
	}
	if !h.search("number 7", 1) {
		t.Error("not found from the start of a log that is in memory")
	}
	h.at(7)
}

func TestSearchStopsAtThePast(t *testing.T) {
	h := open(t, 30_000)
	s := h.snap
	s.Past, s.At = true, 12_500
	h.apply(s, pane.Changes{})
	h.search("gemini", 1) // nothing is later: it begins anew
	h.at(7)
	h.search("gemini", -1)
	h.at(12_007)
}

func TestSearchIsGivenUp(t *testing.T) {
	h := open(t, 120_000)
	action, found := h.Search("30000", -1)
	load, ok := action.(pane.Load)
	if !found || !ok || h.Status() == "following" {
		t.Fatalf("%v, status %q", action, h.Status())
	}
	h.handle(keymap.Up)
	value, err := load.Run(t.Context(), h.s)
	if a := h.Loaded(load.Key, value, err); a != nil || h.seq() < 119_000 {
		t.Errorf("%v at #%d: what was given up goes on", a, h.seq())
	}
}

func TestSearchAmongWhatIsFiltered(t *testing.T) {
	h := open(t, 120_000)
	h.do(h.SetFilter("gemini"))
	h.search("number 5007", -1)
	if e := h.selected(); e == nil || e.Seq != 115_007 || e.Type != event.TypeStatus {
		t.Errorf("at %+v", e)
	}
	h.search("codex", -1)
	if got := h.Status(); got != "no event has codex" {
		t.Errorf("status is %q", got)
	}
}
