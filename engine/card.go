package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
)

// MaxCardBytes bounds a handover card.
const MaxCardBytes = 1024

const (
	maxCardItem = 120             // UTF-16 units of one item
	cardGitWait = 2 * time.Second // a card is read at the start of a session and must not delay it
)

// Card is what the next session of an agent must know.
type Card struct {
	Agent     string      `json:"agent"`
	Text      string      `json:"card"` // at most MaxCardBytes
	AsOf      int64       `json:"asOf"`
	ReadTo    int64       `json:"readTo"` // the agent has acknowledged everything up to here, -1: nothing
	Unread    int64       `json:"unread"`
	LogEvents int64       `json:"logEvents"`
	Skipped   state.Skips `json:"skipped"`
}

// Card sums up for the next session of an agent: claims, open tasks and questions, last decisions, contracts it has not caught up
// with, acceptance gates, files that are changed and not committed.
func (e *Engine) Card(ctx context.Context, agent string) (Card, error) {
	if err := event.CheckName(agent); err != nil {
		return Card{}, invalid(err)
	}
	v, err := e.View(ctx)
	if err != nil {
		return Card{}, err
	}
	files, err := e.unlanded(ctx, v, agent)
	if err != nil {
		return Card{}, err
	}
	c := Card{
		Agent: agent, AsOf: v.State.Head(), ReadTo: readTo(v, agent), Unread: v.State.Unread(agent).Count,
		LogEvents: v.State.Count(), Skipped: v.State.Skips(),
	}
	c.Text = c.text(v, files)
	return c, nil
}

// unlanded lists the changed files of this worktree that the agent claims, all changed ones when it claims none.
func (e *Engine) unlanded(ctx context.Context, v *View, agent string) ([]string, error) {
	if e.project.Worktree == "" {
		return nil, nil
	}
	asked, cancel := context.WithTimeout(ctx, cardGitWait)
	defer cancel()
	trees, err := e.project.Worktrees()
	if err != nil {
		return nil, err
	}
	changes, err := gitStatus(asked, e.project.Worktree, ".")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	changes = withoutTrees(changes, e.project.Worktree, trees)
	claims := v.State.ClaimsOf(agent)
	var files []string
	for _, c := range changes {
		if len(claims) == 0 || slices.ContainsFunc(claims, func(own state.Claim) bool { return state.Within(c.Path, own.Path, v.FoldCase) }) {
			files = append(files, c.Path)
		}
	}
	if err != nil {
		files = append(files, "("+gitNote(err)+")")
	}
	return files, nil
}

// section is one line of a card: as many items as there is room for.
type section struct {
	title string
	items []string
	shown int
}

func (c *Card) text(v *View, files []string) string {
	agent := c.Agent
	sections := []section{
		{title: "Claims", items: cardClaims(v, agent)},
		{title: "Open tasks", items: cardTasks(v, agent)},
		{title: "Open questions", items: cardQuestions(v, agent)},
		{title: "Contracts behind", items: cardContracts(v, agent)},
		{title: "Gates", items: cardGates(v)},
		{title: "Decisions", items: cardDecisions(v)},
		{title: "Not committed", items: files},
	}
	head := fmt.Sprintf("Handover card for %s, %s, read to %s, %d unread.\n", event.Clip(agent, 64), words.AsOf(c.AsOf), words.Seq(c.ReadTo), c.Unread)
	if v.Halted != nil {
		head += "HALTED: " + event.Clip(safetext.Line(v.Halted.Error()), maxCardItem) + "\n"
	}
	// One item more for each section in turn, as long as all of it fits.
	for grown := true; grown; {
		grown = false
		for i := range sections {
			s := &sections[i]
			if s.shown == len(s.items) {
				continue
			}
			s.shown++
			if len(head)+len(layOut(sections)) > MaxCardBytes {
				s.shown--
				continue
			}
			grown = true
		}
	}
	return head + layOut(sections)
}

// readTo is up to where an agent has acknowledged, -1 for nothing.
func readTo(v *View, agent string) int64 {
	if a, ok := v.State.Agent(agent); ok {
		return a.Cursor
	}
	return -1
}

func layOut(sections []section) string {
	var b strings.Builder
	for _, s := range sections {
		if len(s.items) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s (%d):", s.title, len(s.items))
		for i, item := range s.items[:s.shown] {
			if i > 0 {
				b.WriteByte(';')
			}
			b.WriteByte(' ')
			b.WriteString(event.Clip(safetext.Line(item), maxCardItem))
		}
		if s.shown < len(s.items) {
			b.WriteString(" …")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func cardClaims(v *View, agent string) []string {
	claims := v.State.ClaimsOf(agent)
	items := make([]string, 0, len(claims))
	for _, c := range claims {
		item := fmt.Sprintf("%s (%s, fence %d)", c.Path, c.Mode, c.Fence)
		if c.Lapsed(v.Now) {
			item = c.Path + " (lapsed)"
		}
		items = append(items, item)
	}
	return items
}

// cardTasks lists what the agent has taken first, then what waits for it.
func cardTasks(v *View, agent string) []string {
	mine := func(t *state.Task) bool { return event.SameName(t.TakenBy, agent) }
	var taken, waiting []string
	o := v.outlook()
	for _, t := range v.State.PendingIf(func(t *state.Task) bool { return !t.Question && (mine(t) || t.TakenBy == "" && isFor(t, agent)) }) {
		item := fmt.Sprintf("[%s] %s, from %s", t.ID, t.Description, t.From)
		why, _ := v.State.Stuck(&t, &o)
		switch {
		case mine(&t):
			taken = append(taken, item+" (yours)")
		case why != "":
			waiting = append(waiting, item+" ("+why+")")
		case len(t.Waiting) > 0:
			waiting = append(waiting, fmt.Sprintf("%s (waits for %s)", item, strings.Join(t.Waiting, ", ")))
		default:
			waiting = append(waiting, item)
		}
	}
	return append(taken, waiting...)
}

// isFor reports whether a task or question is for an agent, or for everybody.
func isFor(t *state.Task, agent string) bool {
	return t.To == event.Broadcast || event.SameName(t.To, agent)
}

// cardQuestions lists the questions that wait for the agent's answer first, then its own that nobody has answered.
func cardQuestions(v *View, agent string) []string {
	own := func(t *state.Task) bool { return event.SameName(t.From, agent) }
	var asked, asking []string
	for _, t := range v.State.PendingIf(func(t *state.Task) bool { return t.Question && (own(t) || isFor(t, agent)) }) {
		if own(&t) {
			asking = append(asking, fmt.Sprintf("[%s] %s, asked of %s", t.ID, t.Description, t.To))
		} else {
			asked = append(asked, fmt.Sprintf("[%s] %s, from %s", t.ID, t.Description, t.From))
		}
	}
	return append(asked, asking...)
}

func cardContracts(v *View, agent string) []string {
	var items []string
	for _, c := range v.State.Contracts() {
		for _, r := range c.Readers {
			if event.SameName(r.Agent, agent) && r.Behind > 0 {
				yours := "no revision read"
				if r.Revision > 0 {
					yours = fmt.Sprintf("you: rev%d", r.Revision)
				}
				items = append(items, fmt.Sprintf("%s rev%d (%s)", c.Name, c.Revision, yours))
			}
		}
	}
	return items
}

// cardDecisions lists the decisions that hold, newest first.
func cardDecisions(v *View) []string {
	var items []string
	for _, d := range slices.Backward(v.State.Decisions()) {
		if d.SupersededBy == "" {
			items = append(items, d.Title)
		}
	}
	return items
}

// cardGates lists the ledgers of gates as they were checked last, those with unmet ones first, the newest of them at the top.
func cardGates(v *View) []string {
	ledgers := v.State.Ledgers()
	unmet := func(l *state.Ledger) bool { return l.Unmet > 0 || l.Invalid != "" }
	slices.SortStableFunc(ledgers, func(a, b state.Ledger) int {
		if x, y := unmet(&a), unmet(&b); x != y {
			return map[bool]int{true: -1, false: 1}[x]
		}
		return cmp.Compare(b.Seq, a.Seq)
	})
	items := make([]string, 0, len(ledgers))
	for _, l := range ledgers {
		items = append(items, cardGate(&l))
	}
	return items
}

func cardGate(l *state.Ledger) string {
	name := strings.TrimPrefix(l.Scope+"/"+l.Ledger, "/")
	if l.Invalid != "" {
		return name + " cannot be read: " + l.Invalid
	}
	item := fmt.Sprintf("%s %d met, %d unmet", name, l.Met, l.Unmet)
	if l.Abandoned > 0 {
		item += fmt.Sprintf(", %d abandoned", l.Abandoned)
	}
	for _, g := range l.Gates {
		if g.State != event.GateMet && g.State != event.GateAbandoned {
			return fmt.Sprintf("%s, first %s: [%s] %s", item, g.State, g.ID, g.Title)
		}
	}
	return item
}
