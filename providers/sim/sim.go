// Package sim is the scripted stand-in for an agent: no program, no model, no cost. The demo and tests use it, and whoever wants to
// see the bridge work before spending anything. Every answer starts with Label.
package sim

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentloadout/loadout/engine/turn"
)

// Name of the provider.
const Name = "sim"

// Label starts every answer, so that none is taken for that of a model.
const Label = "[scripted] "

// Step is what one turn does, in this order.
type Step struct {
	Delay   time.Duration // before it starts
	Tools   []turn.Tool
	Text    string
	Pace    time.Duration // between two words of the answer
	Usage   turn.Usage
	Denied  []string
	Data    []byte
	Hang    bool          // instead of ending, waits for its deadline or the caller
	Failure *turn.Failure // instead of an answer
}

// Options change what a stand-in does. The zero value is the built-in script on the real clock.
type Options struct {
	Name    string                                     // empty: sim
	Script  func(n int, t turn.Turn) Step              // the nth turn of a session, from 1
	Wait    func(context.Context, time.Duration) error // returns early with the context's cause
	Session func() string                              // ids of new sessions
	Now     func() time.Time
}

// Provider is a scripted stand-in.
type Provider struct {
	o Options

	mu    sync.Mutex
	turns map[string]int // of each session
}

// New returns a stand-in.
func New(o Options) *Provider {
	if o.Name == "" {
		o.Name = Name
	}
	if o.Script == nil {
		o.Script = script
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	if o.Session == nil {
		o.Session = func() string { return prefix + random() }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Provider{o: o, turns: map[string]int{}}
}

// prefix of every session id. By it a session of another process is known, of which nothing is kept anywhere.
const prefix = "sim-"

func random() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it never fails, as its documentation says
	return hex.EncodeToString(b[:])
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 && ctx.Err() == nil {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Name is sim, unless the options say otherwise.
func (p *Provider) Name() string { return p.o.Name }

// Scripted is true.
func (*Provider) Scripted() bool { return true }

// Detect always finds it.
func (*Provider) Detect(context.Context, []string) (turn.Program, error) {
	return turn.Program{Version: "built in", SignedIn: true, Account: "none: a script answers"}, nil
}

// Describe says that it does nothing. Its modes are the ways in which a turn can go wrong.
func (p *Provider) Describe(permissions turn.Permissions) (string, error) {
	text := "a script answers; it touches nothing and costs nothing"
	if permissions.Mode == "" {
		return text, nil
	}
	if _, known := failures[permissions.Mode]; !known && permissions.Mode != modeHang && permissions.Mode != modeSlow {
		return "", p.failure(turn.Rejected,
			fmt.Sprintf("%q is no mode; there are %s", permissions.Mode, strings.Join(modes(), ", ")))
	}
	return text + "; mode " + permissions.Mode, nil
}

// CheckSession refuses what does not begin as its sessions do.
func (p *Provider) CheckSession(id string) error {
	if !strings.HasPrefix(id, prefix) {
		return p.failure(turn.UnknownSession, fmt.Sprintf("%q is none", id))
	}
	return nil
}

// Do plays the next step of the session's script.
func (p *Provider) Do(ctx context.Context, t turn.Turn, progress func(turn.Progress)) (turn.Reply, error) {
	if progress == nil {
		progress = func(turn.Progress) {}
	}
	if _, err := p.Describe(t.Permissions); err != nil {
		return turn.Reply{Session: t.Session}, err
	}
	if strings.TrimSpace(t.Prompt) == "" {
		return turn.Reply{Session: t.Session}, p.failure(turn.Rejected, "the prompt is empty")
	}
	if len(t.Prompt) > turn.MaxPrompt {
		return turn.Reply{Session: t.Session}, p.failure(turn.TooLong, "the prompt is too long")
	}
	if t.Session != "" {
		if err := p.CheckSession(t.Session); err != nil {
			return turn.Reply{Session: t.Session}, err
		}
	}
	if ctx.Err() != nil {
		return turn.Reply{Session: t.Session}, p.failure(turn.Cancelled, "")
	}
	n := p.next(&t)
	began := p.o.Now()
	progress(turn.Started{Session: t.Session})
	reply, err := p.play(ctx, t, p.o.Script(n, t), progress)
	reply.Session, reply.Duration = t.Session, p.o.Now().Sub(began)
	return reply, err
}

// next numbers the turn within its session, and names a new session.
func (p *Provider) next(t *turn.Turn) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.Session == "" {
		t.Session = p.o.Session()
	}
	p.turns[t.Session]++
	return p.turns[t.Session]
}

func (p *Provider) play(ctx context.Context, t turn.Turn, s Step, progress func(turn.Progress)) (turn.Reply, error) {
	deadline := t.Deadline
	if deadline <= 0 {
		deadline = turn.DefaultDeadline
	}
	spent := time.Duration(0)
	pause := func(d time.Duration) error {
		late := spent+d >= deadline
		if late {
			d = deadline - spent
		}
		if err := p.o.Wait(ctx, d); err != nil {
			return p.failure(turn.Cancelled, "")
		}
		if spent += d; late {
			return p.failure(turn.Timeout, "stopped after "+deadline.String())
		}
		return nil
	}
	if err := pause(s.Delay); err != nil {
		return turn.Reply{}, err
	}
	if s.Hang {
		return turn.Reply{}, pause(deadline)
	}
	if s.Failure != nil {
		failure := *s.Failure
		failure.Provider = p.o.Name
		return turn.Reply{Usage: s.Usage}, &failure
	}
	for _, tool := range s.Tools {
		if t.Permissions.Forbid {
			return turn.Reply{}, p.failure(turn.Forbidden, "it used "+tool.Name)
		}
		progress(tool)
	}
	text := Label + s.Text
	for i, word := range strings.SplitAfter(text, " ") {
		if i > 0 && s.Pace > 0 {
			if err := pause(s.Pace); err != nil {
				return turn.Reply{Usage: s.Usage}, err
			}
		}
		progress(turn.Text{Delta: word})
	}
	return turn.Reply{Text: text, Usage: s.Usage, Denied: slices.Clone(s.Denied), Data: slices.Clone(s.Data)}, nil
}

func (p *Provider) failure(kind turn.Kind, message string) *turn.Failure {
	return &turn.Failure{Provider: p.o.Name, Kind: kind, Spent: turn.Nothing, Message: message, Hints: []string{hint(kind)}}
}
