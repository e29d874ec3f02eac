package tui

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/safetext"
	"github.com/agentloadout/loadout/tui/pane"
)

// Bounds of what is kept of the turns that this process makes.
const (
	maxSaid  = 64 << 10 // bytes of an answer, its end
	maxTurns = 32       // turns whose answers are kept
	maxNotes = 50
)

// turnFeed keeps what programs say until the model takes it, which it does at most once a frame. However much streams in, what waits is one
// state.
type turnFeed struct {
	clock    func() time.Time
	deadline time.Duration

	mu      sync.Mutex
	runs    bool // a bridge, in this process
	making  making
	turns   map[string]*said
	order   []string // of turns, the oldest first
	notes   []pane.BridgeNote
	endings []ending
	ready   chan struct{} // holds a token while something is new
}

// making is what makes turns in this process beside a bridge.
type making struct {
	singles  int // messages, and sessions that are being started
	commands int // of the command line and of forms that may make turns
}

// said is what the program of one turn has said.
type said struct {
	text  []byte
	cut   bool
	doing string
	over  bool
	shown *pane.LiveTurn // what was handed out, nil: it has changed since
}

// ending is how something ended that was begun in this process.
type ending struct {
	done string
	err  error
}

// turnNews is what the model takes.
type turnNews struct {
	here    bool
	making  making
	live    map[string]pane.LiveTurn
	notes   []pane.BridgeNote
	endings []ending
}

func newTurnFeed(clock func() time.Time, deadline time.Duration) *turnFeed {
	return &turnFeed{clock: clock, deadline: deadline, turns: map[string]*said{}, ready: make(chan struct{}, 1)}
}

func (f *turnFeed) change(edit func()) {
	f.mu.Lock()
	edit()
	f.mu.Unlock()
	notify(f.ready)
}

// here says whether a bridge runs in this process, single and command that so many more of those are under way, over how something ended.
func (f *turnFeed) here(runs bool) { f.change(func() { f.runs = runs }) }
func (f *turnFeed) single(n int)   { f.change(func() { f.making.singles += n }) }
func (f *turnFeed) command(n int)  { f.change(func() { f.making.commands += n }) }
func (f *turnFeed) over(done string, err error) {
	f.change(func() { f.endings = append(f.endings, ending{done, err}) })
}

// report takes one step of a bridge or of a single turn.
func (f *turnFeed) report(p bridge.Progress) {
	f.change(func() {
		s := f.turns[p.Turn]
		if p.Kind == bridge.KindStarted {
			f.begin(p.Turn)
			return
		}
		if s == nil {
			s = &said{}
		}
		s.shown = nil
		switch p.Kind {
		case bridge.KindText:
			s.add(p.Text)
		case bridge.KindTool:
			s.doing = safetext.Line(p.Text)
		case bridge.KindFinished:
			if p.Text != "" {
				s.text = nil
				s.add(p.Text)
			}
			s.end()
		case bridge.KindFailed, bridge.KindCancelled, bridge.KindUncertain:
			s.end()
		case bridge.KindSession, bridge.KindNotice, bridge.KindHeld, bridge.KindStopped:
			f.notes = append(f.notes, pane.BridgeNote{At: f.clock(), Agent: safetext.Line(p.Agent), Text: safetext.Line(p.Text)})
			f.notes = slices.Clone(f.notes[max(0, len(f.notes)-maxNotes):])
		case bridge.KindActive, bridge.KindStarted, bridge.KindClosed:
		}
	})
}

// begin makes room for what the program of a turn says. The oldest that are over are forgotten. f.mu is held.
func (f *turnFeed) begin(id string) {
	f.order = append(slices.DeleteFunc(f.order, func(other string) bool { return other == id }), id)
	f.turns[id] = &said{}
	for i := 0; i < len(f.order) && len(f.order) > maxTurns; {
		if old := f.order[i]; f.turns[old].over {
			delete(f.turns, old)
			f.order = slices.Delete(f.order, i, i+1)
		} else {
			i++
		}
	}
}

func (s *said) add(text string) {
	s.doing = ""
	if s.text = append(s.text, text...); len(s.text) > 2*maxSaid { // seldom, since it copies
		s.text = append([]byte(nil), s.text[len(s.text)-maxSaid:]...)
		s.cut = true
	}
}

func (s *said) end() { s.doing, s.over = "", true }

// take hands out what there is, cleaned.
func (f *turnFeed) take() turnNews {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := turnNews{
		here: f.runs, making: f.making, live: make(map[string]pane.LiveTurn, len(f.turns)), notes: f.notes, endings: f.endings,
	}
	f.endings = nil
	for id, s := range f.turns {
		if s.shown == nil {
			tail := s.text[max(0, len(s.text)-maxSaid):]
			s.shown = &pane.LiveTurn{
				Text: safetext.Block(strings.ToValidUTF8(string(tail), "")), Cut: s.cut || len(tail) < len(s.text), Doing: s.doing,
				Deadline: f.deadline, Over: s.over,
			}
		}
		n.live[id] = *s.shown
	}
	return n
}

// wait blocks until something is new, but not before a moment, and takes it. It reports false when ctx ended.
func (f *turnFeed) wait(ctx context.Context, notBefore time.Time) (turnNews, bool) {
	if !sleep(ctx, notBefore.Sub(f.clock())) {
		return turnNews{}, false
	}
	select {
	case <-f.ready:
		return f.take(), true
	case <-ctx.Done():
		return turnNews{}, false
	}
}
