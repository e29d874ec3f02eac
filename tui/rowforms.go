package tui

import (
	"context"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/pane"
)

// askForce takes a path from whoever holds it. The log keeps whose claims ended, and why.
func (m *model) askForce(s pane.Subject) {
	about := []string{"Ends the claims of others on the path, whether their sessions live or not."}
	if s.Claim != nil {
		about = append(about, m.told(s.Claim))
	}
	f := overlay.NewForm(m.look.Theme, "Take by force", "take it", about,
		m.pathInput(s.Path), input("reason", "reason", "", "why, for those who lose it"), m.agentInput()).Alarm()
	if s.Path != "" {
		f.At("reason")
	}
	m.openForm(f, func() tea.Cmd {
		agent, typed := f.Value("agent"), f.Value("path")
		own := engine.Own{Agent: agent, Reason: f.Value("reason"), Force: true}
		return m.send(f, agent, "taking", func(context.Context) (engine.Command, string, error) {
			if own.Reason == "" {
				return nil, "", wrongInput("reason", "force needs a reason; the holder will read it")
			}
			var err error
			if own.Paths, err = m.stored(typed); err != nil {
				return nil, "", err
			}
			return own, fmt.Sprintf("%s holds %s", agent, strings.Join(own.Paths, ", ")), nil
		})
	})
}

// told is who holds a claim, since when and why.
func (m *model) told(c *state.Claim) string {
	why := ""
	if c.Reason != "" {
		why = ", because " + c.Reason
	}
	return fmt.Sprintf("%s holds %s since %s%s.", c.Agent, c.Path, words.Since(m.live.Now, c.Since), why)
}

// settle does what the selected thing waits for; with nothing that waits it acknowledges.
func (m *model) settle(s pane.Subject) tea.Cmd {
	w := s.Wait
	if w == nil {
		m.askAck(s)
		return nil
	}
	switch w.Kind {
	case state.WaitQuestion:
		m.askAnswer(w)
	case state.WaitTask:
		m.askDone(w)
	case state.WaitClaim:
		m.askRelease(s)
	case state.WaitHalt:
		return m.askResume()
	case state.WaitTurn:
		return m.askTurn(pane.Subject{Agent: w.Agent, Turn: w.ID}, retryTurn)
	case state.WaitCap:
		return m.askCaps(pane.Subject{Agent: w.Agent})
	case state.WaitWork:
		m.say(plainly, "the Work pane shows what can be done about it")
		return m.scheduleTick()
	}
	return nil
}

func (m *model) askAnswer(w *state.Waiting) {
	f := overlay.NewForm(m.look.Theme, "Answer", "answer", []string{fmt.Sprintf("%s asked %s: %s", w.Agent, words.Ago(m.live.Now, w.Since), w.Text)},
		long("text", "answer", "what you decide"), m.agentInput())
	m.openForm(f, func() tea.Cmd {
		agent, answer := f.Value("agent"), engine.Answer{From: f.Value("agent"), ID: w.ID, Text: f.Value("text")}
		return m.send(f, agent, "answering", func(context.Context) (engine.Command, string, error) {
			if answer.Text == "" {
				return nil, "", wrongInput("text", "what is the answer?")
			}
			return answer, w.Agent + " has the answer", nil
		})
	})
}

// What becomes of a task.
const (
	taskDone      = "done"
	taskFailed    = "failed"
	taskWithdrawn = "withdrawn"
)

func (m *model) askDone(w *state.Waiting) {
	f := overlay.NewForm(m.look.Theme, "Settle the task", "settle it", []string{fmt.Sprintf("%s asked for it %s: %s", w.Agent, words.Ago(m.live.Now, w.Since), w.Text)},
		&overlay.Input{Name: "how", Label: "outcome", Choices: []string{taskDone, taskFailed, taskWithdrawn}},
		long("evidence", "evidence", "what shows it, or why it failed or is withdrawn"), m.agentInput())
	m.openForm(f, func() tea.Cmd {
		agent := f.Value("agent")
		how, why := f.Value("how"), f.Value("evidence")
		return m.send(f, agent, "settling", func(context.Context) (engine.Command, string, error) {
			if how == taskWithdrawn {
				return engine.Cancel{From: agent, ID: w.ID, Reason: why}, how, nil
			}
			return engine.Finish{From: agent, ID: w.ID, Evidence: why, Failed: how == taskFailed}, how, nil
		})
	})
}

// request is the question that an empty form asks about a claim that somebody else holds.
func (m *model) request(s pane.Subject) string {
	if s.Claim == nil || event.SameName(s.Claim.Agent, m.actor) {
		return ""
	}
	return "May I have " + s.Claim.Path + "?"
}
