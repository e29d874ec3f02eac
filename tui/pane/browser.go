package pane

import (
	"cmp"
	"strings"

	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/list"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// Sizes from which a zoomed browser shows the detail beside or below the list.
const (
	besideWidth = 100
	belowHeight = 16
)

// Rows is what a Browser browses.
type Rows interface {
	// Row draws row i in w cells: left is shortened where both parts do not fit.
	Row(i, w int) (left, right theme.Spans)
	// Detail is about the selected row, in lines of at most w cells.
	Detail(w int) []theme.Spans
	// Empty says in plain words why there is no row.
	Empty() string
}

// Browser is the part that panes share: a list of rows, and the detail of the selected one. The detail is beside the list or below it
// where a zoomed pane has room, else in its place.
type Browser struct {
	Look
	List      list.List
	ListShare int  // percent of the width that the list has beside the detail, 0: 45
	Grows     bool // the detail of the selected row grows at its end, which is shown

	rows   Rows
	tail   bool // End follows the list's end
	w, h   int
	zoomed bool
	focus  bool
	filter string

	fed    bool // rows were given: none means that there are none
	inside bool // keys go to the detail
	scroll list.Scroll
	end    bool // the detail stays at its end, because the person did not scroll away from it
	detail []theme.Spans
	width  int  // that detail was made for
	stale  bool // detail must be made anew
}

// NewBrowser makes a browser of rows. tail: the list follows its end.
func NewBrowser(look Look, rows Rows, tail bool) Browser {
	return Browser{Look: look, List: list.New(tail), rows: rows, tail: tail, stale: true, end: true}
}

// SetSize sets the cells to draw in.
func (b *Browser) SetSize(w, h int, zoomed bool) {
	b.w, b.h, b.zoomed = max(w, 0), max(h, 0), zoomed
	if !zoomed {
		b.inside = false
	}
	_, lh := b.listSize()
	b.List.SetHeight(lh)
}

// Zoomed reports whether the pane has the window to itself.
func (b *Browser) Zoomed() bool { return b.zoomed }

// SetFocus says whether keys go to the pane.
func (b *Browser) SetFocus(focused bool) { b.focus = focused }

// Filter is what rows must match.
func (b *Browser) Filter() string { return b.filter }

// KeepFilter remembers what rows must match.
func (b *Browser) KeepFilter(filter string) { b.filter = filter }

// Inside reports whether keys go to the detail.
func (b *Browser) Inside() bool { return b.inside }

// Preview reports whether the detail is visible beside the list.
func (b *Browser) Preview() bool { return b.beside() || b.below() }

func (b *Browser) beside() bool { return b.zoomed && b.w >= besideWidth }
func (b *Browser) below() bool  { return b.zoomed && !b.beside() && b.h >= belowHeight }

// Blank reports whether there is nothing to show.
func (b *Browser) Blank() bool { return b.List.Len() == 0 && b.filter == "" }

// Changed says that the selected row, or what is known about it, is another one.
func (b *Browser) Changed() { b.stale, b.fed = true, true }

// DetailShown reports whether the detail is on the screen, so that loading what it needs is worth it.
func (b *Browser) DetailShown() bool { return b.inside || b.Preview() }

func (b *Browser) listSize() (w, h int) {
	switch {
	case b.beside():
		return b.w * cmp.Or(b.ListShare, 45) / 100, b.h
	case b.below():
		return b.w, b.h * 40 / 100
	}
	return b.w, b.h
}

func (b *Browser) detailSize() (w, h int) {
	lw, lh := b.listSize()
	switch {
	case b.beside():
		return b.w - lw - 1, b.h
	case b.below():
		return b.w, b.h - lh - 1
	}
	return b.w, b.h
}

// Browse handles the intents that move about. It reports false for those that it does not know.
func (b *Browser) Browse(intent keymap.Intent) bool {
	if b.inside {
		return b.browseDetail(intent)
	}
	switch intent {
	case keymap.Up:
		b.List.Move(-1)
	case keymap.Down:
		b.List.Move(1)
	case keymap.PageUp:
		b.List.Page(-1)
	case keymap.PageDown:
		b.List.Page(1)
	case keymap.Home:
		b.List.Home()
	case keymap.End:
		b.List.End(b.tail)
	case keymap.Open:
		if b.List.Cursor() >= 0 {
			b.inside = true
		}
		return true
	default:
		return false
	}
	b.stale, b.end = true, true
	b.scroll.Home()
	return true
}

func (b *Browser) browseDetail(intent keymap.Intent) bool {
	switch intent {
	case keymap.Up:
		b.scroll.Move(-1)
	case keymap.Down:
		b.scroll.Move(1)
	case keymap.PageUp:
		b.scroll.Page(-1)
	case keymap.PageDown:
		b.scroll.Page(1)
	case keymap.Home:
		b.scroll.Home()
	case keymap.End:
		b.scroll.End()
	case keymap.Open:
	case keymap.Back:
		b.inside = false
	default:
		return false
	}
	_, below := b.scroll.Partial()
	b.end = !below
	return true
}

// View draws the browser.
func (b *Browser) View() []string {
	switch {
	case b.List.Len() == 0:
		return b.viewEmpty()
	case b.beside():
		lw, _ := b.listSize()
		left, right := b.viewList(lw, b.h), b.viewDetail()
		edge := b.Border.Paint(b.Vertical)
		for i := range left {
			left[i] += edge + right[i]
		}
		return left
	case b.below():
		_, lh := b.listSize()
		lines := append(b.viewList(b.w, lh), b.Border.Paint(strings.Repeat(b.Horizontal, b.w)))
		return append(lines, b.viewDetail()...)
	case b.inside:
		return b.viewDetail()
	}
	return b.viewList(b.w, b.h)
}

func (b *Browser) viewEmpty() []string {
	lines := make([]string, b.h)
	for i := range lines {
		lines[i] = text.Blank(b.w)
	}
	why := "Reading the log."
	if b.fed {
		why = b.rows.Empty()
	}
	for i, line := range text.Wrap(why, max(b.w-2, 1)) {
		if i < b.h {
			lines[i] = b.Row(b.w, theme.Style{}, theme.Spans{theme.S(" ", theme.Style{}), theme.S(line, b.Dim)}, nil)
		}
	}
	return lines
}

func (b *Browser) viewList(w, h int) []string {
	lines := make([]string, 0, h)
	from, to := b.List.Visible()
	for i := from; i < to && len(lines) < h; i++ {
		left, right := b.rows.Row(i, max(w-2, 0))
		mark, base := theme.S(" ", theme.Style{}), theme.Style{}
		if i == b.List.Cursor() && b.focus {
			base = b.Selected
			mark = theme.S(b.Pointer, b.Focus)
			if b.inside {
				mark.Style = b.Dim
			}
		}
		row := make(theme.Spans, 0, len(left)+1)
		row = append(append(row, mark), left...)
		if w > 2 { // keep off the edge
			lines = append(lines, b.Row(w-1, base, row, right)+base.Paint(" "))
		} else {
			lines = append(lines, b.Row(w, base, row, right))
		}
	}
	for len(lines) < h {
		lines = append(lines, text.Blank(w))
	}
	return lines
}

func (b *Browser) viewDetail() []string {
	w, h := b.detailSize()
	if b.stale || b.width != w {
		b.detail = b.rows.Detail(max(w-2, 1))
		b.stale, b.width = false, w
	}
	if b.scroll.SetSize(len(b.detail), h); b.Grows && b.end {
		b.scroll.End()
	}
	lines := make([]string, 0, h)
	from, to := b.scroll.Visible()
	for _, spans := range b.detail[from:to] {
		line := append(theme.Spans{theme.S(" ", theme.Style{})}, spans...)
		lines = append(lines, b.Row(w, theme.Style{}, line, nil))
	}
	for len(lines) < h {
		lines = append(lines, text.Blank(w))
	}
	if h > 0 && b.inside {
		b.markScroll(lines, w)
	}
	return lines
}

// markScroll shows at the right edge that there is more above or below.
func (b *Browser) markScroll(lines []string, w int) {
	above, below := b.scroll.Partial()
	mark := func(i int, glyph string) {
		if w > 2 {
			lines[i] = text.Splice(lines[i], b.Accent.Paint(glyph), w-1, 1, w)
		}
	}
	if above {
		mark(0, b.Up)
	}
	if below {
		mark(len(lines)-1, b.Down)
	}
}
