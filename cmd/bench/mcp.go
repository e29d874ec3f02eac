package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	mcpEvents = 100_000
	mcpCalls  = 300
	mcpStarts = 15
)

// measureMCP times tool calls of a client over stdio, each from its request to its answer, and how long a client waits for a server
// to be there, on a long log with a checkpoint.
func measureMCP(ctx context.Context, b *bench) ([]row, error) {
	project, err := b.cockpitLog(ctx, "mcp", mcpEvents)
	if err != nil {
		return nil, err
	}
	start := contender{run: func() error {
		session, err := serve(ctx, b, project)
		if err != nil {
			return err
		}
		go func() { _ = session.Close() }() // waiting for its end is not part of it
		return nil
	}}
	starts, err := takeTurns(mcpStarts, start)
	if err != nil {
		return nil, err
	}
	session, err := serve(ctx, b, project)
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close() }()
	ping := contender{run: func() error { return session.Ping(ctx, nil) }}
	write := call(ctx, session, "publish_update", map[string]any{"note": "moved"})
	read := call(ctx, session, "snapshot", map[string]any{})
	claim := call(ctx, session, "conflicts", map[string]any{"paths": []string{"src/module01/api/x.go"}})
	if _, err := takeTurns(3, write, read); err != nil {
		return nil, err
	}
	times, err := takeTurns(mcpCalls, ping, write, read, claim)
	if err != nil {
		return nil, err
	}
	const over = " over stdio, log of 100,000 events, "
	reported := below("MCP: `ping`"+over+"median", median(times[0]), time.Second)
	reported.reach = "" // reported only
	return []row{
		reported,
		below("MCP: tool call that writes"+over+"median", median(times[1]), 10*time.Millisecond),
		below("MCP: tool call that writes"+over+"p99", percentile(times[1], 0.99), 100*time.Millisecond),
		below("MCP: `snapshot`"+over+"median", median(times[2]), 20*time.Millisecond),
		below("MCP: `conflicts`"+over+"median", median(times[3]), 50*time.Millisecond),
		below("MCP: start of the server to the answer of the first request, log of 100,000 events, median", median(starts[0]), 500*time.Millisecond),
	}, nil
}

// serve starts a server in a project and connects to it.
func serve(ctx context.Context, b *bench, project string) (*sdk.ClientSession, error) {
	cmd := exec.CommandContext(ctx, b.loadout, "serve")
	cmd.Dir, cmd.Stderr = project, nil
	cmd.Env = append(os.Environ(), "LOADOUT_AGENT=", "CLAUDE_CODE_SESSION_ID=")
	client := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil)
	return client.Connect(ctx, &sdk.CommandTransport{Command: cmd}, &sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
}

// call is a contender that calls a tool.
func call(ctx context.Context, session *sdk.ClientSession, tool string, arguments map[string]any) contender {
	return contender{run: func() error {
		r, err := session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err == nil && r.IsError {
			err = fmt.Errorf("tool %s refused: %v", tool, r.StructuredContent)
		}
		return err
	}}
}
