package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/text"
)

const (
	maxHistory  = 100
	maxOutput   = 1 << 20                // bytes of a command's output that are kept, the newest
	outputPause = 100 * time.Millisecond // between two looks at the output of a command that runs
)

// command is the cockpit's command line.
type command struct {
	history []string
	at      int // in the history, len(history) for the line that is typed
	id      int
	running bool
	out     *output
	cancel  context.CancelFunc
	dialog  *overlay.Dialog
	line    string
}

// stop ends the command that runs.
func (c *command) stop() {
	if c.cancel != nil {
		c.cancel()
	}
	c.dialog = nil
}

// output collects what a command prints.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
	cut bool
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buf.Write(p)
	if over := o.buf.Len() - maxOutput; over > 0 {
		o.buf.Next(over)
		o.cut = true
	}
	return len(p), nil
}

func (o *output) text() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// openCommand shows the command line.
func (m *model) openCommand() tea.Cmd {
	if m.runner == nil {
		m.say(bad, "this cockpit has no command line; the same verbs work in another terminal")
		return m.scheduleTick()
	}
	c := &m.command
	c.at = len(c.history)
	m.prompt = &prompt{
		mark: ":", hint: "tab complete  esc leave",
		entered: m.runCommand,
		left:    func() tea.Cmd { return nil },
		special: m.commandKey,
	}
	return nil
}

// commandKey walks through the history and completes.
func (m *model) commandKey(k tea.KeyMsg) (tea.Cmd, bool) {
	c, p := &m.command, m.prompt
	walk := func(d int) {
		c.at = max(min(c.at+d, len(c.history)), 0)
		line := ""
		if c.at < len(c.history) {
			line = c.history[c.at]
		}
		p.field.Set(line)
	}
	switch k.String() {
	case "up":
		walk(-1)
	case "down":
		walk(1)
	case "tab":
		line, runner := p.field.Value(), m.runner
		return func() tea.Msg { return completionMsg{line, runner.Complete(line)} }, true
	default:
		return nil, false
	}
	return nil, true
}

// completed puts in what all candidates begin with, and shows them when there are several.
func (m *model) completed(msg completionMsg) {
	p := m.prompt
	if p == nil || p.mark != ":" || p.field.Value() != msg.line {
		return // the person has typed on
	}
	m.dirty = true
	if len(msg.candidates) == 0 {
		p.hint = "nothing to complete"
		return
	}
	word := commonPrefix(msg.candidates)
	start := strings.LastIndexByte(msg.line, ' ') + 1
	if len(word) > len(msg.line)-start {
		if len(msg.candidates) == 1 {
			word += " "
		}
		p.field.Set(msg.line[:start] + word)
	}
	p.hint = strings.Join(msg.candidates[:min(len(msg.candidates), 8)], "  ")
}

func commonPrefix(words []string) string {
	prefix := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, prefix) {
			prefix = prefix[:text.PreviousBreak(prefix, len(prefix))]
		}
	}
	return prefix
}

// runCommand runs a line and shows what it prints.
func (m *model) runCommand(line string) tea.Cmd {
	line = strings.TrimSpace(line)
	c := &m.command
	argv, err := splitWords(line)
	switch {
	case err != nil:
		m.say(bad, err.Error())
		return m.scheduleTick()
	case len(argv) == 0:
		return nil
	}
	if n := len(c.history); n == 0 || c.history[n-1] != line {
		c.history = append(c.history[max(n-maxHistory+1, 0):], line)
	}
	c.stop()
	ctx, cancel := context.WithCancel(m.ctx)
	out := &output{}
	c.id++
	c.running, c.out, c.cancel, c.line = true, out, cancel, line
	c.dialog = overlay.NewDialog(m.look.Theme, ": "+text.Line(line))
	m.showOutput(nil)
	m.openDialog(c.dialog)
	id, runner := c.id, m.runner
	run := func() tea.Msg {
		defer cancel()
		err := runner.Run(ctx, argv, out)
		return outputMsg{id, true, err}
	}
	return tea.Batch(run, m.after(outputPause, outputMsg{id: id}))
}

// output shows what a command has printed so far.
func (m *model) output(msg outputMsg) tea.Cmd {
	c := &m.command
	if msg.id != c.id || c.dialog == nil || !msg.done && !c.running { // a look at what has ended already
		return nil
	}
	m.dirty = true
	if msg.done {
		c.running = false
	}
	m.showOutput(msg.err)
	if c.running {
		return m.after(outputPause, outputMsg{id: msg.id})
	}
	return nil
}

func (m *model) showOutput(err error) {
	c := &m.command
	var body []overlay.Paragraph
	if printed := c.out.text(); printed != "" {
		for _, line := range text.Lines(printed) {
			body = append(body, overlay.Paragraph{Text: line})
		}
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		said, hints := refusal(err)
		body = append(body, m.refusalBody(said, hints)...)
	}
	title := ": " + text.Line(c.line)
	if c.running {
		c.dialog.SetTitle(title+" "+m.look.Ellipsis, "stop")
	} else {
		if len(body) == 0 {
			body = append(body, overlay.Paragraph{Text: "done", Style: m.look.Dim})
		}
		c.dialog.SetTitle(title, "close")
	}
	c.dialog.SetBody(body, c.running)
}

// splitWords splits a line into words as a shell does: blanks part them, quotes and backslashes keep them together.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	inWord, escaped := false, false
	for _, r := range safetext.Line(line) {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if escaped {
		return nil, errors.New("nothing follows the last backslash")
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) > 0 && words[0] == "loadout" {
		words = words[1:]
	}
	return words, nil
}
