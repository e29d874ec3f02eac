package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/event"
)

func TestBridgeStartsAfterTwoYeses(t *testing.T) {
	d, b := driveBridge(t, bridgeStory(t))
	d.shows("not running", "scripted")
	d.press("B")
	d.shows("Start the bridge", "(●) take", "sim")
	d.press("enter")
	d.shows("claude-code may: everything that claude-code may.", "A turn at once,", "for 3 events.", "Nothing waits for it now.",
		"Turns of claude-code are made with your own account", "sim is a script")
	b.asked(t, "plan 2")
	d.press("enter")
	b.asked(t, "start claude-code,sim")
	d.awaits("the bridge runs in this cockpit")
	d.sync()
	d.shows("runs here")
	d.press("B")
	d.shows("Stop the bridge?", "No turn runs.")
	d.press("enter")
	d.awaits("the bridge has ended")
	if d.m.turns.current() != nil || d.m.live.Bridging.Here {
		t.Error("the bridge is taken for running")
	}
}

func TestBridgeTakesTheChosenSessionsAndCaps(t *testing.T) {
	d, b := driveBridge(t, bridgeStory(t))
	d.press("B", "right", "tab", "tab", "5", "tab", "many", "enter")
	d.shows(`"many" is no number of that`)
	d.press("ctrl+u", "9", "tab", "tab", "2.50", "enter", "enter")
	b.asked(t, "start sim turns=5 total=9 micros=2500000")
	d.press("esc")
	b.running.end(nil)
	d.awaits("the bridge has ended")
	d.press("B") // the sessions of the last one are suggested
	d.press("enter", "enter")
	b.asked(t, "start sim")
}

func TestBridgeRefusalGoesBackToTheForm(t *testing.T) {
	d, b := driveBridge(t, bridgeStory(t))
	d.press("B", "tab", "tab", "7", "enter")
	b.refuse = &engine.HaltedError{By: "dana", Reason: "lunch"}
	d.press("enter")
	d.shows("lunch", "R resumes", "turns each")
	if !strings.Contains(d.screen(), "turns each     7") || d.m.turns.current() != nil {
		t.Errorf("what was typed is lost:\n%s", d.screen())
	}
}

func TestBridgeEndsByTheKillSwitch(t *testing.T) {
	d, b := driveBridge(t, bridgeStory(t))
	d.press("B", "enter", "enter")
	b.running.end(&engine.HaltedError{By: "dana", Reason: "tests fail"})
	d.awaits("tests fail")
	if d.m.live.Bridging.Here {
		t.Error("the bridge is taken for running")
	}
}

func TestBridgeElsewhere(t *testing.T) {
	f := bridgeStory(t)
	f.add(t, event.Loadout, event.Broadcast, "opened", event.Turn{Action: event.TurnOpened, Agents: []string{"sim"}})
	f.holder = &engine.LockedError{}
	f.holder.Owner.Since = f.now.Add(-time.Hour)
	f.holder.Owner.PID, f.holder.Owner.Host, f.holder.Owner.Command = 4711, "box", "loadout coord agents bridge"
	d, b := driveBridge(t, f)
	d.shows("taken by loadout coord agents bridge", "process 4711", "1h ago")
	d.press("B")
	d.shows("runs already: loadout coord agents bridge")
	if len(b.calls) > 0 {
		t.Errorf("asked for %q", b.calls)
	}
	f.holder = nil
	d.m.feed.change(func(u *update) { u.holder = &holder{} })
	d.sync()
	d.shows("its process died")
}

func TestWhatAProgramSaysStreamsIn(t *testing.T) {
	f := bridgeStory(t)
	d, b := driveBridge(t, f)
	d.press("B", "enter", "enter")
	f.turn(t, "t1", "claude-code", event.TurnQueued, event.TurnStarted)
	f.now = f.now.Add(14 * time.Second)
	b.report(bridge.Progress{Kind: bridge.KindStarted, Turn: "t1", Agent: "claude-code"})
	d.sync()
	d.shows("00:14 of 02:00", "has said nothing yet")
	if next := d.m.panes[d.m.focus].(ticker).NextChange(); next != time.Second {
		t.Errorf("the clock goes on in %v", next)
	}
	for _, piece := range []string{"I read\n", "the con", "tract \x1b[31mred\x1b[0m\u202e now"} {
		b.report(bridge.Progress{Kind: bridge.KindText, Turn: "t1", Text: piece})
	}
	d.sync()
	d.shows("│ the contract red now")
	b.report(bridge.Progress{Kind: bridge.KindTool, Turn: "t1", Text: "Bash \x1b]0;owned\x07ls"})
	d.sync()
	d.shows("uses Bash")
	d.press("x") // no other turn runs
	d.shows("End the turn of claude-code?")
	d.press("enter")
	b.asked(t, "cancel t1")
	f.turn(t, "t1", "claude-code", event.TurnFinished)
	b.report(bridge.Progress{Kind: bridge.KindFinished, Turn: "t1", Text: "All done."})
	d.sync()
	if next := d.m.panes[d.m.focus].(ticker).NextChange(); next != 0 {
		t.Errorf("nothing runs, and the clock goes on in %v", next)
	}
	d.press("end")
	d.shows("finished", "what it says", "All done.") // the answer stays to be read
}

func TestMessageIsAskedAndAnswered(t *testing.T) {
	d, b := driveBridge(t, bridgeStory(t))
	d.press("m")
	d.shows("choose a session first")
	d.press("down", "m")
	d.shows("Message to claude-code", "Costs one turn of claude-code.", "your own account")
	d.press("enter")
	d.shows("what do you want to say?")
	b.refuse = errors.New("the session is busy")
	d.press("stop after this", "enter")
	d.shows("the session is busy", "stop after this")
	d.press("enter")
	d.shows("claude-code is asked")
	b.asked(t, `send claude-code "stop after this"`)
	d.press("q")
	d.shows("This cockpit makes turns: 1 message.")
	d.press("esc")
	b.answer <- nil
	d.awaits("claude-code has answered")
	d.press("q")
	if !d.quit {
		t.Error("it does not quit, though nothing runs any more")
	}
}

func TestSessionIsStarted(t *testing.T) {
	d, b := driveBridge(t, bridgeStory(t))
	d.press("o", "right", "tab", "sub", "tab", "hello", "enter")
	d.shows("This spends a turn of sim, which may: everything that sim may.", "sim is a script")
	d.press("enter")
	b.asked(t, `open sim "sub" "hello"`)
	d.shows("sim is asked")
	b.answer <- errors.New("not signed in")
	d.awaits("not signed in")
}

func TestSessionIsAttachedToTheBridge(t *testing.T) {
	d, b := driveBridge(t, bridgeStory(t))
	d.press("B", "enter", "enter", "+")
	d.press("nobody", "enter")
	d.shows("nobody", "✗")
	d.press("ctrl+u", "codex:0199", "enter")
	d.shows("codex:0199 may: everything that codex may.")
	d.press("enter")
	d.shows("codex takes part")
	if got := strings.Join(b.calls[len(b.calls)-2:], "; "); got != `attach codex:0199 ""; drive codex` {
		t.Errorf("asked for %s", got)
	}
}

func TestWhatWaitsIsSettled(t *testing.T) {
	f := bridgeStory(t)
	f.turn(t, "t1", "claude-code", event.TurnQueued, event.TurnStarted, event.TurnFailed)
	d, b := driveBridge(t, f)
	d.press("home", "r")
	d.shows("claude-code: failed timeout, for 1 event.", "made again it is paid for again")
	d.press("enter")
	b.asked(t, "retry t1")
	d.shows("it is made when a bridge runs, #99")
	d.press("d", "enter")
	b.asked(t, "skip t1")
	d.press("8", "home", "a") // what waits for a person is settled in the pane that lists it, too
	d.shows("What waits for you")
	d.press("right", "enter")
	b.asked(t, "skip t1")
	d.press("4", "end", "r")
	d.shows("nothing waits for you there")
}

func TestCapsAndForgetting(t *testing.T) {
	d, b := driveBridge(t, bridgeStory(t))
	d.press("down", "L")
	d.shows("claude-code has made 0 turns, of 20.")
	d.press("right", "tab", "40", "enter")
	b.asked(t, `raise "claude-code" turns=40`)
	d.press("home", "L", "tab", "tab", "90000", "enter")
	b.asked(t, `raise "" tokens=90000`)
	d.press("down", "-", "enter")
	b.asked(t, "forget claude-code")
}

func TestQuittingAsksOnceAndStops(t *testing.T) {
	d, b := driveBridge(t, bridgeStory(t))
	d.press("B", "enter", "enter", "q")
	d.shows("Quit?", "the bridge")
	if d.press("esc"); d.quit {
		t.Fatal("it quit without a yes")
	}
	d.press("ctrl+c", "enter")
	select {
	case <-b.running.over:
	default:
		t.Error("the bridge still runs")
	}
	if !d.quit {
		t.Error("it does not quit")
	}
}

func TestAskedAgainItQuitsAtOnce(t *testing.T) {
	d, _ := driveBridge(t, bridgeStory(t))
	d.press("B", "enter", "enter", "ctrl+c", "ctrl+c")
	if !d.quit {
		t.Error("it does not quit")
	}
}

func TestTheCockpitEndsAfterItsTurns(t *testing.T) {
	d, b := driveBridge(t, bridgeStory(t))
	d.press("B", "enter", "enter")
	ctx, cancel := context.WithCancel(context.Background())
	d.m.turns.within(ctx)
	cancel()
	closed := make(chan struct{})
	go func() {
		d.m.turns.close()
		close(closed)
	}()
	for late := time.Now().Add(20 * time.Second); d.m.turns.enter(); d.m.turns.leave() {
		if time.Now().After(late) {
			t.Fatal("it does not begin to close")
		}
	}
	select {
	case <-closed:
		t.Fatal("it ended before its bridge")
	default:
	}
	if err := d.m.turns.begin(context.Background(), nil); !errors.Is(err, errClosing) {
		t.Errorf("a turn begins at the end: %v", err)
	}
	b.running.end(nil)
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end with its bridge")
	}
}

func TestBridgeIsNotForThePast(t *testing.T) {
	d, b := driveBridge(t, bridgeStory(t))
	d.press("[", "B")
	d.shows("this is the past")
	if len(b.calls) > 0 {
		t.Errorf("asked for %q", b.calls)
	}
}

func TestWithoutABridge(t *testing.T) {
	d := drive(t, bridgeStory(t))
	d.press("4", "B")
	d.shows("no turns can be made from this cockpit")
}

// However much streams in, little is kept, and taking it is one update.
func TestTurnFeedIsBounded(t *testing.T) {
	f := newTurnFeed(time.Now, time.Minute)
	for i := range 3 * maxTurns {
		id := fmt.Sprint("turn-", i)
		f.report(bridge.Progress{Kind: bridge.KindStarted, Turn: id})
		for range 40 {
			f.report(bridge.Progress{Kind: bridge.KindText, Turn: id, Text: strings.Repeat("wörds ", 1000)})
			f.report(bridge.Progress{Kind: bridge.KindNotice, Text: "busy"})
		}
		f.report(bridge.Progress{Kind: bridge.KindFailed, Turn: id})
	}
	<-f.ready
	n := f.take()
	if len(n.live) != maxTurns || len(n.notes) != maxNotes {
		t.Errorf("%d turns, %d notes are kept", len(n.live), len(n.notes))
	}
	for id, turn := range n.live {
		if len(turn.Text) > maxSaid || !turn.Cut || !turn.Over || !strings.HasSuffix(turn.Text, "wörds ") {
			t.Errorf("%s: %d bytes, %+v", id, len(turn.Text), turn.Cut)
		}
	}
	select {
	case <-f.ready:
		t.Error("there is more")
	default:
	}
}
