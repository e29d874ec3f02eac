package layout

import (
	"testing"

	"pgregory.net/rapid"
)

var four = []Share{{0, 3}, {0, 2}, {1, 3}, {1, 2}}

func TestTiers(t *testing.T) {
	tests := []struct {
		name   string
		w, h   int
		focus  int
		zoomed bool
		want   []int
	}{
		{"wide", 200, 58, 0, false, []int{0, 1, 2, 3}},
		{"middle", 120, 38, 2, false, []int{0, 1, 2, 3}},
		{"80 columns show the first pair", 80, 22, 0, false, []int{0, 1}},
		{"80 columns with the second pair", 80, 22, 3, false, []int{2, 3}},
		{"low", 60, 13, 1, false, []int{1}},
		{"narrow", 40, 10, 2, false, []int{2}},
		{"zoomed", 200, 58, 3, true, []int{3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []int
			for _, p := range Places(tt.w, tt.h, four, tt.focus, tt.zoomed) {
				got = append(got, p.Pane)
			}
			if len(got) != len(tt.want) {
				t.Fatalf("panes %v, want %v", got, tt.want)
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Fatalf("panes %v, want %v", got, tt.want)
				}
			}
		})
	}
}

// The panes cover the body and nothing else, whatever its size.
func TestPlacesTileTheBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(-5, 300).Draw(t, "w"), rapid.IntRange(-5, 100).Draw(t, "h")
		panes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Share {
			return Share{rapid.IntRange(0, 1).Draw(t, "column"), rapid.IntRange(0, 4).Draw(t, "weight")}
		}), 1, 7).Draw(t, "panes")
		focus := rapid.IntRange(0, len(panes)-1).Draw(t, "focus")
		area, focused := 0, false
		for _, p := range Places(w, h, panes, focus, rapid.Bool().Draw(t, "zoomed")) {
			if p.X < 0 || p.Y < 0 || p.W < 0 || p.H < 0 || p.X+p.W > max(w, 0) || p.Y+p.H > max(h, 0) {
				t.Fatalf("%+v outside of %d×%d", p, w, h)
			}
			area += p.W * p.H
			focused = focused || p.Pane == focus
		}
		if area != max(w, 0)*max(h, 0) {
			t.Fatalf("cover %d cells of %d", area, w*h)
		}
		if !focused {
			t.Fatal("the focused pane is not shown")
		}
	})
}
