// Package layout places the panes. It is pure: size, panes and focus in, rectangles out.
package layout

// The smallest window that the cockpit draws in.
const (
	MinWidth  = 40
	MinHeight = 10
)

// Rect is a rectangle of cells.
type Rect struct{ X, Y, W, H int }

// Placed is a pane by its index and where it is drawn.
type Placed struct {
	Pane int
	Rect
}

// Share is how a pane stands in a column of a wide window.
type Share struct {
	Column int // 0 or 1
	Weight int // its part of the column's height against the others'
}

// Places arranges the panes in the w×h cells of the body.
//
// From 100 columns on every pane is shown, in two columns. From 60 columns and 18 rows on two panes are shown one above the other: the
// pair (first and second, third and fourth, …) that holds the focus. Below, or zoomed, the focused pane is alone.
func Places(w, h int, panes []Share, focus int, zoomed bool) []Placed {
	whole := Rect{0, 0, max(w, 0), max(h, 0)}
	switch {
	case len(panes) == 0:
		return nil
	case zoomed || w < 60 || h < 18:
		return []Placed{{focus, whole}}
	case w < 100:
		pair := make([]int, 0, 2)
		for i := focus &^ 1; i <= focus|1 && i < len(panes); i++ {
			pair = append(pair, i)
		}
		return stack(nil, whole, panes, pair)
	}
	var columns [2][]int
	for i, p := range panes {
		columns[p.Column] = append(columns[p.Column], i)
	}
	if len(columns[0]) == 0 || len(columns[1]) == 0 {
		return stack(nil, whole, panes, append(columns[0], columns[1]...))
	}
	left := w * 45 / 100
	placed := stack(nil, Rect{0, 0, left, h}, panes, columns[0])
	return stack(placed, Rect{left, 0, w - left, h}, panes, columns[1])
}

// stack puts panes one above the other, by weight, without a gap.
func stack(placed []Placed, r Rect, panes []Share, which []int) []Placed {
	total := 0
	for _, i := range which {
		total += max(panes[i].Weight, 1)
	}
	y, sum := r.Y, 0
	for _, i := range which {
		sum += max(panes[i].Weight, 1)
		end := r.Y + r.H*sum/total
		placed = append(placed, Placed{i, Rect{r.X, y, r.W, end - y}})
		y = end
	}
	return placed
}
