package pane

import (
	"fmt"

	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/theme"
)

// Entry is one row of a Listing, with what is told about it.
type Entry struct {
	Key     string   // the same as long as the row is about the same thing, so that it stays selected
	Words   []string // what a filter looks in
	Row     func(w int) (left, right theme.Spans)
	Detail  func(d *Detail)
	Subject Subject
	Grows   bool // the detail grows at its end
}

// Listing is the part that panes share which make all of their rows from a snapshot and load nothing.
type Listing struct {
	Browser
	nothing string // why there is no row
	noun    string // what a row is
	all     []Entry
	shown   []Entry
}

// NewListing makes a listing of things called noun; nothing says why there is none and what would make one.
func NewListing(look Look, noun, nothing string) *Listing {
	l := &Listing{nothing: nothing, noun: noun}
	l.Browser = NewBrowser(look, (*listed)(l), false)
	return l
}

// Show gives the listing its rows, all of them.
func (l *Listing) Show(entries []Entry) {
	l.all = entries
	l.sift()
}

func (l *Listing) sift() {
	key := ""
	if e := l.selected(); e != nil {
		key = e.Key
	}
	l.shown = l.all
	if l.Filter() != "" {
		l.shown = nil
		for _, e := range l.all {
			if Matches(l.Filter(), e.Words...) {
				l.shown = append(l.shown, e)
			}
		}
	}
	l.List.SetLen(len(l.shown))
	for i := range l.shown {
		if l.shown[i].Key == key {
			l.List.Reselect(i)
			break
		}
	}
	l.Changed()
}

func (l *Listing) selected() *Entry {
	if i := l.List.Cursor(); i >= 0 && i < len(l.shown) {
		return &l.shown[i]
	}
	return nil
}

// SetFilter shows only rows that match.
func (l *Listing) SetFilter(filter string) Action {
	l.KeepFilter(filter)
	l.sift()
	return nil
}

// Filtered says how many rows match, empty without a filter.
func (l *Listing) Filtered() string {
	if l.Filter() == "" {
		return ""
	}
	return fmt.Sprintf("%d of %d", len(l.shown), len(l.all))
}

// Loaded is never called: a listing loads nothing.
func (l *Listing) Loaded(string, any, error) Action { return nil }

// Handle moves and opens.
func (l *Listing) Handle(intent keymap.Intent) Action {
	if !l.Browse(intent) {
		return Ignored{}
	}
	return nil
}

// Subject is what the selected row is about.
func (l *Listing) Subject() Subject {
	if e := l.selected(); e != nil {
		return e.Subject
	}
	return Subject{Seq: -1}
}

// listed draws the rows of a listing.
type listed Listing

func (l *listed) Row(i, w int) (left, right theme.Spans) { return l.shown[i].Row(w) }

func (l *listed) Detail(w int) []theme.Spans {
	d := NewDetail(l.Look, w)
	e := (*Listing)(l).selected()
	if l.Grows = e != nil && e.Grows; e != nil {
		e.Detail(d)
	}
	return d.Lines()
}

func (l *listed) Empty() string {
	if l.Filter() != "" {
		return "No " + l.noun + " matches the filter."
	}
	return l.nothing
}
