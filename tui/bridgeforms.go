package tui

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
)

// actOnBridge opens the form of an action of the bridge pane.
func (m *model) actOnBridge(i keymap.Intent) tea.Cmd {
	if m.turns.Bridge == nil {
		return m.cannot("no turns can be made from this cockpit")
	}
	s := m.panes[m.focus].Subject()
	switch i {
	case keymap.RunBridge:
		if m.live.Bridging.Here {
			return m.askStop()
		}
		return m.askStart()
	case keymap.StartSession:
		return m.askOpen()
	case keymap.Attach:
		return m.askAttach(s)
	case keymap.Forget:
		return m.askForget(s)
	case keymap.Message:
		return m.askMessage(s)
	case keymap.Caps:
		return m.askCaps(s)
	case keymap.CancelTurn:
		return m.askCancel(s)
	case keymap.RetryTurn:
		return m.askTurn(s, retryTurn)
	case keymap.SkipTurn:
		return m.askTurn(s, skipTurn)
	default:
		return nil
	}
}

// cannot says why nothing is asked.
func (m *model) cannot(why string) tea.Cmd {
	m.say(bad, why)
	return m.scheduleTick()
}

// taken are the choices of a session in the form that starts a bridge.
const (
	take  = "take"
	leave = "leave"
)

// askStart asks which sessions a bridge is to drive, then says what that means, and starts it only after a second yes.
func (m *model) askStart() tea.Cmd {
	if h := m.live.Bridging.Holder; h != nil {
		return m.cannot("a bridge or discussion runs already: " + text.Line(h.Owner.String()))
	}
	sessions := slices.DeleteFunc(m.live.State.Sessions(), m.live.State.Rests)
	if len(sessions) == 0 {
		return m.cannot("no session is known whose agent has not ended: start one, or attach one that there is")
	}
	last := m.live.State.Bridge().Agents
	var inputs []*overlay.Input
	for _, s := range sessions {
		in := &overlay.Input{Name: "session " + s.Agent, Label: text.Truncate(text.Line(s.Agent), 20, m.look.Ellipsis), Choices: []string{take, leave}}
		if len(last) > 0 && !slices.ContainsFunc(last, func(name string) bool { return event.SameName(name, s.Agent) }) {
			in.Chosen = 1
		}
		inputs = append(inputs, in)
	}
	f := overlay.NewForm(m.look.Theme, "Start the bridge", "see what that means",
		[]string{"It tells each of these what the others did, as turns. Nothing is spent before you have seen what they may do."},
		append(inputs, m.capInputs()...)...)
	m.openForm(f, func() tea.Cmd {
		var all bridge.Sessions
		for _, s := range sessions {
			if f.Value("session "+s.Agent) == take {
				all.Refs = append(all.Refs, bridge.Ref{Agent: s.Agent})
			}
		}
		turns := m.turns
		typed := typedCaps(f)
		return m.startThen(f, "looking", func(ctx context.Context) ([]string, error) {
			var err error
			if all.Limits, err = typed.limits(); err != nil {
				return nil, err
			}
			if len(all.Refs) == 0 {
				return nil, &engine.UsageError{Message: "a bridge needs a session"}
			}
			return m.planned(ctx, all)
		}, func(said []string) tea.Cmd {
			return m.confirm("Start the bridge?", "start it", said, func() tea.Cmd {
				return m.start(f, "starting", func(ctx context.Context) (string, error) {
					return "the bridge runs in this cockpit", turns.start(ctx, all)
				})
			})
		})
	})
	return nil
}

// confirm asks again, with what was found out since; a refusal goes back to the form that asked first.
func (m *model) confirm(title, verb string, about []string, yes func() tea.Cmd) tea.Cmd {
	f := overlay.NewForm(m.look.Theme, title, verb, about)
	m.openForm(f, func() tea.Cmd {
		m.closeOverlay(f)
		return yes()
	})
	return nil
}

// planned says what a bridge of these sessions would do now, what its turns may do, and who pays. It is called outside of the update loop.
func (m *model) planned(ctx context.Context, all bridge.Sessions) ([]string, error) {
	list, err := m.turns.Plan(ctx, all)
	if err != nil {
		return nil, err
	}
	said := make([]string, 0, len(list)+1)
	programs := make([]string, len(list))
	for i := range list {
		p := &list[i]
		programs[i] = p.Provider
		said = append(said, fmt.Sprintf("%s may: %s. %s", nameOf(p), strings.TrimSuffix(p.May, "."), next(p)))
	}
	return append(said, m.paid(programs...)), nil
}

func nameOf(p *bridge.Planned) string {
	if p.Agent == "" {
		return p.Provider + ":" + p.Session
	}
	return p.Agent
}

// next is what comes of a session at once.
func next(p *bridge.Planned) string {
	switch {
	case p.Paused:
		return "A failed turn waits for you first."
	case p.Stopped != "":
		return "The" + strings.TrimPrefix(p.StopText, "the") + "."
	case len(p.Seqs) > 0:
		return "A turn at once, for " + words.Plural(len(p.Seqs), "event") + "."
	case len(p.Held) > 0:
		return words.Plural(len(p.Held), "event") + " will wait for you: a chain of turns led to them."
	}
	return "Nothing waits for it now."
}

// askStop asks once more: turns in flight are lost.
func (m *model) askStop() tea.Cmd {
	running := 0
	for _, t := range m.live.State.OpenTurns() {
		if t.Status == state.TurnRunning {
			running++
		}
	}
	about := "No turn runs. What comes from now on waits in the log."
	if running > 0 {
		about = words.Plural(running, "turn") + " in flight: ended now, and what was used stays used. What waits stays in the log."
	}
	f := overlay.NewForm(m.look.Theme, "Stop the bridge?", "stop it", []string{about})
	m.openForm(f, func() tea.Cmd {
		turns := m.turns
		return m.start(f, "stopping", func(context.Context) (string, error) { return "the bridge has ended", turns.stop() })
	})
	return nil
}

// askOpen starts a session of a program.
func (m *model) askOpen() tea.Cmd {
	programs := m.turns.Programs()
	if len(programs) == 0 {
		return m.cannot("no agent program is known")
	}
	names := make([]string, len(programs))
	for i, p := range programs {
		names[i] = p.Name
	}
	f := overlay.NewForm(m.look.Theme, "New session", "see what that means", []string{"Starts a session with a first turn."},
		&overlay.Input{Name: "program", Label: "program", Choices: names}, input("dir", "works in", "", "a folder; empty: where the cockpit was started"),
		long("text", "tell it", "optional: what its first turn is about"))
	m.openForm(f, func() tea.Cmd {
		program, dir, said := f.Value("program"), f.Value("dir"), f.Value("text")
		turns := m.turns
		return m.startThen(f, "looking", func(context.Context) ([]string, error) {
			may, err := turns.Describe(program, "")
			return []string{fmt.Sprintf("This spends a turn of %s, which may: %s.", program, strings.TrimSuffix(may, ".")), m.paid(program)}, err
		}, func(about []string) tea.Cmd {
			return m.confirm("Start a session?", "start it", about, func() tea.Cmd {
				return m.start(f, "starting", func(ctx context.Context) (string, error) {
					return program + " is asked; the session appears when it has answered", turns.begin(ctx, func(ctx context.Context, report func(bridge.Progress)) (string, error) {
						agent, err := turns.Open(ctx, program, dir, said, report)
						return agent + " is here", err
					})
				})
			})
		})
	})
	return nil
}

// askAttach makes a session known, and has the bridge that runs here drive it.
func (m *model) askAttach(s pane.Subject) tea.Cmd {
	here := m.live.Bridging.Here
	known := ""
	if _, ok := m.live.State.Session(s.Agent); ok && here && !slices.ContainsFunc(m.live.State.Bridge().Agents, func(name string) bool { return event.SameName(name, s.Agent) }) {
		known = s.Agent
	}
	inputs := []*overlay.Input{
		input("session", "session", known, "PROGRAM:ID, or an agent"),
		input("dir", "works in", "", "a folder; empty: where it did, else where this started"),
	}
	if here {
		inputs = append(inputs, &overlay.Input{Name: "drive", Label: "bridge", Choices: []string{"drives it", "does not"}})
	}
	f := overlay.NewForm(m.look.Theme, "Attach", "see what that means", []string{"Makes a session known that a program has already. Spends nothing by itself."}, inputs...)
	m.openForm(f, func() tea.Cmd {
		typed, dir, drive := f.Value("session"), f.Value("dir"), f.Value("drive") == "drives it"
		turns := m.turns
		var ref bridge.Ref
		return m.startThen(f, "looking", func(ctx context.Context) ([]string, error) {
			var err error
			if ref, err = bridge.ParseRef(typed); err != nil {
				return nil, err
			}
			return m.planned(ctx, bridge.Sessions{Refs: []bridge.Ref{ref}})
		}, func(about []string) tea.Cmd {
			return m.confirm("Attach it?", "attach", about, func() tea.Cmd {
				return m.start(f, "attaching", func(ctx context.Context) (string, error) {
					agent, err := turns.Attach(ctx, ref, dir)
					if running := turns.current(); err == nil && drive && running != nil {
						err = running.Attach(ctx, bridge.Ref{Agent: agent}, "", nil)
					}
					return agent + " takes part", err
				})
			})
		})
	})
	return nil
}

func (m *model) askForget(s pane.Subject) tea.Cmd {
	x, ok := m.live.State.Session(s.Agent)
	if !ok {
		return m.cannot("choose a session first")
	}
	f := overlay.NewForm(m.look.Theme, "Forget "+text.Line(x.Agent)+"?", "forget it",
		[]string{fmt.Sprintf("No turn of %s:%s is made any more. What waits for it is left; the program keeps its session.", x.Provider, x.ID)})
	m.openForm(f, func() tea.Cmd {
		turns := m.turns
		return m.start(f, "forgetting", func(ctx context.Context) (string, error) {
			r, err := turns.Forget(ctx, x.Agent)
			return receiptText(x.Agent+"'s session is forgotten", r), err
		})
	})
	return nil
}

// askMessage says something to a session. The answer is shown, and stored nowhere.
func (m *model) askMessage(s pane.Subject) tea.Cmd {
	x, ok := m.live.State.Session(s.Agent)
	if !ok {
		return m.cannot("choose a session first; there may be none yet")
	}
	f := overlay.NewForm(m.look.Theme, "Message to "+text.Line(x.Agent), "send it",
		[]string{"Costs one turn of " + x.Provider + ". " + m.paid(x.Provider)}, long("text", "message", "what to say"))
	m.openForm(f, func() tea.Cmd {
		said, turns := f.Value("text"), m.turns
		return m.start(f, "sending", func(ctx context.Context) (string, error) {
			if said == "" {
				return "", wrongInput("text", "what do you want to say?")
			}
			return x.Agent + " is asked; this pane shows what it answers", turns.begin(ctx, func(ctx context.Context, report func(bridge.Progress)) (string, error) {
				return x.Agent + " has answered", turns.Send(ctx, x.Agent, said, report)
			})
		})
	})
	return nil
}

// askCancel ends a turn that runs, whichever process runs it.
func (m *model) askCancel(s pane.Subject) tea.Cmd {
	var running []state.Turn
	for _, t := range m.live.State.OpenTurns() {
		if t.Status == state.TurnRunning && (s.Turn == "" || s.Turn == t.ID) {
			running = append(running, t)
		}
	}
	if len(running) != 1 {
		return m.cannot("choose a turn that runs, or its session")
	}
	t := running[0]
	f := overlay.NewForm(m.look.Theme, "End the turn of "+text.Line(t.Agent)+"?", "end it",
		[]string{"Its program is stopped, with what it started. What it used stays used, and what it was told is not told again."})
	m.openForm(f, func() tea.Cmd {
		turns := m.turns
		return m.start(f, "cancelling", func(ctx context.Context) (string, error) {
			r, err := turns.Cancel(ctx, t.ID)
			return receiptText("the turn of "+t.Agent+" ends", r), err
		})
	})
	return nil
}

// What a person decides about turns that wait.
const (
	retryTurn = "make it"
	skipTurn  = "drop it"
)

// askTurn settles what waits for a person: the chosen turn, or all of the chosen session.
func (m *model) askTurn(s pane.Subject, suggested string) tea.Cmd {
	if m.turns.Bridge == nil {
		return m.cannot("no turns can be made from this cockpit")
	}
	name := s.Agent
	var about []string
	for _, t := range m.live.State.OpenTurns() {
		if !t.Waits() || !event.SameName(t.Agent, s.Agent) {
			continue
		}
		if t.ID == s.Turn {
			name, about = t.ID, nil
		}
		said := fmt.Sprintf("%s: %s %s, for %s.", t.Agent, t.Status, t.Cause, words.Plural(t.Events, "event"))
		if t.Started != nil && t.Spent != "nothing" {
			said += " It may have been paid for already; made again it is paid for again."
		}
		if about = append(about, said); name == t.ID {
			break
		}
	}
	if len(about) == 0 {
		return m.cannot("nothing waits for you there")
	}
	how := &overlay.Input{Name: "how", Label: "decision", Choices: []string{retryTurn, skipTurn}}
	if suggested == skipTurn {
		how.Chosen = 1
	}
	f := overlay.NewForm(m.look.Theme, "What waits for you", "settle it", about, how)
	m.openForm(f, func() tea.Cmd {
		settle, done := m.turns.Retry, "it is made when a bridge runs"
		if f.Value("how") == skipTurn {
			settle, done = m.turns.Skip, "dropped"
		}
		return m.start(f, "settling", func(ctx context.Context) (string, error) {
			r, err := settle(ctx, name)
			return receiptText(done, r), err
		})
	})
	return nil
}

// capInputs ask for caps, and say what they are now.
func (m *model) capInputs() []*overlay.Input {
	now := map[event.TurnCap]string{event.CapTurns: "as they are", event.CapTotalTurns: "no bound", event.CapTokens: "no bound", event.CapCost: "no bound"}
	for _, c := range m.live.State.Caps() {
		switch {
		case c.Limit == 0 || c.Kind == event.CapTurns:
		case c.Kind == event.CapCost:
			now[c.Kind] = fmt.Sprintf("%.2f, used %.2f", float64(c.Limit)/1e6, float64(c.Used)/1e6)
		default:
			now[c.Kind] = fmt.Sprintf("%d, used %d", c.Limit, c.Used)
		}
	}
	return []*overlay.Input{
		input("turns", "turns each", "", now[event.CapTurns]), input("total", "turns in all", "", now[event.CapTotalTurns]),
		input("tokens", "tokens in all", "", now[event.CapTokens]), input("cost", "cost in USD", "", now[event.CapCost]),
	}
}

// askCaps sets caps. A bridge that runs goes on at once where it now may.
func (m *model) askCaps(s pane.Subject) tea.Cmd {
	if m.turns.Bridge == nil {
		return m.cannot("no turns can be made from this cockpit")
	}
	const all = "all sessions"
	inputs := m.capInputs()
	about := []string{"An empty field leaves a cap as it is, 0 lifts it. They are counted over all bridges of the same sessions."}
	x, known := m.live.State.Session(s.Agent)
	if known {
		inputs = append([]*overlay.Input{{Name: "whose", Label: "of", Choices: []string{all, "this one"}}}, inputs...)
		about = append(about, fmt.Sprintf("%s has made %s, of %s.", x.Agent, words.Plural(x.Turns, "turn"), bound(x.MaxTurns)))
	}
	f := overlay.NewForm(m.look.Theme, "Caps", "set them", about, inputs...)
	m.openForm(f, func() tea.Cmd {
		agent := ""
		if known && f.Value("whose") != all {
			agent = x.Agent
		}
		typed, turns := typedCaps(f), m.turns
		return m.start(f, "setting", func(ctx context.Context) (string, error) {
			limits, err := typed.limits()
			if err != nil {
				return "", err
			}
			r, err := turns.Raise(ctx, agent, limits)
			return receiptText("the caps are set", r), err
		})
	})
	return nil
}

func bound(n int64) string {
	if n == 0 {
		return "any number"
	}
	return strconv.FormatInt(n, 10)
}

// caps are what was typed for caps, by input.
type caps map[string]string

func typedCaps(f *overlay.Form) caps {
	return caps{"turns": f.Value("turns"), "total": f.Value("total"), "tokens": f.Value("tokens"), "cost": f.Value("cost")}
}

// limits reads them. The error is about the first input that is wrong.
func (c caps) limits() (bridge.Limits, error) {
	var l bridge.Limits
	for _, field := range []struct {
		name string
		to   **int64
	}{{"turns", &l.Turns}, {"total", &l.TotalTurns}, {"tokens", &l.Tokens}} {
		if c[field.name] == "" {
			continue
		}
		n, err := strconv.ParseInt(c[field.name], 10, 64)
		if err != nil || n < 0 || n > event.MaxSeq {
			return l, wrongInput(field.name, "%q is no number of that", c[field.name])
		}
		*field.to = &n
	}
	if c["cost"] == "" {
		return l, nil
	}
	dollars, err := strconv.ParseFloat(strings.TrimPrefix(c["cost"], "$"), 64)
	if err != nil || !(dollars >= 0 && dollars <= 1e6) {
		return l, wrongInput("cost", "%q is no amount in US dollars, such as 2.50", c["cost"])
	}
	micros := int64(math.Round(dollars * 1e6))
	l.CostMicros = &micros
	return l, nil
}
