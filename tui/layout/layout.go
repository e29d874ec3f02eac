// Package layout places the panes. It is pure: size, panes and focus in, rectangles out.
package layout

import "slices"

// The smallest window that the cockpit draws in.
const (
	MinWidth  = 40
	MinHeight = 10
)

// Most is how many panes a person wants to see at most.
type Most string

// The choices of Most.
const (
	Auto    Most = "auto"    // as many as the window has room for
	Columns Most = "columns" // the same, in not more than two columns
	Pair    Most = "pair"
	Single  Most = "single"
)

// quiet is the height of a pane that has nothing to show, where others have.
const quiet = 5

// Rect is a rectangle of cells.
type Rect struct{ X, Y, W, H int }

// Placed is a pane by its index and where it is drawn.
type Placed struct {
	Pane int
	Tabs []int // all panes of this place, the drawn one among them
	Rect
}

// View is what the places depend on. W and H are the cells of the body.
type View struct {
	W, H    int
	Panes   int // how many there are
	Focus   int
	Zoomed  bool
	Most    Most
	Visited []int               // when each pane had the focus last, as a rising number; 0: never
	Blank   func(pane int) bool // it has nothing to show
}

// place is a rectangle that one or more panes share: the one in use is drawn, the others are tabs.
type place struct {
	panes  []int
	weight int // its part of the column's height against the others'
}

// column is places from top to bottom, and its part of the width.
type column struct {
	places []place
	weight int
}

// two and three are the arrangements of wide windows, by the panes' numbers less one.
func two() []column {
	return []column{
		{[]place{{[]int{0}, 3}, {[]int{1}, 2}, {[]int{7, 4, 5}, 2}}, 9}, // agents first: what waits for a person is there
		{[]place{{[]int{2, 6}, 5}, {[]int{3}, 2}}, 11},
	}
}

func three() []column {
	return []column{
		{[]place{{[]int{0}, 3}, {[]int{1}, 2}}, 6},
		{[]place{{[]int{2}, 3}, {[]int{6}, 3}, {[]int{3}, 2}}, 8},
		{[]place{{[]int{4}, 1}, {[]int{5}, 1}, {[]int{7}, 1}}, 6},
	}
}

// Places arranges the panes in the body.
//
// From 160 columns on every pane is shown, in three columns; from 100 columns on in two, where some panes share a place. From 60 columns
// and 18 rows on two panes are shown one above the other: the pair (first and second, third and fourth, …) that holds the focus. Below,
// or zoomed, the focused pane is alone.
func Places(v View) []Placed {
	whole := Rect{0, 0, max(v.W, 0), max(v.H, 0)}
	switch {
	case v.Panes == 0:
		return nil
	case v.Zoomed || v.Most == Single || v.W < 60 || v.H < 18:
		return []Placed{{v.Focus, []int{v.Focus}, whole}}
	case v.Most == Pair || v.W < 100:
		var pair []place
		for i := v.Focus &^ 1; i <= v.Focus|1 && i < v.Panes; i++ {
			pair = append(pair, place{[]int{i}, 3 - i%2})
		}
		return v.stack(nil, whole, pair)
	case v.Most == Columns || v.W < 160 || v.H < 30:
		return v.columns(whole, two())
	}
	return v.columns(whole, three())
}

// columns puts columns side by side, without those that have no pane.
func (v *View) columns(r Rect, all []column) []Placed {
	used := all[:0]
	total := 0
	for _, c := range all {
		c.places = v.existing(c.places)
		if len(c.places) > 0 {
			used = append(used, c)
			total += c.weight
		}
	}
	last := &used[len(used)-1]
	for i := 8; i < v.Panes; i++ { // those that no arrangement knows
		end := &last.places[len(last.places)-1]
		end.panes = append(end.panes, i)
	}
	var placed []Placed
	x, sum := r.X, 0
	for _, c := range used {
		sum += c.weight
		end := r.X + r.W*sum/total
		placed = v.stack(placed, Rect{x, r.Y, end - x, r.H}, c.places)
		x = end
	}
	return placed
}

// existing drops the panes that there are not.
func (v *View) existing(places []place) []place {
	var kept []place
	for _, p := range places {
		var panes []int
		for _, i := range p.panes {
			if i < v.Panes {
				panes = append(panes, i)
			}
		}
		if panes != nil {
			kept = append(kept, place{panes, p.weight})
		}
	}
	return kept
}

// stack puts places one above the other, by weight, without a gap. Those with nothing to show are kept low.
func (v *View) stack(placed []Placed, r Rect, places []place) []Placed {
	drawn, low := make([]int, len(places)), make([]bool, len(places))
	total, room, lows := 0, r.H, 0
	for i, p := range places {
		drawn[i] = v.drawn(p.panes)
		if low[i] = v.blank(drawn[i]); low[i] {
			lows++
		}
	}
	if lows == len(places) || r.H < 4*quiet {
		clear(low)
	}
	for i, p := range places {
		if low[i] {
			room -= quiet
		} else {
			total += p.weight
		}
	}
	y, sum, given := r.Y, 0, 0
	for i, p := range places {
		h := quiet
		if !low[i] {
			sum += p.weight
			h = room*sum/total - given
			given += h
		}
		placed = append(placed, Placed{drawn[i], p.panes, Rect{r.X, y, r.W, h}})
		y += h
	}
	return placed
}

// drawn is which pane of a place is in use: the one that had the focus last, else the first that has something to show, else the one
// of the highest number.
func (v *View) drawn(panes []int) int {
	best, when := panes[0], 0
	for _, i := range panes {
		if i == v.Focus {
			return i
		}
		if i < len(v.Visited) && v.Visited[i] > when {
			best, when = i, v.Visited[i]
		}
	}
	if when > 0 {
		return best
	}
	for _, i := range panes {
		if !v.blank(i) {
			return i
		}
	}
	return slices.Max(panes) // the most general of them
}

func (v *View) blank(i int) bool { return v.Blank != nil && v.Blank(i) }
