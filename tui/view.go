package tui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentloadout/loadout/tui/layout"
	"github.com/agentloadout/loadout/tui/overlay"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// view draws the frame: exactly h lines of w cells. It draws again only when something has changed.
func (m *model) view() []string {
	if !m.dirty && len(m.frame) == m.h {
		return m.frame
	}
	m.dirty = false
	if m.tooSmall() {
		m.frame = m.viewTooSmall()
		return m.frame
	}
	lines := make([]string, 0, m.h)
	lines = append(lines, m.header())
	lines = append(lines, m.body()...)
	lines = append(lines, m.footer())
	if m.command.menu != nil && m.prompt != nil {
		m.command.menu.draw(m.look.Theme, lines, m.w)
	}
	m.overlays.Draw(lines, m.w)
	m.frame = lines
	return lines
}

func (m *model) viewTooSmall() []string {
	lines := make([]string, m.h)
	for i := range lines {
		lines[i] = text.Blank(m.w)
	}
	say := text.Wrap(fmt.Sprintf("loadout needs %dx%d, this window is %dx%d", layout.MinWidth, layout.MinHeight, m.w, m.h), m.w)
	for i, line := range say {
		if i < m.h {
			lines[i] = text.Fit(line, m.w, "")
		}
	}
	return lines
}

// body draws the panes where the layout puts them.
func (m *model) body() []string {
	lines := make([]string, m.h-2)
	var b strings.Builder
	rows := make([][]string, len(lines)) // the pieces of each line, from left to right
	for _, p := range m.places() {
		for i, line := range m.viewPane(p) {
			rows[p.Y+i] = append(rows[p.Y+i], line)
		}
	}
	for i, pieces := range rows {
		b.Reset()
		for _, piece := range pieces {
			b.WriteString(piece)
		}
		lines[i] = b.String()
	}
	return lines
}

func (m *model) viewPane(p layout.Placed) []string {
	pn := m.panes[p.Pane]
	focused := p.Pane == m.focus && m.overlays.Top() == nil
	label := theme.Label{Title: fmt.Sprintf("%d %s", p.Pane+1, pn.Title()), Badge: m.badge(p.Pane), Focus: focused, Foot: m.hidden(p)}
	if m.past() {
		label.Notes = append(label.Notes, fmt.Sprintf("%s as of #%d", m.look.Time, m.travel.at))
	}
	if f := pn.Filter(); f != "" {
		label.Right = append(label.Right, theme.S("/"+text.Truncate(text.Line(f), p.W/3, m.look.Ellipsis)+" ", m.look.Accent))
	}
	if status := pn.Status(); status != "" {
		label.Right = append(label.Right, theme.S(status, m.look.Dim))
	}
	label.Notes = append(label.Notes, m.tabs(p, label)...)
	return m.look.Box(p.W, p.H, label, pn.View())
}

// hidden names the panes that do not fit the window, in the edge of the focused one.
func (m *model) hidden(at layout.Placed) string {
	places := m.places()
	if at.Pane != places[len(places)-1].Pane {
		return ""
	}
	shown := map[int]bool{}
	for _, p := range places {
		for _, tab := range p.Tabs {
			shown[tab] = true
		}
	}
	var names, numbers []string
	for i := range m.panes {
		if !shown[i] {
			names, numbers = append(names, m.tab(i)), append(numbers, m.number(i))
		}
	}
	for _, foot := range []string{strings.Join(names, " "+m.look.Dot+" "), strings.Join(numbers, " ")} {
		if text.Width(foot)+6 <= at.W {
			return foot
		}
	}
	return ""
}

// tabs names the panes that share a place with the one that is drawn, by their numbers where the names do not fit beside the label.
func (m *model) tabs(p layout.Placed, beside theme.Label) []string {
	var names, numbers []string
	const edges = 8 // of the frame, and around what is at its right
	room := p.W - edges - text.Width(beside.Title) - beside.Badge.Width() - beside.Right.Width()
	for _, note := range beside.Notes {
		room -= text.Width(note) + 3
	}
	for _, i := range p.Tabs {
		if i != p.Pane {
			names, numbers = append(names, m.tab(i)), append(numbers, m.number(i))
			room -= text.Width(m.tab(i)) + 3
		}
	}
	if room < 0 {
		return numbers
	}
	return names
}

// tab names a pane that is not drawn, number does so in a few characters.
func (m *model) tab(i int) string    { return fmt.Sprintf("%d %s%s", i+1, m.panes[i].Title(), m.mark(i)) }
func (m *model) number(i int) string { return strconv.Itoa(i+1) + strings.TrimSpace(m.mark(i)) }

// mark is what is new in a pane, in a few characters: +3, or !3 when some of it needs a person.
func (m *model) mark(i int) string {
	a := &m.attention
	switch {
	case i >= len(a.unread) || a.unread[i] == 0 && !a.marked[i]:
		return ""
	case a.unread[i] == 0:
		return " " + m.look.Warning
	case a.marked[i]:
		return fmt.Sprintf(" %s%d", m.look.Warning, a.unread[i])
	}
	return fmt.Sprintf(" +%d", a.unread[i])
}

// badge is mark in the title of a pane that is drawn.
func (m *model) badge(i int) theme.Span {
	if said := m.mark(i); said != "" && m.attention.marked[i] {
		return theme.S(said, m.look.Warn)
	}
	return theme.S(m.mark(i), m.look.Accent)
}

// help lists the keys that hold in the focused pane.
func (m *model) help() *overlay.Dialog {
	p := m.panes[m.focus]
	heads := map[string]string{"everywhere": "everywhere", "act": "act", "move": "move"}
	var body []overlay.Paragraph
	for _, group := range m.keys.Help(p.Scope()) {
		head, ok := heads[string(group.Scope)]
		if !ok {
			head = p.Title()
		}
		if len(body) > 0 {
			body = append(body, overlay.Paragraph{})
		}
		body = append(body, overlay.Paragraph{Text: head, Style: m.look.Accent})
		for _, b := range group.Bindings {
			h := b.Help()
			body = append(body, overlay.Paragraph{
				Head: "  " + m.plainKeys(h.Key), HeadStyle: m.look.Strong, Text: h.Desc, Indent: 15,
			})
		}
	}
	return overlay.NewDialog(m.look.Theme, "Keys in "+p.Title(), append(body, m.legend()...)...)
}

// legend says what the marks mean that the panes use.
func (m *model) legend() []overlay.Paragraph {
	t := m.look
	body := []overlay.Paragraph{{}, {Text: "marks", Style: t.Accent}}
	for _, mark := range []struct{ glyph, means string }{
		{t.Exclusive + " " + t.Shared, "a claim: exclusive, shared"},
		{t.Live + " " + t.Idle + " " + t.Gone, "a session: lives, is not known, is over"},
		{t.Drift, "changed where another agent works than the one that claimed it"},
		{t.Time, "lapses at a time; in an edge: the past is shown"},
		{t.Yes + " " + t.No, "read or done; not, or an older revision"},
		{t.Gone, "in the timeline: a later event has made it old news"},
		{t.Warning, "waits for a person, or needs one"},
		{"+3", "events that came since the pane was looked at"},
	} {
		body = append(body, overlay.Paragraph{Head: "  " + mark.glyph, HeadStyle: t.Strong, Text: mark.means, Indent: 15})
	}
	return body
}

// plainKeys writes arrows so that every terminal can show them.
func (m *model) plainKeys(keys string) string {
	if m.look.Horizontal == "-" {
		return strings.NewReplacer("↑", "up", "↓", "down", "←", "left", "→", "right").Replace(keys)
	}
	return keys
}
