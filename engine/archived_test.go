package engine

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine/event"
)

// What compactions took out of the log is still found, each event once and in order.
func TestEventsReadArchives(t *testing.T) {
	s := newScene(t)
	var want []int64
	write := func(n int) {
		for range n {
			r := s.do(Report{Agent: "codex"})
			want = append(want, r.Seq())
		}
	}
	compact := func() {
		result, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 2, MaxAge: -1})
		if err != nil || !result.Compacted {
			t.Fatalf("compacted: %v, %v", result.Compacted, err)
		}
	}
	write(5)
	s.do(Own{Agent: "gemini", Paths: []string{"src"}}) // stays in the log through both
	want = append(want, 5)
	write(4)
	compact()
	want = append(want, 10) // its summary
	write(4)
	compact()
	want = append(want, 15)
	write(2)
	for _, query := range []Query{{After: Everything}, {After: 3}, {After: 9}, {After: 12}, {After: Everything, Max: 7}} {
		found, err := s.Events(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for i := range found.Events {
			got = append(got, found.Events[i].Seq)
		}
		expected := want[slices.IndexFunc(want, func(seq int64) bool { return seq > query.After }):]
		if query.Max > 0 {
			expected = expected[:query.Max]
		}
		if !slices.Equal(got, expected) {
			t.Errorf("%+v found %v, want %v", query, got, expected)
		}
		if wantOmitted := int64(0); query.Max == 0 && found.Omitted != wantOmitted {
			t.Errorf("%+v left out %d", query, found.Omitted)
		}
	}
}

// Copies of a line in an archive are delivered once, and a number that cannot be right hides nothing that comes after it.
func TestEventsReadHostileArchives(t *testing.T) {
	s := newScene(t)
	s.do(Report{Agent: "codex"})
	s.append(s.log())
	far := s.draft("codex", "*", event.Update{Note: "far"})
	far.Seq = event.MaxSeq
	archive := s.log() + string(far.AppendLine(nil)) + "\n"
	s.do(Report{Agent: "codex"})
	archive += strings.Join(strings.SplitAfter(s.log(), "\n")[2:], "")
	result, err := s.Compact(t.Context(), CompactOptions{MaxEvents: 1, MaxAge: -1})
	if err != nil || !result.Compacted {
		t.Fatalf("compacted: %+v, %v", result, err)
	}
	if err := os.WriteFile(s.path(result.Archive), []byte(archive), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := s.Events(t.Context(), Query{After: Everything})
	var got []int64
	for i := range found.Events {
		got = append(got, found.Events[i].Seq)
	}
	if err != nil || !slices.Equal(got, []int64{0, 1, 2}) {
		t.Errorf("found %v, %v", got, err)
	}
}
