package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentloadout/loadout/engine"
	"github.com/agentloadout/loadout/engine/event"
)

const (
	writers      = 16
	perWriter    = 200
	roleWriter   = "role-writer"
	maxOneWriter = time.Second // the longest that a single write may wait
)

// measureThroughput lets 16 processes write at once, through the engine and bare, and checks that nothing was lost.
func measureThroughput(ctx context.Context, b *bench) ([]row, error) {
	var ours, blocking, polling []time.Duration
	var longest time.Duration
	for round := range 5 {
		project, err := b.project(fmt.Sprintf("throughput-%d", round))
		if err != nil {
			return nil, err
		}
		took, worst, err := race(ctx, project, b.self, roleWriter)
		if err != nil {
			return nil, err
		}
		if err := complete(project); err != nil {
			return nil, err
		}
		ours, longest = append(ours, took), max(longest, worst)
		for _, bare := range []struct {
			name  string
			times *[]time.Duration
			args  []string
		}{
			{"blocking", &blocking, nil},
			{"polling", &polling, []string{"-poll"}},
		} {
			dir := filepath.Join(b.dir, fmt.Sprintf("throughput-%s-%d", bare.name, round))
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return nil, err
			}
			args := append([]string{"-n", strconv.Itoa(perWriter), "-size", strconv.Itoa(lineBytes)}, bare.args...)
			took, _, err := race(ctx, dir, b.append, args...)
			if err != nil {
				return nil, err
			}
			*bare.times = append(*bare.times, took)
		}
	}
	for _, times := range [][]time.Duration{ours, blocking, polling} {
		slices.Sort(times)
	}
	bare, name := median(blocking), "blocking flock"
	if polled := median(polling); polled < bare {
		bare, name = polled, "jittered polling"
	}
	rate := func(d time.Duration) float64 { return writers * perWriter / d.Seconds() }
	return []row{
		atLeast(fmt.Sprintf("%d processes × %d events, none lost, no gap", writers, perWriter),
			"bare loops, "+name, rate(median(ours)), rate(bare), "events/s", 0.8),
		below("the longest that one of those writes took", longest, maxOneWriter),
	}, nil
}

// race starts the writers, releases them together, and returns how long the last took and the longest single write.
func race(ctx context.Context, dir, program string, args ...string) (took, longest time.Duration, err error) {
	type lane struct {
		cmd   *exec.Cmd
		start io.WriteCloser
		out   *bufio.Reader
	}
	lanes := make([]lane, writers)
	defer func() {
		for _, l := range lanes {
			if l.cmd != nil && l.cmd.ProcessState == nil {
				err = errors.Join(err, l.cmd.Process.Kill(), l.cmd.Wait())
			}
		}
	}()
	for i := range lanes {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		start, err := cmd.StdinPipe()
		if err != nil {
			return 0, 0, err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return 0, 0, err
		}
		if err := cmd.Start(); err != nil {
			return 0, 0, err
		}
		lanes[i] = lane{cmd, start, bufio.NewReader(out)}
	}
	for _, l := range lanes {
		if line, err := l.out.ReadString('\n'); err != nil || line != "ready\n" {
			return 0, 0, fmt.Errorf("writer is not ready: %q, %w", line, err)
		}
	}
	began := time.Now()
	for _, l := range lanes {
		if _, err := io.WriteString(l.start, "\n"); err != nil {
			return 0, 0, err
		}
	}
	for _, l := range lanes {
		line, err := l.out.ReadString('\n')
		if err != nil {
			return 0, 0, fmt.Errorf("writer ended early: %w", err)
		}
		took = time.Since(began)
		nanoseconds, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
		if err != nil {
			return 0, 0, err
		}
		longest = max(longest, time.Duration(nanoseconds))
	}
	for _, l := range lanes {
		if err := l.cmd.Wait(); err != nil {
			return 0, 0, err
		}
	}
	return took, longest, nil
}

// writer is the role that stores events through the engine, in the project around the working directory.
func writer(ctx context.Context, _ []string) error {
	e, err := openHere()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("writer-%d", os.Getpid())
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return fmt.Errorf("wait for the start: %w", err)
	}
	var longest time.Duration
	for range perWriter {
		start := time.Now()
		note := event.Update{Note: "Wired the handler to the store"}
		if _, err := e.Do(ctx, engine.Request{Command: engine.Report{Agent: name, Update: note}}); err != nil {
			return err
		}
		longest = max(longest, time.Since(start))
	}
	fmt.Println(longest.Nanoseconds())
	return nil
}

func openHere() (*engine.Engine, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	project, err := engine.Discover(engine.Where{Dir: dir})
	if err != nil {
		return nil, err
	}
	return engine.Open(project, engine.Options{Command: "bench"}), nil
}

// complete checks with encoding/json, not with the engine, that the log holds every event once and numbers without a gap.
func complete(project string) error {
	data, err := os.ReadFile(filepath.Join(project, ".handoff", "coordination.jsonl"))
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	perAgent := map[string]int{}
	for i, line := range lines {
		var e struct {
			Seq  int
			From string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		if e.Seq != i {
			return fmt.Errorf("line %d has number %d", i+1, e.Seq)
		}
		perAgent[e.From]++
	}
	if len(perAgent) != writers {
		return fmt.Errorf("%d writers left events, not %d", len(perAgent), writers)
	}
	for agent, n := range perAgent {
		if n != perWriter {
			return fmt.Errorf("%s left %d events, not %d", agent, n, perWriter)
		}
	}
	return nil
}
