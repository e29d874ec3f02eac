package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/tui/layout"
)

// maxFrame bounds the sides of a Frame, in cells.
const maxFrame = 1000

// Frame draws one frame of w×h cells, each line ended by a newline, for scripts, documentation and tests. Without styled it has no escape
// sequences. It shows what the cockpit does at this moment, a log that is not there or cannot be read included, and needs no terminal.
func Frame(ctx context.Context, o Options, w, h int, styled bool) (string, error) {
	o, err := o.withDefaults()
	if err != nil {
		return "", err
	}
	if w < layout.MinWidth || h < layout.MinHeight || w > maxFrame || h > maxFrame {
		return "", &engine.UsageError{Message: fmt.Sprintf("a frame is from %dx%d to %dx%d, not %dx%d",
			layout.MinWidth, layout.MinHeight, maxFrame, maxFrame, w, h)}
	}
	if !styled {
		o.NoColor = true
	}
	m, err := newModel(ctx, o)
	if err != nil {
		return "", err
	}
	m.after = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	m.resize(w, h)
	if err := m.feed.once(ctx); ctx.Err() != nil {
		return "", ctx.Err()
	} else if err != nil {
		m.feed.change(func(u *update) { u.err = err })
	}
	u := m.feed.take()
	if o.At == Now {
		u.drift = driftNow(ctx, o.Engine)
	}
	settle(m, m.fed(u))
	if m.travel.failed != nil {
		return "", m.travel.failed
	}
	frame := strings.Join(m.view(), "\n") + "\n"
	if !styled {
		frame = ansi.Strip(frame)
	}
	return frame, nil
}

// settle runs commands one after the other and gives their messages to the model until nothing is left to do.
func settle(m *model, cmds ...tea.Cmd) {
	for len(cmds) > 0 {
		cmd := cmds[0]
		cmds = cmds[1:]
		if cmd == nil {
			continue
		}
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			cmds = append(cmds, msg...)
		default:
			cmds = append(cmds, m.update(msg))
		}
	}
}
