package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/pane"
)

// talkPause is the least time between two looks at what is being said.
const talkPause = 50 * time.Millisecond

// talker is a pane that shows a discussion as it is held.
type talker interface {
	SetLive(live discuss.Live) pane.Action
}

// waitTalk waits for news of the discussion of this process, after a pause.
func (m *model) waitTalk(pause time.Duration) tea.Cmd {
	ctx, talk := m.ctx, m.talk
	if talk == nil {
		return nil
	}
	return func() tea.Msg {
		if !sleep(ctx, pause) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-talk.Changed():
			return talkMsg{talk.Live()}
		}
	}
}

// talked shows what is being said. When it is over somebody has to leave the transcript: the decision is there to be read.
func (m *model) talked(msg talkMsg) tea.Cmd {
	m.dirty = true
	m.live.Now = m.clock()
	var cmds []tea.Cmd
	for i, p := range m.panes {
		if t, ok := p.(talker); ok {
			cmds = append(cmds, m.do(i, t.SetLive(msg.live)))
		}
	}
	switch {
	case !msg.live.Over:
		cmds = append(cmds, m.waitTalk(talkPause))
	case msg.live.Err != nil:
		said, hints := refusal(msg.live.Err)
		m.openDialog(overlay.NewDialog(m.look.Theme, "The discussion stopped", m.refusalBody(said, hints)...).Alarm())
	default:
		m.say(good, "the discussion is over; q leaves it")
	}
	return tea.Batch(append(cmds, m.scheduleTick())...)
}
