package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/turn"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/providers/sim"
)

// simName is the program that costs nothing.
const simName = sim.Name

// scriptedLabel begins what no model said.
const scriptedLabel = sim.Label

type detectCmd struct{}

func (detectCmd) Help() string {
	return examples("loadout coord agents detect", "loadout coord agents detect --json")
}

// detected is one agent program.
type detected struct {
	Name     string   `json:"name"`
	Found    bool     `json:"found"`
	Path     string   `json:"path,omitempty"`
	Version  string   `json:"version,omitempty"`
	SignedIn bool     `json:"signedIn"`
	Account  string   `json:"account,omitempty"`
	Scripted bool     `json:"scripted,omitempty"` // no model answers
	Reason   string   `json:"reason,omitempty"`   // why it cannot be used
	Hints    []string `json:"hints,omitempty"`
}

func (o *detectCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	s, err := c.settings(e.Project())
	if err != nil {
		return err
	}
	all := programs(s)
	list := make([]detected, len(all))
	var wg sync.WaitGroup
	for i, p := range all {
		wg.Go(func() { list[i] = detect(ctx, p, s.Permissions(p.Name(), "").Command) })
	}
	wg.Wait()
	answer := struct {
		Programs []detected `json:"programs"`
	}{list}
	return c.answer(answer, func() {
		for _, d := range list {
			switch {
			case d.Reason != "" && d.Version == "":
				c.printf("%s  %s\n", pad(d.Name, 12), strings.TrimPrefix(d.Reason, d.Name+": "))
			case !d.SignedIn:
				c.printf("%s  %s, not signed in\n", pad(d.Name, 12), d.Version)
			default:
				c.printf("%s  %s, %s\n", pad(d.Name, 12), d.Version, d.Account)
			}
			for _, hint := range d.Hints {
				c.printf("    try: %s\n", hint)
			}
		}
	})
}

func detect(ctx context.Context, p turn.Provider, command []string) detected {
	program, err := p.Detect(ctx, command)
	d := detected{
		Name: p.Name(), Found: true, Path: program.Path, Version: program.Version, SignedIn: program.SignedIn, Account: program.Account,
		Scripted: p.Scripted(),
	}
	if err == nil {
		return d
	}
	d.Reason, d.Hints = err.Error(), engine.Hints(err)
	var failure *turn.Failure
	d.Found = errors.As(err, &failure) && failure.Kind != turn.NotInstalled
	return d
}

type startCmd struct {
	Program string   `arg:"" help:"The program: claude-code, codex, or one of the settings; sim is a script that costs nothing."`
	Text    []string `arg:"" optional:"" type:"words" help:"What it is told first. Default: only that it takes part."`
	Dir     string   `complete:"dir" placeholder:"DIR" help:"Where it works; default: the working directory."`
	turning
	LockWait time.Duration `placeholder:"TIME" help:"How long to wait for the lock, default 10s."`
}

func (startCmd) Help() string {
	return examples(
		"loadout coord agents start claude-code",
		"loadout coord agents start codex 'Review what claude-code writes' --mode read-only",
		"loadout coord agents start sim",
	)
}

func (o *startCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	options, err := o.options(ctx, c, e)
	if err != nil {
		return err
	}
	dir, err := c.folder(o.Dir)
	if err != nil {
		return err
	}
	options.Report = c.notingPaid(nil, o.Program)
	c.wrote = true
	defer outliveReaders()()
	opened, err := bridge.Open(ctx, e, o.Program, dir, strings.Join(o.Text, " "), options)
	if opened.Session.ID != "" && err != nil {
		c.note("note: the session %s of %s is known all the same, as %s", opened.Session.ID, o.Program, opened.Session.Agent)
	}
	if err != nil && opened.Reply.Text == "" {
		return interrupted(ctx, err)
	}
	answer := struct {
		Session state.Session `json:"session"`
		Reply   replyJSON     `json:"reply"`
	}{opened.Session, replyOf(opened.Reply)}
	return c.answerPaid(answer, err, func() {
		c.printReply(o.Program, opened.Reply)
		if opened.Session.ID == "" {
			return // it could not be made known
		}
		c.printf("%s is %s:%s. Drive it with: loadout coord agents bridge %s\n", opened.Session.Agent, o.Program, opened.Session.ID, words.ShellWord(opened.Session.Agent))
	})
}

// interrupted makes a provider's failure an interruption when the person interrupted it.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %s", context.Canceled, err.Error())
	}
	return err
}

// answerPaid prints what a program answered, which is kept nowhere else. When err says what went wrong after that, it is a note beside the
// answer, and the verb fails.
func (c *call) answerPaid(v any, err error, text func()) error {
	if err == nil {
		return c.answer(v, text)
	}
	if err := c.answer(noted{v, err.Error()}, text); err != nil {
		return err
	}
	c.note("note: %s", err)
	return errSilent(exitUnexpected)
}

// replyJSON is what came of a turn.
type replyJSON struct {
	SessionID string     `json:"sessionId"`
	Text      string     `json:"text"`
	Truncated bool       `json:"truncated"`
	Usage     turn.Usage `json:"usage"`
	Denied    []string   `json:"denied,omitempty"`
}

func replyOf(r turn.Reply) replyJSON {
	return replyJSON{r.Session, r.Text, r.Truncated, r.Usage, r.Denied}
}

// printReply prints an answer as the bridge does.
func (c *call) printReply(program string, r turn.Reply) {
	(&progressPrinter{call: c}).print(&bridge.Progress{
		Kind: bridge.KindFinished, Provider: program, Session: r.Session, Text: r.Text, Duration: r.Duration, Tokens: r.Usage.Tokens(),
		Cost: r.Usage.Cost, Denied: r.Denied,
	})
}

// folder is a typed folder in full, the working directory when it is empty.
func (c *call) folder(typed string) (string, error) {
	dir := c.dir
	if typed != "" {
		if dir = typed; !filepath.IsAbs(dir) {
			dir = filepath.Join(c.dir, dir)
		}
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return "", &engine.ValidationError{Field: "dir", Reason: dir + " is no folder"}
	}
	return filepath.Clean(dir), nil
}

type attachCmd struct {
	Session  string        `arg:"" help:"PROGRAM:SESSION, with the program's own id of the session."`
	Dir      string        `complete:"dir" placeholder:"DIR" help:"Where the session works; some programs know their sessions by that. Default: the working directory."`
	From     *int64        `complete:"seq" placeholder:"N" help:"Deliver the events after this sequence number. Default: those that come from now on."`
	LockWait time.Duration `placeholder:"TIME" help:"How long to wait for the lock, default 10s."`
}

func (attachCmd) Help() string {
	return examples(
		"loadout coord agents attach claude-code:3f1c2a4e-1111-2222-3333-444455556666",
		"loadout coord agents attach codex:0199a0f3-… --from 41",
	)
}

func (o *attachCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	options, err := (&turning{}).options(ctx, c, e)
	if err != nil {
		return err
	}
	ref, err := bridge.ParseRef(o.Session)
	if err != nil {
		return err
	}
	dir := ""
	if o.Dir != "" || ref.Session != "" {
		if dir, err = c.folder(o.Dir); err != nil {
			return err
		}
	}
	c.wrote = true
	session, err := bridge.Attach(ctx, e, ref, dir, o.From, options)
	if err != nil {
		return err
	}
	answer := struct {
		Session state.Session `json:"session"`
	}{session}
	return c.answer(answer, func() {
		c.printf("%s is %s:%s, delivered up to seq %d. The session itself was not asked.\n", session.Agent, session.Provider, session.ID, session.Cursor)
	})
}

type sessionsCmd struct {
	All bool `help:"Everything, however long a list is, and also turns that are over."`
}

func (sessionsCmd) Help() string {
	return examples("loadout coord agents list", "loadout coord agents list --all --json")
}

// sessionJSON is a session with what only this machine knows of it.
type sessionJSON struct {
	state.Session
	Cwd   string      `json:"cwd"`
	Stale string      `json:"stale,omitempty"` // why it may be of no use any more
	Meter state.Meter `json:"meter"`
}

func (o *sessionsCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(0)
	if err != nil {
		return err
	}
	if err := bridge.Settle(ctx, e); err != nil {
		c.note("note: %s", err) // what there is can be read all the same
	}
	v, err := e.View(ctx)
	if err != nil {
		return err
	}
	records, err := e.SessionRecords()
	if err != nil {
		return err
	}
	holder, err := e.BridgeHolder(ctx)
	if err != nil {
		return err
	}
	turns := v.State.OpenTurns()
	if o.All {
		turns = v.State.Turns()
	}
	answer := struct {
		Running  bool          `json:"bridgeRunning"` // or a discussion
		Holder   string        `json:"holder,omitempty"`
		Sessions []sessionJSON `json:"sessions"`
		Turns    []state.Turn  `json:"turns"`
		Caps     []state.Cap   `json:"caps"`
		HighSeq  int64         `json:"highSeq"`
		Omitted  int           `json:"omitted"` // sessions
	}{holder != nil, "", []sessionJSON{}, turns, v.State.Caps(), v.State.Head(), 0}
	if holder != nil {
		answer.Holder = holder.Owner.String()
	}
	sessions, omitted := keep(v.State.Sessions(), c.most(o.All), func(s *state.Session) int64 { return s.Seq })
	answer.Omitted = omitted
	for _, s := range sessions {
		one := sessionJSON{Session: s, Meter: v.State.Meter(s.Agent)}
		for i := range records {
			if records[i].Agent == s.Agent {
				one.Cwd, one.Stale = records[i].Cwd, records[i].Stale(v.Now)
			}
		}
		answer.Sessions = append(answer.Sessions, one)
	}
	return c.answer(answer, func() {
		if holder != nil {
			c.printf("A bridge or discussion runs: %s\n", answer.Holder)
		}
		if len(answer.Sessions) == 0 {
			c.printf("No sessions yet (%s): loadout coord agents start PROGRAM, or attach PROGRAM:SESSION\n", words.AsOf(answer.HighSeq))
		}
		for i := range answer.Sessions {
			agent, _ := v.State.Agent(answer.Sessions[i].Agent)
			c.printSession(&answer.Sessions[i], agent.Ended)
		}
		c.more(omitted, "session", "coord agents list --all")
		for _, bound := range answer.Caps {
			if bound.Agent == "" && bound.Limit > 0 { // the others stand with their sessions
				c.printf("cap on %s: %s\n", engine.CapName(bound.Kind), bound.Tell())
			}
		}
		for i := range turns {
			c.printTurn(&turns[i], v.Now)
		}
	})
}

func (c *call) printSession(s *sessionJSON, ended *time.Time) {
	c.printf("%s  %s\n", c.bold(s.Agent), s.Provider+":"+s.ID)
	limit := ""
	if s.MaxTurns > 0 {
		limit = fmt.Sprintf(" of %d", s.MaxTurns)
	}
	m := s.Meter
	cost := ""
	if m.Usage.Priced {
		cost = fmt.Sprintf(", $%.4f", float64(m.Usage.CostMicros)/1e6)
	}
	c.printf("    delivered up to seq %d; automatic turns %d%s; in all %s, %s%s\n", s.Cursor, s.Turns, limit,
		words.Plural(m.Turns, "turn"), words.Plural(m.Usage.Tokens(), "token"), cost)
	c.printf("    %s delivered, left out: %d of types that wake nobody, %d as repeated\n", words.Plural(m.Delivered, "event"), m.Passive, m.Duplicate)
	if s.Stopped != "" {
		c.printf("    the next turn would pass the cap on %s: loadout coord agents raise\n", engine.CapName(event.TurnCap(s.Stopped)))
	}
	if ended != nil {
		c.printf("    ended %s: nothing is delivered to it unless a bridge is started for it by name\n", c.moment(*ended))
	}
	if s.Stale != "" {
		c.printf("    stale: %s\n", s.Stale)
	}
}

func (c *call) printTurn(t *state.Turn, now time.Time) {
	since := t.Queued
	if t.Ended != nil {
		since = *t.Ended
	} else if t.Started != nil {
		since = *t.Started
	}
	why := string(t.Why)
	if t.Cause != "" {
		why += ", " + t.Cause
	}
	c.printf("turn %s  %s  %s (%s) %s, %s\n", t.ID, t.Agent, t.Status, why, words.Ago(now, since), words.Plural(t.Events, "event"))
	if t.Waits() {
		c.printf("    waits for a person: loadout coord agents retry %s, or skip %[1]s\n", t.ID)
	}
}

type sendCmd struct {
	Session string   `complete:"agent" arg:"" name:"agent" help:"The agent of the session, or PROGRAM:SESSION."`
	Text    []string `arg:"" type:"words" help:"What to say."`
	turning
	LockWait time.Duration `placeholder:"TIME" help:"How long to wait for the lock, default 10s."`
}

func (sendCmd) Help() string {
	return examples(
		"loadout coord agents send codex 'What do you wait for?'",
		"loadout coord agents send claude-code:3f1c2a4e-… stop after this file --json",
	)
}

func (o *sendCmd) run(ctx context.Context, c *call) error {
	e, err := c.open(o.LockWait)
	if err != nil {
		return err
	}
	options, err := o.options(ctx, c, e)
	if err != nil {
		return err
	}
	ref, err := bridge.ParseRef(o.Session)
	if err != nil {
		return err
	}
	v, err := e.View(ctx)
	if err != nil {
		return err
	}
	s, err := bridge.Find(v.State, ref)
	if err != nil || s.Agent == "" {
		s.Agent = o.Session // to be refused, by the kill switch or for its name
	} else {
		options.Report = c.notingPaid(nil, s.Provider)
	}
	c.wrote = true
	defer outliveReaders()()
	reply, err := bridge.Send(ctx, e, s.Agent, strings.Join(o.Text, " "), options)
	if err != nil && reply.Text == "" {
		return interrupted(ctx, err)
	}
	answer := struct {
		Agent string    `json:"agent"`
		Reply replyJSON `json:"reply"`
	}{s.Agent, replyOf(reply)}
	return c.answerPaid(answer, err, func() { c.printReply(s.Provider, reply) })
}

type forgetSessionCmd struct {
	Agent string `complete:"agent" arg:"" name:"agent" help:"The agent of the session."`
}

func (forgetSessionCmd) Help() string { return examples("loadout coord agents forget codex-2") }

func (o *forgetSessionCmd) run(ctx context.Context, c *call) error {
	return c.onTurns(ctx, func(e *engine.Engine, by string) (engine.Receipt, error) {
		return bridge.Forget(ctx, e, o.Agent, by)
	}, "session of %s forgotten (seq %d)\n", o.Agent)
}
