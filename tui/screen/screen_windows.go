package screen

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// console makes a Windows console understand sequences.
type console struct {
	handle windows.Handle
	before uint32
	set    bool
}

func (c *console) prepare(out *os.File) error {
	handle := windows.Handle(out.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(handle, &mode); err != nil {
		return fmt.Errorf("read the console's mode: %w", err)
	}
	if !c.set {
		c.handle, c.before, c.set = handle, mode, true
	}
	if err := windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING|windows.ENABLE_PROCESSED_OUTPUT); err != nil {
		return fmt.Errorf("set the console's mode: %w", err)
	}
	return nil
}

func (c *console) restore() error {
	if !c.set {
		return nil
	}
	return windows.SetConsoleMode(c.handle, c.before)
}

// signals are none: sizes come with the input here, and there is no suspending.
type signals struct{}

func (signals) listen() {}
func (signals) ignore() {}

// Watch returns when ctx ends.
func (s *Screen) Watch(ctx context.Context, _, _, _ func()) { <-ctx.Done() }

// Stop is refused: Windows has no job control.
func (s *Screen) Stop() error { return ErrNoShell }
