package tui

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/state"
	"github.com/agentloadout/loadout/tui/keymap"
)

var monkeys = flag.Int("monkeys", 4, "how many monkeys TestMonkey lets loose, each with a seed of its own")

// monkeySteps is how long each of them goes on.
const monkeySteps = 300

// hostileTexts are names and texts that a log may hold.
var hostileTexts = []string{
	"", "plain", "\x1b[2J\x1b[31mred\x1b[m", "\x1b]52;c;b3duZWQ=\x07", "a\u202eb\u2066c", "日本語のとても長い名前のエージェント", "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
	"👩‍👩‍👧⚠️🇩🇪", "שלום עולם", "\u200b\u2060zero\ufeff", "cоdex", "\x00nul\x7f", "\xff\xfe", "क्षि\u0600", "a\tb\r\nc\x85d\u2028e", strings.Repeat("長", 3000),
	strings.Repeat("deep/", 200) + "end", strings.Repeat("w ", 5000),
}

// monkey presses anything while anything happens.
type monkey struct {
	*driver
	random *rand.Rand
	keys   []tea.KeyMsg
	last   []string // what it did, for who has to find out
}

// Whatever is pressed, pasted, resized and stored in whatever order, every frame fits its window and has nothing in it that the cockpit
// did not draw.
func TestMonkey(t *testing.T) {
	t.Parallel()
	for seed := range *monkeys {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newMonkey(t, uint64(seed)).play()
		})
	}
}

func newMonkey(t *testing.T, seed uint64) *monkey {
	f := bridgeStory(t)
	d, b := driveBridge(t, f)
	close(b.answer) // turns end at once
	d.m.runner = &manyRunner{
		words: append([]string{"status", "coord", "src/", "src/api"}, hostileTexts...),
		run: func(_ context.Context, argv []string, out io.Writer) error {
			_, err := io.WriteString(out, strings.Join(append(argv, hostileTexts...), "\n"))
			return err
		},
	}
	d.m.exec = func(c tea.ExecCommand, done tea.ExecCallback) tea.Cmd {
		return func() tea.Msg { return done(errors.New("no editor here")) }
	}
	k := &monkey{driver: d, random: rand.New(rand.NewPCG(seed, 7))}
	for _, msg := range named {
		if msg.Type != tea.KeyCtrlC {
			k.keys = append(k.keys, msg)
		}
	}
	for _, scope := range append(keymap.Panes(), keymap.Everywhere, keymap.Act, keymap.Move) {
		for _, group := range d.m.keys.Help(scope) {
			for _, binding := range group.Bindings {
				for _, name := range binding.Keys() {
					if r := []rune(name); len(r) == 1 {
						k.keys = append(k.keys, tea.KeyMsg{Type: tea.KeyRunes, Runes: r})
					}
				}
			}
		}
	}
	return k
}

func (k *monkey) play() {
	k.Helper()
	defer func() {
		if v := recover(); v != nil {
			k.Errorf("%v after %q", v, k.last)
			panic(v)
		}
	}()
	for range monkeySteps {
		k.step()
		k.lines()
		for i, line := range k.m.view() {
			if said := attributes.ReplaceAllString(line, ""); strings.ContainsFunc(said, harmful) {
				k.Fatalf("line %d is %q after %q", i, line, k.last)
			}
		}
	}
}

// attributes are the sequences that the cockpit draws with.
var attributes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// harmful reports whether a character could move the cursor or reorder the line.
func harmful(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b || r == 0x2028
}

func (k *monkey) did(format string, args ...any) {
	k.last = append(k.last, fmt.Sprintf(format, args...))
	k.last = k.last[max(len(k.last)-40, 0):]
}

func (k *monkey) text() string { return hostileTexts[k.random.IntN(len(hostileTexts))] }

func (k *monkey) step() {
	k.Helper()
	switch n := k.random.IntN(100); {
	case n < 60:
		msg := k.keys[k.random.IntN(len(k.keys))]
		k.did("%s", msg)
		k.run(msg)
	case n < 64:
		s := k.text()
		k.did("paste %.40q", s)
		k.paste(s)
	case n < 66:
		k.did("type")
		k.run(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("12q:K/\u0301日"), Alt: k.random.IntN(2) == 0})
	case n < 74:
		w, h := 40+k.random.IntN(161), 10+k.random.IntN(51)
		if n == 66 {
			w, h = k.random.IntN(300), k.random.IntN(12)
		}
		k.did("resize %dx%d", w, h)
		k.resize(w, h)
	case n < 78:
		k.did("mouse")
		button := []tea.MouseButton{tea.MouseButtonLeft, tea.MouseButtonWheelUp, tea.MouseButtonWheelDown}[k.random.IntN(3)]
		k.run(click(k.random.IntN(k.m.w+1), k.random.IntN(k.m.h+1), button))
	case n < 82:
		jump := time.Duration(k.random.IntN(20)-10) * time.Hour
		k.did("clock %s", jump)
		k.fake.mu.Lock()
		k.fake.now = k.fake.now.Add(jump)
		k.fake.mu.Unlock()
		k.run(tickMsg{k.m.ticking})
	default:
		k.happen()
	}
	k.sync()
}

// happen lets something happen that is no doing of the person.
func (k *monkey) happen() {
	k.Helper()
	f := k.fake
	agent := func() string {
		return []string{"claude-code", "codex", event.User, "gemini", k.text()}[k.random.IntN(5)]
	}
	path := func() string { return []string{"src", "src/api/v2", "docs", ".", k.text()}[k.random.IntN(5)] }
	bodies := []event.Body{
		event.Status{},
		event.Question{},
		event.Task{},
		event.Update{Note: k.text(), Files: []string{path()}, Consumes: []string{"checkout-api"}},
		event.Ownership{Paths: []string{path()}, Mode: event.Exclusive, Reason: k.text()},
		event.Ownership{Paths: []string{path()}, Mode: event.Release},
		event.Contract{Name: "checkout-api", Revision: int64(2 + k.random.IntN(9)), Body: k.text()},
		event.Decision{Title: k.text(), Rationale: k.text()},
		event.Ack{EventSeq: int64(k.random.IntN(len(f.events)))},
	}
	switch k.random.IntN(8) {
	case 0:
		k.did("refuse")
		f.refuse = &engine.ConflictError{Message: k.text() + " holds it", Hints: []string{k.text()}}
	case 1:
		k.did("unreadable")
		k.m.feed.change(func(u *update) { u.err = errors.New(k.text()) })
	case 2:
		k.did("halt or resume")
		if f.halted = nil; k.random.IntN(2) == 0 {
			f.halted = &engine.HaltedError{By: k.text(), Reason: k.text(), At: f.now}
		}
	case 3:
		k.did("drift")
		f.drift = engine.DriftReport{Items: []engine.Drift{{Kind: engine.DriftForeign, Path: path(), Claim: "docs", Status: k.text(), Worktree: k.text(), Agents: []string{agent()}}}}
		k.m.feed.change(func(u *update) { u.drift = &f.drift })
	case 4:
		k.did("log replaced")
		k.m.feed.deliver(engine.Delivery{Reset: true, Note: k.text(), Mode: engine.ModeMissing, Bad: []state.BadRef{{Line: 1, Seq: -1, Reason: k.text()}}})
		k.seen = 0
	default:
		body := bodies[k.random.IntN(len(bodies))]
		from, to := agent(), agent()
		k.did("%T from %.20q", body, from)
		e, err := event.New(from, to, k.text(), body)
		if err != nil {
			return // such an event is not stored
		}
		e.Seq, e.ID, e.Timestamp = int64(len(f.events)), fmt.Sprintf("id%06d", len(f.events)), f.now.Format(event.TimeFormat)
		f.events = append(f.events, e)
	}
}
