//go:build !windows

package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentloadout/loadout/engine"
)

// realEngine is the engine of the project in a folder.
func realEngine(dir string, polling bool) *engine.Engine {
	p := engine.Project{Root: dir, Dir: filepath.Join(dir, ".handoff"), Worktree: dir}
	return engine.Open(p, engine.Options{NoNotify: polling})
}

// own claims a path as another process does.
func own(t *testing.T, e *engine.Engine, agent, path string) error {
	t.Helper()
	_, err := e.Do(context.Background(), engine.Request{Command: engine.Own{Agent: agent, Paths: []string{path}, Reason: "its part"}})
	return err
}

func mustOwn(t *testing.T, e *engine.Engine, agent, path string) {
	t.Helper()
	if err := own(t, e, agent, path); err != nil {
		t.Fatal(err)
	}
}

// startReal starts a cockpit on a log with one claim. Both processes use the same files.
func startReal(t *testing.T, how string) (*tty, *engine.Engine) {
	t.Helper()
	tt := startTTY(t, how)
	e := realEngine(tt.dir, false)
	mustOwn(t, e, "codex", "src/web")
	tt.shows("web", "codex")
	return tt, e
}

func (t *tty) quit() {
	t.Helper()
	t.press("q")
	if code := t.ended(); code != 0 {
		t.Errorf("exit %d", code)
	}
	t.shows("bye")
}

func TestTerminalRefusalNamesTheHolder(t *testing.T) {
	tt, _ := startReal(t, "real")
	tt.press("c")
	tt.shows("Claim ")
	tt.press("src/web/cart\t\tmine now\r")
	tt.shows("✗", "codex", "mine now")
	tt.press("\x1b")
	tt.until("the form closes", func(s string) bool { return !strings.Contains(s, "Claim ──") })
	tt.quit()
}

func TestTerminalKillIsSeenByAnotherProcess(t *testing.T) {
	tt, e := startReal(t, "real")
	tt.press("K")
	tt.shows("Halt everything")
	tt.press("tests fail\r")
	tt.shows("HALTED", "tests fail")
	tt.until("the form closes", func(s string) bool { return !strings.Contains(s, "Halt everything") })
	var halted *engine.HaltedError
	if err := own(t, e, "codex", "lib"); !errors.As(err, &halted) || halted.Reason != "tests fail" {
		t.Errorf("another process was told %v", err)
	}
	tt.press("R")
	tt.shows("let work go on")
	tt.press("\r")
	tt.shows("resumed")
	mustOwn(t, e, "codex", "lib")
	tt.shows("lib")
	if _, err := e.Kill(context.Background(), "dana", "lunch"); err != nil {
		t.Fatal(err)
	}
	tt.shows("HALTED", "dana", "lunch")
	tt.quit()
}

func TestTerminalLogIsDeletedAndCreatedAgain(t *testing.T) {
	tt, _ := startReal(t, "real")
	if err := os.RemoveAll(filepath.Join(tt.dir, ".handoff")); err != nil {
		t.Fatal(err)
	}
	tt.shows("log is gone")
	mustOwn(t, realEngine(tt.dir, false), "gemini", "docs/new")
	tt.shows("docs/new", "gemini", "live")
	tt.until("the old claim is gone", func(s string) bool { return !strings.Contains(s, "its part") || !strings.Contains(s, "codex   ") })
	tt.quit()
}

func TestTerminalCompactionBelowTheCockpit(t *testing.T) {
	tt, e := startReal(t, "real")
	for i := range 40 {
		mustOwn(t, e, "codex", fmt.Sprintf("gen/f%02d", i))
	}
	tt.shows("#40")
	if _, err := e.Compact(context.Background(), engine.CompactOptions{MaxEvents: 5, MaxAge: -1}); err != nil {
		t.Fatal(err)
	}
	mustOwn(t, e, "gemini", "after/it")
	tt.shows("gemini", "live")
	tt.press("7zG")
	tt.shows("after/it", "following")
	tt.press("gg") // the whole timeline is still there, from the archive where need be
	tt.shows("#0 ", "src/web")
	tt.quit()
}

func TestTerminalPolls(t *testing.T) {
	tt, e := startReal(t, "polling")
	tt.shows("polling")
	mustOwn(t, e, "gemini", "docs")
	tt.shows("gemini")
	tt.quit()
}
