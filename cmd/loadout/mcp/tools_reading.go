package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
)

// maxAnswer bounds the data of one answer, in bytes: hosts cut what is longer, and say so to nobody.
const maxAnswer = 48 << 10

type commandIn struct {
	Command  string `json:"command"`
	ExitCode *int64 `json:"exitCode"`
	Summary  string `json:"summary"`
}

type publishUpdateIn struct {
	Agent, Note, Next         string
	Files, Blockers, Consumes []string
	Commands                  []commandIn
}

func publishUpdate() tool {
	return handled(tool{
		name: "publish_update", title: "Report progress", effect: adds,
		about: "Tell the others what you did, which files you changed, what you ran and how it ended, what blocks you and what comes next. Name the " +
			"contracts that you build on, and you are counted among their readers.",
		input: object(agentArgument(),
			optional("files", list(text(1, event.MaxPath, "A file."), 0, event.MaxFiles, "Files that it is about.")),
			optional("commands", list(object(
				required("command", text(1, event.MaxCommand, "What you ran.")),
				optional("exitCode", whole(-1<<31, 1<<31-1, "How it ended.")),
				optional("summary", text(0, event.MaxCommandSummary, "What came of it, e.g. 12 passed.")),
			), 0, event.MaxCommands, "Commands that you ran.")),
			optional("note", text(0, event.MaxUpdateNote, "What you did.")),
			optional("blockers", list(text(1, event.MaxBlocker, "One blocker."), 0, event.MaxBlockers, "What is in the way.")),
			optional("next", text(0, event.MaxNext, "What comes next.")),
			optional("consumes", list(text(1, event.MaxContractName, "A contract."), 0, event.MaxConsumes, "Contracts that you build on."))),
	}, func(ctx context.Context, s *Server, in publishUpdateIn) ([]string, stored, error) {
		files, err := s.paths(in.Files)
		if err != nil {
			return nil, stored{}, err
		}
		update := event.Update{Note: in.Note, Files: files, Blockers: in.Blockers, Next: in.Next, Consumes: in.Consumes}
		for _, c := range in.Commands {
			update.Commands = append(update.Commands, event.CommandRun{Command: c.Command, ExitCode: c.ExitCode, Summary: c.Summary})
		}
		return s.writeAs(ctx, in.Agent, func(agent string) engine.Command {
			return engine.Report{Agent: agent, Update: update}
		}, func(p *page, ev *event.Event) { p.linef("Update published (seq %d)", ev.Seq) })
	})
}

type ackIn struct {
	Agent, Note string
	EventSeq    int64
}

type ackOut struct {
	stored
	ReadTo int64 `json:"readTo"` // the agent has acknowledged up to here
}

func ack() tool {
	return handled(tool{
		name: "ack", title: "Acknowledge what you read", effect: settles,
		about: "Say that you have read and taken into account everything up to a sequence number. Do it after you acted on it.",
		input: object(agentArgument(),
			required("eventSeq", whole(0, event.MaxSeq, "Everything up to this sequence number.")),
			optional("note", text(0, event.MaxAckNote, "What came of it."))),
	}, func(ctx context.Context, s *Server, in ackIn) ([]string, ackOut, error) {
		agent, err := s.actor(ctx, in.Agent)
		if err != nil {
			return nil, ackOut{}, err
		}
		r, about, err := s.write(ctx, engine.Ack{Agent: agent, Seq: in.EventSeq, Note: in.Note}, agent)
		if err != nil {
			return nil, ackOut{}, err
		}
		out := ackOut{about, in.EventSeq}
		if v, err := s.engine.View(ctx); err == nil {
			if a, ok := v.State.Agent(agent); ok {
				out.ReadTo = a.Cursor
			}
		}
		var p page
		if len(r.Events) > 0 {
			p.linef("Acknowledged through seq %d (ack seq %d)", in.EventSeq, about.Seq)
		} else {
			p.linef("Acknowledged through seq %d already", out.ReadTo)
		}
		return p.said(about), out, nil
	})
}

type subscribeIn struct {
	Agent  string
	Cursor *int64
	Limit  int
}

// eventsOut is a page of events. The first three members are those of the coordination protocol.
type eventsOut struct {
	Events  []json.RawMessage `json:"events"`
	HighSeq int64             `json:"highSeq"`                  // the log was read up to here
	Count   int               `json:"count"`                    // events in this answer
	Next    int64             `json:"next"`                     // the cursor to go on from
	Omitted int64             `json:"omitted"`                  // events left out by the limits, -1: some, not counted
	AtLeast int64             `json:"omittedAtLeast,omitempty"` // where omitted is -1: so many of them are known
	ReadTo  int64             `json:"readTo"`                   // the agent has acknowledged up to here, -1 for nothing
	Unread  int64             `json:"unread"`
	Gone    bool              `json:"gone,omitempty"` // some are lost with an archive that is gone
	Skipped state.Skips       `json:"skipped"`        // lines of the log that nobody can read
	Notice  string            `json:"notice"`
}

// Limits of one page of events.
const (
	defaultEvents = 100
	maxEvents     = 500
)

func subscribe() tool {
	return handled(tool{
		name: "subscribe", title: "Read new events", effect: reads,
		about: "Events after a cursor that are from you, to you, or to everybody, oldest first. Go on from next. Without a cursor: what you have not " +
			"acknowledged. A resource subscription to " + scheme + "snapshot/AGENT tells when there is something new.",
		input: object(agentArgument(),
			optional("cursor", whole(-1, event.MaxSeq, "Only events after this sequence number; -1: from the first. Default: what you have acknowledged.")),
			optional("limit", whole(1, maxEvents, fmt.Sprintf("At most so many events, default %d.", defaultEvents)))),
		echo: "%s",
	}, func(ctx context.Context, s *Server, in subscribeIn) ([]string, eventsOut, error) {
		agent, err := s.reader(ctx, in.Agent)
		if err != nil {
			return nil, eventsOut{}, err
		}
		v, err := s.engine.View(ctx)
		if err != nil {
			return nil, eventsOut{}, err
		}
		out := eventsOut{ReadTo: -1, Notice: untrusted}
		if a, ok := v.State.Agent(agent); ok {
			out.ReadTo, out.Unread = a.Cursor, a.Unread.Count
		}
		cursor := out.ReadTo
		if in.Cursor != nil {
			cursor = *in.Cursor
		}
		if in.Limit == 0 {
			in.Limit = defaultEvents
		}
		found, err := s.engine.Events(ctx, engine.Query{After: cursor, Agent: agent, Max: in.Limit, Count: true})
		if err != nil {
			return nil, out, err
		}
		out.HighSeq, out.Skipped, out.Omitted, out.AtLeast = found.AsOf, found.Skips, found.Omitted, found.AtLeast
		out.Next, out.Gone = max(cursor, found.AsOf), found.Gone
		out.fill(found.Events)
		return nil, out, nil
	})
}

// fill takes as many events as there is room for.
func (o *eventsOut) fill(events []event.Event) {
	o.Events = []json.RawMessage{}
	room := maxAnswer
	for i := range events {
		line := shortLine(&events[i])
		if room -= len(line); room < 0 && i > 0 {
			more := &o.Omitted
			if o.Omitted < 0 {
				more = &o.AtLeast
			}
			*more += int64(len(events) - i)
			break
		}
		o.Events = append(o.Events, line)
	}
	o.Count = len(o.Events)
	if o.Omitted != 0 && o.Count > 0 {
		o.Next = events[o.Count-1].Seq
	}
}

// maxLine is how long an event may be in a list, in bytes.
const maxLine = 16 << 10

// shortLine is an event as the log has it, without its payload and context if it is too long for a list.
func shortLine(ev *event.Event) json.RawMessage {
	line := ev.AppendLine(nil)
	if len(line) <= maxLine {
		return line
	}
	short := *ev
	short.Context = ""
	short.Description = event.Clip(ev.Description, maxText)
	payload, err := json.Marshal(map[string]any{"omittedBytes": len(line), "resource": eventURI(ev.Seq)})
	if err != nil {
		payload = nil
	}
	short.Payload = payload
	return short.AppendLine(nil)
}

type replayIn struct {
	Agent  string
	Seq    *int64
	Events *int
}

// replayOut is the state as of a sequence number, and the story that led there.
type replayOut struct {
	AsOf      int64                  `json:"asOf"`
	HighSeq   int64                  `json:"highSeq"`
	At        time.Time              `json:"at"` // when that event was stored
	Claims    []state.Claim          `json:"claims"`
	Contracts []revision             `json:"contracts"`
	Tasks     []state.Task           `json:"tasks"` // open ones
	Decisions []state.Decision       `json:"decisions"`
	Entries   []engine.TimelineEntry `json:"entries"` // the newest events up to then, oldest first
	Omitted   replayOmitted          `json:"omitted"`
	Gone      bool                   `json:"gone,omitempty"` // some events are lost with an archive that is gone
	Notice    string                 `json:"notice"`

	data []byte // what encode made of it, nil: nothing yet
}

func (o replayOut) encoding() []byte { return o.data }

type replayOmitted struct {
	Claims    int64 `json:"claims"`
	Contracts int64 `json:"contracts"`
	Tasks     int64 `json:"tasks"`
	Decisions int64 `json:"decisions"`
	Entries   int64 `json:"entries"`                  // older ones, -1: some, not counted
	AtLeast   int64 `json:"entriesAtLeast,omitempty"` // where entries is -1: so many of them are known
}

// revision is a contract without its body.
type revision struct {
	Name      string    `json:"name"`
	Revision  int64     `json:"revision"`
	Publisher string    `json:"publisher"`
	Seq       int64     `json:"seq"`
	At        time.Time `json:"at"`
}

// Limits of a replay.
const (
	defaultEntries = 20
	maxEntries     = 200
	maxReplayed    = 50 // items of each list of the state
)

func replay() tool {
	return handled(tool{
		name: "replay", title: "The past", effect: reads,
		about: "What held at a sequence number (claims, contracts, open tasks, decisions) and the newest events up to then, as a story. Without seq: now.",
		input: object(agentArgument(),
			optional("seq", whole(0, event.MaxSeq, "As of this sequence number; default: the newest.")),
			optional("events", whole(0, maxEntries, fmt.Sprintf("How many events to tell, default %d.", defaultEntries)))),
	}, func(ctx context.Context, s *Server, in replayIn) ([]string, replayOut, error) {
		out := replayOut{Notice: untrusted}
		if _, err := s.reader(ctx, in.Agent); err != nil {
			return nil, out, err
		}
		v, err := s.engine.View(ctx)
		if err != nil {
			return nil, out, err
		}
		then := v.State
		out.HighSeq = then.Head()
		if in.Seq != nil {
			if then, err = s.engine.StateAt(ctx, *in.Seq); err != nil {
				return nil, out, err
			}
		}
		entries := defaultEntries
		if in.Events != nil {
			entries = *in.Events
		}
		out.show(then)
		if err := out.story(ctx, s.engine, entries); err != nil {
			return nil, out, err
		}
		if err := out.bound(); err != nil {
			return nil, out, err
		}
		return []string{out.text()}, out, nil
	})
}

// bound halves the lists, the newest stay, until the answer is small.
func (o *replayOut) bound() error {
	for {
		data, err := encode(o)
		if err != nil || len(data) <= maxAnswer {
			o.data = data
			return err
		}
		halve(&o.Claims, &o.Omitted.Claims)
		halve(&o.Contracts, &o.Omitted.Contracts)
		halve(&o.Tasks, &o.Omitted.Tasks)
		halve(&o.Decisions, &o.Omitted.Decisions)
		o.leaveOut(len(o.Entries) / 2)
	}
}

// show lists what a state holds, the newest of each.
func (o *replayOut) show(s *state.State) {
	o.AsOf, o.At = s.Head(), s.At()
	o.Claims, o.Omitted.Claims = newest(s.Claims(), maxReplayed)
	o.Tasks, o.Omitted.Tasks = newest(s.Pending(), maxReplayed)
	o.Decisions, o.Omitted.Decisions = newest(s.Decisions(), maxReplayed)
	for i := range o.Tasks {
		o.Tasks[i].Context = event.Clip(o.Tasks[i].Context, maxText)
		o.Tasks[i].Description = event.Clip(o.Tasks[i].Description, maxText)
	}
	for i := range o.Decisions {
		o.Decisions[i].Rationale = event.Clip(o.Decisions[i].Rationale, maxText)
	}
	contracts, left := newest(s.Contracts(), maxReplayed)
	o.Contracts, o.Omitted.Contracts = []revision{}, left
	for _, c := range contracts {
		o.Contracts = append(o.Contracts, revision{c.Name, c.Revision, c.Publisher, c.Seq, c.At})
	}
}

// newest keeps the last items and says how many it left out.
func newest[T any](items []T, limit int) ([]T, int64) {
	over := max(0, len(items)-limit)
	return append([]T{}, items[over:]...), int64(over)
}

// story tells the newest events up to the state, and counts those before.
func (o *replayOut) story(ctx context.Context, e *engine.Engine, entries int) error {
	o.Entries = []engine.TimelineEntry{}
	if o.AsOf < 0 {
		return nil
	}
	t, err := e.Timeline(ctx, engine.Query{After: engine.Everything, Before: o.AsOf + 1, Last: max(entries, 1), Count: true})
	if err != nil {
		return err
	}
	o.Omitted.Entries, o.Omitted.AtLeast, o.Gone = t.Omitted, t.AtLeast, t.Gone
	for _, entry := range t.Entries {
		entry.Headline, entry.Detail = event.Clip(entry.Headline, maxText), event.Clip(entry.Detail, maxText)
		o.Entries = append(o.Entries, entry)
	}
	o.leaveOut(len(o.Entries) - entries)
	return nil
}

// leaveOut drops the oldest n entries, if n is more than 0, and counts them.
func (o *replayOut) leaveOut(n int) {
	if n = max(n, 0); o.Omitted.Entries < 0 {
		o.Omitted.AtLeast += int64(n)
	} else {
		o.Omitted.Entries += int64(n)
	}
	o.Entries = o.Entries[n:]
}

func (o *replayOut) text() string {
	var p page
	p.linef("State as of seq %d of %d (%s)", o.AsOf, o.HighSeq, stamp(o.At))
	p.linef("%s", untrusted)
	for _, c := range o.Claims {
		p.linef("  %s (%s): %s, fence %d", c.Agent, string(c.Mode), c.Path, c.Fence)
	}
	for _, c := range o.Contracts {
		p.linef("  contract %s rev%d by %s (seq %d)", c.Name, c.Revision, c.Publisher, c.Seq)
	}
	for i := range o.Tasks {
		p.task(&engine.OpenTask{Task: o.Tasks[i]})
	}
	for _, d := range o.Decisions {
		p.linef("  decision [%s] %s: %s", d.ID, d.From, d.Title)
	}
	if o.Gone {
		p.linef("Not all events: %s", engine.GoneText)
	}
	if len(o.Entries) > 0 {
		p.linef("Events:")
	}
	for _, e := range o.Entries {
		p.linef("  #%d %s %s [%s] %s", e.Seq, e.RelativeTime, e.Agent, e.Type, e.Headline)
	}
	if left := o.Omitted; left != (replayOmitted{}) {
		p.linef("left out: %d claims, %d contracts, %d tasks, %d decisions, %s", left.Claims, left.Contracts, left.Tasks, left.Decisions, older(left))
	}
	return p.text()
}

func older(left replayOmitted) string {
	switch {
	case left.Entries >= 0:
		return fmt.Sprintf("%d older events", left.Entries)
	case left.AtLeast > 0:
		return fmt.Sprintf("at least %d older events", left.AtLeast)
	}
	return "perhaps older events"
}

// stamp is a moment as answers show it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
