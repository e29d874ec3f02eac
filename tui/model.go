package tui

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/settings"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/layout"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/pane/agents"
	"github.com/agentloadout/loadout/tui/pane/bridge"
	"github.com/agentloadout/loadout/tui/pane/contracts"
	"github.com/agentloadout/loadout/tui/pane/discussion"
	"github.com/agentloadout/loadout/tui/pane/gates"
	"github.com/agentloadout/loadout/tui/pane/ownership"
	"github.com/agentloadout/loadout/tui/pane/timeline"
	"github.com/agentloadout/loadout/tui/pane/work"
	"github.com/agentloadout/loadout/tui/theme"
)

// loadTimeout bounds what a pane loads; lockTimeout bounds an action, which may wait for the lock.
const (
	loadTimeout = 30 * time.Second
	lockTimeout = time.Minute
)

// model is the cockpit: the one model of the update loop. It changes only in update, does no I/O, and draws only in view.
type model struct {
	ctx    context.Context //nolint:containedctx // the life of the program; every command derives from it
	engine Engine
	runner Runner
	clock  clockFunc
	actor  string // who the cockpit acts as
	name   string // of the project

	look    pane.Look
	keys    *keymap.Map
	panes   []pane.Pane
	focus   int
	visited []int // when each pane had the focus last, counted in visits
	zoomed  bool
	most    layout.Most
	w, h    int

	now      status        // the project as of now, beyond what panes show
	live     pane.Snapshot // the state as of now
	travel   travel
	feed     *feed
	turns    *turns
	settles  func(ctx context.Context) error // what lost turns left running
	making   making                          // beside a bridge
	quitting *overlay.Form                   // asks whether to quit while turns are made
	talk     Discussion                      // nil: none is held in this process

	overlays overlay.Stack
	confirms map[overlay.Overlay]func() tea.Cmd // what submitting a form does
	prompt   *prompt
	actions  actions
	command  command

	completing completing
	toast      toast
	searched   string // what was last typed behind /

	attention attention
	rings     bool // with the bell
	mouse     bool // is listened to

	env     func(name string) string
	hold    func() (release func())                                // of interrupts
	exec    func(c tea.ExecCommand, done tea.ExecCallback) tea.Cmd // runs a program in the terminal
	after   func(d time.Duration, msg tea.Msg) tea.Cmd             // a timer
	ticking int                                                    // serial of the tick that is awaited
	tickDue time.Time                                              // when it comes; zero: none is awaited
	screen  terminal
	frame   []string
	dirty   bool
}

// status is what the header tells beyond the state.
type status struct {
	loaded   bool
	mode     engine.Mode
	halted   *engine.HaltedError
	caughtUp bool
	branch   string
	oldest   time.Time // since when something waits for a person
	lost     string    // what was answered and is in the log no more, empty when nothing is
	why      string    // why the log cannot be read, or what it has lost; empty while all is well
	err      error
}

// terminal is what the model does to the terminal beyond frames.
type terminal interface {
	Send(sequence string)
	Redraw()
	Stop() error
	Pause() error
	Resume() error
	Files() (in, out, errs *os.File) // for a program that the cockpit lets run
	Mouse(on bool)
}

// noTerminal is for frames that nobody sees.
type noTerminal struct{}

func (noTerminal) Send(string)                     {}
func (noTerminal) Redraw()                         {}
func (noTerminal) Stop() error                     { return nil }
func (noTerminal) Pause() error                    { return nil }
func (noTerminal) Resume() error                   { return nil }
func (noTerminal) Files() (in, out, errs *os.File) { return nil, nil, nil }
func (noTerminal) Mouse(bool)                      {}

// newPanes are the panes in the order of their numbers: those that first names, then the others. A further pane is a further line.
func newPanes(look pane.Look, first []string) []pane.Pane {
	panes := []pane.Pane{
		ownership.New(look),
		contracts.New(look),
		discussion.New(look),
		bridge.New(look),
		work.New(look),
		gates.New(look),
		timeline.New(look),
		agents.New(look),
	}
	place := func(p pane.Pane) int {
		if i := slices.Index(first, p.ID()); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortStableFunc(panes, func(a, b pane.Pane) int { return place(a) - place(b) })
	return panes
}

func newModel(ctx context.Context, o Options) (*model, error) {
	set := o.Settings.Cockpit
	th, err := theme.New(theme.Options{
		Name: theme.Name(cmp.Or(o.Theme, set.Theme)), ASCII: o.ASCII || set.ASCII,
		NoColor: o.NoColor, Colors: o.Colors, Environment: o.Environment,
	})
	if err != nil {
		return nil, &engine.UsageError{Message: err.Error()}
	}
	keys, err := keymap.New(set.Keys)
	if err != nil {
		return nil, wrongKeys(o.Settings, err)
	}
	m := &model{
		ctx: ctx, engine: o.Engine, runner: o.Runner, clock: o.Clock, actor: o.Agent,
		name:     projectName(o.Engine.Project()),
		look:     pane.Look{Theme: th, Owners: th.NewOwners()},
		keys:     keys,
		env:      o.Environment,
		hold:     o.HoldInterrupt,
		exec:     tea.Exec,
		rings:    set.Bell,
		mouse:    o.Mouse || set.Mouse,
		confirms: map[overlay.Overlay]func() tea.Cmd{},
		actions:  actions{open: map[int]*action{}},
		travel:   travel{at: live},
		feed:     newFeed(o),
		turns:    newTurns(ctx, o),
		settles:  o.Settle,
		screen:   noTerminal{},
		dirty:    true,
	}
	if o.Runner != nil {
		m.runner = tracked{o.Runner, m.turns}
	}
	m.after = func(d time.Duration, msg tea.Msg) tea.Cmd {
		return func() tea.Msg {
			if !sleep(ctx, d) {
				return nil
			}
			return msg
		}
	}
	if dir := stateDir(o.Environment); dir != "" {
		m.command.history.path = filepath.Join(dir, historyName)
	}
	m.panes = newPanes(m.look, set.Panes)
	m.visited = make([]int, len(m.panes))
	m.most = layout.Most(set.Layout)
	m.live = pane.Snapshot{State: state.New(), Tasks: &pane.Tasks{}, Now: o.Clock(), Actor: o.Agent, FoldCase: o.Engine.Project().FoldCase}
	if m.talk = o.Discussion; m.talk != nil {
		o.Pane, m.zoomed = "discussion", true
	} else {
		m.talk = o.Stage
	}
	if o.Pane != "" {
		if m.focus = m.paneByID(o.Pane); m.focus < 0 {
			return nil, m.unknownPane(o.Pane)
		}
	}
	if o.At >= 0 {
		m.travel.want = o.At
		m.travel.at = o.At
	}
	if m.focus = max(m.focus, 0); o.Pane != "" {
		m.setFocus(m.focus)
	} else { // a place that several panes share shows what matters, until somebody chose
		m.panes[m.focus].SetFocus(true)
	}
	return m, nil
}

// wrongKeys says which keys were set wrongly, and where.
func wrongKeys(s settings.Settings, err error) error {
	refusal := &engine.UsageError{Message: "cockpit.keys: " + err.Error()}
	var wrong *keymap.WrongError
	if errors.As(err, &wrong) {
		for _, name := range wrong.Intents {
			if source := s.Source("cockpit.keys." + name); source != "" {
				refusal.Hints = append(refusal.Hints, name+" is set in "+source)
			} else {
				refusal.Hints = append(refusal.Hints, name+" has its usual key")
			}
		}
	}
	return refusal
}

func (m *model) paneByID(id string) int {
	for i, p := range m.panes {
		if p.ID() == id {
			return i
		}
	}
	return -1
}

// init starts what runs for as long as the cockpit does.
func (m *model) init() tea.Cmd {
	cmds := []tea.Cmd{m.waitFeed(time.Time{}), m.waitTurns(time.Time{}), m.waitTalk(0), m.scheduleTick()}
	if m.past() {
		cmds = append(cmds, m.readPast(m.travel.want))
	}
	return tea.Batch(cmds...)
}

// waitFeed takes the next update of the feed. It is armed again only when that has been shown.
func (m *model) waitFeed(notBefore time.Time) tea.Cmd {
	ctx, feed := m.ctx, m.feed
	return func() tea.Msg {
		if u, ok := feed.wait(ctx, notBefore); ok {
			return feedMsg{u}
		}
		return nil
	}
}

// update is the whole of what messages do.
func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case tea.KeyMsg:
		return m.key(msg)
	case feedMsg:
		started := time.Now()
		cmd := m.fed(msg.update)
		return tea.Batch(cmd, m.waitFeed(m.clock().Add(pauseAfter(msg.took+time.Since(started)))))
	case turnsMsg:
		return tea.Batch(m.turned(msg.turnNews), m.waitTurns(m.clock().Add(feedPause)))
	case loadedMsg:
		m.dirty = true
		next := m.do(msg.pane, m.panes[msg.pane].Loaded(msg.key, msg.value, msg.err))
		m.arrange() // it may have something to show now
		return next
	case talkMsg:
		return m.talked(msg)
	case discussedMsg:
		return m.discussed(msg)
	case actedMsg:
		return m.acted(msg)
	case stateAtMsg:
		return m.arrived(msg)
	case tickMsg:
		return m.tick(msg)
	case outputMsg:
		return m.output(msg)
	case completionMsg:
		m.completed(msg)
	case inputMsg:
		return m.completedInput(msg)
	case momentMsg:
		return m.arrivedAt(msg)
	case editedMsg:
		return m.edited(msg)
	case tea.MouseMsg:
		return m.mouseEvent(msg)
	case historyMsg:
		m.command.history.older(msg.lines)
	case historyFailedMsg:
		m.say(bad, "the history is not kept: "+msg.err.Error())
		return m.scheduleTick()
	case suspendMsg:
		return m.suspend()
	case resumedMsg:
		m.dirty = true
		m.screen.Redraw()
		if msg.err != nil {
			m.say(bad, msg.err.Error())
		}
		return m.tick(tickMsg{m.ticking})
	}
	return nil
}

// fed shows what the feed brought.
func (m *model) fed(u update) tea.Cmd {
	m.dirty = true
	m.now.loaded = true
	m.now.mode, m.now.halted, m.now.caughtUp, m.now.branch, m.now.err = u.mode, u.halted, u.caughtUp, u.branch, u.err
	if m.now.lost != u.lost {
		if m.now.lost = u.lost; u.lost != "" {
			m.say(bad, u.lost)
		}
	}
	if u.note != "" {
		m.say(plainly, u.note)
		m.now.why = u.note
	}
	if u.err != nil {
		m.now.why = u.err.Error()
	} else if u.mode != engine.ModeUnreadable {
		m.now.why = u.lost
	}
	if u.reset {
		m.travel.state = nil
	}
	m.live.State, m.live.Tasks, m.live.Waiting, m.now.oldest = u.state, u.tasks, u.waiting, u.oldest
	m.live.Now = m.clock()
	if u.live != nil {
		m.live.Live = u.live
	}
	if u.drift != nil {
		m.live.Drift = u.drift
	}
	m.live.Halted = u.halted
	if u.holder != nil {
		m.live.Bridging.Known, m.live.Bridging.Holder, m.live.Bridging.Lost = true, u.holder.who, u.holder.lost
	}
	m.notice(u.events, u.news, u.reset)
	var again tea.Cmd
	if u.reset && m.past() {
		again = m.readPast(m.travel.at)
	}
	return tea.Batch(m.apply(pane.Changes{Events: u.events, Reset: u.reset}), again, m.scheduleTick())
}

// apply gives every pane what it should show: the state as of now, or the one that was travelled to.
func (m *model) apply(c pane.Changes) tea.Cmd {
	m.dirty = true
	s := m.live
	if m.past() {
		s.Past, s.At, s.Live, s.Drift, s.Halted, s.Waiting, s.Bridging = true, m.travel.at, nil, nil, nil, nil, pane.Bridging{}
		if m.travel.state != nil {
			s.State, s.Tasks = m.travel.state, m.travel.tasks
			s.Now = s.State.At().In(s.Now.Location())
		}
	}
	cmds := make([]tea.Cmd, 0, len(m.panes))
	for _, a := range s.State.Agents() { // colours by name, whichever pane draws first
		m.look.Owners.Style(a.Name)
	}
	for i, p := range m.panes {
		cmds = append(cmds, m.do(i, p.Apply(s, c)))
	}
	m.arrange() // a pane may have something to show now
	return tea.Batch(cmds...)
}

// do does what a pane asked for.
func (m *model) do(i int, a pane.Action) tea.Cmd {
	switch a := a.(type) {
	case nil, pane.Ignored:
		return nil
	case pane.Load:
		ctx, source := m.ctx, m.engine
		return func() tea.Msg {
			ctx, cancel := context.WithTimeout(ctx, loadTimeout)
			defer cancel()
			value, err := a.Run(ctx, source)
			return loadedMsg{i, a.Key, value, err}
		}
	case pane.Travel:
		return m.travelTo(a.Seq)
	case pane.Reveal:
		return m.open()
	case pane.Say:
		m.say(plainly, a.Text)
		return m.scheduleTick()
	}
	return nil
}

func (m *model) setFocus(i int) {
	m.dirty = true
	m.focus = i
	m.visited[i] = 1 + slices.Max(m.visited)
	m.attention.seen(i)
	for k, p := range m.panes {
		p.SetFocus(k == i)
	}
	m.arrange()
}

func (m *model) resize(w, h int) {
	m.dirty = true
	m.w, m.h = max(w, 0), max(h, 0)
	m.arrange()
	m.screen.Redraw()
}

// places is where the panes are drawn: below the header, above the footer.
func (m *model) places() []layout.Placed {
	return layout.Places(layout.View{
		W: m.w, H: m.h - 2, Panes: len(m.panes), Focus: m.focus, Zoomed: m.zoomed, Most: m.most, Visited: m.visited,
		Blank: func(i int) bool { return m.panes[i].Blank() },
	})
}

// arrange tells the visible panes their sizes.
func (m *model) arrange() {
	for _, p := range m.places() {
		m.panes[p.Pane].SetSize(p.W-2, p.H-2, m.zoomed)
	}
}

// tooSmall reports whether the window is too small to draw anything but that.
func (m *model) tooSmall() bool { return m.w < layout.MinWidth || m.h < layout.MinHeight }

// openForm shows a form; submit is called each time it is submitted.
func (m *model) openForm(f *overlay.Form, submit func() tea.Cmd) {
	m.dirty = true
	m.overlays.Push(f)
	m.confirms[f] = submit
}

func (m *model) openDialog(d *overlay.Dialog) {
	m.dirty = true
	m.overlays.Push(d)
}

func (m *model) closeOverlay(o overlay.Overlay) {
	m.dirty = true
	m.overlays.Remove(o)
	delete(m.confirms, o)
}

// person reports whether the cockpit acts as a person and not as an agent.
func (m *model) person() bool { return m.actor == event.User }
