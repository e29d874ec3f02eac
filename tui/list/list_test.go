package list

import (
	"testing"

	"pgregory.net/rapid"
)

func TestFollowing(t *testing.T) {
	l := New(true)
	l.SetHeight(3)
	l.SetLen(10)
	check := func(step string, cursor, from int, follow bool) {
		t.Helper()
		if f, _ := l.Visible(); l.Cursor() != cursor || f != from || l.Following() != follow {
			t.Fatalf("%s: row %d, window from %d, following %v; want %d, %d, %v", step, l.Cursor(), f, l.Following(), cursor, from, follow)
		}
	}
	check("start at the end", 9, 7, true)
	l.SetLen(12)
	check("new rows are followed", 11, 9, true)
	l.Move(-1)
	check("up stops following", 10, 9, false)
	l.SetLen(20)
	check("new rows do not move the selection", 10, 9, false)
	l.Prepend(5)
	check("older rows do not move it on the screen", 15, 14, false)
	l.End(true)
	check("end follows again", 24, 22, true)
	l.SetLen(2)
	check("fewer rows", 1, 0, true)
	l.SetLen(0)
	check("no rows", -1, 0, true)
}

func TestReselectKeepsTheScreenRow(t *testing.T) {
	l := New(false)
	l.SetHeight(5)
	l.SetLen(50)
	l.Select(20)
	l.Move(-2) // row 18, two above the window's end
	from, _ := l.Visible()
	l.SetLen(60)
	l.Reselect(25)
	now, _ := l.Visible()
	if l.Cursor()-now != 18-from {
		t.Errorf("on screen row %d, was %d", l.Cursor()-now, 18-from)
	}
}

func TestReselectShowsWhatComesAboveTheTop(t *testing.T) {
	for _, tt := range []struct{ height, cursor, came, from int }{{5, 0, 1, 0}, {5, 2, 1, 0}, {5, 4, 1, 1}, {5, 0, 7, 3}} {
		l := New(false)
		l.SetHeight(tt.height)
		l.SetLen(50)
		l.Select(tt.cursor)
		l.SetLen(50 + tt.came)
		l.Reselect(tt.cursor + tt.came)
		if from, _ := l.Visible(); from != tt.from || l.Cursor() != tt.cursor+tt.came {
			t.Errorf("%+v: row %d, window from %d", tt, l.Cursor(), from)
		}
	}
}

func TestSelectionIsAlwaysVisible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := New(rapid.Bool().Draw(t, "follow"))
		t.Repeat(map[string]func(*rapid.T){
			"height":   func(t *rapid.T) { l.SetHeight(rapid.IntRange(-1, 20).Draw(t, "h")) },
			"len":      func(t *rapid.T) { l.SetLen(rapid.IntRange(-1, 100).Draw(t, "n")) },
			"move":     func(t *rapid.T) { l.Move(rapid.IntRange(-200, 200).Draw(t, "d")) },
			"page":     func(t *rapid.T) { l.Page(rapid.IntRange(-3, 3).Draw(t, "d")) },
			"select":   func(t *rapid.T) { l.Select(rapid.IntRange(-5, 120).Draw(t, "i")) },
			"reselect": func(t *rapid.T) { l.Reselect(rapid.IntRange(-5, 120).Draw(t, "i")) },
			"prepend":  func(t *rapid.T) { l.Prepend(rapid.IntRange(0, 20).Draw(t, "n")) },
			"end":      func(t *rapid.T) { l.End(rapid.Bool().Draw(t, "follow")) },
			"": func(t *rapid.T) {
				from, to := l.Visible()
				if from < 0 || to > l.n || from > to {
					t.Fatalf("window %d:%d of %d", from, to, l.n)
				}
				if l.n > 0 && l.h > 0 && (l.cursor < from || l.cursor >= to) {
					t.Fatalf("row %d outside of %d:%d", l.cursor, from, to)
				}
				if to-from < min(l.h, l.n) {
					t.Fatalf("window %d:%d wastes rows of %d", from, to, l.h)
				}
			},
		})
	})
}

func TestScroll(t *testing.T) {
	var s Scroll
	s.SetSize(10, 4)
	s.Page(1)
	if from, to := s.Visible(); from != 3 || to != 7 {
		t.Errorf("after a page: %d:%d", from, to)
	}
	s.End()
	if above, below := s.Partial(); !above || below {
		t.Errorf("at the end: above %v, below %v", above, below)
	}
	s.SetSize(3, 4)
	if from, to := s.Visible(); from != 0 || to != 3 {
		t.Errorf("all fits: %d:%d", from, to)
	}
}
