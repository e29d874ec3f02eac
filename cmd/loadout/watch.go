package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
)

type watchCmd struct {
	Reader string `complete:"agent" arg:"" optional:"" name:"agent" help:"Only events from this agent, to it, and to everybody."`
	Cursor *int64 `complete:"seq" placeholder:"N" help:"Begin with the events after this sequence number; -1: with the first."`
	Last   *int   `placeholder:"N" help:"Begin with the newest N events, default 10."`
	Since  string `placeholder:"TIME" help:"Begin with the events since then: an age such as 2h, a date, or an RFC 3339 time."`
	Plain  bool   `help:"Events only: no heading, no colours."`
}

func (watchCmd) Help() string {
	return "With --json every event is one line. A line whose only member is \"watch\" tells about the watching itself: up to where " +
		"the log was read, and how.\n\n" +
		examples(
			"loadout coord watch",
			"loadout coord watch codex --cursor 41",
			"loadout coord watch --since 2h --json",
		)
}

// recentEvents is how many events watch begins with.
const recentEvents = 10

func (o *watchCmd) run(ctx context.Context, c *call) error {
	begin, err := o.beginning(c.now())
	if err != nil {
		return err
	}
	e, err := c.open(0)
	if err != nil {
		return err
	}
	view, err := e.View(ctx)
	if err != nil {
		return err
	}
	w := &watcher{call: c, plain: o.Plain, since: begin.since, readTo: -1, past: view.State}
	if o.Plain {
		c.coloured = false
	}
	if o.Reader != "" {
		if w.agent, err = c.reader(ctx, e, o.Reader); err != nil {
			return err
		}
		w.readTo = readingOf(view.State, w.agent).ReadTo
	}
	if !o.Plain && !c.JSON {
		c.printf("Watching %s. %s stops.\n", e.Project().Root, c.stopKey())
	}
	after := begin.after
	if begin.last >= 0 {
		if after, err = w.recent(ctx, e, begin.last); err != nil {
			return err
		}
	}
	err = e.Follow(ctx, after, w.deliver)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) { // how a watch ends: no failure to tell of
		if !o.Plain {
			c.note("stopped at seq %d", w.head)
		}
		return errSilent(exitInterrupted)
	}
	return err
}

// beginning is where a watch starts: after a sequence number, or with so many of the newest events if last is not negative.
type beginning struct {
	after int64
	last  int
	since time.Time
}

func (o *watchCmd) beginning(now time.Time) (beginning, error) {
	given := 0
	for _, g := range []bool{o.Cursor != nil, o.Last != nil, o.Since != ""} {
		if g {
			given++
		}
	}
	switch {
	case given > 1:
		return beginning{}, &engine.UsageError{Message: "--cursor, --last and --since exclude each other"}
	case o.Cursor != nil:
		return beginning{after: *o.Cursor, last: -1}, checkBounds(*o.Cursor)
	case o.Since != "":
		since, err := parseSince(o.Since, now)
		if err != nil {
			return beginning{}, &engine.UsageError{Message: "--since: " + err.Error()}
		}
		return beginning{after: engine.Everything, last: -1, since: since}, nil
	case o.Last != nil:
		return beginning{last: *o.Last}, checkBounds(0, *o.Last)
	}
	return beginning{last: recentEvents}, nil
}

// watcher prints what a follower delivers.
type watcher struct {
	call  *call
	agent string // only what concerns this agent, "" for everything
	plain bool
	since time.Time // only events from then on

	past    *state.State // what it begins with: it knows what has superseded an event; nil once that is printed
	readTo  int64        // up to where the agent has acknowledged
	omitted int64        // events before the ones that it began with, -1: some, not counted
	atLeast int64        // where omitted is -1: so many of them are known

	head   int64 // highest sequence number seen
	mode   engine.Mode
	halted bool
	lost   string
	caught bool
	seen   recentIDs
}

// recent prints the newest events and returns the sequence number up to which the log was read for that.
func (w *watcher) recent(ctx context.Context, e *engine.Engine, last int) (int64, error) {
	query := engine.Query{After: engine.Everything, Agent: w.agent, Last: max(last, 1), Count: true}
	found, err := e.Events(ctx, query)
	if err != nil {
		return 0, err
	}
	if w.omitted, w.atLeast = found.Omitted, found.AtLeast; last == 0 {
		if more := int64(len(found.Events)); w.omitted >= 0 {
			w.omitted += more
		} else {
			w.atLeast += more
		}
	}
	if w.omitted != 0 && !w.call.JSON && !w.plain {
		before := omitted(w.omitted, w.atLeast) + " before left out; --cursor -1 shows them"
		if found.Gone && w.atLeast == 0 {
			before = "not all events: " + engine.GoneText
		}
		w.call.printf("%s\n", w.call.dim("-- "+before))
	}
	if last > 0 {
		for i := range found.Events {
			if err := w.print(&found.Events[i]); err != nil {
				return 0, err
			}
		}
	}
	return found.AsOf, nil
}

// deliver prints one delivery of the follower.
func (w *watcher) deliver(d engine.Delivery) error {
	for i := range d.Events {
		if err := w.print(&d.Events[i]); err != nil {
			return err
		}
	}
	for _, bad := range d.Bad {
		if err := w.say(fmt.Sprintf("line %d cannot be read: %s", bad.Line, bad.Reason)); err != nil {
			return err
		}
	}
	w.head = d.Head
	if !w.caught {
		w.mode = d.Mode // told with the first that is said
	}
	if d.Gone {
		w.omitted = -1
	}
	if d.Note != "" {
		if err := w.say(d.Note); err != nil {
			return err
		}
	}
	if d.Lost != w.lost {
		if w.lost = d.Lost; w.lost != "" {
			if err := w.say(w.lost); err != nil {
				return err
			}
		}
	}
	if halted := d.Halted != nil; halted != w.halted {
		w.halted = halted
		text := "resumed"
		if halted {
			text = d.Halted.Error()
		}
		if err := w.say(text); err != nil {
			return err
		}
	}
	if (d.Mode != w.mode && w.caught) || (d.CaughtUp && !w.caught) {
		w.mode, w.caught = d.Mode, w.caught || d.CaughtUp
		if w.caught {
			w.past = nil
		}
		return w.say("")
	}
	w.mode = d.Mode
	return w.call.err
}

// print prints one event unless it was printed before or is not asked for.
func (w *watcher) print(ev *event.Event) error {
	if w.agent != "" && ev.To != event.Broadcast && !event.SameName(ev.To, w.agent) && !event.SameName(ev.From, w.agent) {
		return nil
	}
	if !w.since.IsZero() && ev.Time().Before(w.since) {
		return nil
	}
	if !w.seen.add(ev.ID, ev.Seq) {
		return nil
	}
	by := int64(0)
	if w.past != nil {
		by = w.past.SupersededBy(ev.Seq)
	}
	if w.call.JSON {
		return writeJSONLine(w.call.stdout, newsJSON(ev, by))
	}
	w.call.printLive(ev, by)
	return w.call.err
}

// say tells about the watching itself. Without text it says up to where the log was read, and how.
func (w *watcher) say(text string) error {
	if w.call.JSON {
		return writeJSONLine(w.call.stdout, map[string]watchJSON{"watch": {w.head, w.mode, w.readTo, w.omitted, w.atLeast, text}})
	}
	if text == "" {
		text = fmt.Sprintf("%s, %s", words.AsOf(w.head), w.mode)
		if w.agent != "" {
			text += fmt.Sprintf("; %s has read to %s", w.agent, words.Seq(w.readTo))
		}
	}
	if w.plain {
		w.call.note("%s", text)
		return nil
	}
	w.call.printf("%s\n", w.call.dim("-- "+text))
	return w.call.err
}

// watchJSON is what a line says about the watching itself.
type watchJSON struct {
	AsOf    int64       `json:"asOf"`
	Mode    engine.Mode `json:"mode"`
	ReadTo  int64       `json:"readTo"`                   // of the agent that was named, as it was at the start
	Omitted int64       `json:"omitted"`                  // events before the first one, -1: some, not counted
	AtLeast int64       `json:"omittedAtLeast,omitempty"` // where omitted is -1: so many of them are known
	Note    string      `json:"note,omitempty"`
}

// printLive prints an event as one line and what belongs to it below. supersededBy is what has made it old news, 0: nothing.
func (c *call) printLive(ev *event.Event, supersededBy int64) {
	to := ""
	if ev.To != event.Broadcast {
		to = " → " + ev.To
	}
	by := ""
	if ev.By != "" {
		by = " (by " + ev.By + ")"
	}
	c.printf("%s %s [%s] %s%s%s %s%s\n", words.Since(c.now(), ev.Time()), c.dim(fmt.Sprintf("seq=%d", ev.Seq)),
		ev.Type, c.bold(ev.From), to, by, strings.TrimPrefix(ev.Description, ev.From+" "), oldNews(supersededBy))
	body, err := ev.Body()
	if err != nil {
		return // shown as far as it can be read
	}
	for _, line := range liveDetails(body) {
		c.printf("         %s\n", line)
	}
}

// maxRationale is how much of a rationale a live line shows, in cells.
const maxRationale = 120

// liveDetails is what an event says beyond its description.
func liveDetails(body event.Body) []any {
	var lines []any
	switch b := body.(type) {
	case event.Contract:
		lines = append(lines, fmt.Sprintf("contract: %s rev%d%s", b.Name, b.Revision, inParens(b.Format)))
	case event.Ownership:
		lines = append(lines, fmt.Sprintf("%s: %s", b.Mode, strings.Join(b.Paths, ", ")))
		if b.Reason != "" {
			lines = append(lines, "because: "+b.Reason)
		}
	case event.Update:
		if len(b.Blockers) > 0 {
			lines = append(lines, "blockers: "+strings.Join(b.Blockers, "; "))
		}
		if b.Next != "" {
			lines = append(lines, "next: "+b.Next)
		}
	case event.Decision:
		if b.Rationale != "" {
			lines = append(lines, clip("because: "+b.Rationale, maxRationale))
		}
	case event.Done:
		if b.Evidence != "" {
			lines = append(lines, "evidence: "+b.Evidence)
		}
	case event.Halt:
		if b.Reason != "" {
			lines = append(lines, "reason: "+b.Reason)
		}
	case event.Task, event.Handoff, event.Question, event.Status, event.Error, event.Cancel, event.Ack, event.Discussion,
		event.Agent, event.Turn, event.Work, event.Gate, event.Wave, event.Unknown:
	}
	return lines
}

// recentIDs remembers the newest events that were printed, so that none is printed twice when a log is put back in its place.
type recentIDs struct {
	ids  map[string]int64
	ring []string
	next int
}

// rememberedIDs bounds the memory of a watch.
const rememberedIDs = 10_000

// add remembers an event and reports whether it is new.
func (r *recentIDs) add(id string, seq int64) bool {
	if r.ids == nil {
		r.ids = make(map[string]int64)
	}
	if known, ok := r.ids[id]; ok && known == seq {
		return false
	}
	if len(r.ring) < rememberedIDs {
		r.ring = append(r.ring, id)
	} else {
		delete(r.ids, r.ring[r.next])
		r.ring[r.next] = id
		r.next = (r.next + 1) % rememberedIDs
	}
	r.ids[id] = seq
	return true
}
