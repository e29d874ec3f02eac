package layout

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestTiers(t *testing.T) {
	all := func(int) bool { return false }
	noTalk := func(i int) bool { return i == 2 || i == 4 || i == 5 } // no discussion, no work, no gates
	tests := []struct {
		name string
		View
		want []int
	}{
		{"three columns", View{W: 200, H: 58, Blank: all}, []int{0, 1, 2, 6, 3, 4, 5, 7}},
		{"two columns at most", View{W: 200, H: 58, Most: Columns}, []int{0, 1, 7, 2, 3}},
		{"two columns", View{W: 120, H: 38}, []int{0, 1, 7, 2, 3}},
		{"what has nothing to show gives way", View{W: 120, H: 38, Blank: noTalk}, []int{0, 1, 7, 6, 3}},
		{"the focused tab", View{W: 120, H: 38, Focus: 5}, []int{0, 1, 5, 2, 3}},
		{"the last visited tab", View{W: 120, H: 38, Visited: []int{0, 0, 0, 0, 1, 3, 0, 2}}, []int{0, 1, 5, 2, 3}},
		{"80 columns show the first pair", View{W: 80, H: 22}, []int{0, 1}},
		{"80 columns with another pair", View{W: 80, H: 22, Focus: 5}, []int{4, 5}},
		{"a pair at most", View{W: 200, H: 58, Most: Pair, Focus: 7}, []int{6, 7}},
		{"low", View{W: 60, H: 13, Focus: 1}, []int{1}},
		{"narrow", View{W: 40, H: 10, Focus: 2}, []int{2}},
		{"one at most", View{W: 200, H: 58, Most: Single, Focus: 3}, []int{3}},
		{"zoomed", View{W: 200, H: 58, Focus: 3, Zoomed: true}, []int{3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.Panes = 8
			var got []int
			for _, p := range Places(tt.View) {
				got = append(got, p.Pane)
			}
			if !slices.Equal(got, tt.want) {
				t.Fatalf("panes %v, want %v", got, tt.want)
			}
		})
	}
}

func TestWhatHasNothingToShowIsLow(t *testing.T) {
	placed := Places(View{W: 120, H: 38, Panes: 8, Blank: func(i int) bool { return i == 3 }})
	for _, p := range placed {
		if p.Pane == 3 && p.H != quiet || p.Pane == 2 && p.H != 38-quiet {
			t.Errorf("%+v", p)
		}
	}
}

// The panes cover the body and nothing else, whatever its size.
func TestPlacesTileTheBody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := View{
			W: rapid.IntRange(-5, 300).Draw(t, "w"), H: rapid.IntRange(-5, 100).Draw(t, "h"),
			Panes: rapid.IntRange(1, 11).Draw(t, "panes"), Zoomed: rapid.Bool().Draw(t, "zoomed"),
			Most:    rapid.SampledFrom([]Most{Auto, Columns, Pair, Single}).Draw(t, "most"),
			Visited: rapid.SliceOfN(rapid.IntRange(0, 20), 0, 11).Draw(t, "visited"),
		}
		v.Focus = rapid.IntRange(0, v.Panes-1).Draw(t, "focus")
		blank := rapid.SliceOfN(rapid.Bool(), 11, 11).Draw(t, "blank")
		v.Blank = func(i int) bool { return blank[i] }
		area, focused := 0, false
		for _, p := range Places(v) {
			if p.X < 0 || p.Y < 0 || p.W < 0 || p.H < 0 || p.X+p.W > max(v.W, 0) || p.Y+p.H > max(v.H, 0) {
				t.Fatalf("%+v outside of %d×%d", p, v.W, v.H)
			}
			if !slices.Contains(p.Tabs, p.Pane) {
				t.Fatalf("%d is none of the tabs %v", p.Pane, p.Tabs)
			}
			area += p.W * p.H
			focused = focused || p.Pane == v.Focus
		}
		if area != max(v.W, 0)*max(v.H, 0) {
			t.Fatalf("cover %d cells of %d", area, v.W*v.H)
		}
		if !focused {
			t.Fatal("the focused pane is not shown")
		}
	})
}
