package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/overlay"
)

// maxEdited is the most that is taken from an editor, in bytes.
const maxEdited = 256 << 10

// editor runs the person's editor on a text while the cockpit leaves the terminal alone. It is a tea.ExecCommand: Bubble Tea stops reading
// keys before Run and begins again after it.
type editor struct {
	ctx    context.Context //nolint:containedctx // tea.ExecCommand has none
	screen terminal
	hold   func() (release func()) // of interrupts, which are the editor's
	argv   []string
	text   string // before, and after Run
	stdin  io.Reader
	stdout io.Writer
}

// SetStdin, SetStdout and SetStderr are given the terminal.
func (e *editor) SetStdin(r io.Reader) { e.stdin = r }

// SetStdout keeps where the editor draws.
func (e *editor) SetStdout(w io.Writer) { e.stdout = w }

// SetStderr is not needed: editors complain where they draw.
func (e *editor) SetStderr(io.Writer) {}

// Run lets the person edit.
func (e *editor) Run() (err error) {
	f, err := os.CreateTemp("", "loadout-*.txt") // mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = io.WriteString(f, e.text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	defer e.hold()()
	if err := e.screen.Pause(); err != nil {
		return err
	}
	argv := append(e.argv[1:len(e.argv):len(e.argv)], f.Name())
	cmd := exec.CommandContext(e.ctx, e.argv[0], argv...) //nolint:gosec // the person's own EDITOR
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.screen.Files()
	err = cmd.Run()
	if err := errors.Join(err, e.screen.Resume()); err != nil {
		return fmt.Errorf("run %s: %w", e.argv[0], err)
	}
	edited, err := os.Open(f.Name())
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(edited, maxEdited+1))
	if err = errors.Join(err, edited.Close()); err != nil {
		return err
	}
	if len(data) > maxEdited {
		return fmt.Errorf("the text has more than %d KiB", maxEdited>>10)
	}
	e.text = strings.TrimRight(safetext.Block(string(data)), "\n")
	return nil
}

// editorCommand is the person's editor with its arguments.
func editorCommand(env func(string) string) ([]string, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v := env(name); v != "" {
			argv, err := words.Split(v)
			if err != nil || len(argv) == 0 {
				return nil, fmt.Errorf("%s is no command: %s", name, v)
			}
			return argv, nil
		}
	}
	if runtime.GOOS == "windows" {
		return []string{"notepad"}, nil
	}
	return []string{"vi"}, nil
}

// edit opens the person's editor with a text and hands what it became to take; nil drops it.
func (m *model) edit(text string, take func(text string)) tea.Cmd {
	argv, err := editorCommand(m.env)
	if err != nil {
		m.say(bad, err.Error())
		return m.scheduleTick()
	}
	e := &editor{ctx: m.ctx, screen: m.screen, hold: m.hold, argv: argv, text: text}
	return m.exec(e, func(err error) tea.Msg { return editedMsg{e.text, take, err} })
}

// edited takes a text back.
func (m *model) edited(msg editedMsg) tea.Cmd {
	m.dirty = true
	m.screen.Redraw()
	switch {
	case msg.err != nil:
		m.say(bad, msg.err.Error())
	case msg.take != nil:
		msg.take(msg.text)
	}
	return m.tick(tickMsg{m.ticking})
}

// editInput edits the text that a form asks for.
func (m *model) editInput(f *overlay.Form) tea.Cmd {
	in := f.Current()
	return m.edit(in.Text(), in.SetText)
}

// editSubject shows the selected row in the editor. What is changed there is not kept.
func (m *model) editSubject() tea.Cmd {
	text := safetext.Block(m.panes[m.focus].Subject().Text)
	if text == "" {
		m.say(bad, "nothing to read here")
		return m.scheduleTick()
	}
	return m.edit(text+"\n", nil)
}
