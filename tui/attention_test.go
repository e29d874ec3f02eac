package tui

import (
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/settings"
)

// ringing is a cockpit with the default settings.
func ringing(o *Options) { o.Settings = settings.Default() }

// rung counts the bells since the last call.
func (d *driver) rung() int {
	n := strings.Count(strings.Join(d.sent, ""), bell)
	d.sent = nil
	return n
}

func TestNewsIsCountedInTheTitleUntilThePaneIsLookedAt(t *testing.T) {
	f := story(t)
	d := drive(t, f, ringing)
	d.hides("+1", "+2")
	f.add(t, "codex", event.Broadcast, "Contract 'cart' rev1", event.Contract{Name: "cart", Revision: 1, Body: "GET /cart\n"})
	f.add(t, "codex", event.Broadcast, "Contract 'cart' rev2", event.Contract{Name: "cart", Revision: 2, Body: "GET /cart/:id\n"})
	f.own(t, "codex", event.Exclusive, "", "lib") // the focused pane's
	f.add(t, event.User, event.Broadcast, "mine", event.Contract{Name: "mine", Revision: 1, Body: "x\n"})
	d.sync()
	d.shows("2 Contracts +2", "7 Timeline +3")
	d.hides("1 Ownership +")
	d.press("2")
	d.hides("2 Contracts +")
	if n := d.rung(); n != 0 {
		t.Errorf("rang %d times for news that needs nobody", n)
	}
}

// Every type of event is news in the pane that shows it.
func TestNewsOfEveryPane(t *testing.T) {
	item := &event.WorkItem{Type: "spec_task", ID: "spc-7.2"}
	for pane, news := range map[string]event.Body{
		"1 Ownership +1":  event.Ownership{Paths: []string{"lib"}, Mode: event.Exclusive},
		"2 Contracts +1":  event.Contract{Name: "cart", Revision: 1, Body: "GET /cart\n"},
		"3 Discussion +1": event.Decision{Title: "cents"},
		"4 Bridge +1":     event.Turn{Action: event.TurnOpened, Agents: []string{"codex"}},
		"5 Work +1":       event.Work{Action: event.WorkTaken, Agent: "gemini-1", Item: item},
		"6 Gates +1":      event.Gate{Ledger: "GATES", Met: 12},
		"7 Timeline +1":   event.Update{Note: "moved"},
		"8 Agents +1":     event.Agent{Action: event.AgentRegistered, Name: "gemini"},
	} {
		f := story(t)
		d := drive(t, f, ringing)
		d.resize(200, 60)
		d.press("1")
		if strings.HasPrefix(pane, "1") {
			d.press("2")
		}
		f.add(t, "gemini", event.Broadcast, "news", news)
		d.sync()
		d.shows(pane)
	}
}

func TestWhatNeedsAPersonRingsOnceAndStaysMarked(t *testing.T) {
	tests := []struct {
		name string
		come func(f *fakeEngine)
		pane string // title with its mark
	}{
		{"a question", func(f *fakeEngine) {
			f.add(t, "codex", event.User, "May I deploy?", event.Question{})
		}, "8 Agents !1"},
		{"a claim that ended another", func(f *fakeEngine) {
			f.add(t, "gemini", event.Broadcast, "gemini takes src/api", event.Ownership{
				Paths: []string{"src/api"}, Mode: event.Exclusive, Cause: event.CauseForced, Reason: "urgent",
				Displaced: []event.Displaced{{Agent: "claude-code", Path: "src/api", Mode: event.Exclusive, Fence: 2}},
			})
		}, "1 Ownership !1"},
		{"the kill switch", func(f *fakeEngine) {
			f.halted = &engine.HaltedError{By: "dana", Reason: "stop", At: f.now}
			f.add(t, "dana", event.Broadcast, "halted", event.Halt{Action: event.HaltSet, Reason: "stop"})
		}, "8 Agents !1"},
		{"a failed turn", func(f *fakeEngine) {
			f.add(t, event.Loadout, event.Broadcast, "turn failed", event.Turn{
				Action: event.TurnFailed, Turn: "t1", Agent: "codex", Provider: "codex", Cause: "quota", Spent: "nothing",
			})
		}, "4 Bridge !1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := story(t)
			d := drive(t, f, ringing)
			d.press("2")
			d.resize(200, 60) // every pane is visible
			if n := d.rung(); n != 0 {
				t.Fatalf("rang %d times for what was there before", n)
			}
			tt.come(f)
			d.sync()
			d.shows(tt.pane)
			f.add(t, "codex", event.Broadcast, "on and on", event.Status{})
			d.sync()
			if n := d.rung(); n != 1 {
				t.Errorf("rang %d times", n)
			}
			d.press(tt.pane[:1])
			d.press("2")
			d.hides(" !1 ")
		})
	}
}

func TestTheBellCanBeSilent(t *testing.T) {
	f := story(t)
	d := drive(t, f, func(o *Options) {
		o.Settings = settings.Default()
		o.Settings.Cockpit.Bell = false
	})
	f.add(t, "codex", event.User, "May I deploy?", event.Question{})
	d.sync()
	d.shows("8 Agents !1")
	if n := d.rung(); n != 0 {
		t.Errorf("rang %d times", n)
	}
}

func TestDriftRingsWhenItIsNew(t *testing.T) {
	f := story(t)
	d := drive(t, f, ringing)
	d.press("2")
	report := func(paths ...string) {
		r := &engine.DriftReport{Git: true}
		for _, p := range paths {
			r.Items = append(r.Items, engine.Drift{Path: p, Kind: engine.DriftForeign, Owners: []string{"codex"}, Worktree: "/w"})
		}
		d.m.feed.change(func(u *update) { u.drift = r })
		d.sync()
	}
	report("src/web/a.ts")
	if n := d.rung(); n != 0 {
		t.Errorf("rang %d times for what was there before", n)
	}
	report("src/web/a.ts", "src/web/b.ts")
	d.shows("1 Ownership !")
	report("src/web/a.ts", "src/web/b.ts")
	if n := d.rung(); n != 1 {
		t.Errorf("rang %d times", n)
	}
}

func TestHeaderSaysWhoWaitsAndForHowLong(t *testing.T) {
	d := drive(t, story(t))
	d.shows("! 1 for you, 3m")
}

// However narrow the window, the footer has the ways out and to everything else.
func TestFooterAlwaysHasTheWaysOut(t *testing.T) {
	for _, w := range []int{40, 60, 80, 100, 120} {
		d := drive(t, story(t))
		d.resize(w, 24)
		lines := d.lines()
		for _, want := range []string{"q quit", ": command", "? help"} {
			if !strings.Contains(lines[23], want) {
				t.Errorf("%d columns: %q lacks %q", w, lines[23], want)
			}
		}
	}
}

// The footer has whole hints, whatever the width: one that does not fit is left out.
func TestFooterHasWholeHints(t *testing.T) {
	d := drive(t, story(t))
	for w := 40; w <= 200; w++ {
		d.resize(w, 24)
		if foot := d.lines()[23]; strings.Contains(foot, "…") || w >= 60 && !strings.HasSuffix(foot, "  13 unread ") {
			t.Errorf("%d columns: %q", w, foot)
		}
	}
}

func TestPaneOrderAndThemeFromTheSettings(t *testing.T) {
	d := drive(t, story(t), func(o *Options) {
		o.Settings = settings.Default()
		o.Settings.Cockpit.Panes = []string{"timeline", "agents"}
		o.Settings.Cockpit.ASCII = true
		o.Settings.Cockpit.Layout = "single"
		o.Settings.Cockpit.Keys = map[string][]string{"next-pane": {"w"}, "quit": {"Q"}}
	})
	d.shows(">1 Timeline", "2 Agents - 3 Ownership", "Q quit")
	d.press("w", "q")
	d.shows(">2 Agents")
	if d.quit {
		t.Error("the old key still quits")
	}
	d.press("Q")
	if !d.quit {
		t.Error("the new key does not quit")
	}
}

func TestSettingsKnowThePanes(t *testing.T) {
	for _, k := range settings.Keys() {
		if k.Name == "cockpit.panes" && k.Allowed != "a list of: "+strings.Join(Panes(), ", ") {
			t.Errorf("the settings allow %s", k.Allowed)
		}
	}
}

func TestHeaderTellsOfTurns(t *testing.T) {
	f := story(t)
	through, most := int64(-1), int64(20)
	turn := func(b event.Turn) {
		b.Agent, b.Provider, b.Session = "codex", "codex", "s1"
		f.add(t, event.Loadout, event.Broadcast, "turn "+string(b.Action), b)
	}
	turn(event.Turn{Action: event.TurnAttached, Through: &through})
	f.add(t, event.Loadout, event.Broadcast, "bridge", event.Turn{Action: event.TurnOpened, Agents: []string{"codex"}, Caps: &event.TurnLimits{Turns: &most}})
	turn(event.Turn{Action: event.TurnCapped, Caps: &event.TurnLimits{Turns: &most}})
	work := event.Turn{Turn: "t1", Why: event.WhyDelivery, Seqs: []int64{14}, Through: &through}
	for _, action := range []event.TurnAction{event.TurnQueued, event.TurnStarted} {
		b := work
		b.Action = action
		turn(b)
	}
	d := drive(t, f)
	d.resize(200, 40)
	d.shows("1 turn running", "1/20 turns")
	work.Action = event.TurnFinished
	work.Usage = &event.TurnUsage{Input: 40_000, Output: 1_500, CostMicros: 380_000, Priced: true, Known: true}
	turn(work)
	d.sync()
	d.shows("41k tok", "$0.38", "1/20 turns")
	d.hides("running")
}
