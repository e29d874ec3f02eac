package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interruptible is a context that the first signal to end cancels; the second ends the process at once. A signal that the parent
// chose to ignore, as nohup does, stays ignored.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	var signals []os.Signal
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signals = append(signals, s)
		}
	}
	if len(signals) == 0 {
		return context.WithCancel(parent)
	}
	ctx, stop := signal.NotifyContext(parent, signals...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// stopKey is the key that stops a verb that runs until it is stopped.
func (c *call) stopKey() string {
	if c.nested {
		return "Esc"
	}
	return "Ctrl-C"
}
