package tui

import (
	"context"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/text"
)

// actions are the calls to the engine whose answers are awaited.
type actions struct {
	last int
	open map[int]*action
}

// action is one of them.
type action struct {
	form   *overlay.Form // shows the refusal, if it is still open
	cancel context.CancelFunc
	then   func(said []string) tea.Cmd // goes on when nothing was refused and the form is still open; nil: the form is closed
}

// start runs a call outside of the update loop. done says what to tell the person.
func (m *model) start(form *overlay.Form, doing string, call func(ctx context.Context) (done string, err error)) tea.Cmd {
	return m.await(form, doing, nil, func(ctx context.Context) (msg actedMsg) {
		msg.done, msg.err = call(ctx)
		return msg
	})
}

// startThen is start for a call that only looks. What it says goes to then, and the form stays open.
func (m *model) startThen(form *overlay.Form, doing string, call func(ctx context.Context) (said []string, err error), then func(said []string) tea.Cmd) tea.Cmd {
	return m.await(form, doing, then, func(ctx context.Context) (msg actedMsg) {
		msg.said, msg.err = call(ctx)
		return msg
	})
}

func (m *model) await(form *overlay.Form, doing string, then func(said []string) tea.Cmd, call func(ctx context.Context) actedMsg) tea.Cmd {
	m.dirty = true
	ctx, cancel := context.WithTimeout(m.ctx, lockTimeout)
	m.actions.last++
	id := m.actions.last
	m.actions.open[id] = &action{form: form, cancel: cancel, then: then}
	form.Busy(doing)
	return func() tea.Msg {
		defer cancel()
		msg := call(ctx)
		msg.id = id
		return msg
	}
}

// acted closes the form of what was done, or shows in it why it was refused, with everything that was typed.
func (m *model) acted(msg actedMsg) tea.Cmd {
	m.dirty = true
	a, ok := m.actions.open[msg.id]
	if !ok {
		return nil
	}
	delete(m.actions.open, msg.id)
	_, shown := m.confirms[a.form]
	switch {
	case msg.err == nil && a.then != nil:
		if a.form.Busy(""); shown {
			return a.then(msg.said)
		}
	case msg.err == nil:
		if shown {
			m.closeOverlay(a.form)
		}
		m.sayDone(msg.done)
	case shown:
		said, hints := refusal(msg.err)
		paragraphs := text.Lines(said)
		for i, p := range paragraphs {
			paragraphs[i] = strings.TrimSpace(p)
		}
		a.form.Refuse(refusedField(msg.err), append(paragraphs, hints...)...)
	case m.ctx.Err() == nil:
		m.openDialog(m.refusalDialog(msg.err))
	}
	return m.scheduleTick()
}

// withNotes is what an action did, with what is to be known about it, a line each.
func withNotes(done string, notes []string) string {
	return strings.Join(append([]string{done}, notes...), "\n")
}

// sayDone tells what an action did. What is to be known about it stays until it was read.
func (m *model) sayDone(done string) {
	done, notes, noted := strings.Cut(done, "\n")
	m.say(good, done)
	if !noted {
		return
	}
	body := []overlay.Paragraph{{Text: text.Line(done), Style: m.look.Good}}
	for _, note := range text.Lines(notes) {
		body = append(body, overlay.Paragraph{Text: note, Style: m.look.Text})
	}
	m.openDialog(overlay.NewDialog(m.look.Theme, "Done", body...))
}

// abandoned stops waiting for the answer to a form that was closed. What the engine has stored by then stays stored, and shows.
func (m *model) abandoned(o overlay.Overlay) tea.Cmd {
	for id, a := range m.actions.open {
		if a.form == o {
			a.cancel()
			delete(m.actions.open, id)
			m.say(bad, "stopped waiting; if it was stored all the same, it shows in the timeline")
		}
	}
	if m.command.dialog == o {
		m.command.stop()
	}
	return m.scheduleTick()
}

// refusalDialog shows a refusal that has no form to go back to.
func (m *model) refusalDialog(err error) *overlay.Dialog {
	said, hints := refusal(err)
	return overlay.NewDialog(m.look.Theme, "Refused", m.refusalBody(said, hints)...).Alarm()
}

// refusalBody is a refusal for a dialog.
func (m *model) refusalBody(said string, hints []string) []overlay.Paragraph {
	lines := text.Lines(said)
	body := make([]overlay.Paragraph, 0, len(lines)+len(hints))
	for i, line := range lines {
		style := m.look.Text
		if i == 0 {
			style = m.look.Bad
		}
		body = append(body, overlay.Paragraph{Text: line, Style: style})
	}
	for _, hint := range hints {
		body = append(body, overlay.Paragraph{Text: text.Line(hint), Style: m.look.Dim, Indent: 2})
	}
	return body
}

// send sends a command to the engine. A person sits at the cockpit: whenever an agent is named, the log names both. When it acts for an
// agent that is not the cockpit's own, it asks first.
func (m *model) send(form *overlay.Form, agent, doing string, command func(ctx context.Context) (engine.Command, string, error)) tea.Cmd {
	run := func(f *overlay.Form) tea.Cmd {
		e := m.engine
		return m.start(f, doing, func(ctx context.Context) (string, error) {
			c, done, err := command(ctx)
			if err != nil {
				return "", err
			}
			r := engine.Request{Command: c}
			if !event.SameName(agent, event.User) {
				r.By = event.User
			}
			receipt, err := e.Do(ctx, r)
			if err != nil {
				return "", err
			}
			return receiptText(done, receipt), nil
		})
	}
	if event.SameName(agent, m.actor) || event.SameName(agent, event.User) || agent == "" {
		return run(form)
	}
	ask := overlay.NewForm(m.look.Theme, "Act for "+text.Line(agent)+"?", "act for "+text.Line(agent), []string{
		fmt.Sprintf("This cockpit acts as %s. The log will say that %s did this, and that %s did it for %s.", m.actor, agent, event.User, agent),
	})
	m.openForm(ask, func() tea.Cmd {
		m.closeOverlay(ask)
		return run(form)
	})
	return nil
}

// receiptText is what a person is told of a stored command, and what came with it, see withNotes.
func receiptText(done string, r engine.Receipt) string {
	if seq := r.Seq(); seq >= 0 {
		return withNotes(fmt.Sprintf("%s, #%d", done, seq), r.Notes)
	}
	return withNotes(done+": nothing to store, it was so already", r.Notes)
}
