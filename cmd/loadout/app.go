package main

import (
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/term"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/turn"
)

// app is what a process hands to its verbs. Nothing below it reads the environment, the clock or the standard streams.
type app struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	env    func(name string) string
	now    func() time.Time
	dir    string      // working directory
	home   string      // home directory, "" when there is none
	host   engine.Host // the machine's processes, nil for those of this one
	files  engine.FS   // nil for those of this machine

	holdInterrupt func() (release func()) // drops Ctrl-C until it is released; nil: nothing to drop

	cast []turn.Provider // the agent programs of a demonstration, in place of those of this machine; nil: those

	terminal bool // a person reads stdout and types on stdin
	colour   bool // stdout shows colours
	nested   bool // run from the command line of the cockpit, which owns the terminal

	actor *string // who the cockpit acts as whose command line this is, empty: the person; nil: there is none, and who calls is looked for

	stage *stage // where a cockpit sees the discussion that this call holds; nil: there is none
}

// thisProcess is the app of the real process.
func thisProcess() *app {
	a := &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		env: os.Getenv, now: time.Now,
		terminal: term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())),
		colour:   term.IsTerminal(int(os.Stdout.Fd())) && showsColour(runtime.GOOS, os.Getenv),
	}
	// Both may fail; the search for the project then says what is missing.
	a.dir, _ = os.Getwd()
	a.home, _ = os.UserHomeDir()
	return a
}

// showsColour reports whether a terminal may be sent colours: not with NO_COLOR (no-color.org), not when it is dumb, and on
// Windows only where the terminal is known to understand them.
func showsColour(goos string, env func(string) string) bool {
	if env("NO_COLOR") != "" || env("TERM") == "dumb" {
		return false
	}
	return goos != "windows" || env("WT_SESSION") != "" || env("TERM") != ""
}
