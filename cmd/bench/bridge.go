package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/bridge"
	"github.com/agentloadout/loadout/engine/event"
	"github.com/agentloadout/loadout/engine/turn"
)

const (
	roleBridge  = "role-bridge"
	deliveries  = 300
	bridgeIdle  = 20 * time.Second
	bridgeAgent = "stopwatch"
)

// measureBridge times from an event's append to the start of the agent's program, in a bridge of another process, and looks at what
// that costs while nothing happens.
func measureBridge(ctx context.Context, b *bench) ([]row, error) {
	project, err := b.project("bridge")
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, b.self, roleBridge)
	cmd.Dir, cmd.Stderr = project, os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer func() { _, _ = cmd.Process.Kill(), cmd.Wait() }() // it has no other end
	out := bufio.NewScanner(pipe)
	if !out.Scan() {
		return nil, errors.New("the bridge ended")
	}
	times, err := timeDeliveries(ctx, project, out)
	if err != nil {
		return nil, err
	}
	idle, err := idleBridge(ctx, &cockpit{cmd: cmd})
	if err != nil {
		return nil, err
	}
	const what = "bridge: append of an event to the start of the program that it is for, "
	return append([]row{
		below(what+"median", median(times), 20*time.Millisecond),
		below(what+"p99", percentile(times, 0.99), 100*time.Millisecond),
	}, idle...), nil
}

// timeDeliveries stores events that are worth a turn at once, each when the turn of the one before is over.
func timeDeliveries(ctx context.Context, project string, out *bufio.Scanner) ([]time.Duration, error) {
	found, err := engine.Discover(engine.Where{Dir: project})
	if err != nil {
		return nil, err
	}
	e := engine.Open(found, engine.Options{Command: "bench"})
	times := make([]time.Duration, 0, deliveries)
	for i := range deliveries {
		ev := event.Event{Type: event.TypeError, From: "bench", To: bridgeAgent, Description: fmt.Sprintf("The build fails, number %d", i)}
		if _, err := e.Do(ctx, engine.Request{Command: engine.Emit{Event: ev}}); err != nil {
			return nil, err
		}
		stored := time.Now()
		if !out.Scan() {
			return nil, errors.New("the bridge ended")
		}
		began, err := strconv.ParseInt(out.Text(), 10, 64)
		if err != nil {
			return nil, err
		}
		times = append(times, max(0, time.Unix(0, began).Sub(stored)))
		if !out.Scan() { // the turn is over
			return nil, errors.New("the bridge ended")
		}
	}
	slices.Sort(times)
	return times, nil
}

func idleBridge(ctx context.Context, c *cockpit) ([]row, error) {
	before, err := c.processor()
	if err != nil {
		return nil, err
	}
	select {
	case <-time.After(bridgeIdle):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	after, err := c.processor()
	if err != nil {
		return nil, err
	}
	bytes, err := c.resident()
	if err != nil {
		return nil, err
	}
	share := 100 * float64(after-before) / float64(bridgeIdle)
	return []row{
		{
			what: "bridge: processor while nothing happens, " + bridgeIdle.String(), against: "–", ours: number(share) + " %", theirs: "–",
			reach: "≤ 1 %", met: share <= 1,
		},
		{
			what: "bridge: memory", against: "–", ours: number(float64(bytes)/(1<<20)) + " MiB", theirs: "–", reach: "≤ 64 MiB", met: bytes <= 64<<20,
		},
	}, nil
}

// bridgeRole is the process with the bridge, in the project of the working directory. It prints when each turn begins and that it ended.
func bridgeRole(ctx context.Context) error {
	e, err := openHere()
	if err != nil {
		return err
	}
	none := int64(0)
	b, err := bridge.Start(ctx, e, bridge.Sessions{
		Refs: []bridge.Ref{{Provider: bridgeAgent, Session: "one"}}, Limits: bridge.Limits{Turns: &none},
	}, bridge.Options{
		Providers: []turn.Provider{stopwatch{}},
		Report: func(p bridge.Progress) {
			if p.Kind == bridge.KindActive || p.Kind == bridge.KindFinished {
				fmt.Println(p.Kind)
			}
		},
	})
	if err != nil {
		return err
	}
	return b.Wait()
}

// stopwatch is an agent program that says when it is started.
type stopwatch struct{}

func (stopwatch) Name() string   { return bridgeAgent }
func (stopwatch) Scripted() bool { return true }
func (stopwatch) Detect(context.Context, []string) (turn.Program, error) {
	return turn.Program{SignedIn: true}, nil
}
func (stopwatch) Describe(turn.Permissions) (string, error) { return "nothing", nil }

func (stopwatch) Do(_ context.Context, t turn.Turn, _ func(turn.Progress)) (turn.Reply, error) {
	fmt.Println(time.Now().UnixNano())
	return turn.Reply{Session: t.Session, Text: strings.Repeat("x", 100)}, nil
}
