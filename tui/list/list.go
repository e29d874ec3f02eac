// Package list keeps the place in a list that may be too long to draw: which row is selected, which rows are visible, and whether the
// list follows its end. It holds no rows, so its cost does not depend on their number.
package list

// List is a place in a list of n rows, seen through a window of h rows. The zero value is an empty list.
type List struct {
	n, h        int
	cursor, top int
	follow      bool
}

// New makes a list that follows its end or stays at its start.
func New(follow bool) List { return List{follow: follow} }

// Len is the number of rows.
func (l *List) Len() int { return l.n }

// Cursor is the selected row, -1 when there is none.
func (l *List) Cursor() int {
	if l.n == 0 {
		return -1
	}
	return l.cursor
}

// Visible is the half-open range of rows to draw.
func (l *List) Visible() (from, to int) { return l.top, min(l.top+l.h, l.n) }

// Following reports whether the selection stays on the last row as rows are added.
func (l *List) Following() bool { return l.follow }

// Follow turns following on, which goes to the last row, or off.
func (l *List) Follow(on bool) {
	l.follow = on
	l.settle()
}

// SetHeight sets how many rows can be seen.
func (l *List) SetHeight(h int) {
	l.h = max(h, 0)
	l.settle()
}

// SetLen sets the number of rows, when rows were added or removed at the end.
func (l *List) SetLen(n int) {
	l.n = max(n, 0)
	l.settle()
}

// Prepend adds n rows before the first; the selected row stays selected and where it is on the screen.
func (l *List) Prepend(n int) {
	l.n += n
	l.cursor += n
	l.top += n
	l.settle()
}

// Select moves to row i. Going to the last row does not start following; End does.
func (l *List) Select(i int) {
	l.cursor = i
	l.follow = false
	l.settle()
}

// Reselect moves to row i as its rows were rearranged, and keeps the selection where it is on the screen. A list that was at its top stays
// there, so that rows that came above are seen.
func (l *List) Reselect(i int) {
	if l.top > 0 {
		l.top += i - l.cursor
	}
	l.cursor = i
	l.settle()
}

// Move moves the selection by d rows. Moving up stops following; moving down onto the last row of a following list's kind is left to End.
func (l *List) Move(d int) {
	if d < 0 {
		l.follow = false
	}
	l.cursor += d
	l.settle()
}

// Page moves the selection by d windows.
func (l *List) Page(d int) { l.Move(d * max(l.h-1, 1)) }

// Home selects the first row.
func (l *List) Home() { l.Select(0) }

// End selects the last row; a list made to follow does so again.
func (l *List) End(follow bool) {
	l.follow = follow
	l.cursor = l.n - 1
	l.settle()
}

// settle keeps the selection inside the list and the window around the selection.
func (l *List) settle() {
	if l.follow {
		l.cursor = l.n - 1
	}
	l.cursor = max(min(l.cursor, l.n-1), 0)
	if l.cursor < l.top {
		l.top = l.cursor
	}
	if l.h > 0 && l.cursor >= l.top+l.h {
		l.top = l.cursor - l.h + 1
	}
	l.top = max(min(l.top, l.n-l.h), 0)
}

// Scroll is a place in a text of n lines, seen through a window of h lines.
type Scroll struct{ n, h, top int }

// SetSize sets the number of lines and how many of them can be seen.
func (s *Scroll) SetSize(n, h int) {
	s.n, s.h = max(n, 0), max(h, 0)
	s.Move(0)
}

// Move scrolls by d lines.
func (s *Scroll) Move(d int) { s.top = max(min(s.top+d, s.n-s.h), 0) }

// Page scrolls by d windows.
func (s *Scroll) Page(d int) { s.Move(d * max(s.h-1, 1)) }

// Home and End go to the first and the last line.
func (s *Scroll) Home() { s.top = 0 }

// End goes to the last line.
func (s *Scroll) End() { s.Move(s.n) }

// Visible is the half-open range of lines to draw.
func (s *Scroll) Visible() (from, to int) { return s.top, min(s.top+s.h, s.n) }

// Partial reports whether lines are hidden above or below.
func (s *Scroll) Partial() (above, below bool) { return s.top > 0, s.top+s.h < s.n }
