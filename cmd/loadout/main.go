// Command loadout lets several coding agents work in one repository without colliding.
//
// Every verb is a thin adapter over the engine: it turns words into a command, hands it to the engine and prints the answer. The
// rules are not here.
package main

import (
	"context"
	"os"
	"runtime/debug"
	"time"

	_ "github.com/agentloadout/loadout/tui/noprobe" // no verb asks the terminal for its colours and waits for the answer
)

// A verb that folds a long log is done sooner with half the collections. What runs for longer than a verb, like the cockpit, gets
// the usual pace back.
const (
	briefly      = 2 * time.Second
	briefGarbage = 200 // percent of the live heap
)

func main() {
	usual := debug.SetGCPercent(briefGarbage)
	time.AfterFunc(briefly, func() { debug.SetGCPercent(usual) })
	ctx, hold, stop := interruptible(context.Background())
	a := thisProcess()
	a.holdInterrupt = hold
	code := run(ctx, os.Args[1:], a)
	stop()
	os.Exit(code)
}
