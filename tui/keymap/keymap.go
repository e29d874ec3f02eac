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
	NextMatch
	PreviousMatch
	CommandLine
	Copy
	Edit  // read the row in the person's editor
	Mouse // listen to it, or leave it to the terminal
	Jump  // to a number or a time
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

	Sort // by the next column

	Collapse
	Expand
	Unclaimed // list changed files that nobody has claimed
	Force     // end the claim of somebody else

	Diff
	OlderRevision
	NewerRevision
	OlderBase // compare with an older revision
	NewerBase
	Columns // a difference side by side

	Answer

	RunBridge // start it, or stop it
	StartSession
	Attach
	Forget
	Message
	Caps
	CancelTurn
	RetryTurn
	SkipTurn

	Follow
	Travel

	Raw     // text as it was written, or rendered
	Discuss // have two agents discuss something
	GoOn    // with a discussion that was interrupted
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
	Discussion Scope = "discussion"
	Bridge     Scope = "bridge"
	Work       Scope = "work"
	Gates      Scope = "gates"
)

// Binding ties keys to an intent.
type Binding struct {
	key.Binding
	Intent Intent
	Hint   Hint
}

// Hint is how the footer names a binding.
type Hint struct {
	Place int    // 0: not in the footer; else the lower, the narrower a window may be that still shows it
	Key   string // as the footer writes it
	Does  string // in a word
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
func bind(intent Intent, label, does string, keys ...string) Binding {
	return Binding{Binding: key.NewBinding(key.WithKeys(keys...), key.WithHelp(label, does)), Intent: intent}
}

// hint puts a binding in the footer.
func (b Binding) hint(place int, key, does string) Binding {
	b.Hint = Hint{place, key, does}
	return b
}

// Default is the cockpit's map.
func Default() *Map {
	sort := bind(Sort, "s", "sort by the next column", "s") // in the panes that have an order to choose
	m := &Map{bindings: map[Scope][]Binding{
		Everywhere: {
			bind(Quit, "q", "quit", "q", "ctrl+c").hint(2, "q", "quit"),
			bind(Help, "?", "help", "?").hint(1, "?", "help"),
			bind(Back, "esc", "go back: close, unzoom, clear the filter, return to now", "esc"),
			bind(NextPane, "tab", "next pane", "tab").hint(11, "tab", "next pane"),
			bind(PreviousPane, "shift+tab", "previous pane", "shift+tab"),
			bind(Focus, "1-9", "focus the pane of that number", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
			bind(Zoom, "z", "zoom the pane, or back", "z"),
			bind(Filter, "/", "filter the pane", "/").hint(9, "/", "filter"),
			bind(NextMatch, "n", "to the next row that matches what was last searched", "n"),
			bind(PreviousMatch, "N", "to the row before that matches", "N"),
			bind(CommandLine, ":", "run any command", ":").hint(3, ":", "command"),
			bind(Copy, "y", "copy the row", "y"),
			bind(Edit, "e", "read the row in your editor", "e"),
			bind(Mouse, "M", "listen to the mouse, or leave it to the terminal", "M"),
			bind(Jump, "g", "go to a number or a time; gg: to the first row", "g"),
			bind(Past, "[", "one event back in time", "[").hint(10, "[ ]", "time"),
			bind(Future, "]", "one event forward; past the end is now", "]"),
			bind(PastFar, "{", "25 events back", "{"),
			bind(FutureFar, "}", "25 events forward", "}"),
			bind(Suspend, "ctrl+z", "suspend", "ctrl+z"),
			bind(Redraw, "ctrl+l", "draw the screen anew", "ctrl+l"),
		},
		Act: {
			bind(Claim, "c", "claim", "c").hint(6, "c", "claim"),
			bind(Release, "r", "release", "r").hint(7, "r", "release"),
			bind(Acknowledge, "a", "acknowledge", "a").hint(8, "a", "ack"),
			bind(Ask, "A", "ask an agent", "A"),
			bind(AddTask, "T", "add a task", "T"),
			bind(Decide, "D", "record a decision", "D"),
			bind(Kill, "K", "halt everything", "K").hint(4, "K", "halt"),
			bind(Resume, "R", "resume after a halt", "R").hint(4, "R", "resume"),
		},
		Move: {
			bind(Up, "↑ k", "up", "up", "k"),
			bind(Down, "↓ j", "down", "down", "j"),
			bind(PageUp, "pgup b", "a page up", "pgup", "b", "ctrl+u"),
			bind(PageDown, "pgdn space", "a page down", "pgdown", " ", "ctrl+d"),
			bind(Home, "home", "to the first row", "home"),
			bind(End, "G end", "to the last row", "G", "end"),
			bind(Open, "enter", "open", "enter").hint(5, "enter", "open"),
		},
		Ownership: {
			bind(Collapse, "← h", "hide what is below", "left", "h"),
			bind(Expand, "→ l", "show what is below", "right", "l"),
			bind(Unclaimed, "u", "show or hide changed files that nobody has claimed", "u"),
			bind(Force, "F", "take the path from its holder, with a reason", "F"),
			sort,
		},
		Contracts: {
			bind(Diff, "d", "diff", "d").hint(6, "d", "diff"),
			bind(OlderRevision, "← h", "older revision", "left", "h"),
			bind(NewerRevision, "→ l", "newer revision", "right", "l"),
			bind(OlderBase, "<", "compare with an older revision", "<"),
			bind(NewerBase, ">", "compare with a newer revision", ">"),
			bind(Columns, "v", "differences side by side, or one below the other", "v"),
			sort,
		},
		Timeline: {
			bind(Follow, "f", "follow", "f").hint(6, "f", "follow"),
			bind(Travel, "t", "travel to this event", "t").hint(6, "t", "travel"),
		},
		Agents: {
			bind(Answer, "a", "answer the question; on another row: acknowledge", "a").hint(5, "a", "answer"),
			sort,
		},
		Discussion: {
			bind(Follow, "f", "follow", "f").hint(6, "f", "follow"),
			bind(Raw, "m", "statements as they were written, or rendered", "m").hint(6, "m", "raw"),
			bind(Discuss, "S", "have two agents discuss something; spends turns", "S").hint(5, "S", "discuss"),
			bind(GoOn, "o", "go on with the discussion; spends turns", "o"),
		},
		Bridge: {
			bind(RunBridge, "B", "start the bridge, or stop it", "B").hint(6, "B", "bridge"),
			bind(StartSession, "o", "start a session of a program; spends a turn", "o").hint(8, "o", "new session"),
			bind(Attach, "+", "take in a session that there is", "+").hint(8, "+", "attach"),
			bind(Forget, "-", "forget the session", "-"),
			bind(Message, "m", "say something to the session; spends a turn", "m").hint(7, "m", "message"),
			bind(Caps, "L", "raise or lower the caps", "L").hint(8, "L", "caps"),
			bind(CancelTurn, "x", "end the turn that runs", "x").hint(7, "x", "cancel"),
			bind(RetryTurn, "r", "make what waits for you, or make it again", "r").hint(7, "r", "retry"),
			bind(SkipTurn, "d", "drop what waits for you", "d").hint(7, "d", "drop"),
		},
		Work: {
			bind(Answer, "a", "settle the task; on another row: acknowledge", "a").hint(5, "a", "settle"),
		},
		Gates: {},
	}}
	m.index()
	return m
}

// Panes are the scopes that belong to one pane.
func Panes() []Scope {
	return []Scope{Ownership, Contracts, Discussion, Bridge, Work, Gates, Timeline, Agents}
}

// index prepares Resolve.
func (m *Map) index() {
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
		if b := m.reachable(pane, scope); len(b) > 0 {
			groups = append(groups, Group{scope, b})
		}
	}
	return groups
}

// reachable are the bindings of a scope that no inner one takes the keys of.
func (m *Map) reachable(pane, scope Scope) []Binding {
	return slices.DeleteFunc(slices.Clone(m.bindings[scope]), func(b Binding) bool {
		return !slices.ContainsFunc(b.Keys(), func(k string) bool { return m.Resolve(pane, k) == b.Intent })
	})
}

// Hints are the bindings that the footer shows for a pane, most important first.
func (m *Map) Hints(pane Scope) []Binding {
	var hints []Binding
	for _, scope := range order(pane) {
		for _, b := range m.reachable(pane, scope) {
			if b.Hint.Place > 0 {
				hints = append(hints, b)
			}
		}
	}
	slices.SortStableFunc(hints, func(a, b Binding) int { return a.Hint.Place - b.Hint.Place })
	return hints
}
