package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/text"
)

// Plain tells the same as the cockpit in sentences, one after the other, for screen readers and terminals that cannot draw: first how
// things stand, then each event as it is stored, until ctx ends. Nothing is ever overwritten. With Options.At it tells how things stood
// then, and returns.
func Plain(ctx context.Context, o Options, w io.Writer) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	p := &plain{w: w, o: o}
	if o.At != Now {
		s, err := o.Engine.StateAt(ctx, o.At)
		if err != nil {
			return err
		}
		p.say("As of event %d.", o.At)
		p.stands(s, s.At())
		return p.err
	}
	v, err := o.Engine.View(ctx)
	if err != nil {
		return err
	}
	p.stands(v.State, o.Clock())
	p.halt(v.Halted)
	p.loss(strings.Join(v.Notes, "; "))
	p.say("New events follow as they are stored. Control C ends this.")
	if p.err != nil {
		return p.err
	}
	err = o.Engine.FollowFrom(ctx, v, p.deliver)
	if p.err != nil {
		return p.err
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// maxPlainTasks bounds the open tasks and questions that are told at the start, the newest of them.
const maxPlainTasks = 100

// plain writes sentences.
type plain struct {
	w      io.Writer
	o      Options
	err    error // the first of the writer
	mode   engine.Mode
	halted bool
	lost   string
}

func (p *plain) say(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// stands tells how things stand.
func (p *plain) stands(s *state.State, now time.Time) {
	p.say("Project %s, %s.", text.Line(projectName(p.o.Engine.Project())), newest(s))
	claims := s.Claims()
	if len(claims) == 0 {
		p.say("Nobody holds anything.")
	}
	for _, c := range claims {
		p.say("%s", claimSentence(c, now))
	}
	for _, c := range s.Contracts() {
		p.say("Contract %s, revision %d, by %s, %s.%s", text.Line(c.Name), c.Revision, text.Line(c.Publisher), words.Ago(now, c.At), readers(c))
	}
	for _, a := range s.Agents() {
		if a.Name != event.Loadout && a.Unread.Count > 0 {
			p.say("%s has %d unread.", text.Line(a.Name), a.Unread.Count)
		}
	}
	tasks, omitted := s.NewestPending(maxPlainTasks, func(*state.Task) bool { return true })
	if omitted > 0 {
		p.say("%d older tasks and questions are open too; loadout status --all lists them.", omitted)
	}
	for _, t := range tasks {
		what := "Task"
		if t.Question {
			what = "Question"
		}
		p.say("%s for %s from %s, %s: %s", what, text.Line(t.To), text.Line(t.From), words.Ago(now, t.At), text.Line(t.Description))
	}
	if bad := s.Skips().Bad; bad > 0 {
		p.say("%s of the log cannot be read; loadout doctor says which.", words.Plural(bad, "line"))
	}
}

// newest counts the events.
func newest(s *state.State) string {
	if s.Head() < 0 {
		return "no events yet"
	}
	return fmt.Sprintf("%s, newest number %d", words.Plural(s.Count(), "event"), s.Head())
}

func claimSentence(c state.Claim, now time.Time) string {
	said := fmt.Sprintf("%s holds %s, %s, taken %s", text.Line(c.Agent), text.Line(c.Path), c.Mode, words.Ago(now, c.Since))
	if c.ExpiresAt != nil {
		said += ", " + words.Left(now, *c.ExpiresAt)
	}
	if c.Reason != "" {
		said += ", because: " + text.Line(c.Reason)
	}
	return said + "."
}

func readers(c state.Contract) string {
	var said strings.Builder
	for _, r := range c.Readers {
		switch {
		case r.Behind == 0:
			fmt.Fprintf(&said, " %s has read it.", text.Line(r.Agent))
		case r.Revision == 0:
			fmt.Fprintf(&said, " %s has read no revision.", text.Line(r.Agent))
		default:
			fmt.Fprintf(&said, " %s has read revision %d.", text.Line(r.Agent), r.Revision)
		}
	}
	return said.String()
}

// deliver tells what is new.
func (p *plain) deliver(d engine.Delivery) error {
	if d.Reset {
		p.say("The log is another one now; it is read from its start.")
	}
	if d.Note != "" {
		p.say("Note: %s.", text.Line(d.Note))
	}
	if d.Mode != p.mode && d.Mode != engine.ModeLive {
		p.say("The log is %s.", d.Mode)
	}
	p.mode = d.Mode
	for i := range d.Events {
		p.say("%s", sentence(&d.Events[i]))
	}
	for _, b := range d.Bad {
		p.say("Line %d of the log cannot be read: %s.", b.Line, text.Line(b.Reason))
	}
	p.loss(d.Lost)
	if halted := d.Halted != nil; halted != p.halted {
		p.halt(d.Halted)
	}
	return p.err
}

// loss tells what the log has lost, once.
func (p *plain) loss(lost string) {
	if p.lost != lost {
		if p.lost = lost; lost != "" {
			p.say("Note: %s.", text.Line(lost))
		}
	}
}

func (p *plain) halt(h *engine.HaltedError) {
	if was := p.halted; h == nil {
		p.halted = false
		if was {
			p.say("Work goes on: the kill switch was lifted.")
		}
		return
	}
	p.halted = true
	if h.Damaged {
		p.say("Everything is halted; by whom and why is not on record.")
		return
	}
	p.say("Everything is halted by %s: %s.", text.Line(h.By), text.Line(h.Reason))
}

// sentence is an event in one line.
func sentence(e *event.Event) string {
	to := "everybody"
	if e.To != event.Broadcast {
		to = text.Line(e.To)
	}
	by := ""
	if e.By != "" {
		by = ", by " + text.Line(e.By)
	}
	return fmt.Sprintf("Event %d, %s, from %s to %s%s: %s", e.Seq, text.Line(string(e.Type)), text.Line(e.From), to, by, text.Line(e.Description))
}
