package tui

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/text"
)

// driver presses keys and reads the screen. Every command runs to its end before the next key, and the feed is emptied by hand, so that
// nothing here depends on time.
type driver struct {
	testing.TB
	m     *model
	fake  *fakeEngine
	seen  int // events of the fake that the feed was given
	quit  bool
	sent  []string // sequences for the terminal
	mouse bool
}

// drive opens a cockpit of 120×40 on a fake engine.
func drive(tb testing.TB, f *fakeEngine, edit ...func(*Options)) *driver {
	tb.Helper()
	o := Options{Engine: f, Clock: f.clock, At: Now, NoColor: true, Environment: noEnv, fold: foldFake}
	for _, fn := range edit {
		fn(&o)
	}
	o, err := o.withDefaults()
	if err != nil {
		tb.Fatal(err)
	}
	m, err := newModel(context.Background(), o)
	if err != nil {
		tb.Fatal(err)
	}
	d := &driver{TB: tb, m: m, fake: f}
	m.after = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	m.screen = d
	m.exec = func(c tea.ExecCommand, done tea.ExecCallback) tea.Cmd {
		return func() tea.Msg { return done(c.Run()) }
	}
	d.resize(120, 40)
	v, err := f.View(context.Background())
	if err == nil {
		d.seen = int(v.State.Count())
		m.feed.start(context.Background(), v)
		m.feed.deliver(engine.Delivery{Mode: engine.ModeLive, Halted: f.halted, CaughtUp: true})
	} else {
		m.feed.change(func(u *update) { u.err = err })
	}
	d.sync()
	return d
}

// foldFake folds deliveries that the engine did not make.
func foldFake(d engine.Delivery, s *state.State) *state.State {
	if d.Reset {
		s = state.New()
	}
	for i := range d.Events {
		_ = s.Apply(&d.Events[i])
	}
	for _, b := range d.Bad {
		s.Skip(b.Line, b.Seq, b.Reason)
	}
	return s
}

// Send, Redraw and Stop are the terminal's.
func (d *driver) Send(s string) { d.sent = append(d.sent, s) }
func (d *driver) Redraw()       {}
func (d *driver) Stop() error   { return nil }

// Pause, Resume, Files and Mouse are the terminal's as well.
func (d *driver) Pause() error                    { return nil }
func (d *driver) Resume() error                   { return nil }
func (d *driver) Files() (in, out, errs *os.File) { return nil, nil, nil }
func (d *driver) Mouse(on bool)                   { d.mouse = on }

// run gives a message to the model and does everything that follows from it.
func (d *driver) run(msg tea.Msg) {
	d.Helper()
	cmds := []tea.Cmd{d.m.update(msg)}
	for len(cmds) > 0 {
		cmd := cmds[0]
		cmds = cmds[1:]
		if cmd == nil {
			continue
		}
		switch msg := cmd().(type) {
		case nil:
		case tea.QuitMsg:
			d.quit = true
		case tea.BatchMsg:
			cmds = append(cmds, msg...)
		default:
			cmds = append(cmds, d.m.update(msg))
		}
	}
}

// sync lets the feed bring what the fake has stored.
func (d *driver) sync() {
	d.Helper()
	f := d.fake
	f.mu.Lock()
	delivery := engine.Delivery{Mode: engine.ModeLive, Halted: f.halted, CaughtUp: true}
	delivery.Events = append(delivery.Events, f.events[d.seen:]...)
	d.seen = len(f.events)
	f.mu.Unlock()
	if f.viewErr == nil {
		d.m.feed.deliver(delivery)
	}
	d.takeTurns()
	cmd := d.m.fed(d.m.feed.take())
	d.run(tea.BatchMsg{cmd}) // ignored by the model
	settle(d.m, cmd)
}

// takeTurns shows what is new about the turns of this process, if anything is.
func (d *driver) takeTurns() {
	d.Helper()
	select {
	case <-d.m.turns.feed.ready:
		settle(d.m, d.m.turned(d.m.turns.feed.take()))
	default:
	}
}

func (d *driver) resize(w, h int) {
	d.Helper()
	d.run(tea.WindowSizeMsg{Width: w, Height: h})
}

// named are the keys that have a name.
var named = map[string]tea.KeyMsg{
	"enter": {Type: tea.KeyEnter}, "esc": {Type: tea.KeyEsc}, "tab": {Type: tea.KeyTab}, "shift+tab": {Type: tea.KeyShiftTab},
	"up": {Type: tea.KeyUp}, "down": {Type: tea.KeyDown}, "left": {Type: tea.KeyLeft}, "right": {Type: tea.KeyRight},
	"home": {Type: tea.KeyHome}, "end": {Type: tea.KeyEnd}, "pgup": {Type: tea.KeyPgUp}, "pgdown": {Type: tea.KeyPgDown},
	"backspace": {Type: tea.KeyBackspace}, "space": {Type: tea.KeySpace, Runes: []rune{' '}}, "ctrl+c": {Type: tea.KeyCtrlC},
	"ctrl+u": {Type: tea.KeyCtrlU}, "ctrl+o": {Type: tea.KeyCtrlO}, "ctrl+z": {Type: tea.KeyCtrlZ},
}

// press presses keys one after the other; what has no name is typed letter by letter.
func (d *driver) press(keys ...string) {
	d.Helper()
	for _, k := range keys {
		if msg, ok := named[k]; ok {
			d.run(msg)
			d.sync()
			continue
		}
		for _, r := range k {
			msg := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}
			if r == ' ' {
				msg.Type = tea.KeySpace
			}
			d.run(msg)
		}
		d.sync()
	}
}

// paste pastes as a terminal with bracketed paste does.
func (d *driver) paste(s string) {
	d.Helper()
	d.run(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s), Paste: true})
}

// lines is the frame without sequences; its shape is checked each time.
func (d *driver) lines() []string {
	d.Helper()
	lines := d.m.view()
	if len(lines) != d.m.h {
		d.Fatalf("%d lines in a window of %d", len(lines), d.m.h)
	}
	plain := make([]string, len(lines))
	for i, line := range lines {
		if w := text.Width(line); w != d.m.w {
			d.Fatalf("line %d has %d cells in a window of %d: %q", i, w, d.m.w, line)
		}
		plain[i] = ansi.Strip(line)
	}
	return plain
}

func (d *driver) screen() string {
	d.Helper()
	return strings.Join(d.lines(), "\n")
}

// shows fails unless the screen has every text.
func (d *driver) shows(texts ...string) {
	d.Helper()
	screen := d.screen()
	for _, s := range texts {
		if !strings.Contains(screen, s) {
			d.Fatalf("the screen does not show %q:\n%s", s, screen)
		}
	}
}

// hides fails if the screen has one of the texts.
func (d *driver) hides(texts ...string) {
	d.Helper()
	screen := d.screen()
	for _, s := range texts {
		if strings.Contains(screen, s) {
			d.Fatalf("the screen shows %q:\n%s", s, screen)
		}
	}
}
