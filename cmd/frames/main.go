// Command frames draws the pictures of the documentation: frames of the cockpit over a log that is always the same, as SVG.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/settings"
	"github.com/agentloadout/loadout/tui"
)

// picture is one frame.
type picture struct {
	name, alt string
	w, h      int
	edit      func(*tui.Options)
}

func pictures() []picture {
	return []picture{
		{"cockpit", "The cockpit: who owns what, contracts, agents, and what they discuss", 120, 34, func(*tui.Options) {}},
		{"wide", "All eight panes of the cockpit", 200, 48, func(*tui.Options) {}},
		{"narrow", "The cockpit in 80 columns", 80, 24, func(*tui.Options) {}},
		{"past", "The cockpit as of an earlier event", 120, 24, func(o *tui.Options) { o.At = 9 }},
	}
}

func main() {
	out := flag.String("out", filepath.Join("docs", "pictures"), "folder for the pictures")
	flag.Parse()
	if err := run(context.Background(), *out); err != nil {
		fmt.Fprintln(os.Stderr, "frames:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out string) (err error) {
	dir, err := os.MkdirTemp("", "frames")
	if err != nil {
		return err
	}
	defer func() { err = firstOf(err, os.RemoveAll(dir)) }()
	e, now, err := story(filepath.Join(dir, "shop"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o750); err != nil {
		return err
	}
	for _, p := range pictures() {
		o := tui.Options{
			Engine: e, Settings: settings.Default(), Theme: "dark", Colors: 1 << 24, At: tui.Now,
			Environment: func(string) string { return "" }, Clock: func() time.Time { return now },
		}
		p.edit(&o)
		frame, err := tui.Frame(ctx, o, p.w, p.h, true)
		if err != nil {
			return fmt.Errorf("draw %s: %w", p.name, err)
		}
		if err := os.WriteFile(filepath.Join(out, p.name+".svg"), []byte(svg(frame, p)), 0o644); err != nil { //nolint:gosec // a picture for everybody
			return err
		}
	}
	return nil
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// lively is an engine whose agents all live: the picture has no processes.
type lively struct{ *engine.Engine }

// View is the engine's, with live sessions.
func (l lively) View(ctx context.Context) (*engine.View, error) {
	v, err := l.Engine.View(ctx)
	if err == nil {
		v.Live = func(string) engine.Liveness { return engine.Liveness{Known: true, Live: true, LastBeat: v.Now} }
	}
	return v, err
}
