package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/engine/words"
)

// coordAgentsCmd groups the verbs about sessions of agent programs and the turns that are given to them.
type coordAgentsCmd struct {
	Detect detectCmd        `cmd:"" help:"Which agent programs are here, and whether they are signed in."`
	Start  startCmd         `cmd:"" help:"Start a session of a program with a first turn. Spends a turn."`
	Attach attachCmd        `cmd:"" help:"Make a session known that there is already. Spends nothing."`
	List   sessionsCmd      `cmd:"" help:"Sessions, turns that wait, caps, and what each agent was told and used."`
	Send   sendCmd          `cmd:"" help:"Say something to a session and print its answer. Spends a turn."`
	Forget forgetSessionCmd `cmd:"" help:"Make a session unknown."`
	Bridge bridgeCmd        `cmd:"" help:"Give events to sessions as turns, until Ctrl-C. Spends turns."`
	Raise  raiseCmd         `cmd:"" help:"Set caps, also while a bridge runs."`
	Retry  retryCmd         `cmd:"" help:"Have turns made again that failed, are uncertain, or are held."`
	Skip   skipCmd          `cmd:"" help:"Let turns go that failed, are uncertain, or are held."`
	Cancel cancelTurnCmd    `cmd:"" help:"End a turn that runs."`
}

// turning are the flags of the verbs that spend turns.
type turning struct {
	Timeout secondsFlag `aliases:"deadline" placeholder:"TIME" help:"How long a turn may take, from 10s to 10m; default: the setting bridge.deadline."`
	Mode    string      `placeholder:"WORD" help:"What turns may do, in the program's own word: a permission mode or a sandbox. Default: as set, else what the program does by itself."`
	Forbid  bool        `help:"Forbid everything by the program's own flags: no tools, no edits, no commands."`
}

// options are what the flags, the settings and the machine give for turns that are to be made. While all is halted it refuses.
func (o *turning) options(ctx context.Context, c *call, e *engine.Engine) (bridge.Options, error) {
	return o.optionsOf(c, e, func() (actor, error) { return c.acting(ctx, e, "") })
}

// optionsOf are options for turns of somebody. A fault in the settings is refused: turns cost money.
func (o *turning) optionsOf(c *call, e *engine.Engine, acting func() (actor, error)) (bridge.Options, error) {
	s, err := c.settings(e.Project())
	if err != nil {
		return bridge.Options{}, err
	}
	who, err := acting()
	if err != nil {
		return bridge.Options{}, err
	}
	deadline := time.Duration(s.Bridge.Deadline)
	if o.Timeout != 0 {
		deadline = time.Duration(o.Timeout)
	}
	if deadline < turn.MinDeadline || deadline > turn.MaxDeadline {
		return bridge.Options{}, &engine.UsageError{Message: fmt.Sprintf("a turn may take from %s to %s, not %s", words.Span(turn.MinDeadline), words.Span(turn.MaxDeadline), words.Span(deadline))}
	}
	return bridge.Options{
		Providers: programs(s),
		By:        who.name,
		MaxDepth:  int(s.Bridge.Depth),
		Deadline:  deadline,
		Permissions: func(program, agent string) turn.Permissions {
			may := s.Permissions(program, agent)
			if o.Mode != "" {
				may.Mode = o.Mode
			}
			may.Forbid = may.Forbid || o.Forbid
			return may
		},
	}, nil
}

// notePaid says that what follows may cost money, unless a script answers. It does with --json too: before anything is spent.
func (c *call) notePaid(names ...string) {
	var paid []string
	for _, name := range names {
		if name != simName {
			paid = append(paid, name)
		}
	}
	if len(paid) > 0 {
		(&printer{w: c.stderr}).printf("note: turns of %s are made with your own account there and may cost money\n", strings.Join(paid, ", "))
	}
}

// notingPaid is a report that says so when nothing refuses any more what may cost money, and passes every step on to next, if there is one.
func (c *call) notingPaid(next func(bridge.Progress), names ...string) func(bridge.Progress) {
	told := false
	return func(step bridge.Progress) {
		if !told && (step.Kind == bridge.KindActive || step.Kind == bridge.KindStarted) {
			told = true
			c.notePaid(names...)
		}
		if next != nil {
			next(step)
		}
	}
}

// capFlags are the caps.
type capFlags struct {
	MaxTurns      *int64 `placeholder:"N" help:"Automatic turns of each session, 0: no bound. They are counted from its first bridge on; 20 where nothing was set."`
	MaxTotalTurns *int64 `placeholder:"N" help:"Automatic turns of all sessions together, 0: no bound."`
	MaxTokens     *int64 `placeholder:"N" help:"Tokens of all of them together, read and written, 0: no bound."`
	MaxCost       string `placeholder:"USD" help:"What they may cost together, in US dollars, where the program reports it; 0: no bound."`
}

func (o *capFlags) limits() (bridge.Limits, error) {
	l := bridge.Limits{Turns: o.MaxTurns, TotalTurns: o.MaxTotalTurns, Tokens: o.MaxTokens}
	for _, n := range []*int64{l.Turns, l.TotalTurns, l.Tokens} {
		if n != nil && (*n < 0 || *n > event.MaxSeq) {
			return l, &engine.UsageError{Message: fmt.Sprintf("%d is no cap", *n)}
		}
	}
	if o.MaxCost == "" {
		return l, nil
	}
	dollars, err := strconv.ParseFloat(strings.TrimPrefix(o.MaxCost, "$"), 64)
	if err != nil || !(dollars >= 0 && dollars <= 1e6) {
		return l, &engine.UsageError{Message: fmt.Sprintf("--max-cost: %q is no amount in US dollars, such as 2.50", o.MaxCost)}
	}
	micros := int64(math.Round(dollars * 1e6))
	if dollars > 0 {
		micros = max(micros, 1) // 0 would be no cap
	}
	l.CostMicros = &micros
	return l, nil
}

type bridgeCmd struct {
	Sessions []string `complete:"agent" arg:"" type:"words" name:"session" help:"PROGRAM:SESSION, or the agent of a session that is known."`
	From     *int64   `complete:"seq" placeholder:"N" help:"Begin with the events after this sequence number. Default: where the session is; a new one begins with what comes from now on."`
	Dir      string   `complete:"dir" placeholder:"DIR" help:"Where sessions work that were not known before; default: the working directory."`
	Depth    *int     `placeholder:"N" help:"Longest chain of turns that cause one another; default: the setting bridge.depth."`
	DryRun   bool     `help:"Only print the turns that would be made now, and their prompts. Spends and writes nothing."`
	Once     bool     `help:"End when nothing is left to deliver."`
	capFlags
	turning
	LockWait time.Duration `placeholder:"TIME" help:"How long to wait for the lock, default 10s."`
}

func (bridgeCmd) Help() string {
	return "What the turns may do is shown before the first one. With --json every step is one line.\n\n" + examples(
		"loadout coord agents bridge claude-code:3f1c2a4e-… codex:0199a0f3-…",
		"loadout coord agents bridge claude-code codex --max-turns 10 --max-cost 2.50",
		"loadout coord agents bridge codex --from 41 --dry-run",
	)
}

func (o *bridgeCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	acting := c.acting
	if o.DryRun {
		acting = c.actingHalted // it shows what waits until all goes on
	}
	options, err := o.optionsOf(c, e, func() (actor, error) { return acting(ctx, e, "") })
	if err != nil {
		return err
	}
	if o.Depth != nil {
		if *o.Depth < 1 {
			return &engine.UsageError{Message: fmt.Sprintf("--depth is a number of turns from 1 on, not %d", *o.Depth)}
		}
		options.MaxDepth = *o.Depth
	}
	all := bridge.Sessions{From: o.From, Once: o.Once}
	if all.Dir, err = c.folder(o.Dir); err != nil {
		return err
	}
	if all.Limits, err = o.limits(); err != nil {
		return err
	}
	for _, word := range o.Sessions {
		ref, err := bridge.ParseRef(word)
		if err != nil {
			return err
		}
		all.Refs = append(all.Refs, ref)
	}
	if o.DryRun {
		return o.plan(ctx, c, e, all, options)
	}
	defer outliveReaders()()
	reading, stop := context.WithCancel(ctx)
	defer stop()
	show := progressPrinter{call: c, stop: stop}
	options.Report = c.notingPaid(show.report, programsOf(ctx, e, all.Refs)...)
	b, err := bridge.Start(reading, e, all, options)
	if err == nil {
		c.wrote = true
		err = b.Wait()
	}
	switch {
	case show.err != nil:
		return show.err
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Canceled
	}
	return nil
}

// outliveReaders lets what is written to a reader that has gone fail, instead of ending this process in the middle of a turn, whose program
// would go on. The signal is not ignored but caught: programs that are started inherit what is ignored.
func outliveReaders() (stop func()) {
	gone := make(chan os.Signal, 1)
	signal.Notify(gone, syscall.SIGPIPE)
	return func() { signal.Stop(gone) }
}

// programsOf are the programs of sessions, those that are not known left out.
func programsOf(ctx context.Context, e *engine.Engine, refs []bridge.Ref) []string {
	v, err := e.View(ctx)
	if err != nil {
		return nil // what comes next says so
	}
	var names []string
	for _, ref := range refs {
		name := ref.Provider
		if s, ok := v.State.Session(ref.Agent); ok && name == "" {
			name = s.Provider
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// plan prints what a bridge would do now, or when the kill switch is lifted.
func (o *bridgeCmd) plan(ctx context.Context, c *call, e *engine.Engine, all bridge.Sessions, options bridge.Options) error {
	list, err := bridge.Plan(ctx, e, all, options)
	if err != nil {
		return err
	}
	halted, err := e.Halted()
	if err != nil {
		return err
	}
	answer := struct {
		DryRun bool                `json:"dryRun"`
		Halted *engine.HaltedError `json:"halted"`
		Turns  []bridge.Planned    `json:"turns"`
	}{true, halted, list}
	return c.answer(answer, func() {
		c.printf("Dry run: nothing was written, nothing was spent.\n")
		if c.printHalt(halted); halted != nil {
			c.printf("No turn is made before: loadout resume\n")
		}
		for i := range list {
			c.printPlanned(&list[i])
		}
	})
}

func (c *call) printPlanned(p *bridge.Planned) {
	name := p.Agent
	if name == "" {
		name = "a new agent"
	}
	c.printf("\n%s  %s\n  may: %s\n", c.bold(name), p.Provider+":"+p.Session, p.May)
	switch {
	case p.Paused:
		c.printf("  no turn: a failed one waits for a person, loadout coord agents retry or skip\n")
	case len(p.Seqs) == 0:
		c.printf("  no turn: nothing waits behind seq %d (%s)\n", p.Cursor, words.Plural(p.Passive, "event")+wakeNobody(p.Passive))
	case p.Stopped != "":
		c.printf("  no turn: %s\n", p.StopText)
	default:
		c.printf("  a turn for %s: %s\n", words.Plural(len(p.Seqs), "event"), seqList(p.Seqs))
	}
	if len(p.Held) > 0 {
		c.printf("  held, because a chain of turns led to them: %s\n", seqList(p.Held))
	}
	if p.Prompt != "" {
		c.printf("  prompt:\n")
		c.block("    ", p.Prompt)
	}
}

// wakeNobody goes behind a number of events.
func wakeNobody(n int64) string {
	if n == 1 {
		return " that wakes nobody"
	}
	return " that wake nobody"
}

// seqList is numbers as people read them, the first few.
func seqList(seqs []int64) string {
	const most = 8
	var b strings.Builder
	for i, seq := range seqs {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(seqs)-most)
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "#%d", seq)
	}
	return b.String()
}

// progressPrinter prints the steps of a bridge: a line each, answers with all their lines. When nobody reads them any more, it stops what
// makes them.
type progressPrinter struct {
	call *call
	stop func()
	err  error
}

func (p *progressPrinter) report(step bridge.Progress) {
	if p.err != nil {
		return
	}
	if p.call.JSON {
		p.err = writeJSONLine(p.call.stdout, step)
	} else {
		p.print(&step)
		p.err = p.call.err
	}
	if p.err != nil {
		p.stop()
	}
}

func (p *progressPrinter) print(step *bridge.Progress) {
	c := p.call
	who := step.Agent
	if step.Provider != "" && step.Session != "" {
		who = step.Provider + ":" + step.Session
	}
	tag := c.bold("[" + who + "]")
	scripted := ""
	if step.Scripted {
		scripted = " (scripted: no model answers)"
	}
	switch step.Kind {
	case bridge.KindSession:
		c.printf("%s is %s%s, works %s\n", tag, step.Agent, scripted, step.Text)
	case bridge.KindActive:
		c.printf("Bridge active. %s stops it; loadout kill stops everything.\n", c.stopKey())
	case bridge.KindStarted:
		again := ""
		if step.Attempt > 1 {
			again = fmt.Sprintf(", attempt %d", step.Attempt)
		}
		if len(step.Seqs) > 0 {
			c.printf("%s turn %s started for %s%s\n", tag, step.Turn, seqList(step.Seqs), again)
		} else {
			c.printf("%s turn %s started\n", tag, step.Turn)
		}
	case bridge.KindTool:
		c.printf("%s %s\n", tag, c.dim("uses "+step.Text))
	case bridge.KindText: // the whole answer comes at the end
	case bridge.KindFinished:
		p.answer(tag, step)
	case bridge.KindFailed:
		c.printf("%s turn failed after %s%s: %s\n", tag, words.Span(step.Duration), spentText(step.Tokens, step.Cost), step.Text)
	case bridge.KindCancelled:
		c.printf("%s turn cancelled: %s%s\n", tag, cancelledBy(step.Text), spentText(step.Tokens, step.Cost))
	case bridge.KindUncertain:
		c.printf("%s turn %s uncertain: %s\n", tag, step.Turn, step.Text)
	case bridge.KindHeld:
		c.printf("%s held %s: %s\n", tag, seqList(step.Seqs), step.Text)
	case bridge.KindStopped:
		c.printf("%s stopped: %s\n", tag, step.Text)
	case bridge.KindNotice:
		c.printf("%s %s\n", tag, step.Text)
	case bridge.KindClosed:
		c.printf("Bridge closed.\n")
	}
	for _, hint := range step.Hints {
		c.printf("  try: %s\n", hint)
	}
}

// answer prints what a program said. It is kept nowhere else.
func (p *progressPrinter) answer(tag styled, step *bridge.Progress) {
	c := p.call
	text := strings.TrimSpace(step.Text)
	if first, rest, more := strings.Cut(text, "\n"); more {
		c.printf("%s %s\n", tag, first)
		c.block("  ", rest)
	} else {
		c.printf("%s %s\n", tag, text)
	}
	c.printf("  %s\n", c.dim("finished in "+words.Span(step.Duration)+spentText(step.Tokens, step.Cost)))
	if len(step.Denied) > 0 {
		c.printf("  it was not allowed to: %s\n", strings.Join(step.Denied, ", "))
	}
}

func spentText(tokens int64, cost float64) string {
	text := ""
	if tokens > 0 {
		text += ", " + words.Plural(tokens, "token")
	}
	if cost > 0 {
		text += fmt.Sprintf(", $%.4f", cost)
	}
	return text
}

func cancelledBy(cause string) string {
	switch cause {
	case "halt":
		return "the kill switch is on"
	case "person":
		return "by a person"
	case "end":
		return "the bridge ended"
	}
	return cause
}
