package main

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/agentloadout/loadout/cmd/loadout/mcp"
	"github.com/agentloadout/loadout/engine"
)

type serveCmd struct{}

func (serveCmd) Help() string {
	return examples(
		"loadout serve",
		"loadout serve --agent backend",
	)
}

// run speaks the Model Context Protocol on stdin and stdout until the client is gone. Everything else goes to stderr.
func (serveCmd) run(ctx context.Context, c *call) error {
	if c.nested {
		return &engine.UsageError{Message: "serve speaks with a program, not with the cockpit", Hints: []string{"loadout serve    as the command of an MCP server"}}
	}
	e, err := c.open(0)
	if err != nil {
		return err
	}
	if c.terminal {
		c.note("this speaks the Model Context Protocol with an agent's program; end it with Ctrl-D")
	}
	signal.Ignore(syscall.SIGPIPE) // a client that is gone must not keep the end of its session from being stored
	s, err := mcp.New(e, mcp.Options{Agent: c.Agent, As: c.As, Dir: c.dir, Version: thisBuild().Version, Note: func(format string, args ...any) {
		p := printer{w: c.stderr}
		p.printf("loadout serve: "+format+"\n", args...)
	}})
	if err != nil {
		return err
	}
	return s.Serve(ctx, c.stdin, c.stdout)
}
