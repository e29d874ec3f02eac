package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/pane"
)

// act opens the form of an action, filled from the selected row.
func (m *model) act(i keymap.Intent) tea.Cmd {
	subject := m.panes[m.focus].Subject()
	switch i {
	case keymap.Claim:
		m.askClaim(subject)
	case keymap.Release:
		m.askRelease(subject)
	case keymap.Acknowledge:
		m.askAck(subject)
	case keymap.Ask:
		m.askQuestion(subject)
	case keymap.AddTask:
		m.askTask(subject)
	case keymap.Decide:
		m.askDecision()
	case keymap.Force:
		m.askForce(subject)
	case keymap.Answer:
		return m.settle(subject)
	default:
	}
	return nil
}

func input(name, label, value, placeholder string) *overlay.Input {
	return &overlay.Input{Name: name, Label: label, Field: overlay.Suggest(value), Placeholder: placeholder}
}

// long is an input for a text that may have several lines.
func long(name, label, placeholder string) *overlay.Input {
	in := input(name, label, "", placeholder)
	in.Long = true
	return in
}

// agentInput asks who acts.
func (m *model) agentInput() *overlay.Input { return m.nameInput("agent", "as", m.actor, "who acts") }

// nameInput asks for an agent, and completes those that take part.
func (m *model) nameInput(name, label, value, placeholder string) *overlay.Input {
	in := input(name, label, value, placeholder)
	var names []string
	for _, a := range m.live.State.Agents() {
		names = append(names, a.Name)
	}
	in.Complete = func(typed string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(agent string) bool { return !strings.HasPrefix(agent, typed) })
	}
	return in
}

func (m *model) askClaim(s pane.Subject) {
	f := overlay.NewForm(m.look.Theme, "Claim", "claim", nil,
		m.pathInput(s.Path),
		&overlay.Input{Name: "mode", Label: "mode", Choices: []string{string(event.Exclusive), string(event.Shared)}},
		input("reason", "reason", "", "why, for those who meet it"),
		input("ttl", "for", "", "30m, 2h, 7d; empty: until it is released"),
		m.agentInput(),
	)
	m.openForm(f, func() tea.Cmd {
		agent := f.Value("agent")
		own := engine.Own{Agent: agent, Shared: f.Value("mode") == string(event.Shared), Reason: f.Value("reason")}
		typed, ttl := f.Value("path"), f.Value("ttl")
		return m.send(f, agent, "claiming", func(context.Context) (engine.Command, string, error) {
			var err error
			if own.TTL, err = duration(ttl); err != nil {
				return nil, "", err
			}
			if own.Paths, err = m.stored(typed); err != nil {
				return nil, "", err
			}
			return own, fmt.Sprintf("%s holds %s", agent, strings.Join(own.Paths, ", ")), nil
		})
	})
}

func (m *model) askRelease(s pane.Subject) {
	holder := m.actor
	about := []string{"Ends the claim on the path and on everything below it."}
	if s.Claim != nil {
		holder = s.Claim.Agent
		about = []string{fmt.Sprintf("%s holds %s since %s. Releasing ends that, and what it holds below.",
			s.Claim.Agent, s.Claim.Path, words.Since(m.live.Now, s.Claim.Since))}
	}
	f := overlay.NewForm(m.look.Theme, "Release", "release", about,
		m.pathInput(s.Path), m.nameInput("agent", "as", holder, "whose claim"))
	m.openForm(f, func() tea.Cmd {
		agent, typed := f.Value("agent"), f.Value("path")
		return m.send(f, agent, "releasing", func(context.Context) (engine.Command, string, error) {
			paths, err := m.stored(typed)
			if err != nil {
				return nil, "", err
			}
			return engine.ReleasePaths{Agent: agent, Paths: paths}, fmt.Sprintf("%s let go of %s", agent, strings.Join(paths, ", ")), nil
		})
	})
}

func (m *model) askAck(s pane.Subject) {
	seq := m.live.State.Head()
	if s.Seq >= 0 && m.panes[m.focus].Scope() == keymap.Timeline {
		seq = s.Seq
	}
	f := overlay.NewForm(m.look.Theme, "Acknowledge", "acknowledge",
		[]string{"Says that everything up to this event has been read."},
		input("seq", "up to #", strconv.FormatInt(max(seq, 0), 10), "number of an event"), input("note", "note", "", "optional"), m.agentInput())
	m.openForm(f, func() tea.Cmd {
		agent, typed, note := f.Value("agent"), f.Value("seq"), f.Value("note")
		return m.send(f, agent, "acknowledging", func(context.Context) (engine.Command, string, error) {
			seq, err := strconv.ParseInt(strings.TrimPrefix(typed, "#"), 10, 64)
			if err != nil || seq < 0 {
				return nil, "", wrongInput("seq", "%q is not the number of an event", typed)
			}
			return engine.Ack{Agent: agent, Seq: seq, Note: note}, fmt.Sprintf("%s has read up to #%d", agent, seq), nil
		})
	})
}

func (m *model) askQuestion(s pane.Subject) {
	f := overlay.NewForm(m.look.Theme, "Ask", "ask", nil,
		m.nameInput("to", "to", m.other(s.Agent), "an agent, or * for everybody"), long("text", "question", cmp.Or(m.request(s), "what you want to know")), m.agentInput())
	if f.Value("to") != "" {
		f.At("text")
	}
	m.openForm(f, func() tea.Cmd {
		agent, ask := f.Value("agent"), engine.Ask{From: f.Value("agent"), To: f.Value("to"), Text: cmp.Or(f.Value("text"), m.request(s))}
		return m.send(f, agent, "asking", func(context.Context) (engine.Command, string, error) {
			return ask, "asked " + ask.To, nil
		})
	})
}

func (m *model) askTask(s pane.Subject) {
	f := overlay.NewForm(m.look.Theme, "Task", "add the task", nil,
		m.nameInput("to", "for", m.other(s.Agent), "an agent, or * for whoever is free"), long("text", "task", "what is to be done"),
		long("context", "context", "what it needs to know"), m.agentInput())
	if f.Value("to") != "" {
		f.At("text")
	}
	m.openForm(f, func() tea.Cmd {
		agent := f.Value("agent")
		task := engine.AddTask{From: agent, To: f.Value("to"), Text: f.Value("text"), Context: f.Value("context")}
		return m.send(f, agent, "adding", func(context.Context) (engine.Command, string, error) {
			return task, "task for " + task.To, nil
		})
	})
}

func (m *model) askDecision() {
	f := overlay.NewForm(m.look.Theme, "Decide", "record it", nil,
		input("title", "decision", "", "what was decided"), long("rationale", "because", "why"),
		input("supersedes", "replaces", "", "id of an older decision"), m.agentInput())
	m.openForm(f, func() tea.Cmd {
		agent := f.Value("agent")
		d := engine.Decide{Agent: agent, Title: f.Value("title"), Rationale: f.Value("rationale"), Supersedes: f.Value("supersedes")}
		return m.send(f, agent, "recording", func(context.Context) (engine.Command, string, error) {
			return d, "decided", nil
		})
	})
}

// askKill asks once. It works from the past too: stop means stop.
func (m *model) askKill() tea.Cmd {
	f := overlay.NewForm(m.look.Theme, "Halt everything", "halt everything",
		[]string{"Every write by every agent is refused from this moment, until somebody resumes."},
		input("reason", "reason", "", "why, for those who are stopped")).Alarm()
	m.openForm(f, func() tea.Cmd {
		reason, by, e, settle := f.Value("reason"), m.actor, m.engine, m.settles
		return m.start(f, "halting", func(ctx context.Context) (string, error) {
			if reason == "" {
				return "", wrongInput("reason", "why? those who are stopped will ask")
			}
			r, err := e.Kill(ctx, by, reason)
			if err != nil {
				return "", err
			}
			done := "halted by " + by + "; R resumes"
			if r.Duplicate {
				done = "it was halted already; R resumes"
			}
			return withNotes(done, append(r.Notes, settleLost(ctx, e, settle)...)), nil
		})
	})
	return nil
}

// settleLost ends what turns left running that nobody makes any more, and says what it found.
func settleLost(ctx context.Context, e Engine, settle func(ctx context.Context) error) []string {
	before, err := e.View(ctx)
	if err == nil {
		err = settle(ctx)
	}
	var after *engine.View
	if err == nil {
		after, err = e.View(ctx)
	}
	if err != nil {
		return []string{"What turns left running whose process is gone could not be ended, or not be recorded: " + err.Error()}
	}
	ran := map[string]bool{}
	for _, t := range before.State.OpenTurns() {
		ran[t.ID] = t.Status == state.TurnRunning
	}
	var found []string
	for _, t := range after.State.Turns() {
		if !ran[t.ID] || t.Status != state.TurnUncertain {
			continue
		}
		said := fmt.Sprintf("A turn of %s was lost: what it left running is ended, and nobody knows what came of it.", t.Agent)
		if t.Waits() {
			said += " It waits for you in the Bridge pane."
		}
		found = append(found, said)
	}
	return found
}

func (m *model) askResume() tea.Cmd {
	h := m.now.halted
	if h == nil {
		m.say(bad, "nothing is halted")
		return m.scheduleTick()
	}
	about := "The kill switch is on; its file does not say by whom or why."
	if !h.Damaged {
		about = fmt.Sprintf("Halted by %s %s: %s", h.By, words.Ago(m.live.Now, h.At), h.Reason)
	}
	f := overlay.NewForm(m.look.Theme, "Resume", "let work go on", []string{about})
	m.openForm(f, func() tea.Cmd {
		by, e := m.actor, m.engine
		return m.start(f, "resuming", func(ctx context.Context) (string, error) {
			r, err := e.Resume(ctx, by)
			if r.Duplicate {
				return withNotes("nothing was halted any more", r.Notes), err
			}
			return withNotes("resumed by "+by, r.Notes), err
		})
	})
	return nil
}

// other is the agent of the selected row, unless that is who acts.
func (m *model) other(agent string) string {
	if event.SameName(agent, m.actor) {
		return ""
	}
	return agent
}

// stored is a typed path as the log has it. Paths in the cockpit are relative to the top of the project.
func (m *model) stored(typed string) ([]string, error) {
	if typed == "" {
		return nil, wrongInput("path", "which path? for example src/api, or . for everything")
	}
	p := m.engine.Project()
	path, err := p.Rel(topOf(p), typed)
	if err != nil {
		return nil, err
	}
	return []string{path}, nil
}

func duration(typed string) (time.Duration, error) {
	if typed == "" {
		return 0, nil
	}
	d, err := words.ParseDuration(typed)
	if err != nil {
		return 0, wrongInput("ttl", "%s", err)
	}
	return d, nil
}
