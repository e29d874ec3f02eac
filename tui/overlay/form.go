package overlay

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/tui/list"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// Widths of boxes, borders included.
const (
	formWidth   = 72
	dialogWidth = 96
)

// Input is one line of a form: a text to edit, or a choice when Choices are given.
type Input struct {
	Name        string // for Value
	Label       string
	Placeholder string // shown while the text is empty
	Field       Field
	Long        bool   // a text that may have several lines, for which ctrl+o opens an editor
	text        string // with its lines, when it has several
	Choices     []string
	Chosen      int

	Complete  func(typed string) []string // what the text could become; it may do I/O. nil: nothing is known
	completed string                      // the text as the last completion left it: tab goes on from there
}

func (i *Input) value() string {
	if len(i.Choices) > 0 {
		return i.Choices[i.Chosen]
	}
	return i.Text()
}

// Text is what was entered, without blanks around it.
func (i *Input) Text() string {
	if i.text != "" {
		return i.text
	}
	return strings.TrimSpace(i.Field.Value())
}

// SetText replaces what was entered. Several lines are kept, and are edited only where they came from.
func (i *Input) SetText(s string) {
	s = strings.TrimSpace(s)
	i.text = ""
	if strings.Contains(s, "\n") {
		i.text = s
	}
	i.Field.Set(s)
}

// completes reports whether tab completes the text. It goes on to the next input where nothing was typed, and after a completion.
func (i *Input) completes() bool {
	typed := i.Text()
	return i.Complete != nil && !i.Field.fresh && typed != "" && typed != i.completed
}

// key edits the text. Of several lines only the first is visible, so no key but the one that empties it has an effect.
func (i *Input) key(k tea.KeyMsg) {
	if i.text == "" {
		i.Field.Key(k)
	} else if !k.Paste && k.String() == "ctrl+u" {
		i.SetText("")
	}
}

// Form asks for a few values, or only for a yes when it has no inputs. A refused form stays open with everything typed.
type Form struct {
	theme  *theme.Theme
	title  string
	verb   string               // what Enter does
	about  []string             // what it is about, a paragraph each
	note   func(f *Form) string // what follows from what was entered; nil: nothing
	inputs []*Input
	at     int
	busy   string
	could  []string // what the current text could become, where a completion found several
	wrong  []string // why it was refused, a paragraph each; the first is the sentence, the others are what helps
	alarm  bool

	scroll  list.Scroll // in what it says, where that is longer than the window has room for
	refused bool        // since it was drawn
}

// NewForm makes a form. verb says what Enter does.
func NewForm(t *theme.Theme, title, verb string, about []string, inputs ...*Input) *Form {
	return &Form{theme: t, title: title, verb: verb, about: about, inputs: inputs}
}

// Alarm makes the form look as grave as what it does.
func (f *Form) Alarm() *Form {
	f.alarm = true
	return f
}

// At moves to the input of that name, for what is filled in before it seldom changes.
func (f *Form) At(name string) *Form {
	for i, in := range f.inputs {
		if in.Name == name {
			f.at = i
		}
	}
	return f
}

// Note has the form say, below what it is about, what follows from what was entered so far.
func (f *Form) Note(note func(f *Form) string) { f.note = note }

// Value is what was entered in the input of that name, without blanks around it.
func (f *Form) Value(name string) string {
	for _, in := range f.inputs {
		if in.Name == name {
			return in.value()
		}
	}
	return ""
}

// Busy shows that the form was sent and no answer has come yet. Empty: not busy.
func (f *Form) Busy(doing string) { f.busy = doing }

// IsBusy reports whether an answer is awaited.
func (f *Form) IsBusy() bool { return f.busy != "" }

// Refuse shows why the form was refused, and lets it be edited again. field moves to the input of that name, if any.
func (f *Form) Refuse(field string, paragraphs ...string) {
	f.busy = ""
	f.wrong, f.refused = paragraphs, true
	f.At(field)
}

// Key edits the form.
func (f *Form) Key(k tea.KeyMsg) Outcome {
	if k.Type == tea.KeyEsc {
		return Closed
	}
	if f.busy != "" {
		return Open
	}
	f.could = nil
	if !k.Paste {
		switch k.String() {
		case "enter":
			f.wrong = nil
			return Submitted
		case "tab":
			if in := f.Current(); in != nil && in.completes() {
				return Complete
			}
			f.move(1)
			return Open
		case "down":
			f.move(1)
			return Open
		case "shift+tab", "up":
			f.move(-1)
			return Open
		case "pgdown":
			f.scroll.Page(1)
			return Open
		case "pgup":
			f.scroll.Page(-1)
			return Open
		}
	}
	if len(f.inputs) == 0 {
		return Open
	}
	in := f.inputs[f.at]
	if len(in.Choices) == 0 {
		if in.Long && !k.Paste && k.String() == "ctrl+o" {
			return Edit
		}
		in.key(k)
		return Open
	}
	switch {
	case k.Paste:
	case k.String() == "left":
		in.Chosen = (in.Chosen + len(in.Choices) - 1) % len(in.Choices)
	case k.String() == "right" || k.String() == " ":
		in.Chosen = (in.Chosen + 1) % len(in.Choices)
	}
	return Open
}

// Current is the input that is edited, nil when there is none.
func (f *Form) Current() *Input {
	if len(f.inputs) == 0 {
		return nil
	}
	return f.inputs[f.at]
}

// Completed takes what the text of an input could become, all beginning with prefix, unless the person has typed on. With nothing to
// choose from it goes on to the next input, as tab does without a completion.
func (f *Form) Completed(in *Input, typed, prefix string, candidates []string) {
	if f.Current() != in || in.Text() != typed {
		return
	}
	in.completed = typed
	switch {
	case len(prefix) > len(typed):
		in.SetText(prefix)
		in.completed = in.Text()
	case len(candidates) < 2:
		f.move(1)
		return
	}
	if len(candidates) > 1 {
		f.could = candidates
	}
}

func (f *Form) move(d int) {
	if n := len(f.inputs); n > 0 {
		f.at = (f.at + d + n) % n
	} else {
		f.scroll.Move(d)
	}
}

// View draws the form. In a low window the inputs win over what the form says.
func (f *Form) View(w, h int) []string {
	w = min(w, formWidth)
	inner := w - 4
	t := f.theme

	var inputs []theme.Spans
	label := 0
	for _, in := range f.inputs {
		label = max(label, text.Width(in.Label))
	}
	for i, in := range f.inputs {
		inputs = append(inputs, f.row(in, i == f.at, label, inner))
	}
	talk, refusal := f.talk(inner)

	room := max(h-2, 1) - 1 // the hint
	first := 0
	if len(inputs) > room { // scroll to the input that is edited
		first = min(f.at, len(inputs)-room)
	}
	inputs = inputs[first:min(first+room, len(inputs))]
	f.scroll.SetSize(len(talk), max(room-len(inputs), 0))
	switch {
	case f.refused:
		f.scroll.Home()
		f.scroll.Move(refusal)
		f.refused = false
	case len(f.could) > 0:
		f.scroll.End()
	}
	from, to := f.scroll.Visible()
	talk = talk[from:to]

	var body []string
	add := func(spans theme.Spans) {
		line := append(theme.Spans{theme.S(" ", t.Text)}, spans...)
		body = append(body, t.Row(w-2, theme.Style{}, line, nil))
	}
	for _, spans := range talk {
		add(spans)
	}
	if len(talk) > 0 && len(talk)+len(inputs) < room && len(inputs) > 0 {
		add(nil)
	}
	for _, spans := range inputs {
		add(spans)
	}
	if len(body) < room {
		add(nil)
	}
	add(f.hint(inner))
	return t.Box(w, len(body)+2, f.titleLabel(), body)
}

func (f *Form) titleLabel() theme.Label {
	if f.alarm {
		return theme.Label{Title: f.theme.Stop + " " + f.title, Focus: true}
	}
	return theme.Label{Title: f.title, Focus: true}
}

func (f *Form) row(in *Input, focused bool, label, w int) theme.Spans {
	t := f.theme
	mark, style := "  ", t.Dim
	if focused {
		mark, style = t.Pointer+" ", t.Strong
	}
	row := theme.Spans{theme.S(mark, t.Focus), theme.S(text.Pad(in.Label, label)+"  ", style)}
	room := max(w-row.Width(), 1)
	if in.text != "" {
		first, rest, _ := strings.Cut(in.text, "\n")
		more := fmt.Sprintf(" (+%d lines)", 1+strings.Count(rest, "\n"))
		shown := text.Truncate(text.Line(first), max(room-text.Width(more), 0), t.Ellipsis)
		return append(row, theme.S(shown, t.Text), theme.S(more, t.Dim))
	}
	if len(in.Choices) == 0 {
		return append(row, in.Field.Spans(t, room, focused && f.busy == "", in.Placeholder)...)
	}
	return append(row, f.options(in, room)...)
}

// options are the choices of an input, beginning with the first one that leaves room for the chosen one.
func (f *Form) options(in *Input, w int) theme.Spans {
	t := f.theme
	options := make(theme.Spans, len(in.Choices))
	for i, choice := range in.Choices {
		options[i] = theme.S("( ) "+choice+"  ", t.Dim)
	}
	options[in.Chosen] = theme.S("("+t.Live+") "+in.Choices[in.Chosen]+"  ", t.Strong)
	first, head := 0, theme.Spans{}
	for first < in.Chosen && head.Width()+options[first:in.Chosen+1].Width() > w {
		first, head = first+1, theme.Spans{theme.S(t.Ellipsis+" ", t.Dim)}
	}
	return append(head, options[first:]...)
}

// talk is what the form says above its inputs, and in which line the refusal begins.
func (f *Form) talk(w int) (lines []theme.Spans, refusal int) {
	t := f.theme
	for _, paragraph := range f.about {
		for _, line := range text.Wrap(text.Line(paragraph), w) {
			lines = append(lines, theme.Spans{theme.S(line, t.Text)})
		}
	}
	if f.note != nil {
		for _, line := range text.Wrap(text.Line(f.note(f)), w) {
			lines = append(lines, theme.Spans{theme.S(line, t.Accent)})
		}
	}
	if len(f.wrong) > 0 && len(lines) > 0 {
		lines = append(lines, nil)
	}
	refusal = len(lines)
	for i, paragraph := range f.wrong {
		style, mark := t.Dim, "  "
		if i == 0 {
			style, mark = t.Bad, t.No+" "
		}
		for k, line := range text.Wrap(text.Line(paragraph), w-2) {
			if k > 0 {
				mark = "  "
			}
			lines = append(lines, theme.Spans{theme.S(mark+line, style)})
		}
	}
	for _, in := range f.inputs {
		if in.text == "" && in.Field.Cut() {
			lines = append(lines, theme.Spans{theme.S(t.Warning+" the "+strings.ToLower(in.Label)+" was too long and is cut", t.Warn)})
		}
	}
	return append(lines, f.choices(w)...), refusal
}

// choices lists what the current text could become, in a few lines.
func (f *Form) choices(w int) []theme.Spans {
	const most = 3
	if len(f.could) == 0 {
		return nil
	}
	lines := text.Wrap(text.Line(strings.Join(f.could, "  ")), w)
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = text.Truncate(lines[most-1], w-1, "") + f.theme.Ellipsis
	}
	spans := make([]theme.Spans, len(lines))
	for i, line := range lines {
		spans[i] = theme.Spans{theme.S(line, f.theme.Accent)}
	}
	return spans
}

// hint names the keys of the form, in w cells: first those to be done with it and to read all of it, then those that help to fill it in.
func (f *Form) hint(w int) theme.Spans {
	t := f.theme
	if f.busy != "" {
		return theme.Spans{theme.S(f.busy+t.Ellipsis, t.Accent), theme.S("  esc", t.Strong), theme.S(" stop waiting", t.Dim)}
	}
	keys := theme.Spans{theme.S("enter", t.Strong), theme.S(" "+f.verb, t.Dim)}
	in := f.Current()
	switch {
	case in != nil && in.completes():
		keys = append(keys, theme.S("  tab", t.Strong), theme.S(" complete", t.Dim))
	case len(f.inputs) > 1:
		keys = append(keys, theme.S("  tab", t.Strong), theme.S(" next", t.Dim))
	}
	if in != nil && in.Long {
		keys = append(keys, theme.S("  ctrl+o", t.Strong), theme.S(" editor", t.Dim))
	}
	last := theme.Spans{theme.S("  esc", t.Strong), theme.S(" cancel", t.Dim)}
	if above, below := f.scroll.Partial(); above || below {
		last = append(last, theme.S("  pgdn", t.Strong), theme.S(" more", t.Dim))
	}
	for len(keys) > 2 && keys.Width()+last.Width() > w {
		keys = keys[:len(keys)-2]
	}
	return append(keys, last...)
}
