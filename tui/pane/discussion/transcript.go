package discussion

import "github.com/agentloadout/loadout/tui/theme"

// transcript is a place in a list of statements that each take some lines. It asks for the lines of what is near the place alone, so its
// cost does not depend on how many statements there are.
type transcript struct {
	n, h      int
	top, skip int // the first statement that is visible, and how many of its lines are above
	follow    bool
	lines     func(i int) []theme.Spans
}

// end is the place that has the last line at the bottom.
func (t *transcript) end() (top, skip int) {
	left := t.h
	for i := t.n - 1; i >= 0; i-- {
		have := len(t.lines(i))
		if have >= left {
			return i, have - left
		}
		left -= have
	}
	return 0, 0
}

// settle keeps the place inside of the list, and at its end while that is followed.
func (t *transcript) settle() {
	top, skip := t.end()
	if t.follow || t.top > top || t.top == top && t.skip > skip {
		t.top, t.skip = top, skip
	}
}

// move scrolls by d lines. Scrolling up ends following.
func (t *transcript) move(d int) {
	t.settle()
	if d < 0 {
		t.follow = false
	}
	t.skip += d
	for t.skip < 0 && t.top > 0 {
		t.top--
		t.skip += len(t.lines(t.top))
	}
	t.skip = max(t.skip, 0)
	for t.top < t.n-1 && t.skip >= len(t.lines(t.top)) {
		t.skip -= len(t.lines(t.top))
		t.top++
	}
	t.settle()
}

func (t *transcript) home() { t.top, t.skip, t.follow = 0, 0, false }

// visible are the lines in the window.
func (t *transcript) visible() []theme.Spans {
	t.settle()
	var out []theme.Spans
	skip := t.skip
	for i := t.top; i < t.n && len(out) < t.h; i++ {
		lines := t.lines(i)
		out = append(out, lines[min(skip, len(lines)):]...)
		skip = 0
	}
	return out[:min(len(out), t.h)]
}
