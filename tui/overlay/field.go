package overlay

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// maxFieldBytes is above every limit of the protocol for a text that one line is meant for.
const maxFieldBytes = 16 << 10

// Field edits one line of text. It moves by characters as people see them, needs no ticker, and never reads the clipboard by itself:
// terminals paste.
type Field struct {
	value  string
	cursor int  // a byte offset at a character's edge
	cut    bool // something pasted did not fit
	fresh  bool // a suggestion: what is typed takes its place
}

// NewField starts with a value and the cursor behind it.
func NewField(value string) Field {
	f := Field{}
	f.insert(value)
	return f
}

// Suggest starts with a value that the first letter replaces, unless the person moves in it first.
func Suggest(value string) Field {
	f := NewField(value)
	f.fresh = f.value != ""
	return f
}

// Value is the text, on one line and without control characters.
func (f *Field) Value() string { return f.value }

// Set replaces the text.
func (f *Field) Set(value string) { *f = NewField(value) }

// Cut reports whether something did not fit.
func (f *Field) Cut() bool { return f.cut }

func (f *Field) insert(s string) {
	s = safetext.Line(s)
	if room := maxFieldBytes - len(f.value); len(s) > room {
		s = strings.ToValidUTF8(s[:max(room, 0)], "")
		f.cut = true
	}
	f.value = f.value[:f.cursor] + s + f.value[f.cursor:]
	f.cursor += len(s)
}

// remove deletes from the cursor to the other offset, whichever comes first.
func (f *Field) remove(to int) {
	from, to := min(f.cursor, to), max(f.cursor, to)
	f.value = f.value[:from] + f.value[to:]
	f.cursor = from
	f.cut = false
}

// wordStart and wordEnd are the edges of the word before and behind the cursor.
func (f *Field) wordStart() int {
	head := strings.TrimRight(f.value[:f.cursor], " /")
	return strings.LastIndexAny(head, " /") + 1
}

func (f *Field) wordEnd() int {
	rest := f.value[f.cursor:]
	skipped := len(rest) - len(strings.TrimLeft(rest, " /"))
	if i := strings.IndexAny(rest[skipped:], " /"); i >= 0 {
		return f.cursor + skipped + i
	}
	return len(f.value)
}

// Key handles a key. It reports false for keys that do not edit.
func (f *Field) Key(k tea.KeyMsg) bool {
	fresh := f.fresh
	f.fresh = false
	if k.Paste || (k.Type == tea.KeyRunes || k.Type == tea.KeySpace) && !k.Alt {
		if fresh {
			f.remove(0)
			f.remove(len(f.value))
		}
		f.insert(string(k.Runes))
		return true
	}
	if key := k.String(); fresh && (key == "backspace" || key == "delete") {
		f.value, f.cursor = "", 0
		return true
	}
	switch k.String() {
	case "left", "ctrl+b":
		f.cursor = text.PreviousBreak(f.value, f.cursor)
	case "right", "ctrl+f":
		f.cursor = text.NextBreak(f.value, f.cursor)
	case "alt+left", "ctrl+left", "alt+b":
		f.cursor = f.wordStart()
	case "alt+right", "ctrl+right", "alt+f":
		f.cursor = f.wordEnd()
	case "home", "ctrl+a":
		f.cursor = 0
	case "end", "ctrl+e":
		f.cursor = len(f.value)
	case "backspace", "ctrl+h":
		f.remove(text.PreviousBreak(f.value, f.cursor))
	case "delete", "ctrl+d":
		f.remove(text.NextBreak(f.value, f.cursor))
	case "ctrl+w", "alt+backspace":
		f.remove(f.wordStart())
	case "ctrl+u":
		f.remove(0)
	case "ctrl+k":
		f.remove(len(f.value))
	default:
		return false
	}
	return true
}

// Spans draws the field in w cells, with the cursor when it has the focus, and the placeholder while it is empty.
func (f *Field) Spans(t *theme.Theme, w int, focused bool, placeholder string) theme.Spans {
	placeholder = text.Line(placeholder)
	if !focused {
		if f.value == "" {
			return theme.Spans{theme.S(text.Truncate(placeholder, w, t.Ellipsis), t.Dim)}
		}
		return theme.Spans{theme.S(text.Truncate(text.Line(f.value), w, t.Ellipsis), t.Text)}
	}
	if f.fresh {
		shown := text.Truncate(text.Line(f.value), max(w-1, 0), t.Ellipsis)
		return theme.Spans{theme.S(shown, t.Cursor), theme.S(" ", t.Cursor), theme.S("", t.Text)}
	}
	end := text.NextBreak(f.value, f.cursor)
	before := text.Line(f.value[:f.cursor])
	at := text.Line(f.value[f.cursor:end])
	after := text.Line(f.value[end:])
	style := t.Text
	if f.value == "" && placeholder != "" {
		end := text.NextBreak(placeholder, 0)
		at, after, style = placeholder[:end], placeholder[end:], t.Dim
	}
	if text.Width(at) == 0 {
		at = " "
	}
	before = text.TruncateLeft(before, max(w-text.Width(at)-min(text.Width(after), 3), 0), t.Ellipsis)
	after = text.Truncate(after, w-text.Width(before)-text.Width(at), t.Ellipsis)
	return theme.Spans{theme.S(before, t.Text), theme.S(at, t.Cursor), theme.S(after, style)}
}
