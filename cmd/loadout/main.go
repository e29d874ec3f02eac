// Command loadout lets several coding agents work in one repository without colliding.
//
// Every verb is a thin adapter over the engine: it turns words into a command, hands it to the engine and prints the answer. The
// rules are not here.
package main

import (
	"context"
	"os"

	_ "github.com/agentloadout/loadout/tui/noprobe" // no verb asks the terminal for its colours and waits for the answer
)

func main() {
	ctx, stop := interruptible(context.Background())
	code := run(ctx, os.Args[1:], thisProcess())
	stop()
	os.Exit(code)
}
