// Package overlay holds what is drawn above the panes and gets keys first: forms, dialogs and the help. An overlay changes nothing by
// itself; it says when it was submitted or closed.
package overlay

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/tui/text"
)

// Outcome is what a key did to an overlay.
type Outcome int

// The outcomes.
const (
	Open      Outcome = iota // it stays
	Closed                   // the person is done with it
	Submitted                // the person wants what it asks
	Edit                     // the person wants to write the current text in an editor
	Complete                 // the person wants the current text completed
)

// Overlay is one box above the panes.
type Overlay interface {
	Key(k tea.KeyMsg) Outcome
	View(w, h int) []string // the box, at most h lines of at most w cells, all of the same width
}

// Stack is the overlays that are open, the last one on top.
type Stack []Overlay

// Push opens an overlay above the others.
func (s *Stack) Push(o Overlay) { *s = append(*s, o) }

// Top is the overlay that gets the keys, nil when none is open.
func (s Stack) Top() Overlay {
	if len(s) == 0 {
		return nil
	}
	return s[len(s)-1]
}

// Remove closes an overlay, wherever it lies.
func (s *Stack) Remove(o Overlay) {
	for i, open := range *s {
		if open == o {
			*s = append((*s)[:i:i], (*s)[i+1:]...)
			return
		}
	}
}

// Draw lays every open overlay upon the lines of a frame of w cells, in its middle.
func (s Stack) Draw(lines []string, w int) {
	for _, o := range s {
		box := o.View(w, len(lines))
		if len(box) == 0 {
			continue
		}
		bw := text.Width(box[0])
		x, y := (w-bw)/2, (len(lines)-len(box))/2
		for i, line := range box {
			lines[y+i] = text.Splice(lines[y+i], line, x, bw, w)
		}
	}
}
