package tui

import (
	"context"
	"errors"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/tui/screen"
)

// frameInterval is the least time between two frames: 120 a second.
const frameInterval = 8 * time.Millisecond

// program fits the model to Bubble Tea. It draws when a message has changed something, at once after a quiet moment and else when the
// next frame is due, and leaves the frame to the screen; Bubble Tea's own renderer, which ticks all the time and writes in the update
// loop, is off.
type program struct {
	model   *model
	show    func(lines []string)
	crashes *crashes
	drawn   time.Time
	waiting bool // a frameMsg is under way
}

// Init starts the model's commands.
func (p *program) Init() tea.Cmd {
	defer p.crashes.recover()
	return p.safe(p.model.init())
}

// Update handles a message and draws.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	return p, p.step(msg)
}

func (p *program) step(msg tea.Msg) (cmd tea.Cmd) {
	defer p.crashes.recover()
	if _, ok := msg.(frameMsg); ok {
		p.waiting = false
	}
	cmd = p.safe(p.model.update(msg))
	if !p.model.dirty || p.waiting {
		return cmd
	}
	if wait := frameInterval - time.Since(p.drawn); wait > 0 {
		p.waiting = true
		return tea.Batch(cmd, func() tea.Msg {
			time.Sleep(wait)
			return frameMsg{}
		})
	}
	p.show(p.model.view())
	p.drawn = time.Now()
	return cmd
}

// View is empty: frames go to the screen.
func (p *program) View() string { return "" }

// safe makes a command that does not take the terminal down with it.
func (p *program) safe(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		defer p.crashes.recover()
		msg = cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = p.safe(batch[i])
			}
		}
		return msg
	}
}

// run is Run with checked options.
func run(parent context.Context, o Options) (err error) {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	m, err := newModel(ctx, o)
	if err != nil {
		return err
	}
	scr, err := screen.Open(o.In, o.Out)
	if err != nil {
		return err
	}
	m.screen = scr
	if m.mouse {
		scr.Mouse(true)
	}
	quit := make(chan struct{})
	var once sync.Once
	end := func() { once.Do(func() { close(quit) }) }
	crash := &crashes{dir: stateDir(o.Environment), end: end}
	m.turns.spawn = func(f func()) {
		go func() {
			defer crash.recover()
			f()
		}()
	}

	p := &program{model: m, show: scr.Show, crashes: crash}
	bubble := tea.NewProgram(p, tea.WithContext(ctx), tea.WithInput(scr.Input()), tea.WithOutput(o.Out),
		tea.WithoutRenderer(), tea.WithoutSignalHandler())

	var work sync.WaitGroup
	goSafe := func(f func()) {
		work.Go(func() {
			defer crash.recover()
			f()
		})
	}
	goSafe(func() { m.feed.run(ctx) })
	goSafe(func() { m.feed.watchSessions(ctx) })
	goSafe(func() { m.feed.watchDrift(ctx) })
	goSafe(func() { watchTerminal(ctx, scr, bubble.Send) })
	lost := make(chan error, 1)
	goSafe(func() {
		if err := scr.Run(); err != nil {
			lost <- err
			end()
		}
	})
	goSafe(func() {
		select {
		case <-ctx.Done():
		case <-quit:
			bubble.Kill()
		}
	})

	_, err = bubble.Run()
	cancel()
	err = errors.Join(scr.Close(), outcome(parent, err, lost))
	m.turns.close()
	work.Wait()
	if crashed := crash.err(); crashed != nil {
		return crashed
	}
	return err
}

// watchTerminal tells the model the window's size, and what the system does to the job.
func watchTerminal(ctx context.Context, scr *screen.Screen, send func(tea.Msg)) {
	size := func() {
		if w, h, err := scr.Size(); err == nil {
			send(tea.WindowSizeMsg{Width: w, Height: h})
		}
	}
	size()
	suspend := func() { send(suspendMsg{}) }
	resumed := func() {
		if scr.Resume() == nil {
			size() // whoever changes it meanwhile tells only the job in the foreground
			send(resumedMsg{})
		}
	}
	scr.Watch(ctx, size, suspend, resumed)
}

// outcome is what the end of the program means for its caller.
func outcome(parent context.Context, err error, lost <-chan error) error {
	select {
	case gone := <-lost:
		return gone
	default:
	}
	if parent.Err() != nil {
		return parent.Err()
	}
	return err
}

// suspend stops the process until the person's shell lets it go on.
func (m *model) suspend() tea.Cmd {
	scr := m.screen
	return func() tea.Msg {
		return resumedMsg{scr.Stop()}
	}
}
