package agents

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/theme"
)

// maxUnread and maxTasks bound the unread news and the open tasks that a detail lists, the newest of them.
const (
	maxUnread = 50
	maxTasks  = 50
)

// Detail tells everything about the selected row.
func (p *rows) Detail(w int) []theme.Spans {
	r := (*Pane)(p).selected()
	if r == nil {
		return nil
	}
	d := pane.NewDetail(p.Look, w)
	switch {
	case r.wait != nil:
		p.aboutWait(d, r.wait)
	case r.agent != nil:
		p.aboutAgent(d, r.agent)
	}
	return d.Lines()
}

// aboutWait tells what waits for a person, in full, and what settles it.
func (p *rows) aboutWait(d *pane.Detail, w *state.Waiting) {
	d.Title(fmt.Sprintf("%s waits for you", w.Kind))
	d.Gap()
	d.Field("from", w.Agent, p.Owners.Style(w.Agent))
	d.Field("since", pane.Stamp(p.snap.Now, w.Since)+", "+words.Ago(p.snap.Now, w.Since), p.Text)
	if w.Seq >= 0 {
		d.Field("event", fmt.Sprintf("#%d", w.Seq), p.Dim)
	}
	d.Gap()
	d.Text(w.Text, p.Strong)
	if t, ok := p.snap.State.Task(w.ID); ok && t.Context != "" {
		d.Gap()
		d.Text(t.Context, p.Text)
	}
	if len(w.Verb) > 0 {
		d.Gap()
		verb := make([]string, len(w.Verb))
		for i, word := range w.Verb {
			verb[i] = words.ShellWord(word)
		}
		d.Field("a", "settles it; or: loadout "+strings.Join(verb, " "), p.Dim)
	}
}

func (p *rows) aboutAgent(d *pane.Detail, e *entry) {
	d.Title(e.Name)
	mark, word, style := p.presence(e)
	if !e.heard.IsZero() {
		word += ", last sign of life " + words.Ago(p.snap.Now, e.heard)
	}
	d.Field("session", mark+" "+word, style)
	read := fmt.Sprintf("#%d of #%d", e.Cursor, p.snap.State.Head())
	if e.Cursor < 0 {
		read = "nothing acknowledged"
	}
	d.Field("read to", read, p.Text)
	d.Field("unread", p.unread(e).Text, p.unread(e).Style)
	name, open := event.FoldName(e.Name), p.snap.Tasks
	does := func(t *pane.TaskRef) bool { return t.Doer == name }
	p.tasks(d, "waits for an answer of "+e.Name, p.Warn, open.Questions, does, func(t *state.Task) string { return t.From })
	p.tasks(d, "waits for the answer of", p.Text, open.Questions,
		func(t *pane.TaskRef) bool { return t.From == name }, func(t *state.Task) string { return t.To })
	p.tasks(d, "tasks", p.Text, open.Tasks, does, func(t *state.Task) string { return string(t.Status) })
	p.claims(d, e)
	p.meters(d, e)
	p.news(d, e)
	p.contracts(d, e)
	p.session(d, e)
}

// tasks lists the newest of the tasks or questions that are wanted, with their ages.
func (p *rows) tasks(
	d *pane.Detail, heading string, style theme.Style, of []pane.TaskRef, wanted func(*pane.TaskRef) bool, label func(*state.Task) string,
) {
	var tasks []state.Task
	omitted := 0
	for i := len(of) - 1; i >= 0; i-- {
		if !wanted(&of[i]) {
			continue
		}
		if len(tasks) == maxTasks {
			omitted++
		} else if t, ok := p.snap.State.Task(of[i].ID); ok {
			tasks = append(tasks, t)
		}
	}
	slices.Reverse(tasks)
	if len(tasks) > 0 {
		d.Heading(heading)
	}
	if omitted > 0 {
		d.Text(fmt.Sprintf("%d older ones", omitted), p.Dim)
	}
	for i := range tasks {
		d.Field(label(&tasks[i]), words.Age(p.snap.Now, tasks[i].At)+"  "+tasks[i].Description, style)
	}
}

func (p *rows) claims(d *pane.Detail, e *entry) {
	if len(e.claims) > 0 {
		d.Heading("holds")
	}
	for _, c := range e.claims {
		said := c.Path + "  " + words.Age(p.snap.Now, c.Since)
		if c.Reason != "" {
			said += "  " + c.Reason
		}
		d.Field(string(c.Mode), said, p.Text)
	}
}

// meters says what was delivered to the agent and what its turns used.
func (p *rows) meters(d *pane.Detail, e *entry) {
	m := &e.meter
	if m.Turns+m.Delivered+m.Passive+m.Duplicate == 0 {
		return
	}
	d.Heading("meter")
	turns := words.Plural(m.Turns, "turn")
	if session, ok := p.snap.State.Session(e.Name); ok && session.MaxTurns > 0 {
		turns += fmt.Sprintf(", %d of %d automatic", session.Turns, session.MaxTurns)
	}
	if m.Failed > 0 {
		turns += fmt.Sprintf(", %d without an answer", m.Failed)
	}
	d.Field("turns", turns, p.Text)
	d.Field("delivered", words.Plural(m.Delivered, "event"), p.Text)
	d.Field("withheld", fmt.Sprintf("%d that wake nobody, %d said twice", m.Passive, m.Duplicate), p.Text)
	d.Field("used", pane.Usage(m.Usage), p.Text)
}

// news lists what the agent has not acknowledged: how old it is, and what has made it old news.
func (p *rows) news(d *pane.Detail, e *entry) {
	list, omitted := p.snap.State.News(e.Name, e.Cursor, maxUnread)
	if len(list) == 0 {
		return
	}
	d.Heading("has not acknowledged")
	if omitted > 0 {
		d.Text(fmt.Sprintf("%d older ones, in the timeline", omitted), p.Dim)
	}
	for _, r := range list {
		said, style := fmt.Sprintf("%s  %s %s: %s", words.Age(p.snap.Now, r.At), r.From, r.Type, r.Description), p.Text
		if r.SupersededBy > 0 {
			said += fmt.Sprintf("  (%s old news since #%d)", p.Warning, r.SupersededBy)
			style = p.Dim
		}
		d.Field(fmt.Sprintf("#%d", r.Seq), said, style)
	}
}

// contracts lists those that the agent builds on and has not read the latest revision of.
func (p *rows) contracts(d *pane.Detail, e *entry) {
	first := true
	for _, c := range p.snap.State.Contracts() {
		for _, r := range c.Readers {
			if !event.SameName(r.Agent, e.Name) || r.Behind == 0 {
				continue
			}
			if first {
				d.Heading("builds on an old revision")
				first = false
			}
			d.Field(c.Name, fmt.Sprintf("read r%d, the latest is r%d", r.Revision, c.Revision), p.Warn)
		}
	}
}

// session is what is known about the session itself.
func (p *rows) session(d *pane.Detail, e *entry) {
	d.Heading("session")
	d.Field("program", e.Base, p.Text)
	d.Field("person", e.Human, p.Text)
	if e.Since != nil {
		d.Field("since", pane.Stamp(p.snap.Now, *e.Since)+", "+words.Ago(p.snap.Now, *e.Since), p.Text)
	}
	if beat := p.snap.Live[e.Name].LastBeat; !beat.IsZero() {
		d.Field("heard of", words.Ago(p.snap.Now, beat), p.Text)
	}
	if e.PID != 0 {
		d.Field("process", fmt.Sprintf("%d on %s", e.PID, e.Host), p.Dim)
	}
	if e.LastAt != nil {
		d.Field("last", fmt.Sprintf("#%d, %s", e.LastSeq, words.Ago(p.snap.Now, *e.LastAt)), p.Text)
	}
}
