package tui

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

const (
	branded   = 100 // cells of a window from which on the header has the program's name
	maxBranch = 30  // cells of the name of a branch or a worktree
	minBranch = 6   // fewer do not tell one from another
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
	left := theme.Spans{theme.S(" ", t.Text)}
	if m.w >= branded {
		left = append(left, theme.S("loadout  ", t.Accent))
	}
	left = append(left, theme.S(text.Line(m.name), t.Strong))
	right, standing := m.connection(), m.standing()
	room := m.w - left.Width() - right.Width() - 2
	first := 0
	if len(standing) > 0 {
		first = gap.Width() + standing[0].Width()
	}
	left = append(left, theme.S(m.place(room, first), t.Dim))
	// What does not fit is left out from the end, so the order is the order of importance.
	for _, span := range standing {
		if left.Width()+gap.Width()+span.Width()+right.Width()+2 > m.w {
			break
		}
		left = append(left, gap, span)
	}
	return t.Row(m.w, theme.Style{}, left, right)
}

// place is the branch, and the worktree when it is a linked one, in room cells. Their names are shortened first, then what comes after
// them has to go, which would like some cells for itself, then the worktree.
func (m *model) place(room, after int) string {
	branch := func(most int) string {
		if m.now.branch == "" {
			return ""
		}
		return " " + m.look.GitBranch + " " + text.TruncateMiddle(text.Line(m.now.branch), most, m.look.Ellipsis)
	}
	both := func(most int) string {
		p := m.engine.Project()
		if !p.Linked {
			return branch(most)
		}
		return branch(most) + " in " + text.TruncateMiddle(text.Line(filepath.Base(p.Worktree)), most, m.look.Ellipsis)
	}
	for _, try := range []struct {
		said func(most int) string
		room int
	}{{both, room - after}, {both, room}, {branch, room}} {
		for most := maxBranch; most >= minBranch; most-- {
			if said := try.said(most); text.Width(said) <= try.room {
				return said
			}
		}
	}
	return branch(minBranch)
}

// standing is how the project stands, the most important first.
func (m *model) standing() []theme.Span {
	t, s := m.look, m.live
	var list []theme.Span
	add := func(style theme.Style, said string) { list = append(list, theme.S(said, style)) }
	if m.now.why != "" && m.w >= branded { // narrower, the footer says it
		add(t.Bad, text.Truncate(text.Line(m.now.why), m.w/2, t.Ellipsis))
	}
	if waiting := m.live.Waiting; len(waiting) > 0 {
		add(t.Warn, fmt.Sprintf("%s %d for you, %s", t.Warning, len(waiting), words.Age(s.Now, m.now.oldest)))
	}
	if skips := s.State.Skips(); skips.Bad > 0 {
		add(t.Warn, t.Warning+" "+words.Plural(skips.Bad, "bad line"))
	}
	if head := s.State.Head(); head >= 0 {
		add(t.Text, fmt.Sprintf("#%d", head))
	}
	if n := agentCount(s); n > 0 {
		add(t.Text, words.Plural(n, "agent"))
	}
	if said := turnsText(s.State, &s.Bridging, t.Dot); said != "" {
		add(t.Text, said)
	}
	if !m.person() {
		add(t.Owners.Style(m.actor), "as "+text.Line(m.actor))
	}
	return list
}

// turnsText is how many automatic turns run and what they have used, empty when there were none.
func turnsText(s *state.State, known *pane.Bridging, dot string) string {
	running, turns, limit := 0, int64(0), int64(0)
	for _, turn := range s.OpenTurns() {
		if known.Runs(&turn) {
			running++
		}
	}
	var parts []string
	if running > 0 {
		parts = append(parts, words.Plural(running, "turn")+" running")
	}
	for _, c := range s.Caps() {
		if c.Agent != "" {
			turns, limit = turns+c.Used, limit+c.Limit
		}
	}
	if limit > 0 {
		parts = append(parts, fmt.Sprintf("%d/%d turns", turns, limit))
	}
	var tokens, micros int64
	for _, m := range s.Meters() {
		tokens += m.Usage.Tokens()
		micros += m.Usage.CostMicros
	}
	if tokens > 0 {
		parts = append(parts, pane.Thousands(tokens)+" tok")
	}
	if micros > 0 {
		parts = append(parts, fmt.Sprintf("$%.2f", float64(micros)/1e6))
	}
	return strings.Join(parts, " "+dot+" ")
}

// connection is how the log is followed, and the time.
func (m *model) connection() theme.Spans {
	t := m.look
	mark, word, style := m.mode()
	spans := theme.Spans{theme.S(mark+" ", style), theme.S(word, style)}
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
		if m.live.State.Head() >= 0 || m.now.lost != "" {
			return t.Warning, "log is gone", t.Bad
		}
		return t.Idle, "no log yet", t.Dim
	case engine.ModeUnreadable:
		return t.Warning, "unreadable", t.Bad
	case engine.ModeLive, engine.ModePolling:
	}
	switch {
	case m.now.lost != "":
		return t.Warning, "older log", t.Bad
	case m.now.mode == engine.ModePolling:
		return t.Live, "polling", t.Good
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
		said = fmt.Sprintf("by %s %s: %s", text.Line(h.By), words.Ago(m.live.Now, h.At), text.Line(h.Reason))
	}
	left := theme.Spans{theme.S(" "+t.Stop+" HALTED ", t.Halt), theme.S(said, t.Halt)}
	return t.Row(m.w, t.Halt, left, theme.Spans{theme.S("R resumes ", t.Halt)})
}

func (m *model) pastBanner() string {
	t := m.look
	said := fmt.Sprintf(" %s THE PAST  as of #%d of #%d", t.Time, m.travel.at, m.live.State.Head())
	if s := m.travel.state; s != nil && m.w >= 72 {
		said += ", " + words.Stamp(m.live.Now, s.At())
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
	case m.now.why != "" && m.w < branded:
		return t.Row(m.w, theme.Style{}, theme.Spans{theme.S(" "+t.Warning+" "+text.Line(m.now.why), t.Bad)}, nil)
	}
	var left, right theme.Spans
	if n := m.live.State.Unread(m.actor); n.Count > 0 && m.w >= 60 {
		right = theme.Spans{theme.S(fmt.Sprintf("%d unread ", n.Count), t.Text)}
	}
	room := m.w - 1
	if right != nil {
		room = m.w - right.Width() - 2
	}
	gap := " "
	add := func(key, does string) bool {
		if left.Width()+text.Width(gap+key+" "+does) > room {
			return false
		}
		left = append(left, theme.S(gap+key, t.Strong), theme.S(" "+does, t.Dim))
		gap = "  "
		return true
	}
	for _, b := range m.keys.Hints(m.panes[m.focus].Scope()) {
		if !m.useful(b.Intent) {
			continue
		}
		does := b.Hint.Does
		if b.Intent == keymap.Answer && m.panes[m.focus].Subject().Wait == nil {
			does = "ack"
		}
		if !add(b.Hint.Key, does) {
			break
		}
	}
	return t.Row(m.w, theme.Style{}, left, right)
}

// useful reports whether an intent can do something as things stand.
func (m *model) useful(i keymap.Intent) bool {
	switch i {
	case keymap.Kill:
		return m.now.halted == nil
	case keymap.Resume:
		return m.now.halted != nil
	default:
		return !m.past() || !acts(i)
	}
}
