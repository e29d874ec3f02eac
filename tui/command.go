package tui

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/text"
)

const (
	maxOutput   = 192 << 10              // bytes of a command's output that are kept, the newest; a pane of text shows no more
	outputPause = 100 * time.Millisecond // between two looks at the output of a command that runs
)

// command is the cockpit's command line.
type command struct {
	history history
	menu    *menu // of completions, nil when none is shown
	id      int
	running bool
	stopped bool // by the person
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

// interrupt stops a command that runs and leaves its output to be read. It reports false when none runs in that dialog.
func (c *command) interrupt(o overlay.Overlay) bool {
	if !c.running || c.stopped || overlay.Overlay(c.dialog) != o {
		return false
	}
	c.stopped = true
	c.cancel()
	return true
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

// lines is what was printed. The first line says so when others were before it.
func (o *output) lines() []string {
	o.mu.Lock()
	printed, cut := o.buf.String(), o.cut
	o.mu.Unlock()
	if printed == "" {
		return nil
	}
	if cut {
		_, printed, _ = strings.Cut(printed, "\n") // it may be half of one
		return append([]string{"(only the end of a long output)"}, text.Lines(printed)...)
	}
	return text.Lines(printed)
}

// openCommand shows the command line.
func (m *model) openCommand() tea.Cmd {
	if m.runner == nil {
		m.say(bad, "this cockpit has no command line; the same verbs work in another terminal")
		return m.scheduleTick()
	}
	c := &m.command
	c.menu = nil
	c.history.at = len(c.history.lines)
	m.prompt = &prompt{
		mark: ":", hint: "tab complete  esc leave",
		changed: func(string) tea.Cmd { c.menu = nil; return nil },
		entered: m.runCommand,
		left:    func() tea.Cmd { c.menu = nil; return nil },
		special: m.commandKey,
	}
	return c.history.load()
}

// commandKey walks through the history and completes.
func (m *model) commandKey(k tea.KeyMsg) (tea.Cmd, bool) {
	c, p := &m.command, m.prompt
	key := k.String()
	if c.menu != nil {
		switch key {
		case "tab", "down":
			p.field.Set(c.menu.move(1))
			return nil, true
		case "shift+tab", "up":
			p.field.Set(c.menu.move(-1))
			return nil, true
		case "esc":
			p.field.Set(c.menu.line)
			c.menu = nil
			return nil, true
		case "enter":
			if c.menu.chosen >= 0 {
				p.field.Set(closeWord(p.field.Value()))
				c.menu = nil
				return nil, true
			}
		}
		c.menu = nil
	}
	switch key {
	case "up":
		p.field.Set(c.history.walk(-1))
	case "down":
		p.field.Set(c.history.walk(1))
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
	var line string
	m.command.menu, line = newMenu(msg.line, msg.candidates)
	p.field.Set(line)
	if m.command.menu != nil {
		m.command.menu.line = line
	}
	p.hint = "tab next  esc back"
}

// runCommand runs a line and shows what it prints.
func (m *model) runCommand(typed string) tea.Cmd {
	line := strings.TrimSpace(typed)
	c := &m.command
	c.menu = nil
	argv, err := words.Split(line)
	if len(argv) > 0 && argv[0] == "loadout" {
		argv = argv[1:]
	}
	switch {
	case err != nil:
		m.say(bad, err.Error())
		return m.scheduleTick()
	case len(argv) == 0:
		return nil
	}
	remember := c.history.add(typed)
	c.stop()
	ctx, cancel := context.WithCancel(m.ctx)
	out := &output{}
	c.id++
	c.running, c.stopped, c.out, c.cancel, c.line = true, false, out, cancel, line
	c.dialog = overlay.NewDialog(m.look.Theme, ": "+text.Line(line)).Wide()
	m.showOutput(nil)
	m.openDialog(c.dialog)
	id, runner, past := c.id, m.runner, m.refusePast()
	run := func() tea.Msg {
		defer cancel()
		err := past
		if past == nil || runner.InPast(argv) {
			err = runner.Run(ctx, argv, out)
		}
		return outputMsg{id, true, err}
	}
	return tea.Batch(run, remember, m.after(outputPause, outputMsg{id: id}))
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
	for _, line := range c.out.lines() {
		body = append(body, overlay.Paragraph{Text: line})
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		said, hints := refusal(err)
		body = append(body, m.refusalBody(said, hints)...)
	}
	title := ": " + text.Line(c.line)
	if c.running {
		c.dialog.SetTitle(title+" "+m.look.Ellipsis, "stop")
	} else {
		switch {
		case c.stopped:
			body = append(body, overlay.Paragraph{Text: "stopped", Style: m.look.Warn})
		case len(body) == 0:
			body = append(body, overlay.Paragraph{Text: "done", Style: m.look.Dim})
		}
		c.dialog.SetTitle(title, "close")
	}
	c.dialog.SetBody(body, c.running)
}
