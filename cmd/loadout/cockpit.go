package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/tui"
)

// cockpitCmd is the bare program: the cockpit on a terminal, else the status and where help is.
type cockpitCmd struct{}

func (cockpitCmd) Help() string { return examples("loadout", "loadout --json") }

func (*cockpitCmd) run(ctx context.Context, c *call) error {
	if c.nested {
		return notHere("the cockpit")
	}
	if c.terminal && !c.JSON {
		return c.openCockpit(ctx, tui.Options{At: tui.Now})
	}
	if err := (&statusCmd{}).run(ctx, c); err != nil {
		return err
	}
	if !c.JSON {
		c.printf("\nOn a terminal, loadout opens the cockpit. Help: loadout --help\n")
	}
	return nil
}

type tuiCmd struct {
	Frame frameSize `placeholder:"WxH" help:"Print one frame of this size and end, e.g. 120x40."`
	Pane  string    `complete:"pane" placeholder:"NAME" help:"The pane that has the focus: ownership, contracts, discussion, bridge, work, gates, timeline, agents."`
	At    int64     `complete:"seq" default:"-1" placeholder:"SEQ" help:"As of this sequence number."`
	ANSI  bool      `name:"ansi" help:"Keep the colours of a frame."`
	ASCII bool      `name:"ascii" help:"Draw without box characters."`
	Theme string    `enum:",auto,dark,light,none" default:"" placeholder:"NAME" help:"Colours: auto, dark, light, none."`
	Mouse bool      `help:"Listen to the mouse: click to select, wheel to scroll."`
	Plain bool      `help:"Print events as lines of text instead of drawing, for screen readers and where there is no terminal."`
}

func (tuiCmd) Help() string {
	return examples(
		"loadout tui",
		"loadout tui --agent codex --pane timeline",
		"loadout tui --frame 120x40 --at 12 --ascii",
		"loadout tui --plain",
	)
}

func (o *tuiCmd) run(ctx context.Context, c *call) error {
	drawn := o.Frame != frameSize{}
	switch {
	case c.nested:
		return notHere("tui")
	case o.Plain && (drawn || o.Pane != "" || o.ANSI || o.ASCII || o.Theme != "" || o.Mouse):
		return &engine.UsageError{Message: "--plain draws nothing; it excludes --frame, --pane, --ansi, --ascii, --theme and --mouse"}
	case o.ANSI && !drawn:
		return &engine.UsageError{Message: "--ansi goes with --frame"}
	case o.Plain:
		return o.plain(ctx, c)
	case !drawn && (c.JSON || !c.terminal):
		return &engine.UsageError{
			Message: "the cockpit needs a terminal",
			Hints:   []string{"loadout tui --plain", "loadout tui --frame 120x40", "loadout status"},
		}
	}
	options := tui.Options{Pane: o.Pane, At: o.At, ASCII: o.ASCII, Theme: o.Theme, Mouse: o.Mouse}
	if drawn {
		return o.frame(ctx, c, options)
	}
	return c.openCockpit(ctx, options)
}

// plain tells in sentences what the cockpit would show; for programs the same as watch.
func (o *tuiCmd) plain(ctx context.Context, c *call) error {
	if c.JSON && o.At == tui.Now {
		return (&watchCmd{}).run(ctx, c)
	}
	options, err := c.cockpitOptions(ctx, tui.Options{At: o.At})
	if err != nil {
		return err
	}
	if c.JSON {
		return c.showStateAt(ctx, c.opened, o.At, c.most(false))
	}
	if err := tui.Plain(ctx, options, c.stdout); err != nil || ctx.Err() == nil {
		return err
	}
	return errSilent(exitInterrupted) // how it ends, as a watch does
}

// frame prints one frame of the cockpit.
func (o *tuiCmd) frame(ctx context.Context, c *call, options tui.Options) error {
	options, err := c.cockpitOptions(ctx, options)
	if err != nil {
		return err
	}
	frame, err := tui.Frame(ctx, options, o.Frame.width, o.Frame.height, o.ANSI)
	if err != nil {
		return err
	}
	answer := struct {
		Width  int      `json:"width"`
		Height int      `json:"height"`
		Lines  []string `json:"lines"`
	}{o.Frame.width, o.Frame.height, strings.Split(strings.TrimSuffix(frame, "\n"), "\n")}
	return c.answer(answer, func() {
		// The cockpit has made every text in it safe; the escape sequences are its own, and asked for.
		c.printf("%s", styled(frame))
	})
}

// openCockpit shows the cockpit until the person quits.
func (c *call) openCockpit(ctx context.Context, o tui.Options) error {
	in, isFile := c.stdin.(*os.File)
	out, alsoFile := c.stdout.(*os.File)
	if !isFile || !alsoFile {
		return errors.New("open cockpit: the terminal is no file")
	}
	o, err := c.cockpitOptions(ctx, o)
	if err != nil {
		return err
	}
	if o.Bridge, err = c.cockpitBridge(ctx, o.Agent); err != nil {
		return err
	}
	runner := newRunner(c)
	o.HoldInterrupt = c.holdInterrupt
	o.In, o.Out, o.Runner, o.Stage = in, out, runner, runner.app.stage
	return tui.Run(ctx, o)
}

// cockpitOptions completes options with what the call knows. A person sits at the cockpit: it acts as an agent only if a flag says so.
func (c *call) cockpitOptions(ctx context.Context, o tui.Options) (tui.Options, error) {
	e, err := c.open(0)
	if err != nil {
		return o, err
	}
	agent := c.Agent
	if c.As != "" {
		agent = c.As
	}
	if agent, err = c.agent(ctx, e, agent); err != nil {
		return o, err
	}
	if o.Settings, err = c.settings(e.Project()); err != nil {
		return o, err
	}
	o.Engine, o.Agent = e, agent
	c.Agent, c.As = agent, "" // found out once
	o.Settle = func(ctx context.Context) error { return bridge.Settle(ctx, e) }
	o.NoColor = c.NoColor || c.env("NO_COLOR") != ""
	o.Environment, o.Clock = c.env, c.now
	return o, nil
}

// frameSize is the size of a frame in cells, typed as WIDTHxHEIGHT.
type frameSize struct{ width, height int }

// Decode implements kong.MapperValue.
func (s *frameSize) Decode(ctx *kong.DecodeContext) error {
	typed := ctx.Scan.Pop().String()
	w, h, _ := strings.Cut(typed, "x")
	width, err := strconv.Atoi(w)
	if err == nil {
		s.height, err = strconv.Atoi(h)
	}
	if s.width = width; err != nil || s.width < 1 || s.height < 1 {
		return fmt.Errorf("%q is not a size such as 120x40", typed)
	}
	return nil
}
