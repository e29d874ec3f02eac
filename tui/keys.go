package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/pane"
)

// farStep is how many events { and } go.
const farStep = 25

// key handles a key message. Keys that were typed faster than they were read come as one message of several runes; each is a key of its
// own, unless it was pasted.
func (m *model) key(k tea.KeyMsg) tea.Cmd {
	m.dirty = true
	if k.Type != tea.KeyRunes || k.Paste || len(k.Runes) < 2 {
		return m.oneKey(k)
	}
	var cmds []tea.Cmd
	for _, r := range k.Runes {
		one := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt}
		cmds = append(cmds, m.oneKey(one))
	}
	return tea.Batch(cmds...)
}

func (m *model) oneKey(k tea.KeyMsg) tea.Cmd {
	m.toast = toast{}
	if k.Alt && k.Type == tea.KeyRunes && !m.edits(k) {
		k.Alt = false
		return tea.Batch(m.oneKey(tea.KeyMsg{Type: tea.KeyEsc}), m.oneKey(k))
	}
	switch {
	case k.Type == tea.KeyCtrlC:
		return m.quit()
	case k.Type == tea.KeyCtrlZ:
		return m.suspend()
	case m.overlays.Top() != nil:
		return m.overlayKey(m.overlays.Top(), k)
	case m.prompt != nil:
		return m.promptKey(k)
	case k.Paste: // nothing to paste into; it must not be taken for keys
		return nil
	}
	scope := m.panes[m.focus].Scope()
	return m.intent(m.keys.Resolve(scope, k.String()), k)
}

// edits reports whether a key with Alt moves by words in a text. Any other is Esc and a key that came together: terminals cannot tell.
func (m *model) edits(k tea.KeyMsg) bool {
	typing := m.prompt != nil || m.overlays.Top() != nil
	return typing && (k.Runes[0] == 'b' || k.Runes[0] == 'f')
}

func (m *model) overlayKey(o overlay.Overlay, k tea.KeyMsg) tea.Cmd {
	if m.completing.waits(o, k) {
		return nil
	}
	switch o.Key(k) {
	case overlay.Open:
	case overlay.Closed:
		if m.command.interrupt(o) {
			return nil
		}
		m.closeOverlay(o)
		return m.abandoned(o)
	case overlay.Edit:
		if f, ok := o.(*overlay.Form); ok {
			return m.editInput(f)
		}
	case overlay.Complete:
		if f, ok := o.(*overlay.Form); ok {
			return m.completeInput(f)
		}
	case overlay.Submitted:
		if submit := m.confirms[o]; submit != nil {
			return submit()
		}
		m.closeOverlay(o)
	}
	return nil
}

// intent does what a person wants. What concerns the focused pane alone goes there.
func (m *model) intent(i keymap.Intent, k tea.KeyMsg) tea.Cmd {
	focused := m.panes[m.focus]
	if err := m.refusePast(); err != nil && acts(i) {
		m.say(bad, err.Error())
		return m.scheduleTick()
	}
	switch i {
	case keymap.None:
		return nil
	case keymap.Quit:
		return m.quit()
	case keymap.Suspend:
		return m.suspend()
	case keymap.Redraw:
		m.screen.Redraw()
		return nil
	case keymap.Help:
		m.openDialog(m.help())
		return nil
	case keymap.Back:
		return m.back()
	case keymap.NextPane:
		m.setFocus((m.focus + 1) % len(m.panes))
		return nil
	case keymap.PreviousPane:
		m.setFocus((m.focus + len(m.panes) - 1) % len(m.panes))
		return nil
	case keymap.Focus:
		if n := int(k.Runes[0] - '1'); n < len(m.panes) {
			m.setFocus(n)
		}
		return nil
	case keymap.Zoom:
		return m.zoom(!m.zoomed)
	case keymap.Open:
		return m.open()
	case keymap.Filter:
		m.openFilter()
		return nil
	case keymap.NextMatch:
		return m.search(1)
	case keymap.PreviousMatch:
		return m.search(-1)
	case keymap.Edit:
		return m.editSubject()
	case keymap.Mouse:
		return m.toggleMouse()
	case keymap.Jump:
		m.openJump()
		return nil
	case keymap.CommandLine:
		return m.openCommand()
	case keymap.Copy:
		return m.copySubject()
	case keymap.Past:
		return m.step(-1)
	case keymap.PastFar:
		return m.step(-farStep)
	case keymap.Future:
		return m.step(1)
	case keymap.FutureFar:
		return m.step(farStep)
	case keymap.Kill:
		return m.askKill()
	case keymap.Resume:
		return m.askResume()
	case keymap.Claim, keymap.Release, keymap.Acknowledge, keymap.Ask, keymap.AddTask, keymap.Decide,
		keymap.Force, keymap.Answer:
		return m.act(i)
	case keymap.RunBridge, keymap.StartSession, keymap.Attach, keymap.Forget, keymap.Message, keymap.Caps,
		keymap.CancelTurn, keymap.RetryTurn, keymap.SkipTurn:
		return m.actOnBridge(i)
	case keymap.Discuss:
		return m.askDiscussion()
	case keymap.GoOn:
		return m.askGoOn(focused)
	default:
		return m.do(m.focus, focused.Handle(i))
	}
}

// acts reports whether an intent stores something or spends a turn. The kill switch is not among them: stop means stop.
func acts(i keymap.Intent) bool {
	switch i {
	case keymap.Claim, keymap.Release, keymap.Acknowledge, keymap.Ask, keymap.AddTask, keymap.Decide, keymap.Force, keymap.Answer,
		keymap.RunBridge, keymap.StartSession, keymap.Attach, keymap.Forget, keymap.Message, keymap.Caps,
		keymap.CancelTurn, keymap.RetryTurn, keymap.SkipTurn, keymap.Discuss, keymap.GoOn:
		return true
	default:
		return false
	}
}

// zoom gives the focused pane the whole window, or takes it back.
func (m *model) zoom(on bool) tea.Cmd {
	m.zoomed = on
	m.arrange()
	return m.apply(pane.Changes{}) // the detail that is visible now may want to load
}

// open zooms first; once there the pane opens its row.
func (m *model) open() tea.Cmd {
	p := m.panes[m.focus]
	if m.zoomed {
		return m.do(m.focus, p.Handle(keymap.Open))
	}
	cmd := m.zoom(true)
	if !p.Preview() {
		return tea.Batch(cmd, m.do(m.focus, p.Handle(keymap.Open)))
	}
	return cmd
}

// back undoes the last thing that a person sees: the open row, the zoom, the filter, the past.
func (m *model) back() tea.Cmd {
	p := m.panes[m.focus]
	a := p.Handle(keymap.Back)
	if _, ignored := a.(pane.Ignored); !ignored {
		return m.do(m.focus, a)
	}
	switch {
	case m.zoomed:
		return m.zoom(false)
	case p.Filter() != "":
		return m.do(m.focus, p.SetFilter(""))
	case m.past():
		return m.toNow()
	}
	return nil
}
