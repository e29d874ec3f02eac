// Package keymap says which key means what. It is the only place that knows keys: the help, the footer and the handlers of the panes
// all start from here.
package keymap

import (
	"slices"

	"github.com/charmbracelet/bubbles/key"
)

// Intent is what a person wants. Panes and the root handle intents and never see keys.
type Intent int

// The intents.
const (
	None Intent = iota

	Quit
	Suspend
	Redraw
	Help
	Back
	NextPane
	PreviousPane
	Focus // pane by number; the key is the number
	Zoom
	Filter
	CommandLine
	Copy
	Past
	PastFar
	Future
	FutureFar

	Claim
	Release
	Acknowledge
	Ask
	AddTask
	Decide
	Kill
	Resume

	Up
	Down
	PageUp
	PageDown
	Home
	End
	Open

	Collapse
	Expand

	Diff
	OlderRevision
	NewerRevision

	Follow
	Travel
)

// Scope is where a binding holds.
type Scope string

// The scopes. Keys of a pane's own scope are looked up first, then Move, Act and Everywhere.
const (
	Everywhere Scope = "everywhere"
	Act        Scope = "act"
	Move       Scope = "move"
	Ownership  Scope = "ownership"
	Contracts  Scope = "contracts"
	Timeline   Scope = "timeline"
	Agents     Scope = "agents"
)

// Binding ties keys to an intent.
type Binding struct {
	key.Binding
	Intent Intent
	Hint   int // place among the hints of the footer, 0 for none; lower ones survive in narrow windows
}

// Group is a scope with its bindings, for the help.
type Group struct {
	Scope    Scope
	Bindings []Binding
}

// Map holds every binding.
type Map struct {
	bindings map[Scope][]Binding
	lookup   map[Scope]map[string]Intent
}

// bind names the keys as Bubble Tea does. label is how the help writes them.
func bind(intent Intent, label, does string, hint int, keys ...string) Binding {
	return Binding{Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(label, does)), Intent: intent, Hint: hint}
}

// Default is the cockpit's map.
func Default() *Map {
	m := &Map{bindings: map[Scope][]Binding{
		Everywhere: {
			bind(Quit, "q", "quit", 0, "q", "ctrl+c"),
			bind(Help, "?", "help", 1, "?"),
			bind(Back, "esc", "go back: close, unzoom, clear the filter, return to now", 0, "esc"),
			bind(NextPane, "tab", "next pane", 0, "tab"),
			bind(PreviousPane, "shift+tab", "previous pane", 0, "shift+tab"),
			bind(Focus, "1-9", "focus the pane of that number", 0, "1", "2", "3", "4", "5", "6", "7", "8", "9"),
			bind(Zoom, "z", "zoom the pane, or back", 0, "z"),
			bind(Filter, "/", "filter the pane", 8, "/"),
			bind(CommandLine, ":", "run any command", 9, ":"),
			bind(Copy, "y", "copy the row", 0, "y"),
			bind(Past, "[", "one event back in time", 0, "["),
			bind(Future, "]", "one event forward; past the end is now", 0, "]"),
			bind(PastFar, "{", "25 events back", 0, "{"),
			bind(FutureFar, "}", "25 events forward", 0, "}"),
			bind(Suspend, "ctrl+z", "suspend", 0, "ctrl+z"),
			bind(Redraw, "ctrl+l", "draw the screen anew", 0, "ctrl+l"),
		},
		Act: {
			bind(Claim, "c", "claim", 4, "c"),
			bind(Release, "r", "release", 5, "r"),
			bind(Acknowledge, "a", "acknowledge", 6, "a"),
			bind(Ask, "A", "ask an agent", 0, "A"),
			bind(AddTask, "T", "add a task", 0, "T"),
			bind(Decide, "D", "record a decision", 0, "D"),
			bind(Kill, "K", "halt everything", 7, "K"),
			bind(Resume, "R", "resume after a halt", 0, "R"),
		},
		Move: {
			bind(Up, "↑ k", "up", 0, "up", "k"),
			bind(Down, "↓ j", "down", 0, "down", "j"),
			bind(PageUp, "pgup b", "a page up", 0, "pgup", "b", "ctrl+u"),
			bind(PageDown, "pgdn space", "a page down", 0, "pgdown", " ", "ctrl+d"),
			bind(Home, "g home", "to the first row", 0, "g", "home"),
			bind(End, "G end", "to the last row", 0, "G", "end"),
			bind(Open, "enter", "open", 2, "enter"),
		},
		Ownership: {
			bind(Collapse, "← h", "hide what is below", 0, "left", "h"),
			bind(Expand, "→ l", "show what is below", 0, "right", "l"),
		},
		Contracts: {
			bind(Diff, "d", "diff", 3, "d"),
			bind(OlderRevision, "← h", "older revision", 0, "left", "h"),
			bind(NewerRevision, "→ l", "newer revision", 0, "right", "l"),
		},
		Timeline: {
			bind(Follow, "f", "follow", 3, "f"),
			bind(Travel, "t", "travel to this event", 4, "t"),
		},
		Agents: {},
	}}
	m.lookup = make(map[Scope]map[string]Intent, len(m.bindings))
	for scope, bindings := range m.bindings {
		keys := map[string]Intent{}
		for _, b := range bindings {
			for _, k := range b.Keys() {
				keys[k] = b.Intent
			}
		}
		m.lookup[scope] = keys
	}
	return m
}

// order is how scopes are looked up for a pane.
func order(pane Scope) []Scope { return []Scope{pane, Move, Act, Everywhere} }

// Resolve is what a key means while a pane has the focus.
func (m *Map) Resolve(pane Scope, k string) Intent {
	for _, scope := range order(pane) {
		if intent, ok := m.lookup[scope][k]; ok {
			return intent
		}
	}
	return None
}

// Help lists the bindings that hold in a pane, the pane's own first.
func (m *Map) Help(pane Scope) []Group {
	var groups []Group
	for _, scope := range order(pane) {
		if b := m.bindings[scope]; len(b) > 0 {
			groups = append(groups, Group{scope, b})
		}
	}
	return groups
}

// Hints are the bindings that the footer shows for a pane, most important first.
func (m *Map) Hints(pane Scope) []Binding {
	var hints []Binding
	for _, scope := range order(pane) {
		for _, b := range m.bindings[scope] {
			if b.Hint > 0 {
				hints = append(hints, b)
			}
		}
	}
	slices.SortStableFunc(hints, func(a, b Binding) int { return a.Hint - b.Hint })
	return hints
}
