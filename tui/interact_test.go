package tui

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/tui/keymap"
	"github.com/agentloadout/loadout/tui/pane"
)

func TestSearchKeepsAllRows(t *testing.T) {
	d := drive(t, story(t))
	d.press("n")
	d.shows("type what to look for")
	d.press("/", "codex", "esc")
	d.shows("claude-code □", "gemini") // all rows
	d.press("1", "home", "n")
	if s := d.m.panes[0].Subject(); s.Agent != "codex" {
		t.Errorf("the next match is %+v", s)
	}
	first := d.m.panes[0].Subject().Path
	d.press("n")
	if s := d.m.panes[0].Subject(); s.Agent != "codex" || s.Path == first {
		t.Errorf("the match after that is %+v", s)
	}
	d.press("N")
	if s := d.m.panes[0].Subject(); s.Path != first {
		t.Errorf("back again is %+v", s)
	}
	d.press("/", "zebra", "esc", "n")
	d.shows("no row has zebra")
}

func click(x, y int, b tea.MouseButton) tea.MouseMsg {
	return tea.MouseMsg{X: x, Y: y, Button: b, Action: tea.MouseActionPress}
}

func TestMouse(t *testing.T) {
	d := drive(t, story(t))
	d.run(click(70, 5, tea.MouseButtonLeft))
	if d.m.focus != 0 {
		t.Error("the mouse was listened to without being asked")
	}
	d.press("M")
	if !d.mouse {
		t.Fatal("M does not turn the mouse on")
	}
	d.run(click(70, 5, tea.MouseButtonLeft)) // the fourth row of the timeline
	if s := d.m.panes[6].Subject(); d.m.focus != 6 || s.Seq != 3 {
		t.Errorf("focus %d, selected #%d", d.m.focus+1, s.Seq)
	}
	d.run(click(70, 5, tea.MouseButtonWheelDown))
	if s := d.m.panes[6].Subject(); s.Seq != 6 {
		t.Errorf("the wheel leads to #%d", s.Seq)
	}
	d.run(click(70, 5, tea.MouseButtonWheelUp))
	d.run(click(5, 0, tea.MouseButtonLeft)) // the header
	d.run(click(5, 39, tea.MouseButtonLeft))
	if s := d.m.panes[6].Subject(); s.Seq != 3 || d.m.focus != 6 {
		t.Errorf("#%d, focus %d", s.Seq, d.m.focus+1)
	}
	d.press("c")
	d.run(click(5, 5, tea.MouseButtonLeft)) // a form is open
	if d.m.focus != 6 {
		t.Error("a click went through a form")
	}
	d.press("esc", "M")
	if d.mouse {
		t.Error("M does not turn the mouse off")
	}
}

// withEditor is a cockpit whose editor is a shell script.
func withEditor(t *testing.T, f *fakeEngine, script string) *driver {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the editor is a shell script")
	}
	path := filepath.Join(t.TempDir(), "my editor")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return drive(t, f, func(o *Options) {
		o.Environment = func(name string) string {
			if name == "EDITOR" {
				return "'" + path + "' --wait"
			}
			return ""
		}
	})
}

func TestFormTextFromTheEditor(t *testing.T) {
	f := story(t)
	d := withEditor(t, f, `test "$1" = --wait || exit 9; printf 'Which one?\nA: cents\nB: decimals \033[31m\n' >>"$2"`)
	d.press("A", "shift+tab", "codex", "tab", "Well. ")
	d.press("ctrl+o")
	d.shows("Well.", "(+2 lines)", "ctrl+o editor")
	d.press("typing has no effect", "enter")
	ask, ok := f.calls[0].Command.(engine.Ask)
	if !ok || ask.To != "codex" || !strings.HasSuffix(ask.Text, "Well.Which one?\nA: cents\nB: decimals") {
		t.Errorf("asked %+v", f.calls[0].Command)
	}
}

func TestEditorOfOneLineGoesOnInTheForm(t *testing.T) {
	d := withEditor(t, story(t), `echo 'one line' >"$2"`)
	d.press("A", "ctrl+o", "!")
	d.shows("one line!")
}

func TestEditorThatFailsLosesNothing(t *testing.T) {
	d := withEditor(t, story(t), `exit 3`)
	d.press("A", "my words", "ctrl+o")
	d.shows("my words", "exit status 3")
}

func TestRowInTheEditor(t *testing.T) {
	out := filepath.Join(t.TempDir(), "seen")
	d := withEditor(t, story(t), `cp "$2" '`+out+`'`)
	d.press("2", "e")
	seen, err := os.ReadFile(out)
	if err != nil || !strings.Contains(string(seen), "POST /api/checkout") {
		t.Errorf("the editor saw %q, %v", seen, err)
	}
}

func TestSuggestionsAreReplacedByTyping(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.press("c", "src/web/new", "enter") // the form began with the selected path
	if own, ok := f.calls[0].Command.(engine.Own); !ok || own.Paths[0] != "src/web/new" {
		t.Errorf("claimed %+v", f.calls[0].Command)
	}
	d.press("c", "end", "/deep", "enter") // moving in it keeps it
	own, ok := f.calls[1].Command.(engine.Own)
	if !ok || !strings.HasSuffix(own.Paths[0], "/deep") || own.Paths[0] == "deep" {
		t.Errorf("claimed %+v", f.calls[1].Command)
	}
}

func TestKillNeedsAReason(t *testing.T) {
	f := story(t)
	d := drive(t, f)
	d.press("K", "enter")
	d.shows("those who are stopped will ask")
	if f.halted != nil {
		t.Fatal("halted without a reason")
	}
	d.press("tests fail", "enter")
	if f.halted == nil || f.halted.Reason != "tests fail" {
		t.Errorf("halted: %+v", f.halted)
	}
}

// A key that changes what the detail shows is not pressed in vain where there was no room for the detail.
func TestKeysOfAHiddenDetailShowIt(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}, {60, 15}} {
		for key, want := range map[string]string{"d": "r1 → r2", "left": "[r1] r2", "right": "r1 [r2]", "<": "r1 → r2", ">": "r1 → r2", "v": "r1 → r2"} {
			d := drive(t, story(t))
			d.resize(size[0], size[1])
			d.press("2")
			d.hides(want)
			for range 2 { // the second time the detail is hidden again, whatever it showed before
				d.press(key)
				if screen := d.screen(); !strings.Contains(screen, want) {
					t.Errorf("%dx%d: %s shows\n%s", size[0], size[1], key, screen)
				}
				d.press("esc", "esc")
				d.hides(want)
				if key == "left" || key == "right" {
					break // they go on from where they were
				}
			}
		}
	}
}

// What the help lists, the pane knows.
func TestPanesKnowTheKeysOfTheirHelp(t *testing.T) {
	d := drive(t, worldly(t))
	for _, p := range d.m.panes {
		for _, group := range d.m.keys.Help(p.Scope()) {
			if group.Scope != keymap.Move && group.Scope != p.Scope() {
				continue
			}
			for _, b := range group.Bindings {
				if acts(b.Intent) || b.Intent == keymap.Open {
					continue // the cockpit does that, or it is open already
				}
				if _, ignored := p.Handle(b.Intent).(pane.Ignored); ignored {
					t.Errorf("%s lists %q, which %s does not know", b.Help().Key, b.Help().Desc, p.ID())
				}
			}
		}
	}
}
