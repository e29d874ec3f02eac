package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// interruptible is a context that the first signal to end cancels; the second ends the process at once. A signal that the parent
// chose to ignore, as nohup does, stays ignored. While somebody holds the interrupt, Ctrl-C is dropped: it is meant for another program
// on the terminal, which gets it as well.
func interruptible(parent context.Context) (ctx context.Context, hold func() (release func()), stop context.CancelFunc) {
	var signals []os.Signal
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signals = append(signals, s)
		}
	}
	if len(signals) == 0 {
		ctx, stop = context.WithCancel(parent)
	} else {
		ctx, stop = signal.NotifyContext(parent, signals...)
	}
	if signal.Ignored(os.Interrupt) {
		context.AfterFunc(ctx, stop)
		return ctx, func() func() { return func() {} }, stop
	}
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	context.AfterFunc(ctx, func() {
		stop()
		signal.Stop(interrupts)
	})
	go func() {
		select {
		case <-interrupts:
			stop()
		case <-ctx.Done():
		}
	}()
	return ctx, func() func() { return holdInterrupt(ctx, interrupts) }, stop
}

// holdInterrupt keeps interrupts away from a channel until they are released.
func holdInterrupt(ctx context.Context, interrupts chan<- os.Signal) (release func()) {
	dropped := make(chan os.Signal, 1)
	signal.Notify(dropped, os.Interrupt)
	signal.Stop(interrupts)
	return func() {
		last := make(chan os.Signal, 1)
		signal.Notify(last, os.Interrupt)
		signal.Stop(last) // waits until what has come by now is dropped
		if ctx.Err() == nil {
			signal.Notify(interrupts, os.Interrupt)
		}
		signal.Stop(dropped)
	}
}

// stopKey is the key that stops a verb that runs until it is stopped.
func (c *call) stopKey() string {
	if c.nested {
		return "Esc"
	}
	return "Ctrl-C"
}
