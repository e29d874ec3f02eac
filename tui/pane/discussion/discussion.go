// Package discussion is the pane that shows the design discussions of agents: the threads, the statements of each as they come, and what
// was decided.
package discussion

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine/discuss"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/engine/words"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/list"
	"github.com/agentloadout/loadout/tui/pane"
	"github.com/agentloadout/loadout/tui/text"
	"github.com/agentloadout/loadout/tui/theme"
)

// titleWidth is what the title has in the frame beside the status, in cells.
const titleWidth = 22

// Pane is the discussion pane: the transcript of one thread, and the list of all that Back leads to, or that is beside it where there is
// room.
type Pane struct {
	pane.Look
	snap    pane.Snapshot
	started bool
	threads []state.Thread // newest first, those that match
	list    list.List
	moved   bool // somebody chose a thread: a newer one does not take its place
	inside  bool // keys go to the transcript

	id         string // of the thread whose transcript is shown
	statements []discuss.Statement
	shown      []discuss.Statement // those that match
	script     transcript
	sought     int // the statement that a search went to last, which may be too near to the end to be the first that is visible
	raw        bool
	rendered   map[rendering][]theme.Spans
	cards      map[rendering][]theme.Spans // whole statements, until something about them changes

	talk discuss.Live // the discussion that is held in this process, if there is one

	w, h           int
	zoomed, focus  bool
	filter         string
	reads, renders serial
	failed         error
}

// serial numbers the Loads of a kind; results of older ones are dropped.
type serial struct {
	n  int
	on bool
}

func (s *serial) next(kind string) string {
	s.n++
	s.on = true
	return kind + strconv.Itoa(s.n)
}

func (s *serial) awaits(kind, key string) bool { return s.on && key == kind+strconv.Itoa(s.n) }

// New makes the pane.
func New(look pane.Look) *Pane {
	p := &Pane{Look: look, inside: true, rendered: map[rendering][]theme.Spans{}, cards: map[rendering][]theme.Spans{}}
	p.script = transcript{follow: true, lines: p.card}
	return p
}

// ID is the pane's name in commands.
func (p *Pane) ID() string { return "discussion" }

// Title is the pane's name in its frame.
func (p *Pane) Title() string { return "Discussion" }

// Scope is where the pane's keys are.
func (p *Pane) Scope() keymap.Scope { return keymap.Discussion }

// SetFocus says whether keys go to the pane.
func (p *Pane) SetFocus(focused bool) { p.focus = focused }

// Filter is what rows must match.
func (p *Pane) Filter() string { return p.filter }

// Blank reports that there is no thread.
func (p *Pane) Blank() bool { return len(p.threads) == 0 && p.filter == "" }

// Preview reports whether the transcript is beside the list. One that is held in this process has all the room.
func (p *Pane) Preview() bool { return p.zoomed && p.w >= 100 && p.talk.Thread == "" }

// SetSize sets the cells to draw in.
func (p *Pane) SetSize(w, h int, zoomed bool) {
	if w != p.w {
		clear(p.cards)
	}
	p.w, p.h, p.zoomed = max(w, 0), max(h, 0), zoomed
	p.list.SetHeight(p.h)
	p.script.h = p.h
}

// listWidth is what the list has beside the transcript.
func (p *Pane) listWidth() int { return min(p.w*35/100, 48) }

// textWidth is what a statement's text has.
func (p *Pane) textWidth() int {
	w := p.w
	if p.Preview() {
		w -= p.listWidth() + 1
	}
	return max(w-4, 1)
}

// Status says of the thread that is shown what it is about and how far it is.
func (p *Pane) Status() string {
	t := p.thread()
	switch {
	case p.failed != nil:
		return "statements cannot be read"
	case p.filter != "" && p.inside:
		return fmt.Sprintf("%d of %d", len(p.shown), len(p.statements))
	case !p.inside || t == nil:
		return words.Plural(len(p.threads), "thread")
	}
	status := t.Status
	if t.Status == discuss.StatusOpen && p.script.follow {
		status = "following"
	}
	progress := p.progress()
	said := ""
	for _, parts := range [][]string{{t.ID, progress, status}, {progress, status}, {progress}} { // what there is room for beside the title
		if said = strings.Join(parts, " "+p.Dot+" "); text.Width(said) <= p.w-titleWidth {
			break
		}
	}
	return said
}

// progress says how far the thread is: the round and the turn, of how many where that is known.
func (p *Pane) progress() string {
	round, rounds := int64(0), 0
	for _, s := range p.statements {
		round, rounds = max(round, s.Round), max(rounds, s.Terms.Rounds)
	}
	if rounds == 0 {
		return fmt.Sprintf("round %d", round)
	}
	said := len(discuss.Said(p.statements))
	if step, more := discuss.StepAt(said, rounds); more && p.speaking() {
		round, said = int64(step.Round), said+1
	}
	return fmt.Sprintf("round %d/%d %s turn %d/%d", round, rounds, p.Dot, said, discuss.Turns(rounds))
}

// Shown is the thread that is shown, with its turns and no statements, as far as it was read; the zero Thread when there is none.
func (p *Pane) Shown() discuss.Thread {
	t := p.thread()
	if t == nil || p.snap.Past {
		return discuss.Thread{}
	}
	shown := discuss.Thread{Row: discuss.Row{
		ThreadID: t.ID, Topic: t.Topic, Participants: t.Participants, Status: t.Status, Said: len(discuss.Said(p.statements)),
	}}
	for _, s := range p.statements {
		shown.Rounds = max(shown.Rounds, s.Terms.Rounds)
	}
	asked, lost := p.asked()
	for _, turn := range p.snap.State.Turns() {
		if lost && turn.ID == asked.ID {
			turn.Status = state.TurnUncertain
		}
		if turn.Thread == t.ID {
			shown.Turns = append(shown.Turns, turn)
		}
	}
	return shown
}

// SetLive shows a discussion that is held in this process: what is being said right now. One that was not held before is gone to.
func (p *Pane) SetLive(l discuss.Live) pane.Action {
	begun := l.Thread != "" && l.Thread != p.talk.Thread
	p.talk = l
	p.sift()
	if begun {
		p.inside = true
		at := slices.IndexFunc(p.threads, func(t state.Thread) bool { return t.ID == l.Thread })
		p.moved = at >= 0 // else it is the newest as soon as the log shows it
		p.list.Select(max(at, 0))
	}
	return p.choose()
}

// streamed is the discussion of this process when its turn runs in the thread that is shown, else nil.
func (p *Pane) streamed() *discuss.Live {
	if p.talk.Agent != "" && p.talk.Thread == p.id && !p.snap.Past {
		return &p.talk
	}
	return nil
}

// timeout is how long a statement of the thread may take, 0 when the log does not say.
func (p *Pane) timeout() time.Duration {
	for _, s := range p.statements {
		if s.Terms.Timeout > 0 {
			return s.Terms.Timeout
		}
	}
	return 0
}

// pace is how often what is being said is drawn anew, for the mark that turns and for the time that passes.
const pace = 200 * time.Millisecond

// NextChange is when the pane changes by time alone: while somebody speaks.
func (p *Pane) NextChange() time.Duration {
	switch {
	case p.h == 0 || p.snap.State == nil:
		return 0
	case p.streamed() != nil:
		return pace
	case p.speaking():
		return time.Second
	}
	return 0
}

// thread is the one whose transcript is shown.
func (p *Pane) thread() *state.Thread {
	for i := range p.threads {
		if p.threads[i].ID == p.id {
			return &p.threads[i]
		}
	}
	return nil
}

// Apply takes a snapshot and the events since the last one.
func (p *Pane) Apply(s pane.Snapshot, c pane.Changes) pane.Action {
	travelled := s.Past != p.snap.Past || s.At != p.snap.At
	p.snap = s
	if c.Reset || travelled || !p.started {
		p.started = true
		p.id, p.statements = "", nil
		clear(p.rendered)
	}
	p.sift()
	if !s.Past {
		for i := range c.Events {
			if st, ok := discuss.NewStatement(&c.Events[i]); ok && st.ThreadID == p.id {
				p.statements = sorted(append(p.statements, st))
			}
		}
	}
	clear(p.cards) // ages and what runs change
	if !p.moved && len(p.threads) > 0 {
		p.list.Select(0)
	}
	return p.choose()
}

// sift lists the threads, and the statements of the one that is shown, that match the filter.
func (p *Pane) sift() {
	if p.snap.State == nil {
		return
	}
	all := p.snap.State.Threads()
	slices.Reverse(all)
	p.threads = all
	p.shown = p.statements
	switch {
	case p.filter == "":
	case p.inside && p.id != "":
		p.shown = nil
		for _, s := range p.statements {
			if statementHas(&s, p.filter) {
				p.shown = append(p.shown, s)
			}
		}
	default:
		p.threads = slices.DeleteFunc(all, func(t state.Thread) bool {
			return !threadHas(&t, p.filter)
		})
	}
	p.list.SetLen(len(p.threads))
	if p.moved {
		for i := range p.threads {
			if p.threads[i].ID == p.id {
				p.list.Reselect(i)
			}
		}
	}
	p.script.n = p.items()
}

// items is how many statements the transcript has, and one more for what is being said.
func (p *Pane) items() int {
	n := len(p.shown)
	if t, _ := p.asked(); p.filter == "" && (t != nil || p.streamed() != nil) {
		n++
	}
	return n
}

// asked is the turn in which the next statement is made, nil when there is none, and whether the process that waited for it is gone.
func (p *Pane) asked() (t *state.Turn, lost bool) {
	if p.id == "" || p.snap.Past {
		return nil, false
	}
	turns := p.snap.State.OpenTurns()
	i := slices.IndexFunc(turns, func(t state.Turn) bool { return t.Thread == p.id && t.Status == state.TurnRunning && t.Started != nil })
	if i < 0 {
		return nil, false
	}
	return &turns[i], !p.snap.Bridging.Runs(&turns[i])
}

// speaking is asked for a turn that is not lost.
func (p *Pane) speaking() bool {
	t, lost := p.asked()
	return t != nil && !lost
}

// choose shows the transcript of the selected thread.
func (p *Pane) choose() pane.Action {
	i := p.list.Cursor()
	if i < 0 || i >= len(p.threads) {
		p.id, p.statements = "", nil
		p.sift()
		return nil
	}
	if id := p.threads[i].ID; id != p.id {
		p.id, p.statements, p.failed, p.sought = id, nil, nil, 0
		p.sift()
		p.script.home()
		p.script.follow = true
		clear(p.cards)
		return readThread(p.reads.next("read"), id, p.snap.State.Statements(id))
	}
	p.sift()
	return p.want()
}

// want asks for the rendering of what is shown.
func (p *Pane) want() pane.Action {
	if p.raw || p.renders.on || p.w == 0 {
		return nil
	}
	w := p.textWidth()
	var list []discuss.Statement
	for _, s := range p.shown {
		if _, done := p.rendered[rendering{s.Seq, w}]; !done {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return render(p.renders.next("render"), p.Look, list, w)
}

// Loaded takes the statements of a thread, or their rendering.
func (p *Pane) Loaded(key string, value any, err error) pane.Action {
	switch {
	case p.reads.awaits("read", key):
		p.reads.on, p.failed = false, err
		if got, ok := value.([]discuss.Statement); ok && err == nil {
			p.statements = sorted(append(got, p.statements...))
		}
	case p.renders.awaits("render", key):
		p.renders.on = false
		got, ok := value.(map[rendering][]theme.Spans)
		if !ok || err != nil {
			return nil // the text is shown as it was written
		}
		if len(p.rendered) > maxRendered {
			clear(p.rendered)
		}
		maps.Copy(p.rendered, got)
	default:
		return nil
	}
	clear(p.cards)
	p.sift()
	return p.want()
}

// SetFilter shows only threads, or statements of the one that is open, that match.
func (p *Pane) SetFilter(filter string) pane.Action {
	p.filter = filter
	clear(p.cards)
	p.sift()
	if p.inside {
		return p.want()
	}
	return p.choose()
}

// Handle moves, opens, follows, and switches between the text as it was written and rendered.
func (p *Pane) Handle(intent keymap.Intent) pane.Action {
	switch intent {
	case keymap.Raw, keymap.Follow:
		return p.toggle(intent)
	case keymap.Back:
		if !p.inside || len(p.threads) == 0 {
			return pane.Ignored{}
		}
		p.inside, p.moved = false, true
		p.sift()
		return nil
	case keymap.Open:
		if p.inside {
			return pane.Ignored{}
		}
		p.inside = true
		return p.choose()
	default:
	}
	if p.inside {
		return p.scroll(intent)
	}
	return p.browse(intent)
}

// toggle switches how the transcript is shown. What cannot be seen is not switched, but shown.
func (p *Pane) toggle(intent keymap.Intent) pane.Action {
	if len(p.threads) == 0 {
		return nil
	}
	seen := p.inside || p.Preview()
	if intent == keymap.Follow {
		p.script.follow = !p.script.follow || !seen
	} else {
		p.raw = !p.raw || !seen
		clear(p.cards)
	}
	if !seen {
		return pane.Reveal{}
	}
	return p.want()
}

func (p *Pane) scroll(intent keymap.Intent) pane.Action {
	page := max(p.h-1, 1)
	p.sought = 0
	switch intent {
	case keymap.Up:
		p.script.move(-1)
	case keymap.Down:
		p.script.move(1)
	case keymap.PageUp:
		p.script.move(-page)
	case keymap.PageDown:
		p.script.move(page)
	case keymap.Home:
		p.script.home()
	case keymap.End:
		p.script.follow = true
	default:
		return pane.Ignored{}
	}
	return nil
}

func (p *Pane) browse(intent keymap.Intent) pane.Action {
	switch intent {
	case keymap.Up:
		p.list.Move(-1)
	case keymap.Down:
		p.list.Move(1)
	case keymap.PageUp:
		p.list.Page(-1)
	case keymap.PageDown:
		p.list.Page(1)
	case keymap.Home:
		p.list.Home()
	case keymap.End:
		p.list.End(false)
	default:
		return pane.Ignored{}
	}
	p.moved = true
	return p.choose()
}

// Subject is the statement at the top of the transcript, or the selected thread.
func (p *Pane) Subject() pane.Subject {
	if p.inside && p.script.top < len(p.shown) {
		s := p.shown[p.script.top]
		return pane.Subject{Agent: s.From, Seq: s.Seq, Text: s.Content}
	}
	if t := p.thread(); t != nil {
		return pane.Subject{Seq: t.Seq, Text: t.ID}
	}
	return pane.Subject{Seq: -1}
}
