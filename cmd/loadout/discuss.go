package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kong"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/settings"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/engine/words"
)

// discussCmd groups the verbs about design discussions of two agents.
type discussCmd struct {
	Start     discussStartCmd     `cmd:"" help:"Have two agents discuss a question, to a decision. Spends turns."`
	Resume    discussResumeCmd    `cmd:"" help:"Go on with a discussion that failed or was interrupted. Spends turns."`
	List      discussListCmd      `cmd:"" help:"The discussions that there are, the newest first."`
	Show      discussShowCmd      `cmd:"" help:"What was said in a discussion, and what was decided."`
	Export    discussExportCmd    `cmd:"" help:"A discussion as a document."`
	Implement discussImplementCmd `cmd:"" help:"Turn a decision into tasks for those who hold the paths that it names."`
}

// holding are the flags of the verbs that hold a discussion.
type holding struct {
	Dir      string        `complete:"dir" placeholder:"DIR" help:"Where new sessions work; default: the working directory."`
	Yes      bool          `help:"Do not ask before turns are paid for."`
	Plain    bool          `help:"Print each statement when it is stored, instead of drawing."`
	LockWait time.Duration `placeholder:"TIME" help:"How long to wait for the lock, default 10s."`
}

// secondsFlag is a time: a number of seconds, or a duration. It is never 0, which stands for one that was not given.
type secondsFlag time.Duration

// Decode implements kong.MapperValue.
func (s *secondsFlag) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("needs a value")
	}
	typed := token.String()
	d, err := words.ParseDuration(typed)
	if n, wrong := strconv.ParseInt(typed, 10, 32); wrong == nil {
		d, err = time.Duration(n)*time.Second, nil
	}
	if err == nil && d <= 0 {
		err = fmt.Errorf("%s is no time", typed)
	}
	*s = secondsFlag(d)
	return err
}

// countFlag is a number from 1 on. 0 stands for one that was not given.
type countFlag int

// Decode implements kong.MapperValue.
func (c *countFlag) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("needs a value")
	}
	n, err := strconv.ParseInt(token.String(), 10, 32)
	if err != nil || n < 1 {
		return fmt.Errorf("%s is no number from 1 on", token)
	}
	*c = countFlag(n)
	return nil
}

type discussStartCmd struct {
	Topic     []string    `arg:"" type:"words" help:"What is to be decided."`
	Agents    []string    `type:"names" placeholder:"PROGRAM" help:"Two programs, of which new sessions take part, such as claude-code,codex."`
	Sessions  []string    `type:"words" placeholder:"PROGRAM:ID" help:"Two sessions that there are already, or the agents that they are."`
	Proposer  string      `placeholder:"NAME" help:"Which of them speaks first; default: the first."`
	Rounds    int         `default:"2" placeholder:"N" help:"Rounds of proposal and critique, 1 to 8; default 2."`
	MaxTurns  int         `default:"17" placeholder:"N" help:"Most turns that may be paid for; default 17. A discussion takes two a round and one."`
	Timeout   secondsFlag `aliases:"deadline" default:"120" placeholder:"SECONDS" help:"How long a statement may take, 10 to 600 seconds; default 120."`
	ThreadID  string      `name:"thread-id" placeholder:"NAME" help:"The discussion's id; default: a new one."`
	Initiator string      `complete:"agent" placeholder:"NAME" help:"Who asks; default: who calls."`
	holding
}

func (discussStartCmd) Help() string {
	return "Everything is checked before anything is spent, and the number of turns is told first. " +
		"The participants can neither use tools nor edit files. On a terminal the discussion is shown live.\n\n" + examples(
		`loadout coord discuss start "REST or GraphQL for checkout?" --agents claude-code,codex --rounds 2 --max-turns 5 --timeout 120`,
		`loadout coord discuss start "Cents or decimals?" --sessions claude-code:3f1c2a4e-… codex:0199a0f3-… --proposer codex`,
		`loadout coord discuss start "Queue or cron?" --agents sim,sim --rounds 1 --yes --plain`,
	)
}

func (o *discussStartCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	r := discuss.Request{
		Topic: strings.Join(o.Topic, " "), Thread: o.ThreadID, Initiator: o.Initiator, Programs: o.Agents, Proposer: o.Proposer,
		Rounds: o.Rounds, MaxTurns: o.MaxTurns, Timeout: time.Duration(o.Timeout),
	}
	if r.Initiator == "" {
		who, err := c.acting(ctx, e, "")
		if err != nil {
			return err
		}
		r.Initiator = who.name
	} else if event.CheckName(r.Initiator) != nil {
		return &engine.ValidationError{Field: "initiator", Reason: "is no name of an agent"}
	}
	for _, word := range o.Sessions {
		ref, err := bridge.ParseRef(word)
		if err != nil {
			return err
		}
		r.Sessions = append(r.Sessions, ref)
	}
	if r.Dir, err = c.folder(o.Dir); err != nil {
		return err
	}
	h, err := newHolder(c, e, &o.holding)
	if err != nil {
		return err
	}
	d, err := discuss.Prepare(ctx, e, r, h.options)
	if err != nil {
		return err
	}
	return h.hold(ctx, d, nil)
}

type discussResumeCmd struct {
	ID       string      `arg:"" complete:"thread" help:"The discussion: its id, or a unique beginning of it."`
	Rounds   countFlag   `placeholder:"N" help:"Rounds of a discussion that another program began; default 2."`
	MaxTurns countFlag   `placeholder:"N" help:"Most turns that may be paid for; default: as many as are left."`
	Timeout  secondsFlag `aliases:"deadline" placeholder:"SECONDS" help:"How long a statement may take, 10 to 600 seconds; default: as it was begun."`
	holding
}

func (discussResumeCmd) Help() string {
	return "It goes on at the next statement. Nothing that was said is asked for again; a turn of which nobody knows what came is named first.\n\n" +
		examples("loadout coord discuss resume k3v9q2m7w4xa", "loadout coord discuss resume k3v9 --timeout 300 --yes")
}

func (o *discussResumeCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	r := discuss.ResumeRequest{Thread: o.ID, Rounds: int(o.Rounds), MaxTurns: int(o.MaxTurns), Timeout: time.Duration(o.Timeout)}
	if r.Dir, err = c.folder(o.Dir); err != nil {
		return err
	}
	h, err := newHolder(c, e, &o.holding)
	if err != nil {
		return err
	}
	d, t, err := discuss.Resume(ctx, e, r, h.options)
	if err != nil {
		return err
	}
	return h.hold(ctx, d, &t)
}

// holder holds a discussion for a verb.
type holder struct {
	call    *call
	engine  *engine.Engine
	flags   *holding
	options discuss.Options

	mu    sync.Mutex
	quiet bool // the cockpit has the terminal
	stop  context.CancelFunc
}

func (h *holder) hush(quiet bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.quiet = quiet
}

func newHolder(c *call, e *engine.Engine, flags *holding) (*holder, error) {
	s, err := c.settings(e.Project())
	if err != nil {
		return nil, err
	}
	h := &holder{call: c, engine: e, flags: flags}
	h.options = discuss.Options{Providers: c.players(s), Permissions: s.Permissions, Report: h.print}
	if c.stage != nil {
		h.options.Changed = c.stage.changed
	}
	return h, nil
}

// hold tells what the discussion costs, asks whether that is meant, and holds it.
func (h *holder) hold(ctx context.Context, d *discuss.Discussion, rest *discuss.Thread) error {
	c := h.call
	h.announce(d, rest)
	if err := h.confirm(ctx); err != nil {
		return err
	}
	if c.stage != nil {
		defer c.stage.show(d)()
	}
	c.wrote = true
	defer outliveReaders()() // who stops reading interrupts the discussion
	ctx, h.stop = context.WithCancel(ctx)
	defer h.stop()
	var result discuss.Result
	var err error
	if c.terminal && !c.nested && !c.JSON && !h.flags.Plain {
		result, err = h.watch(ctx, d)
	} else {
		result, err = d.Run(ctx)
	}
	if u := result.Unrecorded; u != nil {
		h.tell("note: %s; discussion %[2]s keeps what was said before. This answer is kept by session %s:%s at most, and is asked for and paid for "+
			"anew by: loadout coord discuss resume %[2]s", turnsUsed(result), words.ShellWord(d.Thread()), u.Program, u.SessionID)
		return c.answerPaid(result, err, func() {
			c.printf("\n[round %d] %s · %s (not recorded)\n", u.Round, c.bold(u.Agent), u.Kind)
			c.block("", u.Text)
		})
	}
	if err != nil {
		if d.Live().Thread != "" { // it was begun
			h.tell("note: %s; discussion %[2]s keeps every statement and goes on with: loadout coord discuss resume %[2]s",
				turnsUsed(result), words.ShellWord(d.Thread()))
		}
		return cmp.Or(c.err, interrupted(ctx, err))
	}
	t, err := discuss.Load(ctx, h.engine, d.Thread())
	if err != nil {
		return err
	}
	answer := struct {
		discuss.Result
		State discuss.Thread `json:"state"`
	}{result, t}
	return c.answer(answer, func() {
		c.printOutcome(&t)
		c.printf("\n%s\n", c.dim(turnsUsed(result)+". Show it again: loadout coord discuss show "+words.ShellWord(t.ThreadID)))
	})
}

func turnsUsed(r discuss.Result) string {
	return words.Plural(r.TurnsUsed, "turn") + " used" + spentText(r.Usage.Tokens(), r.Usage.Cost)
}

// tell prints a line to stderr, also with --json: a refusal in JSON, which comes after it, is the last object there.
func (h *holder) tell(format string, args ...any) {
	(&printer{w: h.call.stderr}).printf(format+"\n", args...)
}

// announce tells on stderr how many turns are to be paid for, and of which turns nobody knows what came.
func (h *holder) announce(d *discuss.Discussion, rest *discuss.Thread) {
	c := h.call
	if rest != nil {
		for _, t := range rest.Unknown() {
			h.tell("note: turn %s of %s %s; it may have been paid for, its answer is not known and its statement is asked for anew",
				t.ID, t.Agent, unknownSince(t))
		}
	}
	programs := d.Programs()
	h.tell("%s: %s proposes, %s reviews", words.Plural(d.Left(), "paid turn"), programs[0], programs[1])
	if d.Paid() {
		c.notePaid(slices.Compact(programs)...)
	} else {
		c.note("note: scripts answer; nothing is really spent")
	}
}

func unknownSince(t state.Turn) string {
	if t.Status == state.TurnCancelled {
		return "was cancelled"
	}
	return "was lost with the process that waited for it"
}

// confirm asks a person at a terminal whether to go on.
func (h *holder) confirm(ctx context.Context) error {
	c := h.call
	switch {
	case h.flags.Yes:
		return nil
	case c.nested:
		return &engine.UsageError{Message: "nobody can be asked here whether to pay for this", Hints: []string{"the same with --yes"}}
	case !c.terminal:
		return nil
	}
	fmt.Fprint(c.stderr, "Go on? [y/N] ")
	answered := make(chan string, 1)
	go func() { // reading cannot be cancelled; the process ends soon when it is
		line, _ := bufio.NewReader(c.stdin).ReadString('\n')
		answered <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case line := <-answered:
		if line == "y" || line == "yes" {
			return nil
		}
		return &engine.UsageError{Message: "not confirmed; nothing was spent"}
	}
}

// print tells a step in lines of text.
func (h *holder) print(p discuss.Progress) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.call
	if h.quiet || c.JSON && p.Kind != discuss.KindNotice {
		return
	}
	switch p.Kind {
	case discuss.KindOpened:
		c.printf("%s proposes, %s reviews. %s interrupts it; loadout kill stops everything.\n", p.Agents[0], p.Agents[1], c.stopKey())
	case discuss.KindSaid:
		if p.Statement.Kind != event.KindSummary && p.Statement.Kind != event.KindClosed {
			c.printf("\n")
			c.printStatement(p.Statement, p.Scripted)
		}
	case discuss.KindNotice:
		h.tell("note: %s: %s", p.Agent, p.Text)
	case discuss.KindStarted, discuss.KindFailed, discuss.KindFinished:
	}
	if c.err != nil {
		h.stop()
	}
}

// printStatement prints what somebody said.
func (c *call) printStatement(s *discuss.Statement, scripted bool) {
	made := ""
	if scripted {
		made = " (scripted: no model answers)"
	}
	c.printf("[round %d] %s · %s%s\n", s.Round, c.bold(s.From), s.Kind, made)
	c.block("", s.Content)
}

// players are the agent programs that turns can be given to.
func (c *call) players(s settings.Settings) []turn.Provider {
	if c.cast != nil {
		return c.cast
	}
	return programs(s)
}
