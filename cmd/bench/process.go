package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// bench holds what the measurements share: the binaries and a folder to work in.
type bench struct {
	dir      string // work folder, removed afterwards
	self     string // this program, for its roles
	loadout  string // the product
	append   string // bare/append
	envelope string // bare/envelope
	follow   string // bare/follow
}

// newBench builds every binary with the flags of `make build`.
func newBench(ctx context.Context, dir string) (*bench, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &bench{dir: dir, self: self}
	for _, program := range []struct {
		path *string
		pkg  string
	}{
		{&b.loadout, "./cmd/loadout"},
		{&b.append, "./cmd/bench/bare/append"},
		{&b.envelope, "./cmd/bench/bare/envelope"},
		{&b.follow, "./cmd/bench/bare/follow"},
	} {
		*program.path = filepath.Join(dir, "bin", filepath.Base(program.pkg))
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", *program.path, program.pkg)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", program.pkg, err, out)
		}
	}
	return b, nil
}

// project makes an empty project folder; its .handoff/ keeps every program from looking further up.
func (b *bench) project(name string) (string, error) {
	dir := filepath.Join(b.dir, name)
	return dir, os.MkdirAll(filepath.Join(dir, ".handoff"), 0o700)
}

// contender is one of the programs that take turns. Only run is timed.
type contender struct {
	before func() error
	run    func() error
}

// takeTurns runs the contenders in turn, rounds times, and returns the sorted times of each.
func takeTurns(rounds int, contenders ...contender) ([][]time.Duration, error) {
	times := make([][]time.Duration, len(contenders))
	for range rounds {
		for i, c := range contenders {
			if c.before != nil {
				if err := c.before(); err != nil {
					return nil, err
				}
			}
			start := time.Now()
			if err := c.run(); err != nil {
				return nil, err
			}
			times[i] = append(times[i], time.Since(start))
		}
	}
	for _, t := range times {
		slices.Sort(t)
	}
	return times, nil
}

// process is a contender that runs a program to its end in dir, its output thrown away.
func process(ctx context.Context, dir, program string, args ...string) contender {
	return contender{run: func() error {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir = dir
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("run %s %v: %w\n%s", filepath.Base(program), args, err, stderr.Bytes())
		}
		return nil
	}}
}

// percentile of sorted values, by the nearest rank: p is between 0 and 1.
func percentile(sorted []time.Duration, p float64) time.Duration {
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

func median(sorted []time.Duration) time.Duration { return percentile(sorted, 0.5) }
