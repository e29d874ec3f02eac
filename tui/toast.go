package tui

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/charmbracelet/x/ansi"
)

// toastTime is how long a message stays in the footer. Any key takes it away.
const toastTime = 6 * time.Second

// maxCopied bounds what is sent to the clipboard, in bytes. In base 64 it fits the 100 kB that xterm takes of one sequence.
const maxCopied = 72 << 10

// tone is how a message sounds.
type tone int

const (
	plainly tone = iota
	good
	bad
)

// toast is a message in the footer.
type toast struct {
	text  string
	tone  tone
	until time.Time
}

func (m *model) say(t tone, text string) {
	m.dirty = true
	m.toast = toast{text, t, m.clock().Add(toastTime)}
}

// ticker is a pane whose content changes by time alone, sooner than by the minute.
type ticker interface{ NextChange() time.Duration }

// scheduleTick asks for the next tick: when the minute is over, since ages are told by the minute, or sooner when something counts down
// or a message has to go. Without any of that the cockpit sleeps.
func (m *model) scheduleTick() tea.Cmd {
	now := m.clock()
	d := now.Truncate(time.Minute).Add(time.Minute).Sub(now)
	for _, p := range m.panes {
		if t, ok := p.(ticker); ok && !m.past() {
			if next := t.NextChange(); next > 0 {
				d = min(d, next)
			}
		}
	}
	if m.toast.text != "" {
		d = min(d, max(m.toast.until.Sub(now), 0))
	}
	due := now.Add(d)
	if m.tickDue.After(now) && !due.Before(m.tickDue) {
		return nil // one that comes in time is under way
	}
	m.tickDue = due
	m.ticking++
	return m.after(d, tickMsg{m.ticking})
}

// tick brings ages up to date.
func (m *model) tick(msg tickMsg) tea.Cmd {
	if msg.serial != m.ticking {
		return nil // another tick was asked for since
	}
	m.tickDue = time.Time{}
	m.live.Now = m.clock()
	if m.toast.text != "" && !m.live.Now.Before(m.toast.until) {
		m.toast = toast{}
	}
	if slices.ContainsFunc(m.live.Waiting, func(w state.Waiting) bool { return w.Kind == state.WaitClaim }) {
		notify(m.feed.ready) // it may have lapsed, of which no event tells yet
	}
	return tea.Batch(m.apply(pane.Changes{}), m.scheduleTick())
}

// copySubject puts the selected row on the clipboard of the terminal.
func (m *model) copySubject() tea.Cmd {
	text := safetext.Block(m.panes[m.focus].Subject().Text)
	if text == "" {
		m.say(bad, "nothing to copy")
		return m.scheduleTick()
	}
	said := "copied "
	if len(text) > maxCopied {
		text = strings.ToValidUTF8(text[:maxCopied], "")
		said = "terminals take no more at once: copied the first "
	}
	m.screen.Send(ansi.SetSystemClipboard(text))
	m.say(good, said+words.Plural(utf8.RuneCountInString(text), "character"))
	return m.scheduleTick()
}
