package tui

import (
	"fmt"
	"path/filepath"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

func projectName(p engine.Project) string { return filepath.Base(p.Root) }

// header tells where this is and how it stands; while everything is halted, or the past is shown, it says that instead.
func (m *model) header() string {
	switch {
	case m.now.halted != nil:
		return m.haltBanner()
	case m.past():
		return m.pastBanner()
	}
	t := m.look
	gap := theme.S("   ", t.Text)
	left := theme.Spans{theme.S(" "+text.Line(m.name), t.Strong)}
	if m.now.branch != "" {
		left = append(left, theme.S(" "+t.GitBranch+" "+text.Truncate(text.Line(m.now.branch), 30, t.Ellipsis), t.Dim))
	}
	// What does not fit is left out from the end, so the order is the order of importance.
	var more []theme.Span
	s := m.live
	if n := questions(s); n > 0 {
		more = append(more, theme.S(t.Warning+" "+pane.Count(n, "question")+" for "+text.Line(m.actor), t.Warn))
	}
	if skips := s.State.Skips(); skips.Bad > 0 {
		more = append(more, theme.S(t.Warning+" "+pane.Count(skips.Bad, "bad line"), t.Warn))
	}
	if head := s.State.Head(); head >= 0 {
		more = append(more, theme.S(fmt.Sprintf("#%d", head), t.Text))
	}
	if n := agentCount(s); n > 0 {
		more = append(more, theme.S(pane.Count(n, "agent"), t.Text))
	}
	if !m.person() {
		more = append(more, theme.S("as "+text.Line(m.actor), t.Owners.Style(m.actor)))
	}
	right := m.connection()
	for _, span := range more {
		if left.Width()+gap.Width()+span.Width()+right.Width()+2 > m.w {
			break
		}
		left = append(left, gap, span)
	}
	return t.Row(m.w, theme.Style{}, left, right)
}

// connection is how the log is followed, and the time.
func (m *model) connection() theme.Spans {
	t := m.look
	var spans theme.Spans
	if n := m.live.State.Unread(m.actor); n.Count > 0 && m.w >= 60 {
		spans = append(spans, theme.S(fmt.Sprintf("%d unread   ", n.Count), t.Text))
	}
	mark, word, style := m.mode()
	spans = append(spans, theme.S(mark+" ", style), theme.S(word, style))
	return append(spans, theme.S("  "+m.live.Now.Format("15:04")+" ", t.Dim))
}

func (m *model) mode() (mark, word string, style theme.Style) {
	t := m.look
	switch {
	case m.now.err != nil:
		return t.Warning, "unreadable", t.Bad
	case !m.now.loaded:
		return t.Idle, "reading", t.Dim
	}
	switch m.now.mode {
	case engine.ModeMissing:
		if m.live.State.Head() >= 0 {
			return t.Warning, "log is gone", t.Bad
		}
		return t.Idle, "no log yet", t.Dim
	case engine.ModeUnreadable:
		return t.Warning, "unreadable", t.Bad
	case engine.ModePolling:
		return t.Live, "polling", t.Good
	case engine.ModeLive:
		return t.Live, "live", t.Good
	}
	return t.Live, "live", t.Good
}

func agentCount(s pane.Snapshot) int {
	n := 0
	for _, a := range s.State.Agents() {
		if a.Name != event.User && a.Name != event.Loadout && a.Ended == nil {
			n++
		}
	}
	return n
}

func (m *model) haltBanner() string {
	t, h := m.look, m.now.halted
	said := "the kill switch is on; its file does not say by whom or why"
	if !h.Damaged {
		said = fmt.Sprintf("by %s %s: %s", text.Line(h.By), pane.Ago(m.live.Now, h.At), text.Line(h.Reason))
	}
	left := theme.Spans{theme.S(" "+t.Stop+" HALTED ", t.Halt), theme.S(said, t.Halt)}
	return t.Row(m.w, t.Halt, left, theme.Spans{theme.S("R resumes ", t.Halt)})
}

func (m *model) pastBanner() string {
	t := m.look
	said := fmt.Sprintf(" %s THE PAST  as of #%d of #%d", t.Time, m.travel.at, m.live.State.Head())
	if s := m.travel.state; s != nil && m.w >= 72 {
		said += ", " + pane.Stamp(m.live.Now, s.At())
	}
	if m.travel.reading {
		said += t.Ellipsis
	}
	return t.Row(m.w, t.Past, theme.Spans{theme.S(said, t.Past)}, theme.Spans{theme.S("[ ] step   esc now ", t.Past)})
}

// footer is a prompt, a message, or the keys that matter most.
func (m *model) footer() string {
	t := m.look
	switch {
	case m.prompt != nil:
		return m.prompt.row(t.Theme, m.w)
	case m.now.err != nil:
		return t.Row(m.w, theme.Style{}, theme.Spans{theme.S(" "+t.Warning+" "+text.Line(m.now.err.Error()), t.Bad)}, nil)
	case m.toast.text != "":
		mark, style := t.Dot, t.Text
		switch m.toast.tone {
		case good:
			mark, style = t.Yes, t.Good
		case bad:
			mark, style = t.Warning, t.Warn
		case plainly:
		}
		return t.Row(m.w, theme.Style{}, theme.Spans{theme.S(" "+mark+" "+text.Line(m.toast.text), style)}, nil)
	}
	left := theme.Spans{theme.S(" ", t.Text)}
	add := func(key, does string) bool {
		if left.Width()+text.Width(key)+text.Width(does)+3 > m.w {
			return false
		}
		left = append(left, theme.S(key, t.Strong), theme.S(" "+does+"  ", t.Dim))
		return true
	}
	for _, b := range m.keys.Hints(m.panes[m.focus].Scope()) {
		if !m.useful(b.Intent) {
			continue
		}
		if !add(b.Hint.Key, b.Hint.Does) {
			break
		}
	}
	return t.Row(m.w, theme.Style{}, left, nil)
}

// useful reports whether an intent can do something as things stand.
func (m *model) useful(i keymap.Intent) bool {
	switch i {
	case keymap.Kill:
		return m.now.halted == nil
	case keymap.Resume:
		return m.now.halted != nil
	case keymap.Claim, keymap.Release, keymap.Acknowledge, keymap.Ask, keymap.AddTask, keymap.Decide:
		return !m.past()
	default:
		return true
	}
}
