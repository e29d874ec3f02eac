package tui

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/engine/event"
)

// talkRunner runs discussions of which nothing happens.
type talkRunner struct {
	argv []string
	says string
	err  error
}

func (r *talkRunner) Run(_ context.Context, argv []string, out io.Writer) error {
	r.argv = argv
	if r.says != "" {
		_, _ = io.WriteString(out, r.says)
	}
	return r.err
}

func (*talkRunner) Complete(string) []string { return nil }
func (*talkRunner) InPast([]string) bool     { return false }

func talking(t *testing.T, r *talkRunner) *driver {
	t.Helper()
	return drive(t, story(t), func(o *Options) { o.Runner, o.Pane = r, "discussion" })
}

func TestAFormStartsADiscussion(t *testing.T) {
	r := &talkRunner{says: "5 paid turns"}
	d := talking(t, r)
	d.press("S")
	d.shows("Two agents speak in turns", "5 paid turns: claude-code 3, codex 2")
	d.press("Cents?", "tab", "sim,codex", "tab", "right")
	d.shows("7 paid turns: sim 4, codex 3")
	d.press("left", "left")
	d.shows("3 paid turns: sim 2, codex 1")
	d.press("enter")
	if got := strings.Join(r.argv, " "); got != "coord discuss start --agents=sim,codex --rounds=1 --timeout=120 --yes --plain -- Cents?" {
		t.Errorf("ran %s", got)
	}
	d.hides("Two agents speak in turns")
	d.shows("the discussion is over")
}

func TestARefusedDiscussionLosesNothing(t *testing.T) {
	r := &talkRunner{err: &engine.ValidationError{Field: "timeout", Reason: "is 5s"}}
	d := talking(t, r)
	d.press("S", "enter")
	d.shows("what is to be decided?")
	d.press("Cents?", "tab", "one", "enter")
	d.shows("a discussion has two participants")
	d.press("one,two", "enter")
	d.shows("timeout is 5s", "Cents?")
	if r.argv == nil {
		t.Error("the verb was not asked")
	}
}

func TestADiscussionThatStops(t *testing.T) {
	r := &talkRunner{says: "3 paid turns", err: &engine.ProviderError{Provider: "codex", Err: errors.New("a limit is reached"), Hints: []string{"loadout coord discuss resume x"}}}
	d := talking(t, r)
	d.press("S", "Cents?", "enter")
	d.shows("a limit is reached", "discuss resume x")
}

// heldHere is a discussion of this process, as far as the cockpit knows it.
type heldHere struct {
	live    discuss.Live
	changed chan struct{}
}

func (h *heldHere) Live() discuss.Live       { return h.live }
func (h *heldHere) Changed() <-chan struct{} { return h.changed }

func TestADiscussionOfThisProcessFillsTheWindow(t *testing.T) {
	f := story(t)
	h := &heldHere{changed: make(chan struct{}, 1)}
	d := drive(t, f, func(o *Options) { o.Discussion = h })
	f.add(t, event.User, event.Broadcast, "Queue or cron?", event.Discussion{
		ThreadID: "queue", Kind: event.KindStarted, Role: "system", Content: "Queue or cron?", Participants: []string{"claude-code", "codex"},
	})
	d.sync()
	h.live = discuss.Live{
		Thread: "queue", Rounds: 1, Agent: "codex", Step: discuss.Step{Kind: event.KindCritique, Round: 1, Role: discuss.Reviewer}, Text: "A queue, bec",
		Since: f.clock().Add(-5 * time.Second), Timeout: time.Minute,
	}
	d.m.update(talkMsg{h.live}) // what follows waits for more
	d.shows("Queue or cron?", "codex  reviewer · critique", "00:05 of 01:00", "A queue, bec", "K")
	if len(d.m.places()) != 1 {
		t.Error("other panes are shown beside it")
	}
	h.live.Over, h.live.Agent, h.live.Err = true, "", &engine.HaltedError{By: "user", Reason: "wait", At: f.clock()}
	d.run(talkMsg{h.live})
	d.shows("The discussion stopped", "wait")
}

// A discussion that a verb of the cockpit holds is shown in its pane as it is held, and again when the next one is.
func TestADiscussionOfAVerbStreamsIntoItsPane(t *testing.T) {
	f := story(t)
	h := &heldHere{changed: make(chan struct{}, 1)}
	d := drive(t, f, func(o *Options) { o.Stage, o.Pane = h, "discussion" })
	f.add(t, event.User, event.Broadcast, "Queue or cron?", event.Discussion{
		ThreadID: "queue", Kind: event.KindStarted, Role: "system", Content: "Queue or cron?", Participants: []string{"claude-code", "codex"},
	})
	d.sync()
	for _, text := range []string{"A queue, bec", "A queue, because"} {
		h.live = discuss.Live{Thread: "queue", Agent: "codex", Text: text, Since: f.clock(), Timeout: time.Minute}
		h.changed <- struct{}{}
		d.m.update(d.m.waitTalk(0)()) // what follows waits for more
		d.shows(text)
	}
	if len(d.m.places()) == 1 {
		t.Error("it fills the window")
	}
	h.live = discuss.Live{}
	if d.m.update(talkMsg{h.live}) == nil {
		t.Error("nobody waits for the next one")
	}
	d.hides("A queue, because", "the discussion is over")
}

func TestGoingOnSaysWhatMayHaveBeenPaidFor(t *testing.T) {
	r := &talkRunner{says: "3 paid turns"}
	f := story(t)
	d := drive(t, f, func(o *Options) { o.Runner, o.Pane = r, "discussion" })
	f.add(t, event.User, event.Broadcast, "Queue or cron?", event.Discussion{
		ThreadID: "queue", Kind: event.KindStarted, Role: "system", Content: "Queue or cron?", Participants: []string{"claude-code", "codex"},
	})
	for _, a := range []event.TurnAction{event.TurnQueued, event.TurnStarted, event.TurnUncertain} {
		f.add(t, event.Loadout, event.Broadcast, "x", event.Turn{Action: a, Turn: "t1", Agent: "codex", Provider: "codex", Why: event.WhyDiscussion, Thread: "queue"})
	}
	d.sync()
	d.press("o")
	d.shows("Goes on with queue", "An earlier turn of codex may have been paid for")
	d.press("enter")
	if got := strings.Join(r.argv, " "); got != "coord discuss resume --yes --plain -- queue" {
		t.Errorf("ran %s", got)
	}
}
