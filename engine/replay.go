package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/words"
)

// MaxReplay is how many of the newest events a timeline holds unless Query.Last says otherwise.
const MaxReplay = 2000

// Timeline is the story of the log.
type Timeline struct {
	Entries        []TimelineEntry `json:"entries"`
	Agents         []string        `json:"agents"`
	StartTime      string          `json:"startTime"`
	EndTime        string          `json:"endTime"`
	Duration       string          `json:"duration"`
	ContractCount  int64           `json:"contractCount"`
	OwnershipCount int64           `json:"ownershipCount"` // claims, not releases
	TotalEvents    int64           `json:"totalEvents"`    // shown events
	AsOf           int64           `json:"asOf"`
	Omitted        int64           `json:"omitted"`                  // older events left out, -1: some, not counted
	AtLeast        int64           `json:"omittedAtLeast,omitempty"` // where Omitted is -1: so many of them are known
	Gone           bool            `json:"gone,omitempty"`           // as in EventsResult
	Skipped        int64           `json:"skipped"`                  // lines that cannot be read
}

// TimelineEntry is one event of a timeline.
type TimelineEntry struct {
	Seq          int64      `json:"seq"`
	Timestamp    string     `json:"timestamp"`
	Agent        string     `json:"agent"`
	To           string     `json:"to"`
	Type         event.Type `json:"type"`
	Emoji        string     `json:"emoji"`
	Headline     string     `json:"headline"`
	Detail       string     `json:"detail,omitempty"`
	RelativeTime string     `json:"relativeTime"`
}

// Timeline reads the story of the log: the newest MaxReplay events that q selects unless q says otherwise.
func (e *Engine) Timeline(ctx context.Context, q Query) (Timeline, error) {
	if q.Last == 0 && q.Max == 0 {
		q.Last = MaxReplay
	}
	r, err := e.Events(ctx, q)
	if err != nil {
		return Timeline{}, err
	}
	t := NewTimeline(r.Events)
	t.AsOf, t.Omitted, t.AtLeast, t.Gone, t.Skipped = r.AsOf, r.Omitted, r.AtLeast, r.Gone, r.Skips.Bad
	return t, nil
}

// NewTimeline tells events, in log order, as a story.
func NewTimeline(events []event.Event) Timeline {
	t := Timeline{Entries: make([]TimelineEntry, 0, len(events)), Agents: []string{}, Duration: "0s", AsOf: -1}
	if len(events) == 0 {
		return t
	}
	first, last := &events[0], &events[len(events)-1]
	t.StartTime, t.EndTime = first.Timestamp, last.Timestamp
	t.Duration = signed("", last.Time().Sub(first.Time()))
	t.TotalEvents = int64(len(events))
	t.AsOf = last.Seq
	for i := range events {
		ev := &events[i]
		entry := TimelineEntry{
			Seq: ev.Seq, Timestamp: ev.Timestamp, Agent: ev.From, To: ev.To, Type: ev.Type,
			Emoji: Emoji(ev.Type), Detail: ev.Context,
			RelativeTime: signed("+", ev.Time().Sub(first.Time())),
		}
		entry.Headline, entry.Detail = tell(ev)
		if ev.Type == event.TypeContract {
			t.ContractCount++
		}
		if ev.Type == event.TypeOwnership && isClaim(ev) {
			t.OwnershipCount++
		}
		if !slices.Contains(t.Agents, ev.From) {
			t.Agents = append(t.Agents, ev.From)
		}
		t.Entries = append(t.Entries, entry)
	}
	return t
}

func isClaim(ev *event.Event) bool {
	body, err := ev.Body()
	if err != nil {
		return false
	}
	o, ok := body.(event.Ownership)
	return ok && o.Mode != event.Release
}

// Emoji is the sign of an event's type.
func Emoji(t event.Type) string {
	signs := map[event.Type]string{
		event.TypeTask: "📋", event.TypeHandoff: "🤝", event.TypeQuestion: "❓", event.TypeDone: "✅", event.TypeStatus: "📊",
		event.TypeError: "❌", event.TypeCancel: "🚫", event.TypeContract: "📜", event.TypeOwnership: "🔒", event.TypeDecision: "⚖️",
		event.TypeUpdate: "📝", event.TypeAck: "👍", event.TypeDiscussion: "💬", event.TypeAgent: "👤", event.TypeHalt: "🛑",
		event.TypeTurn: "🔁", event.TypeWork: "🔧", event.TypeGate: "🚦", event.TypeWave: "🌊",
	}
	if s, ok := signs[t]; ok {
		return s
	}
	return "•"
}

// tell is an event's headline and, when there is more to say, its detail. An event whose payload cannot be read is told by
// its description.
func tell(ev *event.Event) (headline, detail string) {
	body, err := ev.Body()
	if err != nil {
		return ev.Description, ev.Context
	}
	detail = ev.Context
	switch b := body.(type) {
	case event.Contract:
		return fmt.Sprintf("Published contract %q rev%d", b.Name, b.Revision), detail
	case event.Ownership:
		return tellOwnership(ev, b)
	case event.Decision:
		if detail == "" {
			detail = b.Rationale
		}
		return "Decision: " + b.Title, detail
	case event.Update:
		headline = ev.Description
		if b.Note != "" {
			headline = b.Note
		}
		if len(b.Files) > 0 {
			headline += " (" + words.Plural(len(b.Files), "file") + ")"
		}
		return headline, detail
	case event.Ack:
		return fmt.Sprintf("Acknowledged through seq %d", b.EventSeq), b.Note
	case event.Discussion:
		detail = b.Content
		if b.ReplyTo != "" {
			detail += " (reply to " + b.ReplyTo + ")"
		}
		return fmt.Sprintf("Discussion %s · round %d · %s", b.ThreadID, b.Round, b.Kind), detail
	case event.Task:
		if ev.Resolves != "" {
			return "Took task " + ev.Resolves + ": " + strings.TrimPrefix(ev.Description, "Takes: "), detail
		}
		return "Task: " + ev.Description, detail
	case event.Handoff:
		return "Handoff to " + ev.To + ": " + ev.Description, detail
	case event.Question:
		return "Question: " + ev.Description, detail
	case event.Done:
		if detail == "" {
			detail = b.Evidence
		}
		return headed("Completed: ", ev.Description), detail
	case event.Error:
		return headed("Error: ", ev.Description), detail
	case event.Cancel:
		return headed("Cancelled: ", ev.Description), detail
	case event.Halt:
		if b.Action == event.HaltLifted {
			return "Lifted the kill switch", b.Reason
		}
		return "Set the kill switch: " + b.Reason, detail
	case event.Agent:
		return tellAgent(b), b.Reason
	case event.Status, event.Turn, event.Work, event.Gate, event.Wave, event.Unknown:
		return ev.Description, detail
	}
	return ev.Description, detail
}

func tellOwnership(ev *event.Event, o event.Ownership) (headline, detail string) {
	paths := words.Plural(len(o.Paths), "path") + ": " + shorten(o.Paths, 3)
	switch {
	case o.Mode != event.Release && len(o.Displaced) > 0:
		return fmt.Sprintf("Took over %s ownership of %s", o.Mode, paths), o.Reason
	case o.Mode != event.Release:
		return fmt.Sprintf("Claimed %s ownership of %s", o.Mode, paths), o.Reason
	case o.Cause == event.CauseExpired:
		return "Claim of " + o.Holder + " lapsed on " + paths, o.Reason
	case o.Holder != "" && o.Holder != ev.From:
		return "Released for " + o.Holder + " " + paths, o.Reason
	}
	return "Released " + paths, o.Reason
}

func tellAgent(a event.Agent) string {
	switch a.Action {
	case event.AgentRegistered:
		if a.Human != "" {
			return "Registered " + a.Name + " for " + a.Human
		}
		return "Registered " + a.Name
	case event.AgentRenamed:
		return "Renamed " + a.Previous + " to " + a.Name
	case event.AgentEnded:
		return "Ended the session of " + a.Name
	case event.AgentForgotten:
		return "Forgot " + a.Name
	}
	return string(a.Action) + " " + a.Name
}

func shorten(items []string, n int) string {
	if len(items) <= n {
		return strings.Join(items, ", ")
	}
	return strings.Join(items[:n], ", ") + ", …"
}

// signed is a length of time behind a sign: plus, or a minus where the clock of a later writer was behind.
func signed(plus string, d time.Duration) string {
	if d < 0 {
		return "-" + words.Span(-d)
	}
	return plus + words.Span(d)
}

// headed puts a word before what an event says, unless that begins with it, as what this program writes does.
func headed(word, text string) string {
	if strings.HasPrefix(text, word) {
		return text
	}
	return word + text
}
