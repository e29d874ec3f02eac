package main

import (
	"context"
	"os"
	"path/filepath"
)

const (
	many = 1_000_000
	few  = 1_000
)

// measureStatus times a read that finds a checkpoint.
func measureStatus(ctx context.Context, b *bench) ([]row, error) {
	contenders := make([]contender, 0, 2)
	for _, log := range []struct {
		name string
		n    int64
	}{{"many", many}, {"few", few}} {
		project, err := b.project(log.name)
		if err != nil {
			return nil, err
		}
		if _, err := generate(project, log.n); err != nil {
			return nil, err
		}
		contenders = append(contenders, process(ctx, project, b.loadout, "coord", "status"))
	}
	if _, err := takeTurns(3, contenders...); err != nil { // the first of these leaves the checkpoint
		return nil, err
	}
	times, err := takeTurns(60, contenders...)
	if err != nil {
		return nil, err
	}
	return []row{atMost("`coord status` on 1,000,000 events", "the same on 1,000 events", median(times[0]), median(times[1]), 2)}, nil
}

// measureFold times the first read of a long log.
func measureFold(ctx context.Context, b *bench) ([]row, error) {
	project, err := b.project("many")
	if err != nil {
		return nil, err
	}
	log, err := generate(project, many)
	if err != nil {
		return nil, err
	}
	status := process(ctx, project, b.loadout, "coord", "status")
	status.before = func() error { return os.RemoveAll(filepath.Join(project, ".handoff", "cache")) }
	times, err := takeTurns(3, status,
		process(ctx, project, "wc", "-l", log),
		process(ctx, project, b.envelope, log))
	if err != nil {
		return nil, err
	}
	const what = "first fold of 1,000,000 events, no checkpoint"
	ours := median(times[0])
	counted := atMost(what, "`wc -l`", ours, median(times[1]), 0)
	counted.reach = "" // reported only
	decoded := atMost(what, "`encoding/json`, envelope, one goroutine", ours, median(times[2]), 0.25)
	return []row{counted, decoded}, nil
}
