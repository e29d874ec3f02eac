package tui

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
)

// discussedMsg says of a discussion that a form asked for that it was found in order and begins, or that it is over.
type discussedMsg struct {
	form *overlay.Form
	id   int
	over bool
	err  error
}

// begun tells when something is written for the first time: everything was checked by then. What is written is in the log as well.
type begun struct {
	once sync.Once
	at   chan struct{}
}

func (b *begun) Write(p []byte) (int, error) {
	b.once.Do(func() { close(b.at) })
	return len(p), nil
}

// askDiscussion asks what two agents are to discuss, and says what that costs while it is filled in.
func (m *model) askDiscussion() tea.Cmd {
	rounds := &overlay.Input{Name: "rounds", Label: "rounds", Chosen: discuss.DefaultRounds - 1}
	for n := discuss.MinRounds; n <= discuss.MaxRounds; n++ {
		rounds.Choices = append(rounds.Choices, strconv.Itoa(n))
	}
	f := overlay.NewForm(m.look.Theme, "Discuss", "start it", []string{"Two agents speak in turns, and can do nothing but that. What they say is stored."},
		long("topic", "topic", "what is to be decided"),
		input("agents", "between", "claude-code,codex", "two programs, the proposer first"),
		rounds,
		input("timeout", "seconds", strconv.Itoa(int(discuss.DefaultTimeout.Seconds())), "for each statement, 10 to 600"),
	)
	f.Note(func(f *overlay.Form) string { return discussionCost(f.Value("agents"), f.Value("rounds")) })
	m.openForm(f, func() tea.Cmd {
		topic, agents := f.Value("topic"), strings.Split(f.Value("agents"), ",")
		switch {
		case topic == "":
			f.Refuse("topic", "what is to be decided?")
			return nil
		case len(agents) != 2:
			f.Refuse("agents", "a discussion has two participants, such as claude-code,codex")
			return nil
		}
		return m.discuss(f, "coord", "discuss", "start", "--agents="+f.Value("agents"), "--rounds="+f.Value("rounds"),
			"--timeout="+f.Value("timeout"), "--yes", "--plain", "--", topic)
	})
	return nil
}

// discussionCost says how many turns are paid for, and whose.
func discussionCost(agents, rounds string) string {
	n, err := strconv.Atoi(rounds)
	if err != nil {
		return ""
	}
	proposer, reviewer, _ := strings.Cut(agents, ",")
	cost := words.Plural(discuss.Turns(n), "paid turn")
	if proposer, reviewer = strings.TrimSpace(proposer), strings.TrimSpace(reviewer); proposer == "" || reviewer == "" {
		return cost
	}
	return fmt.Sprintf("%s: %s %d, %s %d", cost, text.Line(proposer), n+1, text.Line(reviewer), n)
}

// askGoOn asks whether the discussion that is shown is to go on, and says what that costs.
func (m *model) askGoOn(p pane.Pane) tea.Cmd {
	var t discuss.Thread
	if shown, ok := p.(interface{ Shown() discuss.Thread }); ok {
		t = shown.Shown()
	}
	if t.ThreadID == "" || t.Status == discuss.StatusClosed {
		m.say(plainly, "there is nothing to go on with: choose a discussion that is not decided")
		return m.scheduleTick()
	}
	about := []string{fmt.Sprintf("Goes on with %s at the next statement. What was said stays.", t.ThreadID)}
	if t.Rounds > 0 {
		about = append(about, words.Plural(discuss.Turns(t.Rounds)-t.Said, "paid turn")+".")
	}
	for _, turn := range t.Unknown() {
		about = append(about, fmt.Sprintf("An earlier turn of %s may have been paid for, and left no statement.", text.Line(turn.Agent)))
	}
	f := overlay.NewForm(m.look.Theme, "Go on", "go on", about)
	m.openForm(f, func() tea.Cmd {
		return m.discuss(f, "coord", "discuss", "resume", "--yes", "--plain", "--", t.ThreadID)
	})
	return nil
}

// discuss runs a verb that holds a discussion for as long as the cockpit is open. What is refused beforehand goes back to the form.
func (m *model) discuss(f *overlay.Form, argv ...string) tea.Cmd {
	if m.runner == nil {
		f.Refuse("", "this cockpit runs no verbs; loadout coord discuss start does the same in another terminal")
		return nil
	}
	m.dirty = true
	f.Busy("checking")
	out := &begun{at: make(chan struct{})}
	ctx, cancel := context.WithCancel(m.ctx)
	m.actions.last++
	id, runner := m.actions.last, m.runner
	m.actions.open[id] = &action{form: f, cancel: cancel} // until it has begun, leaving the form ends it
	return tea.Batch(
		func() tea.Msg {
			defer cancel()
			return discussedMsg{f, id, true, runner.Run(ctx, argv, out)}
		},
		func() tea.Msg {
			select {
			case <-ctx.Done():
				return nil
			case <-out.at:
				return discussedMsg{form: f, id: id}
			}
		},
	)
}

// discussed follows what became of a discussion that a form asked for.
func (m *model) discussed(msg discussedMsg) tea.Cmd {
	m.dirty = true
	_, awaited := m.actions.open[msg.id]
	delete(m.actions.open, msg.id)
	_, shown := m.confirms[msg.form]
	switch {
	case !msg.over && !awaited: // the form was left, or it is over already
	case !msg.over:
		m.closeOverlay(msg.form)
		m.say(good, "the discussion has begun")
	case msg.err == nil:
		m.closeOverlay(msg.form)
		m.say(good, "the discussion is over")
	case errors.Is(msg.err, context.Canceled):
	case shown:
		said, hints := refusal(msg.err)
		msg.form.Refuse(refusedField(msg.err), append([]string{said}, hints...)...)
	default:
		said, hints := refusal(msg.err)
		m.openDialog(overlay.NewDialog(m.look.Theme, "The discussion stopped", m.refusalBody(said, hints)...).Alarm())
	}
	return m.scheduleTick()
}
