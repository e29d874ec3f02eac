package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
)

type ackCmd struct {
	Reader string `complete:"agent" arg:"" name:"agent" help:"Who has read."`
	Seq    int64  `complete:"seq" arg:"" help:"Everything up to this sequence number."`
	Note   string `placeholder:"TEXT" help:"What came of it."`
	writing
}

func (ackCmd) Help() string {
	return examples(
		"loadout coord ack codex 12",
		"loadout coord ack me 12 --note 'built against rev3'",
	)
}

func (o *ackCmd) run(ctx context.Context, c *call) error {
	r, agent, err := c.write(ctx, o.writing, o.Reader, func(agent string) engine.Command {
		return engine.Ack{Agent: agent, Seq: o.Seq, Note: o.Note}
	})
	if err != nil {
		return err
	}
	read := reading(ctx, c.opened, agent)
	return c.answer(receipt(r, read), func() {
		if len(r.Events) == 0 {
			c.printf("%s had acknowledged through seq %d already\n", agent, read.ReadTo)
		} else {
			c.printf("%s acknowledged through seq %d (ack seq %d)\n", agent, o.Seq, r.Seq())
		}
		c.printf("%s unread, the log ends at seq %d\n", words.Plural(read.Unread, "event"), r.Head)
	})
}

// readingJSON says where an agent stands in the log.
type readingJSON struct {
	ReadTo    int64 `json:"readTo"`
	Unread    int64 `json:"unread"`
	LogEvents int64 `json:"logEvents"` // how many events the log holds
}

// reading is where an agent stands: beside an answer that was given already, so it may be unknown.
func reading(ctx context.Context, e *engine.Engine, agent string) readingJSON {
	view, err := e.View(ctx)
	if err != nil {
		return readingJSON{ReadTo: -1}
	}
	return readingOf(view.State, agent)
}

func readingOf(s *state.State, agent string) readingJSON {
	r := readingJSON{ReadTo: -1, LogEvents: s.Count()}
	if a, ok := s.Agent(agent); ok {
		r.ReadTo, r.Unread = a.Cursor, a.Unread.Count
	}
	return r
}

type snapshotCmd struct {
	Reader string `complete:"agent" arg:"" name:"agent" help:"For whom."`
}

func (snapshotCmd) Help() string {
	return examples(
		"loadout coord snapshot codex",
		"loadout coord snapshot me --json",
	)
}

// maxNewsLines is how many unread events the text of a snapshot lists.
const maxNewsLines = 20

func (o *snapshotCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	agent, err := c.reader(ctx, e, o.Reader)
	if err != nil {
		return err
	}
	snapshot, err := e.Snapshot(ctx, agent)
	if err != nil {
		return err
	}
	return c.answer(snapshot, func() { c.printSnapshot(&snapshot) })
}

func (c *call) printSnapshot(s *engine.Snapshot) {
	c.printf("%s\n", c.bold(fmt.Sprintf("Coordination snapshot for %s (%s)", s.Agent, words.Seq(s.AsOf))))
	c.printf("%s, read to %s, %s in the log\n", words.AsOf(s.AsOf), words.Seq(s.ReadTo), words.Plural(s.LogLines, "line"))
	c.printHalt(s.Halted)
	if len(s.Tasks)+len(s.Contracts)+len(s.Ownership)+len(s.Unacked)+len(s.Decisions) == 0 {
		c.printf("\nNo active coordination state.\n")
	}
	c.section("Pending tasks", len(s.Tasks))
	for _, t := range s.Tasks {
		c.printTask(t)
	}
	c.section("Active contracts", len(s.Contracts))
	for _, k := range s.Contracts {
		c.printf("  %s rev%d by %s%s, %s\n", c.bold(k.Name), k.Revision, k.Publisher, inParens(k.Format), yours(k))
	}
	c.section("File ownership", len(s.Ownership))
	for _, o := range s.Ownership {
		c.printf("  %s (%s): %s  fence %d, since %s%s%s%s\n", o.Agent, o.Mode, strings.Join(o.Paths, ", "), o.Fence,
			c.moment(o.Since), c.limit(o.ExpiresAt), because(o.Reason), staleMark(o.Stale))
	}
	c.section("Unacknowledged events", len(s.Unacked))
	news := s.Unacked
	if hidden := len(news) - maxNewsLines; hidden > 0 {
		news = news[hidden:]
		c.printf("  … and %s before: loadout coord subscribe %s --cursor %d\n", words.Plural(hidden, "event"), words.ShellWord(s.Agent), s.ReadTo)
	}
	for _, r := range news {
		c.printRef(r)
	}
	switch {
	case engine.Spent(s.AsOf):
		c.printf("  nothing can be acknowledged, for a line has a number that cannot be right: loadout doctor --fix\n")
	case len(news) > 0:
		c.printf("  when read: loadout coord ack %s %d\n", words.ShellWord(s.Agent), s.AsOf)
	}
	c.section("Recent decisions", len(s.Decisions))
	for _, d := range s.Decisions {
		c.printDecision(d)
	}
	c.printSkips(s.Skipped)
	if n := s.Truncated.Total(); n > 0 {
		c.printf("\n%s left out of this answer:\n", words.Plural(n, "item"))
		for _, how := range s.More {
			c.printf("  %s\n", how)
		}
	}
}

// yours says whether an agent has read the latest revision.
func yours(k engine.SnapshotContract) string {
	switch k.Yours {
	case k.Revision:
		return "read"
	case 0:
		return "not read"
	}
	return fmt.Sprintf("you read rev%d", k.Yours)
}

// section begins a part of an answer that has something to show.
func (c *call) section(title string, n int) {
	if n > 0 {
		c.printf("\n%s\n", c.bold(fmt.Sprintf("%s (%d):", title, n)))
	}
}

func (c *call) printTask(t engine.OpenTask) {
	kind := ""
	if t.Question {
		kind = "question "
	}
	if t.Stuck != "" {
		c.printf("  [%s] %s%s → %s: %s (%s)\n      %s\n", t.ID, kind, t.From, t.To, t.Description, t.Stuck, t.Command())
		return
	}
	c.printf("  [%s] %s%s → %s: %s%s\n", t.ID, kind, t.From, t.To, t.Description, taskMark(t.Task))
}

// taskMark says what has become of a task beyond being open.
func taskMark(t state.Task) string {
	switch t.Status {
	case state.TaskOpen:
		if len(t.Waiting) > 0 {
			return " (waits for " + strings.Join(t.Waiting, ", ") + ")"
		}
		return ""
	case state.TaskTaken:
		return " (taken by " + t.TakenBy + ")"
	case state.TaskDone, state.TaskFailed, state.TaskCancelled:
		return fmt.Sprintf(" (%s by %s)", t.Status, t.SettledBy)
	}
	return ""
}

func (c *call) printRef(r state.Ref) {
	c.printf("  seq=%d [%s] %s: %s%s, %s\n", r.Seq, r.Type, r.From, r.Description, oldNews(r.SupersededBy), c.moment(r.At))
}

// oldNews marks an event that another one has superseded, 0 for none.
func oldNews(by int64) string {
	if by == 0 {
		return ""
	}
	return fmt.Sprintf(" (superseded by seq %d)", by)
}

func (c *call) printDecision(d state.Decision) {
	old := ""
	if d.SupersededBy != "" {
		old = " (superseded by " + d.SupersededBy + ")"
	}
	c.printf("  [%s] %s: %s%s\n", d.ID, d.From, d.Title, old)
}

func staleMark(stale bool) string {
	if stale {
		return ", stale: its session does not run"
	}
	return ""
}

// printSkips says what of the log could not be read.
func (c *call) printSkips(s state.Skips) {
	if s.Bad > 0 {
		c.printf("\nWarning: %s cannot be read; loadout doctor says more\n", words.Plural(s.Bad, "line"))
	}
	if s.Duplicate > 0 {
		c.printf("Warning: %s twice in the log\n", words.Plural(s.Duplicate, "event"))
	}
	if s.OutOfOrder > 0 {
		c.printf("Warning: %s out of order\n", words.Plural(s.OutOfOrder, "event"))
	}
}

// printHalt says that the kill switch is on.
func (c *call) printHalt(h *engine.HaltedError) {
	switch {
	case h == nil:
	case h.Damaged:
		c.printf("%s\n", c.red("HALTED; the kill switch does not say by whom or why"))
	default:
		c.printf("%s\n", c.red(fmt.Sprintf("HALTED by %s since %s: %s", h.By, c.moment(h.At), h.Reason)))
	}
}

type subscribeCmd struct {
	Reader string `complete:"agent" arg:"" name:"agent" help:"For whom: events from it, to it, and to everybody."`
	Cursor int64  `complete:"seq" default:"-1" placeholder:"N" help:"Only events after this sequence number; -1: from the first."`
	Last   int    `placeholder:"N" help:"Only the newest N of them."`
	Max    int    `placeholder:"N" default:"1000" help:"At most the oldest N of them, so that you can page; default 1000."`
}

func (subscribeCmd) Help() string {
	return examples(
		"loadout coord subscribe codex --cursor 41",
		"loadout coord subscribe me --cursor -1 --json",
	)
}

// page is the answer of subscribe: events, and what they are of.
type page struct {
	Events  []any `json:"events"`
	HighSeq int64 `json:"highSeq"` // the log was read up to here
	readingJSON
	Next    int64       `json:"next"`                     // the cursor to go on from
	Omitted int64       `json:"omitted"`                  // left out by --max or --last, -1: some, not counted
	AtLeast int64       `json:"omittedAtLeast,omitempty"` // where omitted is -1: so many of them are known
	Gone    bool        `json:"gone,omitempty"`           // some are lost with an archive
	Skipped state.Skips `json:"skipped"`
}

func (o *subscribeCmd) run(ctx context.Context, c *call) error {
	if err := checkBounds(o.Cursor, o.Last, o.Max); err != nil {
		return err
	}
	e, err := c.open(0)
	if err != nil {
		return err
	}
	agent, err := c.reader(ctx, e, o.Reader)
	if err != nil {
		return err
	}
	query := engine.Query{After: o.Cursor, Agent: agent, Last: o.Last, Count: true}
	if o.Last == 0 {
		query.Max = o.Max
	}
	found, err := e.Events(ctx, query)
	if err != nil {
		return err
	}
	view, err := e.View(ctx) // after the events: it knows what has superseded them
	if err != nil {
		return err
	}
	answer := page{
		Events: make([]any, len(found.Events)), HighSeq: found.AsOf, readingJSON: readingOf(view.State, agent),
		Next: max(o.Cursor, found.AsOf), Omitted: found.Omitted, AtLeast: found.AtLeast, Gone: found.Gone, Skipped: found.Skips,
	}
	for i := range found.Events {
		answer.Events[i] = newsJSON(&found.Events[i], view.State.SupersededBy(found.Events[i].Seq))
	}
	if n := len(found.Events); found.Omitted != 0 && o.Last == 0 && n > 0 {
		answer.Next = found.Events[n-1].Seq
	}
	return c.answer(answer, func() {
		for i := range found.Events {
			ev := &found.Events[i]
			c.printf("  seq=%d [%s] %s→%s: %s%s, %s\n", ev.Seq, ev.Type, ev.From, ev.To, ev.Description,
				oldNews(view.State.SupersededBy(ev.Seq)), c.moment(ev.Time()))
		}
		if len(found.Events) == 0 {
			switch {
			case o.Cursor < 0:
				c.printf("No events for %s.\n", agent)
			case o.Cursor > found.AsOf:
				c.printf("Nothing can be after seq %d yet for %s: the log ends at %s.\n", o.Cursor, agent, words.Seq(found.AsOf))
			default:
				c.printf("No events after seq %d for %s.\n", o.Cursor, agent)
			}
		}
		if found.Gone {
			c.printf("Not all events: %s\n", engine.GoneText)
		}
		switch {
		case found.Omitted == 0, found.Gone && found.AtLeast == 0:
		case o.Last > 0:
			c.printf("%s left out before: loadout coord subscribe %s --cursor %d\n", omitted(found.Omitted, found.AtLeast), words.ShellWord(agent), o.Cursor)
		default:
			c.printf("%s left out: loadout coord subscribe %s --cursor %d\n", omitted(found.Omitted, found.AtLeast), words.ShellWord(agent), answer.Next)
		}
		c.printSkips(found.Skips)
		c.printf("High watermark: %s, read to %s, %s in the log\n", words.Seq(found.AsOf), words.Seq(answer.ReadTo), words.Plural(answer.LogEvents, "event"))
	})
}

// omitted counts what an answer left out, as far as it is known: n, or when that is negative at least so many.
func omitted(n, atLeast int64) string {
	switch {
	case n >= 0:
		return words.Plural(n, "event")
	case atLeast > 0:
		return "at least " + words.Plural(atLeast, "event")
	}
	return "perhaps more events"
}

// checkBounds refuses numbers that select nothing that could be.
func checkBounds(cursor int64, counts ...int) error {
	if cursor < engine.Everything || cursor > event.MaxSeq {
		return &engine.UsageError{Message: "a cursor is a sequence number of at most 2^53-1, or -1 for everything"}
	}
	for _, n := range counts {
		if n < 0 || n > math.MaxInt32 {
			return &engine.UsageError{Message: "a count is a number from 0 to 2147483647"}
		}
	}
	return nil
}

type cardCmd struct {
	Holder string `complete:"agent" arg:"" name:"agent" help:"Whose card."`
}

func (cardCmd) Help() string {
	return examples(
		"loadout coord card claude-code",
		"loadout coord card me --json",
	)
}

func (o *cardCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	agent, err := c.reader(ctx, e, o.Holder)
	if err != nil {
		return err
	}
	card, err := e.Card(ctx, agent)
	if err != nil {
		return err
	}
	return c.answer(card, func() { c.block("", card.Text) })
}
