package engine

import (
	"slices"
	"testing"
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
