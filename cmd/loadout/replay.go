package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/words"
)

type replayCmd struct {
	At     *int64 `complete:"seq" placeholder:"SEQ" help:"Show the state as of this sequence number instead, also below a compaction."`
	Last   int    `placeholder:"N" help:"Only the newest N events; default 2000."`
	Since  string `placeholder:"TIME" help:"Only events since then: an age such as 2h, a date, or an RFC 3339 time."`
	Cursor *int64 `complete:"seq" placeholder:"N" help:"Only events after this sequence number."`
	All    bool   `help:"With --at: everything, however long a list is."`
}

func (replayCmd) Help() string {
	return examples(
		"loadout coord replay",
		"loadout coord replay --last 50 --since 2h",
		"loadout coord replay --at 120 --json",
	)
}

func (o *replayCmd) run(ctx context.Context, c *call) error {
	query := engine.Query{After: engine.Everything, Last: o.Last, Count: true}
	if o.Cursor != nil {
		query.After = *o.Cursor
	}
	if err := checkBounds(query.After, o.Last); err != nil {
		return err
	}
	if o.At != nil && (o.Last > 0 || o.Since != "" || o.Cursor != nil) {
		return &engine.UsageError{Message: "--at shows a state; it excludes --last, --since and --cursor"}
	}
	if o.All && o.At == nil {
		return &engine.UsageError{Message: "--all goes with --at", Hints: []string{"loadout coord replay --last N"}}
	}
	var since time.Time
	if o.Since != "" {
		var err error
		if since, err = parseSince(o.Since, c.now()); err != nil {
			return &engine.UsageError{Message: "--since: " + err.Error()}
		}
	}
	e, err := c.open(0)
	if err != nil {
		return err
	}
	if o.At != nil {
		return c.showStateAt(ctx, e, *o.At, c.most(o.All))
	}
	t, err := timeline(ctx, e, query, since)
	if err != nil {
		return err
	}
	return c.answer(t, func() { c.printTimeline(&t) })
}

// timeline is the story of what q selects, from a moment on if since is not zero.
func timeline(ctx context.Context, e *engine.Engine, q engine.Query, since time.Time) (engine.Timeline, error) {
	if since.IsZero() {
		return e.Timeline(ctx, q)
	}
	if q.Last == 0 {
		q.Last = engine.MaxReplay
	}
	found, err := e.Events(ctx, q)
	if err != nil {
		return engine.Timeline{}, err
	}
	first := slices.IndexFunc(found.Events, func(ev event.Event) bool { return !ev.Time().Before(since) })
	if first < 0 {
		first = len(found.Events)
	}
	t := engine.NewTimeline(found.Events[first:])
	t.AsOf, t.Skipped = found.AsOf, found.Skips.Bad
	if first == 0 {
		t.Omitted, t.AtLeast, t.Gone = found.Omitted, found.AtLeast, found.Gone // else all that is left out is older than since
	}
	return t, nil
}

// maxAgentWidth is how many cells the column of names takes at most; a longer name pushes what follows to the right.
const maxAgentWidth = 24

func (c *call) printTimeline(t *engine.Timeline) {
	if t.Gone {
		c.printf("Not all events: %s\n", engine.GoneText)
	}
	if len(t.Entries) == 0 {
		c.printf("No coordination events to replay (%s).\n", words.AsOf(t.AsOf))
		return
	}
	c.printf("%s\n", c.bold("COORDINATION REPLAY"))
	c.printf("Agents:   %s\n", strings.Join(t.Agents, ", "))
	c.printf("Duration: %s\n", t.Duration)
	c.printf("Events: %d · Contracts: %d · Ownership claims: %d\n", t.TotalEvents, t.ContractCount, t.OwnershipCount)
	if t.Omitted != 0 && (!t.Gone || t.AtLeast > 0) {
		c.printf("%s before that left out: --last N shows more\n", omitted(t.Omitted, t.AtLeast))
	}
	c.printf("%s\n", strings.Repeat("─", 60))
	number, agent, kind := 0, 0, 0
	for _, entry := range t.Entries {
		number = max(number, len(strconv.FormatInt(entry.Seq, 10)))
		agent = max(agent, min(displaywidth.String(safetext.Line(entry.Agent)), maxAgentWidth))
		kind = max(kind, len(entry.Type))
	}
	before := ""
	for _, entry := range t.Entries {
		if before != "" && before != entry.Agent {
			c.printf("\n")
		}
		before = entry.Agent
		c.printf("%s  %8s  %s %s  %s\n", pad(fmt.Sprintf("#%d", entry.Seq), number+1), entry.RelativeTime,
			pad(entry.Agent, agent), pad(string(entry.Type), kind), entry.Headline)
		if entry.Detail != "" {
			c.printf("%*s  └─ %s\n", number+1+2+8, "", clip(entry.Detail, 160))
		}
	}
	c.printf("\n")
	if t.Skipped > 0 {
		c.printf("Warning: %s cannot be read; loadout doctor says more\n", words.Plural(t.Skipped, "line"))
	}
	c.printf("Replay complete · %s, as of seq %d\n", words.Plural(t.TotalEvents, "event"), t.AsOf)
}
