package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
)

type statusCmd struct {
	At      *int64 `complete:"seq" placeholder:"SEQ" help:"As of this sequence number, also below a compaction."`
	NoDrift bool   `help:"Do not ask git which files changed outside of the claims."`
	bounded
}

func (statusCmd) Help() string {
	return examples(
		"loadout coord status",
		"loadout status --json",
		"loadout status --all",
		"loadout coord status --at 120",
	)
}

// driftWait bounds how long status waits for git. The verb drift takes its time.
const driftWait = 2 * time.Second

func (o *statusCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	if o.At != nil {
		return c.showStateAt(ctx, e, *o.At, c.most(o.All))
	}
	view, err := e.View(ctx)
	if err != nil {
		return err
	}
	s := newStatus(view, c.most(o.All))
	s.Project = e.Project().Root
	if !o.NoDrift && s.Events > 0 { // else nothing is coordinated here yet
		most := engine.MaxDrift
		if o.All || !c.JSON { // the text counts all and names few
			most = math.MaxInt
		}
		s.Drift = driftNow(ctx, e, most)
	}
	return c.answer(s, func() { c.printStatus(&s) })
}

// showStateAt answers with the state as of a sequence number, with lists of at most so many entries.
func (c *call) showStateAt(ctx context.Context, e *engine.Engine, at int64, most int) error {
	past, err := e.StateAt(ctx, at)
	if err != nil {
		return err
	}
	c.past = past.At()
	s := newStatus(&engine.View{State: past, Now: c.past}, most)
	s.Project, s.At = e.Project().Root, &at
	if h := past.Halt(); h != nil {
		s.Halted = &engine.HaltedError{By: h.By, Reason: h.Reason, At: h.At}
	}
	return c.answer(s, func() { c.printStatus(&s) })
}

// driftNow is the drift as far as it can be told soon, nil when it cannot, with at most so many items.
func driftNow(ctx context.Context, e *engine.Engine, most int) *engine.DriftReport {
	ctx, cancel := context.WithTimeout(ctx, driftWait)
	defer cancel()
	report, err := e.DriftUpTo(ctx, most)
	if err != nil {
		return nil
	}
	return &report
}

// status is the answer of the verb of that name. The first seven members are those that other programs of the protocol know.
type status struct {
	Events     int64            `json:"events"`
	HighSeq    int64            `json:"highSeq"`
	Corrupt    int64            `json:"corrupt"`
	Contracts  []state.Contract `json:"contracts"`
	Ownership  []state.Claim    `json:"ownership"`
	AckCursors map[string]int64 `json:"ackCursors"` // of agents
	Unacked    int64            `json:"unacked"`    // news to everybody that nobody has acknowledged; agents has what each has not read

	AtMost    bool                `json:"unackedAtMost,omitempty"` // unacked may be too much: what would have to be counted was compacted
	Project   string              `json:"project"`
	At        *int64              `json:"at,omitempty"` // set when it is about the past
	Now       time.Time           `json:"now"`
	Halted    *engine.HaltedError `json:"halted"`
	Waiting   []state.Waiting     `json:"waiting"` // what waits for a person, first what matters most
	Tasks     []engine.OpenTask   `json:"tasks"`   // open ones
	Decisions []state.Decision    `json:"decisions"`
	Agents    []agentStatus       `json:"agents"`
	Threads   []state.Thread      `json:"threads"`
	Truncated truncated           `json:"truncated"`
	Skipped   state.Skips         `json:"skipped"`
	Drift     *engine.DriftReport `json:"drift,omitempty"`

	stale map[string]bool // by folded name, whose session does not run
}

// truncated counts what the lists of a status leave out.
type truncated struct {
	Waiting   int `json:"waiting"`
	Contracts int `json:"contracts"`
	Ownership int `json:"ownership"`
	Tasks     int `json:"tasks"`
	Agents    int `json:"agents"`
	Decisions int `json:"decisions"`
}

// agentStatus is an agent with what is known about its session now.
type agentStatus struct {
	state.Agent
	Live     *bool      `json:"live,omitempty"` // nil in an answer about the past: nobody recorded it
	LastBeat *time.Time `json:"lastBeat,omitempty"`
}

// lives reports whether the agent's session is known to live.
func (a agentStatus) lives() bool { return a.Live != nil && *a.Live }

// stale reports whether what the agent holds is left over from a session that is over.
func (a agentStatus) stale() bool {
	return engine.Stale(a.Agent, engine.Liveness{Known: a.Registered && a.Live != nil, Live: a.lives()})
}

// maxDecisions is how many of the newest decisions a bounded status lists.
const maxDecisions = 10

// newStatus is the status with lists of at most so many entries.
func newStatus(v *engine.View, most int) status {
	s := v.State
	out := status{
		Events: s.Count(), HighSeq: s.Head(), Corrupt: s.Skips().Bad, AckCursors: map[string]int64{}, stale: map[string]bool{},
		Now: v.Now.UTC(), Halted: v.Halted, Threads: orEmpty(s.Threads()), Skipped: s.Skips(),
	}
	left := &out.Truncated
	out.Contracts, left.Contracts = keep(s.Contracts(), most, func(k *state.Contract) int64 { return k.Seq })
	out.Ownership, left.Ownership = keep(s.Claims(), most, func(k *state.Claim) int64 { return k.Seq })
	tasks, over := keep(s.Pending(), most, func(t *state.Task) int64 { return t.Seq })
	out.Tasks, left.Tasks = v.OpenTasks(tasks), over
	decisions := most
	if most < math.MaxInt {
		decisions = maxDecisions
	}
	out.Decisions, left.Decisions = keep(s.Decisions(), decisions, func(d *state.Decision) int64 { return d.Seq })
	agents := agentsOf(v)
	for i := range agents {
		out.stale[event.FoldName(agents[i].Name)] = agents[i].stale()
	}
	unacked := s.Unacked()
	out.Unacked, out.AtMost = unacked.Count, !unacked.Exact
	out.Agents, left.Agents = keep(agents, most, (*agentStatus).weight)
	for i := range out.Agents {
		if a := &out.Agents[i]; a.Cursor >= 0 {
			out.AckCursors[a.Name] = a.Cursor
		}
	}
	out.Waiting = orEmpty(v.Waiting()) // what matters most comes first
	left.Waiting = max(0, len(out.Waiting)-most)
	out.Waiting = out.Waiting[:len(out.Waiting)-left.Waiting]
	return out
}

// weight is how much an agent counts in a list: one that lives more than one that does not, then who was heard of later.
func (a *agentStatus) weight() int64 {
	if a.lives() {
		return event.MaxSeq + 1 + a.LastSeq
	}
	return a.LastSeq
}

// agentsOf lists the agents with what is known about their sessions.
func agentsOf(v *engine.View) []agentStatus {
	all := v.State.Agents()
	agents := make([]agentStatus, 0, len(all))
	for _, a := range all {
		known := agentStatus{Agent: a}
		if v.Live != nil {
			live := v.Live(a.Name)
			known.Live = &live.Live
			if !live.LastBeat.IsZero() {
				known.LastBeat = &live.LastBeat
			}
		}
		agents = append(agents, known)
	}
	return agents
}

// statusAll is what shows all of a status.
const statusAll = "coord status --all"

func (c *call) printStatus(s *status) {
	if s.Events == 0 && s.Corrupt == 0 {
		c.printHalt(s.Halted)
		c.printf("No coordination events yet in %s.\n", s.Project)
		c.printf("begin with: loadout coord own AGENT PATH\n")
		return
	}
	c.printf("%s\n", c.bold(fmt.Sprintf("Coordination status (%s, seq %d)", words.Plural(s.Events, "event"), s.HighSeq)))
	if s.At != nil {
		c.printf("as of seq %d, %s; the log may have gone on since\n", *s.At, words.Since(c.now(), c.past))
	}
	c.printHalt(s.Halted)
	c.printWaiting(s)
	c.section("Contracts", len(s.Contracts)+s.Truncated.Contracts)
	for _, k := range s.Contracts {
		c.printListed(k)
	}
	c.more(s.Truncated.Contracts, "contract", "coord contract --all")
	c.printOwnership(s)
	c.section("Open tasks", len(s.Tasks)+s.Truncated.Tasks)
	for _, t := range s.Tasks {
		c.printTask(t)
	}
	c.more(s.Truncated.Tasks, "task", statusAll)
	c.section("Agents", len(s.Agents)+s.Truncated.Agents)
	for _, a := range s.Agents {
		c.printAgent(a, s.HighSeq)
	}
	c.more(s.Truncated.Agents, "agent", "agent list --all")
	c.section("Recent decisions", len(s.Decisions))
	for _, d := range s.Decisions {
		c.printDecision(d)
	}
	c.more(s.Truncated.Decisions, "decision", statusAll)
	if s.Drift != nil {
		c.printDriftOutside(s.Drift)
	}
	c.printSkips(s.Skipped)
}

// printWaiting tells what waits for a person; the kill switch has its own lines.
func (c *call) printWaiting(s *status) {
	list := slices.DeleteFunc(slices.Clone(s.Waiting), func(w state.Waiting) bool { return w.Kind == state.WaitHalt })
	c.section("Waits for a person", len(list)+s.Truncated.Waiting)
	for _, w := range list {
		whose := "of"
		if w.ID != "" && w.Kind != state.WaitTurn {
			whose = "from"
		}
		c.printf("  %s %s %s, %s: %s\n", w.Kind, whose, c.bold(w.Agent), c.moment(w.Since), w.Text)
		if len(w.Verb) > 0 {
			c.printf("      loadout %s\n", shellWords(w.Verb))
		}
	}
	c.more(s.Truncated.Waiting, "thing", statusAll)
}

// printOwnership groups the claims by holder and mode.
func (c *call) printOwnership(s *status) {
	if len(s.Ownership) == 0 {
		return
	}
	c.printf("\n%s\n", c.bold(fmt.Sprintf("File ownership (%s):", words.Plural(len(s.Ownership)+s.Truncated.Ownership, "path"))))
	claims := slices.Clone(s.Ownership)
	slices.SortStableFunc(claims, func(a, b state.Claim) int {
		return cmp.Or(strings.Compare(a.Agent, b.Agent), strings.Compare(string(a.Mode), string(b.Mode)))
	})
	for _, k := range claims {
		c.printf("  %s (%s): %s  fence %d, since %s%s%s%s\n", k.Agent, k.Mode, c.bold(k.Path), k.Fence,
			c.moment(k.Since), c.limit(k.ExpiresAt), because(k.Reason), staleMark(s.stale[event.FoldName(k.Agent)]))
	}
	c.more(s.Truncated.Ownership, "path", statusAll)
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ", because " + reason
}

// printAgent says where an agent stands in the log and whether its session lives.
func (c *call) printAgent(a agentStatus, head int64) {
	read := "has acknowledged nothing"
	if a.Cursor >= 0 {
		read = fmt.Sprintf("seq %d", a.Cursor)
		if behind := head - a.Cursor; behind > 0 {
			read += fmt.Sprintf(" (%d behind)", behind)
		} else {
			read += " (up to date)"
		}
	}
	unread := ""
	if a.Unread.Count > 0 {
		atMost := ""
		if !a.Unread.Exact {
			atMost = "at most "
		}
		unread = fmt.Sprintf(", %s%d unread", atMost, a.Unread.Count)
	}
	c.printf("  %s: %s%s%s\n", c.bold(a.Name), read, unread, c.sessionMark(a))
}

// sessionMark says what is known about an agent's session.
func (c *call) sessionMark(a agentStatus) string {
	beat := ""
	if a.LastBeat != nil {
		beat = ", last heard of " + c.moment(*a.LastBeat)
	}
	switch {
	case a.Ended != nil:
		return ", session ended " + c.moment(*a.Ended)
	case !a.Registered || a.Live == nil:
		return ""
	case *a.Live:
		return ", live" + beat
	}
	return ", not running" + beat
}

// maxDriftLines is how many files of each kind of drift the text of a status names.
const maxDriftLines = 10

// printDriftOutside names the files that changed under another agent's claim or under none; the rest is for the verb drift.
func (c *call) printDriftOutside(d *engine.DriftReport) {
	c.printDriftOf(d, engine.DriftForeign, "Changed under another agent's claim")
	c.printDriftOf(d, engine.DriftUnclaimed, "Changed under no claim")
	if d.Partial {
		c.printf("\nnot every worktree could be compared in time: loadout coord drift\n")
	}
}

func (c *call) printDriftOf(d *engine.DriftReport, kind engine.DriftKind, title string) {
	items := slices.DeleteFunc(slices.Clone(d.Items), func(item engine.Drift) bool { return item.Kind != kind })
	c.section(title, len(items))
	for i, item := range items {
		if i == maxDriftLines {
			c.printf("  … and %s: loadout coord drift\n", words.Plural(len(items)-i, "more file"))
			break
		}
		c.printDrift(item)
	}
}

type driftCmd struct{ bounded }

func (driftCmd) Help() string {
	return examples(
		"loadout coord drift",
		"loadout coord drift --all --json",
	)
}

func (o *driftCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	report, err := e.DriftUpTo(ctx, c.most(o.All))
	if err != nil {
		return err
	}
	return c.answer(report, func() {
		if !report.Git {
			c.printf("The project is not in a git repository; there is nothing to compare the claims with.\n")
			return
		}
		c.printf("%s\n", c.bold(fmt.Sprintf("Changed files and claims (%s)", words.AsOf(report.AsOf))))
		for _, w := range report.Worktrees {
			c.printf("  %s%s: %s changed%s\n", w.Path, inParens(w.Branch), words.Plural(w.Changed, "file"), worktreeNote(w))
		}
		if len(report.Items) == 0 {
			c.printf("\nno drift\n")
			return
		}
		c.printf("\n")
		for _, item := range report.Items {
			c.printDrift(item)
		}
		c.more(int(report.Omitted), "file", "coord drift --all")
	})
}

func worktreeNote(w engine.DriftWorktree) string {
	s := ""
	if len(w.Agents) > 0 {
		s += ", " + strings.Join(w.Agents, ", ") + " at work"
	}
	if w.Note != "" {
		s += "; " + w.Note
	}
	return s
}

func (c *call) printDrift(d engine.Drift) {
	switch d.Kind {
	case engine.DriftUnclaimed:
		c.printf("  unclaimed  %s  %s in %s%s\n", c.bold(d.Path), d.Status, d.Worktree, inParens(d.Branch))
	case engine.DriftForeign:
		c.printf("  %s    %s  %s in %s%s; held by %s (%s)\n", c.red("foreign"), c.bold(d.Path), d.Status, d.Worktree, inParens(d.Branch), strings.Join(d.Owners, ", "), d.Mode)
	case engine.DriftClaimed:
		c.printf("  claimed    %s  %s in %s%s; held by %s (%s)\n", c.bold(d.Path), d.Status, d.Worktree, inParens(d.Branch), strings.Join(d.Owners, ", "), d.Mode)
	}
}
