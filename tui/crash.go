package tui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// CrashError says that the cockpit met a fault of its own, and where the details are. The terminal has been given back.
type CrashError struct {
	Value any    // what the panic said
	Path  string // the file with the details, empty when none could be written
}

func (e *CrashError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("the cockpit crashed: %v", e.Value)
	}
	return fmt.Sprintf("the cockpit crashed: %v; details are in %s", e.Value, e.Path)
}

// crashes collects the first panic of any goroutine and ends the program for it.
type crashes struct {
	mu    sync.Mutex
	first *CrashError
	dir   string
	end   func()
}

// recover is deferred at the top of every goroutine and around every call into the model.
func (c *crashes) recover() {
	v := recover()
	if v == nil {
		return
	}
	stack := debug.Stack()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first != nil {
		return
	}
	c.first = &CrashError{Value: v}
	if path, err := writeCrash(c.dir, v, stack); err == nil {
		c.first.Path = path
	}
	c.end()
}

func (c *crashes) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first == nil {
		return nil // not a typed nil
	}
	return c.first
}

// writeCrash writes a private file that a person can attach to a report.
func writeCrash(dir string, v any, stack []byte) (path string, err error) {
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			dir = "" // a temporary file is better than none
		}
	}
	f, err := os.CreateTemp(dir, "loadout-crash-"+time.Now().UTC().Format("20060102-150405")+"-*.txt") // mode 0600
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	_, err = fmt.Fprintf(f, "loadout %s, %s, %s/%s\n\n%v\n\n%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, v, stack)
	return f.Name(), err
}

// stateDir is where programs of this person keep what is neither configuration nor cache, empty when nobody says.
func stateDir(env func(string) string) string {
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "loadout")
	}
	if runtime.GOOS == "windows" {
		if dir := env("LOCALAPPDATA"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "loadout")
		}
		return ""
	}
	if home := env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "loadout")
	}
	return ""
}
