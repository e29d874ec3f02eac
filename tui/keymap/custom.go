package keymap

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/bubbles/key"

	"github.com/agentloadout/loadout/engine/suggest"
)

// names are the intents as settings name them.
var names = map[Intent]string{
	Quit: "quit", Suspend: "suspend", Redraw: "redraw", Help: "help", Back: "back", NextPane: "next-pane", PreviousPane: "previous-pane",
	Focus: "focus", Zoom: "zoom", Filter: "filter", NextMatch: "next-match", PreviousMatch: "previous-match", CommandLine: "command-line",
	Copy: "copy", Edit: "edit", Mouse: "mouse", Jump: "jump", Past: "past", PastFar: "past-far", Future: "future", FutureFar: "future-far",
	Claim: "claim", Release: "release", Acknowledge: "acknowledge", Ask: "ask", AddTask: "add-task", Decide: "decide", Kill: "kill",
	Resume: "resume", Up: "up", Down: "down", PageUp: "page-up", PageDown: "page-down", Home: "home", End: "end", Open: "open", Sort: "sort",
	Collapse: "collapse", Expand: "expand", Unclaimed: "unclaimed", Force: "force", Diff: "diff", OlderRevision: "older-revision",
	NewerRevision: "newer-revision", OlderBase: "older-base", NewerBase: "newer-base", Columns: "columns", Answer: "answer",
	RunBridge: "run-bridge", StartSession: "start-session", Attach: "attach", Forget: "forget", Message: "message", Caps: "caps",
	CancelTurn: "cancel-turn", RetryTurn: "retry-turn", SkipTurn: "skip-turn", Follow: "follow", Travel: "travel", Raw: "raw",
	Discuss: "discuss", GoOn: "go-on",
}

// String is the intent's name in the settings.
func (i Intent) String() string { return names[i] }

// WrongError says what is wrong with the keys that were set for one or two intents.
type WrongError struct {
	Intents []string // names, as they were set
	Reason  string
}

func (e *WrongError) Error() string { return e.Reason }

// New is the cockpit's map with other keys for some intents, by name. An intent without keys has none. The error joins nothing: it is the
// first *WrongError, in the order of the names.
func New(custom map[string][]string) (*Map, error) {
	m := Default()
	if len(custom) == 0 {
		return m, nil
	}
	changed := map[Intent]bool{}
	for _, name := range sortedNames(custom) {
		i, keys, err := read(name, custom[name])
		if err != nil {
			return nil, err
		}
		changed[i] = true
		for _, bindings := range m.bindings {
			for k := range bindings {
				if b := &bindings[k]; b.Intent == i {
					b.rebind(keys)
				}
			}
		}
	}
	m.index()
	return m, m.conflict(changed)
}

func sortedNames(custom map[string][]string) []string {
	list := make([]string, 0, len(custom))
	for name := range custom {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// read checks what was set for a name.
func read(name string, keys []string) (Intent, []string, error) {
	wrong := func(format string, args ...any) (Intent, []string, error) {
		return None, nil, &WrongError{[]string{name}, fmt.Sprintf(format, args...)}
	}
	intent := None
	all := make([]string, 0, len(names))
	for i, n := range names {
		all = append(all, n)
		if n == name {
			intent = i
		}
	}
	switch intent { //nolint:exhaustive // the others can be changed
	case None:
		slices.Sort(all)
		if near := suggest.Closest(name, all); len(near) > 0 {
			return wrong("there is no %q; did you mean %s?", name, near[0])
		}
		return wrong("there is no %q; there are %s", name, strings.Join(all, ", "))
	case Focus:
		return wrong("panes are focused by their numbers; that cannot be changed")
	}
	read := make([]string, 0, len(keys)+1)
	for _, k := range keys {
		if k == "space" {
			k = " "
		}
		if !valid(k) {
			return wrong("%q is no key; keys are written as x, space, enter, f1, ctrl+x, alt+x, pgdown", k)
		}
		read = append(read, k)
	}
	if intent == Quit {
		read = append(read, "ctrl+c") // there must be a way out
	}
	return intent, read, nil
}

// valid reports whether a terminal can send a key of that name.
func valid(k string) bool {
	k = strings.TrimPrefix(k, "alt+")
	if r, n := utf8.DecodeRuneInString(k); n > 0 && n == len(k) {
		return unicode.IsPrint(r)
	}
	if letter, ok := strings.CutPrefix(k, "ctrl+"); ok && len(letter) == 1 {
		return letter[0] >= 'a' && letter[0] <= 'z' && letter != "i" && letter != "m" && letter != "c" // tab, enter, quit
	}
	k = strings.TrimPrefix(strings.TrimPrefix(k, "ctrl+"), "shift+")
	switch k {
	case "enter", "tab", "esc", "backspace", "delete", "insert", "up", "down", "left", "right", "home", "end", "pgup", "pgdown":
		return true
	}
	var n int
	_, err := fmt.Sscanf(k, "f%d", &n)
	return err == nil && n >= 1 && n <= 20 && k == fmt.Sprintf("f%d", n)
}

func (b *Binding) rebind(keys []string) {
	labels := make([]string, len(keys))
	for i, k := range keys {
		labels[i] = label(k)
	}
	b.Binding = key.NewBinding(key.WithKeys(keys...), key.WithHelp(strings.Join(labels, " "), b.Help().Desc))
	if b.Hint.Key = ""; len(labels) > 0 {
		b.Hint.Key = labels[0]
	}
}

func label(k string) string {
	if k == " " {
		return "space"
	}
	return k
}

// conflict finds a key that would mean two things in one pane, and that was not so from the start.
func (m *Map) conflict(changed map[Intent]bool) error {
	for _, pane := range Panes() {
		seen := map[string]Intent{}
		for _, scope := range order(pane) {
			for _, b := range m.bindings[scope] {
				for _, k := range b.Keys() {
					other, ok := seen[k]
					if ok && other != b.Intent && (changed[other] || changed[b.Intent]) {
						return &WrongError{[]string{other.String(), b.Intent.String()}, fmt.Sprintf("the key %s is both %s and %s", label(k), other, b.Intent)}
					}
					seen[k] = b.Intent
				}
			}
		}
	}
	return nil
}
