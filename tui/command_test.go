package tui

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/agentloadout/loadout/engine/words"
)

// manyRunner completes from a list and runs what a test gives it.
type manyRunner struct {
	words []string
	run   func(ctx context.Context, argv []string, out io.Writer) error
}

func (r *manyRunner) Run(ctx context.Context, argv []string, out io.Writer) error {
	return r.run(ctx, argv, out)
}

func (*manyRunner) InPast([]string) bool { return false }

func (r *manyRunner) Complete(line string) []string {
	_, last, _ := words.Unfinished(line)
	var found []string
	for _, w := range r.words {
		if strings.HasPrefix(w, last) {
			found = append(found, words.Complete(w, strings.HasSuffix(w, "/")))
		}
	}
	return found
}

func (d *driver) typed() string { return d.m.prompt.field.Value() }

func TestCompletionMenu(t *testing.T) {
	r := &manyRunner{words: []string{"coord", "completion"}}
	for i := range 30 {
		r.words = append(r.words, fmt.Sprintf("src/file%02d", i))
	}
	d := drive(t, story(t), func(o *Options) { o.Runner = r })
	d.press(":", "co", "tab")
	d.shows("coord", "completion", "2, tab chooses")
	d.press("tab", "tab")
	if d.typed() != "completion" {
		t.Errorf("chose %q", d.typed())
	}
	d.press("shift+tab", "enter") // takes it, and runs nothing
	if d.typed() != "coord " {
		t.Errorf("took %q", d.typed())
	}
	d.hides("tab chooses")

	d.press("own s", "tab") // what they have in common, and the first eight of thirty
	if d.typed() != "coord own src/file" {
		t.Errorf("completed to %q", d.typed())
	}
	d.shows("src/file00", "src/file07", "30, tab chooses ↓")
	d.hides("src/file08")
	for range 9 {
		d.press("tab")
	}
	d.shows("src/file08", "9 of 30 ↑↓")
	d.press("shift+tab", "shift+tab", "shift+tab", "shift+tab", "shift+tab", "shift+tab", "shift+tab", "shift+tab", "shift+tab")
	d.shows("30 of 30 ↑")
	d.press("esc")
	if d.typed() != "coord own src/file" {
		t.Errorf("esc left %q", d.typed())
	}
	d.press("12")
	d.press("tab")
	if d.typed() != "coord own src/file12 " {
		t.Errorf("completed to %q", d.typed())
	}
	d.resize(40, 10)
	d.press("src/", "tab", "tab")
	d.lines() // exact in the smallest window too
}

func TestCompletionQuotesAndFolders(t *testing.T) {
	r := &manyRunner{words: []string{"my file.txt", "docs/"}}
	d := drive(t, story(t), func(o *Options) { o.Runner = r })
	d.press(":", "own m", "tab")
	if got := d.typed(); got != "own 'my file.txt' " {
		t.Errorf("completed to %q", got)
	}
	d.press("do", "tab")
	if got := d.typed(); got != "own 'my file.txt' docs/" {
		t.Errorf("completed to %q", got)
	}
}

func TestHistoryIsKeptWithoutSecrets(t *testing.T) {
	state := t.TempDir()
	open := func() *driver {
		return drive(t, story(t), func(o *Options) {
			o.Runner = &fakeRunner{}
			o.Environment = func(name string) string {
				if name == "XDG_STATE_HOME" {
					return state
				}
				return ""
			}
		})
	}
	d := open()
	secret := "ghp_" + strings.Repeat("aB3x", 9)
	d.press(":", "status --json", "enter", "esc", ":", "note "+secret, "enter", "esc", ":", " hidden", "enter", "esc")

	path := filepath.Join(state, "loadout", "history")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("mode %v", mode)
	}
	if text := string(data); !strings.HasPrefix(text, "status --json\n") || strings.Contains(text, secret) || strings.Contains(text, "hidden") {
		t.Errorf("the file has %q", text)
	}

	d = open() // another cockpit
	d.press(":", "up", "up")
	if d.typed() != "status --json" {
		t.Errorf("two lines back is %q", d.typed())
	}
	d.press("down", "down")
	if d.typed() != "" {
		t.Errorf("the line that is typed is %q", d.typed())
	}
}

func TestHistoryIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loadout", historyName)
	line := strings.Repeat("word ", 200)
	for i := range 300 {
		if err := writeHistory(path, fmt.Sprint(i, " ", line)); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := readHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxHistoryBytes || len(lines) < 20 || !strings.HasPrefix(lines[len(lines)-1], "299 ") {
		t.Errorf("%d bytes, %d lines, the last is %.10q", info.Size(), len(lines), lines[len(lines)-1])
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestHistoryRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, historyName)
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), path); err != nil {
		t.Skipf("skipped: no symbolic links can be made: %v", err)
	}
	if err := writeHistory(path, "x"); err == nil {
		t.Error("wrote through a link")
	}
	if _, err := readHistory(path); err == nil {
		t.Error("read through a link")
	}
}

// A command that streams is stopped by the first esc, and its output stays until the next.
func TestStreamingCommandIsStoppedAndStays(t *testing.T) {
	var stopped error
	r := &manyRunner{run: func(ctx context.Context, _ []string, out io.Writer) error {
		_, _ = io.WriteString(out, "first line\n")
		<-ctx.Done()
		stopped = ctx.Err()
		return stopped
	}}
	d := drive(t, story(t), func(o *Options) { o.Runner = r })
	d.press(":")
	d.m.prompt.field.Set("watch")
	run := d.m.update(named["enter"]) // timers are nil in tests, so this is the command alone
	done := make(chan tea.Msg)
	go func() { done <- run() }()
	for late := time.Now().Add(20 * time.Second); !strings.Contains(strings.Join(d.m.command.out.lines(), ""), "first"); runtime.Gosched() {
		if time.Now().After(late) {
			t.Fatal("nothing was printed")
		}
	}
	d.run(outputMsg{id: d.m.command.id})
	d.shows(": watch …", "first line", "esc stop")
	d.press("esc")
	d.run(<-done)
	d.shows("first line", "stopped", "esc close")
	if stopped == nil {
		t.Error("the command was not cancelled")
	}
	d.press("esc")
	d.hides("first line")
}

func TestLongOutputShowsItsEndAndSaysSo(t *testing.T) {
	r := &manyRunner{run: func(_ context.Context, _ []string, out io.Writer) error {
		for i := range 20_000 {
			_, _ = fmt.Fprintf(out, "a line of the output, number %d\n", i)
		}
		return nil
	}}
	d := drive(t, story(t), func(o *Options) { o.Runner = r })
	d.press(":", "replay", "enter")
	d.shows("only the end of a long output")
	d.press("end")
	d.shows("number 19999")
}
