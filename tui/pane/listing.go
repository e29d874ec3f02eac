package pane

import (
	"fmt"
	"slices"

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

// Run is a part of a Listing that may be so long that only those of its rows are made which are needed.
type Run struct {
	Tasks *Tasks // its rows are the tasks
	Words func(TaskRef) []string
	Entry func(TaskRef) Entry
}

// Listing is the part that panes share which make all of their rows from a snapshot and load nothing.
type Listing struct {
	Browser
	nothing string // why there is no row
	noun    string // what a row is

	head, tail []Entry
	run        Run
	refs       []TaskRef // of the run
	shown      []int     // rows that match the filter, when there is one
	hits       []bool    // which refs match it
	sought     string    // the filter that hits is about
}

// NewListing makes a listing of things called noun; nothing says why there is none and what would make one.
func NewListing(look Look, noun, nothing string) *Listing {
	l := &Listing{nothing: nothing, noun: noun}
	l.Browser = NewBrowser(look, (*listed)(l), false)
	return l
}

// Show gives the listing its rows, all of them.
func (l *Listing) Show(entries []Entry) { l.ShowAround(entries, Run{}, nil) }

// ShowAround gives the listing its rows, all of them: a long run, and what is before and behind it.
func (l *Listing) ShowAround(head []Entry, run Run, tail []Entry) {
	key, ref := l.place()
	var refs []TaskRef
	if run.Tasks != nil {
		refs = run.Tasks.Tasks
	}
	if l.Filter() != "" {
		l.hits = l.match(run, refs)
	}
	l.head, l.run, l.refs, l.tail = head, run, refs, tail
	l.sift()
	l.restore(key, ref)
	l.Changed()
}

// match says which tasks match the filter. Those that are as they were are not looked at again.
func (l *Listing) match(run Run, refs []TaskRef) []bool {
	same := l.sought == l.Filter() && l.run.Tasks != nil && run.Tasks != nil && l.run.Tasks.listed == run.Tasks.listed
	hits, old := make([]bool, len(refs)), 0
	for i, r := range refs {
		for same && old < len(l.refs) && l.refs[old].Seq < r.Seq {
			old++
		}
		if same && old < len(l.refs) && l.refs[old] == r {
			hits[i] = l.hits[old]
		} else {
			hits[i] = Matches(l.Filter(), run.Words(r)...)
		}
	}
	l.sought = l.Filter()
	return hits
}

// sift finds the rows that match the filter.
func (l *Listing) sift() {
	l.shown = l.shown[:0]
	if l.Filter() == "" {
		l.hits, l.sought = nil, ""
		l.List.SetLen(l.all())
		return
	}
	for i := range l.all() {
		if e, r := l.at(i); e != nil && Matches(l.Filter(), e.Words...) || r != nil && l.hits[i-len(l.head)] {
			l.shown = append(l.shown, i)
		}
	}
	l.List.SetLen(len(l.shown))
}

func (l *Listing) all() int { return len(l.head) + len(l.refs) + len(l.tail) }

// at is a row, filtered or not: one that is made, or a task.
func (l *Listing) at(i int) (*Entry, *TaskRef) {
	run := i - len(l.head)
	switch tail := run - len(l.refs); {
	case run < 0:
		return &l.head[i], nil
	case tail < 0:
		return nil, &l.refs[run]
	default:
		return &l.tail[tail], nil
	}
}

// index is which of all rows is shown as row i.
func (l *Listing) index(i int) int {
	if l.Filter() != "" {
		return l.shown[i]
	}
	return i
}

// place is what is selected: the key of a row, or a task; neither when nothing is.
func (l *Listing) place() (key string, ref *TaskRef) {
	if i := l.List.Cursor(); i >= 0 {
		e, r := l.at(l.index(i))
		if e != nil {
			return e.Key, nil
		}
		return "", r
	}
	return "", nil
}

// restore selects again what was selected, where it is still shown.
func (l *Listing) restore(key string, ref *TaskRef) {
	at := -1
	if ref != nil {
		if i, found := slices.BinarySearchFunc(l.refs, *ref, bySeq); found {
			at = len(l.head) + i
		}
	}
	for i := range l.head {
		if ref == nil && l.head[i].Key == key {
			at = i
		}
	}
	for i := range l.tail {
		if ref == nil && l.tail[i].Key == key {
			at = len(l.head) + len(l.refs) + i
		}
	}
	if l.Filter() != "" {
		i, found := slices.BinarySearch(l.shown, at)
		if at = i; !found {
			at = -1
		}
	}
	if at >= 0 {
		l.List.Reselect(at)
	}
}

func (l *Listing) entry(i int) Entry {
	e, r := l.at(l.index(i))
	if e != nil {
		return *e
	}
	return l.run.Entry(*r)
}

func (l *Listing) selected() *Entry {
	if i := l.List.Cursor(); i >= 0 {
		e := l.entry(i)
		return &e
	}
	return nil
}

// SetFilter shows only rows that match.
func (l *Listing) SetFilter(filter string) Action {
	key, ref := l.place()
	if l.KeepFilter(filter); filter != "" {
		l.hits = l.match(l.run, l.refs)
	}
	l.sift()
	l.restore(key, ref)
	l.Changed()
	return nil
}

// Filtered says how many rows match, empty without a filter.
func (l *Listing) Filtered() string {
	if l.Filter() == "" {
		return ""
	}
	return fmt.Sprintf("%d of %d", len(l.shown), l.all())
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

func (l *listed) Row(i, w int) (left, right theme.Spans) { return (*Listing)(l).entry(i).Row(w) }

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
