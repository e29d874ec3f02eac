package fence

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/words"
)

// How much of an event is shown.
const (
	maxShownText = 2000 // characters of one text
	maxShownLine = 300  // characters of an event that is shown in one line
)

// Events are events that a prompt tells, oldest first.
type Events struct {
	List         []event.Event
	SupersededBy func(seq int64) int64 // the event that made another one old news, 0: none; nil: not known
	Now          time.Time
	MaxBytes     int // of all lines
}

// Lines renders the events, the newest in full as far as two thirds of the room go, older ones in a line each, and what then is left
// over not at all. Its lines begin with a bar.
// clipped is how many texts are not whole.
func (e *Events) Lines() (shown string, omitted, clipped int) {
	list := make([]string, len(e.List))
	size := 0
	for i := len(e.List) - 1; i >= 0; i-- {
		ev := &e.List[i]
		title := e.title(ev)
		details, cut := details(ev)
		short, full := Bar(event.Clip(safetext.Line(title), maxShownLine)), Bar(title+"\n"+details)
		switch newest := i == len(e.List)-1; {
		case e.superseded(ev) != 0 && size+len(short) <= e.MaxBytes: // old news: that it was said is enough
			list[i] = short
		case size+len(full) <= e.MaxBytes*2/3 || newest && len(full) <= e.MaxBytes:
			list[i], clipped = full, clipped+cut
		case size+len(short) <= e.MaxBytes || newest:
			list[i], clipped = short, clipped+1
		default:
			return strings.Join(list, ""), i + 1, clipped
		}
		size += len(list[i])
	}
	return strings.Join(list, ""), 0, clipped
}

func (e *Events) superseded(ev *event.Event) int64 {
	if e.SupersededBy == nil {
		return 0
	}
	return e.SupersededBy(ev.Seq)
}

// title is an event in a line: number, type, who, when, and what it says.
func (e *Events) title(ev *event.Event) string {
	to := "everybody"
	if ev.To != event.Broadcast {
		to = ev.To
	}
	line := fmt.Sprintf("#%d %s from %s to %s, %s", ev.Seq, ev.Type, ev.From, to, words.Ago(e.Now, ev.Time()))
	if by := e.superseded(ev); by != 0 {
		line += fmt.Sprintf(", OLD NEWS: superseded by #%d", by)
	}
	text, _ := excerpt(ev.Description)
	return line + ": " + text
}

// details are the lines below the title, and how many texts of it were cut.
func details(ev *event.Event) (lines string, cut int) {
	var b strings.Builder
	say := func(label, text string) {
		if text == "" {
			return
		}
		part, short := excerpt(text)
		if short {
			cut++
		}
		b.WriteString("  " + label + ": " + strings.ReplaceAll(part, "\n", "\n    ") + "\n")
	}
	if _, short := excerpt(ev.Description); short {
		cut++
	}
	body, err := ev.Body()
	if err != nil {
		return "  its details cannot be read\n", cut
	}
	switch d := body.(type) {
	case event.Contract:
		say("contract", fmt.Sprintf("%s, revision %d", d.Name, d.Revision))
		say("text", d.Body)
	case event.Ownership:
		say(string(d.Mode), strings.Join(d.Paths, ", "))
		say("reason", d.Reason)
	case event.Decision:
		say("decision", d.Title)
		say("because", d.Rationale)
	case event.Update:
		say("note", d.Note)
		say("blockers", strings.Join(d.Blockers, "; "))
		say("next", d.Next)
	case event.Discussion:
		say("discussion", fmt.Sprintf("%s, round %d, %s", d.ThreadID, d.Round, d.Kind))
		say("text", d.Content)
	case event.Done:
		say("evidence", d.Evidence)
	case event.Task, event.Question, event.Cancel, event.Error, event.Handoff:
		say("id", ev.ID)
	case event.Ack, event.Agent, event.Gate, event.Halt, event.Status, event.Turn, event.Wave, event.Work, event.Unknown:
	}
	say("context", ev.Context)
	if ev.Resolves != "" {
		say("settles", ev.Resolves)
	}
	return b.String(), cut
}

// excerpt is the beginning of a text, and whether that is not all.
func excerpt(text string) (part string, short bool) {
	text = safetext.Block(strings.TrimSpace(engine.Redact(text)))
	part = event.Clip(text, maxShownText)
	return part, part != text
}
