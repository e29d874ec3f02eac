package overlay

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

func plainTheme(t *testing.T) *theme.Theme {
	t.Helper()
	th, err := theme.New(theme.Options{Name: theme.None})
	if err != nil {
		t.Fatal(err)
	}
	return th
}

var special = map[string]tea.KeyMsg{
	"left": {Type: tea.KeyLeft}, "right": {Type: tea.KeyRight}, "home": {Type: tea.KeyHome}, "end": {Type: tea.KeyEnd},
	"backspace": {Type: tea.KeyBackspace}, "delete": {Type: tea.KeyDelete}, "ctrl+w": {Type: tea.KeyCtrlW}, "ctrl+u": {Type: tea.KeyCtrlU},
	"ctrl+k": {Type: tea.KeyCtrlK}, "alt+b": {Type: tea.KeyRunes, Runes: []rune{'b'}, Alt: true}, "alt+f": {Type: tea.KeyRunes, Runes: []rune{'f'}, Alt: true},
	"tab": {Type: tea.KeyTab}, "up": {Type: tea.KeyUp}, "down": {Type: tea.KeyDown}, "enter": {Type: tea.KeyEnter}, "esc": {Type: tea.KeyEsc},
	"pgdown": {Type: tea.KeyPgDown}, "space": {Type: tea.KeySpace, Runes: []rune{' '}},
}

func keyOf(name string) tea.KeyMsg {
	if k, ok := special[name]; ok {
		return k
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

func TestFieldEdits(t *testing.T) {
	tests := []struct {
		name, start string
		keys        []string
		want        string
	}{
		{"type", "", []string{"a", "b"}, "ab"},
		{"insert", "ac", []string{"left", "b"}, "abc"},
		{"backspace takes a whole character", "ae\u0301", []string{"backspace"}, "a"},
		{"backspace takes a whole emoji", "a👩‍💻", []string{"backspace"}, "a"},
		{"delete", "日本語", []string{"home", "delete"}, "本語"},
		{"nothing before the start", "a", []string{"home", "backspace", "left"}, "a"},
		{"nothing behind the end", "a", []string{"delete", "right"}, "a"},
		{"word back", "one two", []string{"ctrl+w"}, "one "},
		{"path segment back", "src/api/x", []string{"ctrl+w"}, "src/api/"},
		{"to the start", "one two", []string{"left", "ctrl+u"}, "o"},
		{"to the end", "one two", []string{"home", "right", "ctrl+k"}, "o"},
		{"over words", "one two three", []string{"alt+b", "alt+b", "X"}, "one Xtwo three"},
		{"over words forward", "one two", []string{"home", "alt+f", "X"}, "oneX two"},
		{"control characters never get in", "", []string{"a\x1b[31mb\nc\u202ed"}, "ab cd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := NewField(tt.start)
			for _, k := range tt.keys {
				f.Key(keyOf(k))
			}
			if f.Value() != tt.want {
				t.Errorf("got %q, want %q", f.Value(), tt.want)
			}
		})
	}
}

func TestFieldIsCapped(t *testing.T) {
	f := NewField("")
	f.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.Repeat("日", 50_000)), Paste: true})
	if len(f.Value()) > maxFieldBytes || !f.Cut() || !strings.HasSuffix(f.Value(), "日") {
		t.Errorf("%d bytes, cut %v", len(f.Value()), f.Cut())
	}
}

// The cursor is always visible, and the field never wider than its place.
func TestFieldFits(t *testing.T) {
	th := plainTheme(t)
	rapid.Check(t, func(t *rapid.T) {
		f := NewField(rapid.SampledFrom([]string{"", "plain words", "日本語テキスト", "e\u0301 cafe\u0301", strings.Repeat("long ", 40)}).Draw(t, "value"))
		for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"left", "home", "right", "end", "x", "日", "alt+b"}), 0, 8).Draw(t, "keys") {
			f.Key(keyOf(k))
		}
		w := rapid.IntRange(3, 60).Draw(t, "w")
		spans := f.Spans(th, w, true, "type here")
		if spans.Width() > w {
			t.Fatalf("%d cells in %d: %v", spans.Width(), w, spans)
		}
		if spans[1].Style != th.Cursor || spans[1].Width() == 0 {
			t.Fatalf("no cursor in %v", spans)
		}
	})
}

func form(t *testing.T) *Form {
	t.Helper()
	return NewForm(plainTheme(t), "Claim", "claim", []string{"About it."},
		&Input{Name: "path", Label: "path", Field: NewField("src")},
		&Input{Name: "mode", Label: "mode", Choices: []string{"exclusive", "shared"}},
		&Input{Name: "why", Label: "reason"},
	)
}

func press(o Overlay, keys ...string) Outcome {
	outcome := Open
	for _, k := range keys {
		outcome = o.Key(keyOf(k))
	}
	return outcome
}

func show(o Overlay, w, h int) string { return ansi.Strip(strings.Join(o.View(w, h), "\n")) }

func TestForm(t *testing.T) {
	f := form(t)
	press(f, "/", "a", "tab", "right", "tab", "x", "space", "y")
	if f.Value("path") != "src/a" || f.Value("mode") != "shared" || f.Value("why") != "x y" {
		t.Errorf("path %q, mode %q, why %q", f.Value("path"), f.Value("mode"), f.Value("why"))
	}
	if press(f, "enter") != Submitted {
		t.Error("enter does not submit")
	}
	f.Busy("claiming")
	if press(f, "z") != Open || f.Value("why") != "x y" || !strings.Contains(show(f, 80, 24), "claiming") {
		t.Error("a form that was sent can be edited")
	}
	f.Refuse("path", "held by codex", "ask codex")
	if s := show(f, 80, 24); !strings.Contains(s, "held by codex") || !strings.Contains(s, "ask codex") || !strings.Contains(s, "x y") {
		t.Errorf("after the refusal:\n%s", s)
	}
	press(f, "!")
	if f.Value("path") != "src/a!" {
		t.Errorf("the refused input has not the focus: %q", f.Value("path"))
	}
	if press(f, "esc") != Closed {
		t.Error("esc does not close")
	}
}

func TestFormCompletes(t *testing.T) {
	f := NewForm(plainTheme(t), "Claim", "claim", nil,
		&Input{Name: "path", Label: "path", Field: Suggest("docs"), Complete: func(string) []string { return nil }}, &Input{Name: "why", Label: "reason"})
	if press(f, "tab") != Open || f.Current().Name != "why" {
		t.Error("tab does not leave a suggestion")
	}
	press(f, "tab", "s")
	in := f.Current()
	if press(f, "tab") != Complete || !strings.Contains(show(f, 80, 24), "tab complete") {
		t.Errorf("tab does not complete\n%s", show(f, 80, 24))
	}
	f.Completed(in, "s", "src/", []string{"src/api", "src/web"})
	if s := show(f, 80, 24); f.Value("path") != "src/" || !strings.Contains(s, "src/api  src/web") || !strings.Contains(s, "tab next") {
		t.Errorf("completed to\n%s", s)
	}
	press(f, "w")
	f.Completed(in, "src/", "src/api", []string{"src/api"}) // too late
	if press(f, "tab") != Complete || f.Value("path") != "src/w" || strings.Contains(show(f, 80, 24), "src/api") {
		t.Errorf("a late completion was taken\n%s", show(f, 80, 24))
	}
	f.Completed(in, "src/w", "src/web", []string{"src/web"})
	if press(f, "tab"); f.Value("path") != "src/web" || f.Current().Name != "why" {
		t.Errorf("with %q tab does not go on", f.Value("path"))
	}
	press(f, "tab", "!")
	press(f, "tab")
	if f.Completed(in, "src/web!", "", nil); f.Current().Name != "why" {
		t.Error("without a candidate tab does not go on")
	}
}

// What is kept with its lines is not cut, however little of it fits one line.
func TestTextOfSeveralLinesIsNotCut(t *testing.T) {
	in := &Input{Name: "text", Label: "question", Long: true}
	f := NewForm(plainTheme(t), "Ask", "ask", nil, in)
	in.SetText(strings.Repeat("a line\n", maxFieldBytes))
	if s := show(f, 80, 24); strings.Contains(s, "is cut") {
		t.Errorf("it says\n%s", s)
	}
	in.SetText(strings.Repeat("x", 2*maxFieldBytes))
	if s := show(f, 80, 24); !strings.Contains(s, "is cut") {
		t.Errorf("it does not say that it was cut\n%s", s)
	}
}

// A placeholder may name what the log holds.
func TestHostilePlaceholder(t *testing.T) {
	for _, focused := range []bool{false, true} {
		var field Field
		for _, span := range field.Spans(plainTheme(t), 40, focused, "日\x1b[31m\u202eabc") {
			if strings.ContainsAny(span.Text, "\x1b\u202e") || strings.Contains(span.Text, "\ufffd") {
				t.Errorf("focused %v: %q", focused, span.Text)
			}
		}
	}
}

func TestPastedEnterDoesNotSubmit(t *testing.T) {
	f := form(t)
	if f.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("a\nb\n"), Paste: true}) != Open {
		t.Error("a pasted line break submitted the form")
	}
}

// However low the window is, the input that is edited and the keys are visible.
func TestFormInLowWindows(t *testing.T) {
	for h := 5; h < 24; h++ {
		f := form(t)
		press(f, "down", "down", "Q", "Q")
		f.Refuse("", strings.Repeat("a long refusal ", 30))
		press(f, "down", "down") // round to the mode and on to the reason
		press(f, "down", "down", "down")
		s := show(f, 40, h)
		if lines := strings.Count(s, "\n") + 1; lines > h {
			t.Errorf("%d lines in %d", lines, h)
		}
		if !strings.Contains(s, "esc") || !strings.Contains(s, "▌ ") {
			t.Errorf("in %d lines:\n%s", h, s)
		}
	}
}

func TestDialogScrolls(t *testing.T) {
	var body []Paragraph
	for i := range 50 {
		body = append(body, Paragraph{Head: "  k", Text: strings.Repeat("word ", i%30), Indent: 6})
	}
	body = append(body, Paragraph{Text: "THE END"})
	d := NewDialog(plainTheme(t), "Keys", body...)
	if s := show(d, 80, 20); strings.Contains(s, "THE END") || !strings.Contains(s, "scroll") {
		t.Errorf("at the start:\n%s", s)
	}
	press(d, "G")
	if s := show(d, 80, 20); !strings.Contains(s, "THE END") {
		t.Errorf("at the end:\n%s", s)
	}
	if press(d, "esc") != Closed || press(d, "enter") != Closed {
		t.Error("it does not close")
	}
}

func TestDialogSearch(t *testing.T) {
	var body []Paragraph
	for i := range 60 {
		text := "nothing here"
		if i%20 == 7 {
			text = "A Needle in line " + strings.Repeat("i", i)
		}
		body = append(body, Paragraph{Text: text})
	}
	d := NewDialog(plainTheme(t), "Output", body...)
	show(d, 80, 12)
	press(d, "/")
	press(d, "n", "e", "e", "d")
	if s := show(d, 80, 12); !strings.Contains(s, "1 of 3") || !strings.Contains(s, "▌A Needle in line "+strings.Repeat("i", 7)) {
		t.Errorf("while typing:\n%s", s)
	}
	press(d, "enter", "n")
	if s := show(d, 80, 12); !strings.Contains(s, "2 of 3") || !strings.Contains(s, strings.Repeat("i", 27)) {
		t.Errorf("the next:\n%s", s)
	}
	press(d, "N", "N")
	if s := show(d, 80, 12); !strings.Contains(s, "3 of 3") || !strings.Contains(s, strings.Repeat("i", 47)) {
		t.Errorf("round the start:\n%s", s)
	}
	press(d, "/", "x", "y")
	if s := show(d, 80, 12); !strings.Contains(s, "not found") {
		t.Errorf("what is not there:\n%s", s)
	}
	if press(d, "esc") != Open || press(d, "esc") != Closed {
		t.Error("esc ends the search first, then the dialog")
	}
}

func TestDialogFollowsItsEnd(t *testing.T) {
	d := NewDialog(plainTheme(t), "Output")
	lines := func(n int) (body []Paragraph) {
		for i := range n {
			body = append(body, Paragraph{Text: "line " + strings.Repeat("i", i+1)})
		}
		return body
	}
	d.SetBody(lines(30), true)
	if s := show(d, 80, 12); !strings.Contains(s, strings.Repeat("i", 30)) {
		t.Errorf("not at the end:\n%s", s)
	}
	press(d, "up")
	d.SetBody(lines(40), true)
	if s := show(d, 80, 12); strings.Contains(s, strings.Repeat("i", 40)) {
		t.Errorf("new lines took the place where the person reads:\n%s", s)
	}
}

func TestBoxesAreExact(t *testing.T) {
	th := plainTheme(t)
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(40, 130).Draw(t, "w"), rapid.IntRange(8, 50).Draw(t, "h")
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"日本", "plain ", "é", "verylongwordwithoutblanks"}), 0, 40)
		said := strings.Join(words.Draw(t, "text"), "")
		f := NewForm(th, said, "ok", []string{said}, &Input{Name: "a", Label: "a", Field: NewField(said)})
		f.Refuse("a", said, said)
		for _, o := range []Overlay{f, NewDialog(th, said, Paragraph{Head: "k ", Text: said, Indent: 8}, Paragraph{Text: said})} {
			box := o.View(w, h)
			if len(box) > h {
				t.Fatalf("%T: %d lines in %d", o, len(box), h)
			}
			for _, line := range box {
				if text.Width(line) != text.Width(box[0]) || text.Width(line) > w {
					t.Fatalf("%T: a line of %d cells in a box of %d: %q", o, text.Width(line), text.Width(box[0]), line)
				}
			}
		}
	})
}

func TestStack(t *testing.T) {
	var s Stack
	if s.Top() != nil {
		t.Fatal("an empty stack has a top")
	}
	a, b := NewDialog(plainTheme(t), "A"), NewDialog(plainTheme(t), "B")
	s.Push(a)
	s.Push(b)
	s.Remove(a)
	if s.Top() != Overlay(b) || len(s) != 1 {
		t.Errorf("left is %v", s)
	}
	lines := make([]string, 10)
	for i := range lines {
		lines[i] = strings.Repeat("日", 40)
	}
	s.Draw(lines, 80)
	for _, line := range lines {
		if text.Width(line) != 80 {
			t.Errorf("%d cells: %q", text.Width(line), line)
		}
	}
}

// What a form says can be read in any window, to its last line, and a refusal is seen at once.
func TestFormSaysAllInALowWindow(t *testing.T) {
	about := make([]string, 20)
	for i := range about {
		about[i] = fmt.Sprintf("what %d may do", i)
	}
	f := NewForm(plainTheme(t), "Start?", "start", about)
	screen := func() string { return ansi.Strip(strings.Join(f.View(60, 10), "\n")) }
	if s := screen(); !strings.Contains(s, "what 0 may") || strings.Contains(s, "what 19") || !strings.Contains(s, "pgdn more") {
		t.Errorf("it shows\n%s", s)
	}
	for range 5 {
		f.Key(tea.KeyMsg{Type: tea.KeyPgDown})
	}
	if s := screen(); !strings.Contains(s, "what 19 may") {
		t.Errorf("its end is not shown\n%s", s)
	}
	for range 40 {
		f.Key(tea.KeyMsg{Type: tea.KeyUp})
	}
	f.Refuse("", "not now")
	if s := screen(); !strings.Contains(s, "not now") {
		t.Errorf("the refusal is not shown\n%s", s)
	}
}

// However narrow the window is, the choice that was made is in sight.
func TestTheChosenOneIsInSight(t *testing.T) {
	in := &Input{Name: "rounds", Label: "rounds", Choices: []string{"one", "two", "three", "four", "five", "six", "seven", "eight"}}
	f := NewForm(plainTheme(t), "Discuss", "start it", nil, in)
	for w := 26; w <= 80; w++ {
		for range in.Choices {
			if s := show(f, w, 10); !strings.Contains(s, "(●) "+f.Value("rounds")) {
				t.Fatalf("%s at %d cells:\n%s", f.Value("rounds"), w, s)
			}
			f.Key(keyOf("right"))
		}
	}
}

// The keys that end a form and show the rest of it are never cut.
func TestHintsOfAFormAreWhole(t *testing.T) {
	f := NewForm(plainTheme(t), "Answer", "answer", []string{strings.Repeat("word ", 500)}, &Input{Name: "a", Label: "answer", Long: true}, &Input{Name: "b", Label: "as"})
	for w := 40; w <= 80; w++ {
		s := show(f, w, 12)
		if strings.Contains(s, "…") || !strings.Contains(s, "enter answer") || !strings.Contains(s, "esc cancel") || !strings.Contains(s, "pgdn more") {
			t.Fatalf("at %d cells:\n%s", w, s)
		}
	}
	if s := show(f, 80, 12); !strings.Contains(s, "tab next  ctrl+o editor") {
		t.Errorf("where there is room:\n%s", s)
	}
}
