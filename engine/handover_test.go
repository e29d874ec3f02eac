package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
)

// A session that ends leaves its card if it leaves anything, once, however often its end is asked for.
func TestHandover(t *testing.T) {
	s := newScene(t)
	for _, name := range []string{"codex", "gemini", "claude-code"} {
		s.do(Register{Name: name})
	}
	s.do(Own{Agent: "codex", Paths: []string{"src"}, Reason: "the checkout"})
	if err := s.Touch("gemini", []string{"web/form.tsx"}); err != nil {
		t.Fatal(err)
	}
	// end ends a session and returns what else was stored with it.
	end := func(name string) []event.Event {
		t.Helper()
		before := s.view().State.Head()
		r, err := s.Do(t.Context(), Request{Command: EndAgent{Name: name}, Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.Events(t.Context(), Query{After: before})
		if err != nil {
			t.Fatal(err)
		}
		return found.Events[:max(0, len(found.Events)-len(r.Events))]
	}
	if left := end("codex"); len(left) != 1 || !strings.Contains(left[0].Description, "Handover card for codex") || !strings.Contains(left[0].Description, "src") {
		t.Errorf("a claim: %+v", left)
	}
	if left := end("codex"); len(left) > 0 {
		t.Errorf("a retry: %+v", left)
	}
	left := end("gemini")
	if len(left) != 1 {
		t.Fatalf("edited files: %+v", left)
	}
	if body, err := left[0].Body(); err != nil || !slices.Equal(body.(event.Update).Files, []string{"web/form.tsx"}) {
		t.Errorf("edited files: %+v, %v", body, err)
	}
	if again := s.Touched("gemini"); len(again) > 0 {
		t.Errorf("told, but not forgotten: %q", again)
	}
	if left := end("claude-code"); len(left) > 0 {
		t.Errorf("one that leaves nothing: %+v", left)
	}
}
