package tui

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
)

func newTurns(ctx context.Context, o Options) *turns {
	deadline := cmp.Or(time.Duration(o.Settings.Bridge.Deadline), turn.DefaultDeadline)
	return &turns{Bridge: o.Bridge, ctx: ctx, feed: newTurnFeed(o.Clock, deadline), spawn: func(f func()) { go f() }}
}

// tracked is a runner whose verbs, which may make turns too, have ended before the cockpit does.
type tracked struct {
	Runner
	turns *turns
}

func (r tracked) Run(ctx context.Context, argv []string, out io.Writer) error {
	if !r.turns.enter() {
		return errClosing
	}
	defer r.turns.leave()
	if slices.Contains(argv, "agents") || slices.Contains(argv, "discuss") {
		r.turns.feed.command(1)
		defer r.turns.feed.command(-1)
	}
	return r.Runner.Run(ctx, argv, out)
}

// waitTurns takes what is new about the turns of this process. It is armed again only when that has been shown.
func (m *model) waitTurns(notBefore time.Time) tea.Cmd {
	ctx, feed := m.ctx, m.turns.feed
	return func() tea.Msg {
		if n, ok := feed.wait(ctx, notBefore); ok {
			return turnsMsg{n}
		}
		return nil
	}
}

// turned shows what is new about the turns of this process.
func (m *model) turned(n turnNews) tea.Cmd {
	m.dirty = true
	m.live.Now = m.clock()
	b := &m.live.Bridging
	b.Here, b.Live, b.Notes, m.making = n.here, n.live, n.notes, n.making
	var tick tea.Cmd
	for _, e := range n.endings {
		if m.ctx.Err() == nil {
			m.sayEnding(e)
			tick = m.scheduleTick()
		}
	}
	i := m.paneByID("bridge")
	if i < 0 || m.past() {
		return tick
	}
	defer m.arrange()
	return tea.Batch(m.do(i, m.panes[i].Apply(m.live, pane.Changes{})), tick)
}

func (m *model) sayEnding(e ending) {
	if e.err != nil {
		said, _ := refusal(e.err)
		m.say(bad, text.Line(said))
		return
	}
	m.say(good, e.done)
}

// quit ends the cockpit. While it makes turns it asks once; asked again it does not wait for the answer.
func (m *model) quit() tea.Cmd {
	made := m.made()
	if _, asking := m.confirms[m.quitting]; asking || len(made) == 0 {
		return tea.Quit
	}
	f := overlay.NewForm(m.look.Theme, "Quit?", "end it and quit", []string{
		"This cockpit makes turns: " + strings.Join(made, ", ") + ". Quitting ends them; what waits stays in the log, and nothing is delivered twice.",
	})
	m.quitting = f
	m.openForm(f, func() tea.Cmd {
		turns := m.turns
		return m.startThen(f, "ending what runs", func(context.Context) ([]string, error) { return nil, turns.stop() },
			func([]string) tea.Cmd { return tea.Quit })
	})
	return nil
}

// made is what makes turns in this process.
func (m *model) made() []string {
	var list []string
	if m.turns.current() != nil { // the news of its end may be under way
		list = append(list, "the bridge")
	}
	if n := m.making.singles; n > 0 {
		list = append(list, words.Plural(n, "message"))
	}
	if n := m.making.commands; n > 0 {
		list = append(list, words.Plural(n, "command"))
	}
	return list
}

// paid says who pays for turns of programs.
func (m *model) paid(programs ...string) string {
	var paid, free []string
	for _, p := range m.turns.Programs() {
		for _, name := range programs {
			switch {
			case name != p.Name:
			case p.Scripted:
				free = append(free, name)
			default:
				paid = append(paid, name)
			}
		}
	}
	said := ""
	if len(paid) > 0 {
		said = fmt.Sprintf("Turns of %s are made with your own account there and may cost money.", strings.Join(unique(paid), ", "))
	}
	if len(free) > 0 {
		said = strings.TrimSpace(said + fmt.Sprintf(" %s is a script: no model answers, and it costs nothing.", strings.Join(unique(free), ", ")))
	}
	return said
}

// unique leaves out what comes again.
func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
